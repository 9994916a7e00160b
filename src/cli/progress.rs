//! The progress bar on standard error: cells, seeds a second, time left. It shows itself only on a terminal.

use crate::cli::stopwatch::Stopwatch;
use crate::explore::sweep::{Progress, Quota, Sweep};
use crate::report::words::thousands;
use indicatif::{ProgressBar, ProgressStyle};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Milliseconds between two drawings.
const REDRAW_MS: u64 = 100;

/// By what a bar moves.
#[derive(Clone, Copy)]
enum By {
    Runs,
    Time,
    Cells,
}

/// A bar of so many.
fn bar(length: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:32} {percent:>3} %  {msg}  {eta} left").expect("the template is right");
    ProgressBar::new(length).with_style(style.progress_chars("━╸─"))
}

/// A bar for one sweep.
pub struct Bar {
    shown: ProgressBar,
    cells: usize,
    watch: Stopwatch,
    by: By,
    drawn: AtomicU64,
}

impl Bar {
    /// A bar for a sweep. Its length is the runs that will be made, or the budget, or the cells:
    /// when a cell has felt enough, nobody knows before.
    pub fn new(sweep: &Sweep<'_>, budget: Option<Duration>, watch: Stopwatch) -> Bar {
        let cells = sweep.cells();
        let (length, by) = match (sweep.quota, budget) {
            (Quota::Seeds(n), _) => (sweep.shard.share(0..n) * cells as u64, By::Runs),
            (Quota::Time, budget) => (budget.unwrap_or_default().as_millis() as u64, By::Time),
            (Quota::Felt(_), _) => (cells as u64, By::Cells),
        };
        Bar { shown: bar(length), by, cells, watch, drawn: AtomicU64::new(0) }
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
        let told = format!("{}/{} cells  {} seeds/s", progress.cells, self.cells, thousands(rate as u64));
        let (position, told) = match self.by {
            By::Runs => (progress.runs, told),
            By::Time => (now, told),
            By::Cells => (progress.cells, told),
        };
        self.shown.set_message(told);
        self.shown.set_position(position);
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

    /// One more is done.
    pub fn one(&self) {
        self.0.inc(1);
    }

    /// Takes the bar away.
    pub fn end(&self) {
        self.0.finish_and_clear();
    }
}

/// A line on standard error for work whose length nobody knows. It shows itself only on a terminal.
pub struct Spinner(ProgressBar);

impl Spinner {
    /// One that turns.
    pub fn new() -> Spinner {
        let style = ProgressStyle::with_template("{spinner} {elapsed}  {msg}").expect("the template is right");
        Spinner(ProgressBar::new_spinner().with_style(style))
    }

    /// Says how far it is.
    pub fn show(&self, text: &str) {
        self.0.set_message(text.to_owned());
        self.0.tick();
    }

    /// Takes the line away.
    pub fn end(&self) {
        self.0.finish_and_clear();
    }
}
