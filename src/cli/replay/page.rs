//! The page of a run that is replayed.

use super::Told;
use crate::class::FaultClass;
use crate::cli::exit::Failure;
use crate::cli::{CANCELLED, listen_for_interrupts, pages};
use crate::explore::{Observed, Subject, Witness};
use crate::report::files::{self, Folder};
use crate::report::twin::Twin;
use crate::report::twins;
use crate::report::words::quoted;
use crate::seed::Seed;
use crate::world::EngineKind;
use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;

impl Told {
    /// Writes it, and the front page; tells where.
    pub(super) fn write(&self, seen: &Observed, folder: &Folder, reports: &Path) -> Result<String, Failure> {
        let twin = Twin { before: self.before(reports), ..self.twin(seen) };
        let mut all = pages::of(&self.name, &twin).to_vec();
        all.push(pages::index(reports, &all, &[]));
        // From here on an interrupt leaves either all files or none.
        listen_for_interrupts();
        if CANCELLED.load(Ordering::SeqCst) {
            return Err(Failure::Interrupted);
        }
        folder.replace(&all, &[]).map_err(Failure::usage)?;
        Ok(reports.join(files::page_name(&self.name)).display().to_string())
    }

    fn twin(&self, seen: &Observed) -> Twin {
        let made = || Witness::of(Subject::scenario(&self.deployment), self.class, self.engine, &self.plan, seen, &[]);
        let witness = self.witness.clone().unwrap_or_else(made);
        twins::twin(&twins::Told {
            subject: &self.deployment,
            usual: &self.usual,
            plan: &self.plan,
            seen,
            witness: &witness,
            rule: self.what_broke(seen).map(|finding| finding.rule),
            replay: self.replay.clone(),
        })
    }

    /// The run before it was shrunk: a witness does not hold that, but the page that is there may.
    fn before(&self, reports: &Path) -> Option<Box<Twin>> {
        let witness = self.witness.as_ref().filter(|witness| witness.shrunk_from.is_some())?;
        let text = fs::read_to_string(reports.join(files::twin_name(&self.name))).ok()?;
        let there: Twin = serde_json::from_str(&text).ok()?;
        there.before.filter(|_| there.digest == witness.digest.to_string())
    }
}

/// Where a witness with the name of this file would be, in the reports folder; another name, if another witness is there.
pub(super) fn name_of(path: &Path, reports: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let name = format!("witnesses/{stem}.toml");
    let taken = reports.join(&name).exists() && !files::are_same(path, &reports.join(&name));
    if taken { format!("witnesses/replay--{stem}.toml") } else { name }
}

/// Where the witness of a run would be that is replayed by names, in the reports folder.
pub(super) fn name(usual: &dyn Subject, engine: EngineKind, class: FaultClass, seed: Seed, pinned: bool) -> String {
    let label = usual.scenario().database.rules.label(usual.strategy().name());
    let pinned = if pinned { "--pinned" } else { "" };
    let engine = if engine == EngineKind::Event { String::new() } else { format!("--{}", engine.name()) };
    format!("witnesses/replay--{label}--{class}--{seed}{pinned}{engine}.toml")
}

/// The command that replays a file. Where it is on this machine is nobody's business, and one of the reports is found
/// from inside of their folder, as the sweep says.
pub(super) fn command(path: &Path, reports: &Path) -> String {
    let name = name_of(path, reports);
    if reports.join(&name).exists() && files::are_same(path, &reports.join(&name)) {
        return pages::replay(&name);
    }
    let path = if path.is_absolute() { Path::new(path.file_name().unwrap_or_default()) } else { path };
    format!("onceproof replay {}", quoted(&path.display().to_string()))
}
