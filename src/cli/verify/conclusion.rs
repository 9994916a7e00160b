//! From what a sweep saw to verdicts: steer to what it left out, try every single fault, certify, weigh, keep witnesses,
//! write, print. It is the same for a sweep that was made here and for one that was merged.

use crate::class::FaultClass;
use crate::cli::exit::Failure;
use crate::cli::format::{self, Format};
use crate::cli::stopwatch::Stopwatch;
use crate::cli::verify::order::{Order, time_scale};
use crate::cli::{CANCELLED, Exit, out, pages, witnesses};
use crate::explore::certify::certify;
use crate::explore::sweep::Swept;
use crate::explore::{Cell, Row, Subject, Survey, Tally};
use crate::page::source::{Verdicts, document};
use crate::report::files::{self, Folder};
use crate::report::table::{Made, Setting};
use crate::report::words::count;
use crate::report::{self, json, table};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// What is needed for it.
pub struct Conclusion<'a> {
    /// What was swept.
    pub order: &'a Order,
    /// Its rows.
    pub subjects: &'a [&'a dyn Subject],
    /// Where reports go.
    pub folder: &'a Folder,
    /// The same, as the user wrote it.
    pub reports: &'a Path,
    /// What is printed.
    pub format: Format,
}

impl Conclusion<'_> {
    /// Draws it. `certified` runs have been made twice elsewhere.
    pub fn draw(&self, mut swept: Swept, certified: usize, watch: Stopwatch, made: impl FnOnce(Duration) -> Made) -> Result<Exit, Failure> {
        self.order.steer(self.subjects, &mut swept)?;
        let singles = self.order.singles(self.subjects)?;
        let here = certify(self.subjects, &swept.samples, self.order.threads, &CANCELLED).map_err(|e| Failure::Distrust(e.to_string()))?;
        let took = watch.elapsed();
        let survey = self.weigh(swept, singles, certified + here);
        let (mut files, gone) = (self.files(&survey)?, gone(&survey));
        files.push(pages::index(self.reports, &files, &gone));
        if CANCELLED.load(Ordering::SeqCst) {
            return Err(Failure::Interrupted);
        }
        self.folder.replace(&files, &gone).map_err(Failure::usage)?;

        let reports = self.reports.display().to_string();
        let setting = Setting { width: out::width(), made: made(took), time_scale: time_scale(self.subjects), reports };
        out::print(&match self.format {
            Format::Table => table::render(&survey, &setting),
            Format::Json => files[0].1.clone(),
            Format::Junit => format::junit(&verdicts(&files[0].1)?, self.reports),
            Format::Markdown => format::markdown(&verdicts(&files[0].1)?, self.reports),
        })?;
        verdict(&survey)
    }

    fn weigh(&self, swept: Swept, singles: Vec<Cell>, certified: usize) -> Survey {
        let order = self.order;
        let weigh = |(subject, tallies): (&&dyn Subject, Vec<Tally>)| Row::weigh(*subject, &order.classes, tallies);
        let mut rows: Vec<Row> = self.subjects.iter().zip(swept.tallies).map(weigh).collect();
        for (row, cell) in rows.iter_mut().zip(singles) {
            row.cells.push(cell);
        }
        let classes = order.classes.iter().copied().chain(order.single.then_some(FaultClass::Single)).collect();
        Survey { base: order.base, engine: order.engine, quota: order.quota, classes, rows, certified }
    }

    /// The verdicts, and a witness for each cell that broke of its own.
    fn files(&self, survey: &Survey) -> Result<Vec<(String, String)>, Failure> {
        let rows = || self.subjects.iter().zip(&survey.rows);
        let cells = rows().flat_map(|(subject, row)| row.cells.iter().map(move |cell| (*subject, row, cell)));
        let broken: Vec<_> = cells.filter_map(|(subject, row, cell)| Some((subject, row, cell, cell.witness()?))).collect();
        let kept = witnesses::on_threads(self.order.threads, &broken, |&(subject, row, cell, broken)| {
            let kept = report::with_twin(subject, self.order.engine, cell.class, broken).map_err(|e| Failure::Distrust(e.to_string()))?;
            let kept = if self.order.shrinks { witnesses::smaller_twin(subject, kept, &broken.finding)? } else { kept };
            Ok(pages::files(files::witness_name(&row.label(), cell.class), kept))
        })?;
        Ok([(files::VERDICTS.to_owned(), json::render(survey))].into_iter().chain(kept.into_iter().flatten()).collect())
    }
}

/// The verdicts as pages read them.
fn verdicts(written: &str) -> Result<Verdicts, Failure> {
    document::read(written).map_err(|e| Failure::Distrust(format!("{} cannot be read again: {e}", files::VERDICTS)))
}

/// A blind harness cannot be trusted, whatever else it says.
fn verdict(survey: &Survey) -> Result<Exit, Failure> {
    if let Some((row, cell)) = survey.cells().find(|(_, cell)| cell.blind()) {
        let told = format!(
            "nothing was felt: not one of {} of {} under {} noticed its faults",
            count(cell.tally.runs as usize, "run"),
            row.label(),
            cell.class
        );
        return Err(Failure::Distrust(told));
    }
    Ok(if survey.as_expected() { Exit::AsExpected } else { Exit::Unexpected })
}

/// Witnesses of earlier sweeps for cells that have none now, with their pages.
fn gone(survey: &Survey) -> Vec<String> {
    let held = survey.cells().filter(|(_, cell)| cell.witness().is_none());
    held.flat_map(|(row, cell)| files::of_witness(&files::witness_name(&row.label(), cell.class))).collect()
}
