//! The progress bar on standard error: cells, seeds a second, time left. It shows itself only on a terminal.

use crate::cli::stopwatch::Stopwatch;
use crate::explore::sweep::{Progress, Quota};
use crate::report::words::thousands;
use indicatif::{ProgressBar, ProgressStyle};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Milliseconds between two drawings.
const REDRAW_MS: u64 = 100;

/// A bar for one sweep.
pub struct Bar {
    shown: ProgressBar,
    cells: usize,
    watch: Stopwatch,
    budget: Option<Duration>,
    drawn: AtomicU64,
}

impl Bar {
    /// A bar over `cells` cells; under a time quota its length is the budget.
    pub fn new(cells: usize, quota: Quota, budget: Option<Duration>, watch: Stopwatch) -> Bar {
        let length = match (quota, budget) {
            (Quota::Seeds(n), _) => n * cells as u64,
            (Quota::Time, budget) => budget.unwrap_or_default().as_millis() as u64,
        };
        Bar { shown: bar(length), cells, watch, budget, drawn: AtomicU64::new(0) }
    }

    /// Moves on.
    pub fn show(&self, progress: Progress) {
        let elapsed = self.watch.elapsed();
        let now = elapsed.as_millis() as u64;
        let drawn = self.drawn.load(Ordering::Relaxed);
        // Tickets are finished thousands of times a second; eyes follow ten. Whoever loses the exchange need not draw either.
        if now < drawn + REDRAW_MS || self.drawn.compare_exchange(drawn, now, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            return;
        }
        let rate = progress.runs as f64 / elapsed.as_secs_f64().max(0.001);
        self.shown.set_message(format!("{}/{} cells  {} seeds/s", progress.cells, self.cells, thousands(rate as u64)));
        self.shown.set_position(self.budget.map_or(progress.runs, |_| now));
    }

    /// Takes the bar away.
    pub fn end(&self) {
        self.shown.finish_and_clear();
    }
}

/// A bar over units of work that are counted elsewhere.
pub struct Units(ProgressBar);

impl Units {
    /// A bar over so many.
    pub fn new(length: u64) -> Units {
        Units(bar(length))
    }

    /// So many are done.
    pub fn show(&self, done: u64, told: String) {
        self.0.set_message(told);
        self.0.set_position(done);
    }

    /// Takes the bar away.
    pub fn end(&self) {
        self.0.finish_and_clear();
    }
}

fn bar(length: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:32} {percent:>3} %  {msg}  {eta} left").expect("the template is right");
    ProgressBar::new(length).with_style(style.progress_chars("━╸─"))
}
