//! What has been done of an enumeration, kept beside the reports so that the same command can go on from there.

use crate::cli::exhaust::ExhaustArgs;
use crate::cli::exhaust::order::Order;
use crate::cli::exit::Failure;
use crate::cli::progress::Units;
use crate::cli::stopwatch::Stopwatch;
use crate::cli::{CANCELLED, input, out};
use crate::explore::Shard;
use crate::explore::exhaust::{Done, Enumeration, Faults, Watch};
use crate::report::files::Folder;
use crate::report::words::thousands;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

/// How often it is kept, so that it can be continued after anything.
const KEEP_EVERY: Duration = Duration::from_secs(15);

/// Bytes of the longest file that is read.
const LONGEST: u64 = 512 * 1024 * 1024;

/// Where what has been done of one enumeration, or of a shard of it, is kept, in the reports folder.
pub fn partial_name(label: &str, faults: Faults, shard: Shard) -> String {
    let faults = if faults == Faults::Single { "single" } else { "pairs" };
    let part = if shard == Shard::WHOLE { String::new() } else { format!("--{}-of-{}", shard.number(), shard.of()) };
    format!("exhaust--{label}--{faults}{part}.partial.json")
}

/// What an enumeration is of. Two that differ in anything have nothing in common.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Head {
    onceproof: String,
    fingerprint: String,
    shard: Shard,
    label: String,
    seed: String,
    faults: Faults,
    kinds: Vec<String>,
    units: u64,
}

#[derive(Serialize, Deserialize)]
struct Partial {
    head: Head,
    done: Done,
}

/// An enumeration that can be broken off and continued.
pub struct Kept<'a> {
    folder: &'a Folder,
    reports: &'a Path,
    head: Head,
    shard: Shard,
    threads: usize,
    /// Whether somebody reads what is printed.
    told: bool,
}

impl<'a> Kept<'a> {
    /// That of one row, or of a shard of it.
    pub fn of(
        order: &Order,
        label: &str,
        enumeration: &Enumeration<'_>,
        shard: Shard,
        folder: &'a Folder,
        args: &'a ExhaustArgs,
    ) -> Kept<'a> {
        let head = Head {
            onceproof: env!("CARGO_PKG_VERSION").to_owned(),
            fingerprint: enumeration.digest().to_string(),
            shard,
            label: label.to_owned(),
            seed: order.seed.to_string(),
            faults: order.faults,
            kinds: order.kinds.iter().map(|kind| kind.name.to_owned()).collect(),
            units: enumeration.units(),
        };
        Kept { folder, reports: &args.reports, head, shard, threads: order.threads, told: !args.json }
    }

    fn name(&self) -> String {
        partial_name(&self.head.label, self.head.faults, self.shard)
    }

    /// What was kept by an earlier run of the same command; nothing if there is none, or if it is of something else.
    fn earlier(&self) -> Result<Done, Failure> {
        let path = self.reports.join(self.name());
        if !path.exists() {
            return Ok(Done::default());
        }
        let unreadable =
            |why: &dyn ToString| Failure::Usage(format!("{}: {}; remove the file to begin anew", path.display(), why.to_string()));
        let partial: Partial = serde_json::from_str(&input::read(&path, "results", LONGEST)?).map_err(|e| unreadable(&e))?;
        if partial.head != self.head {
            return Err(unreadable(&"it was begun with another version or build, another seed or other kinds, and cannot be continued so"));
        }
        let felt = partial.done.kinds.values().all(|tally| tally.apart.felt <= tally.apart.runs);
        if !felt || partial.done.units.iter().any(|unit| *unit >= self.head.units || !self.shard.has(*unit)) {
            return Err(unreadable(&"it holds what no run of this command can have written"));
        }
        Ok(partial.done)
    }

    fn keep(&self, done: &Done) -> Result<(), Failure> {
        let partial = Partial { head: self.head.clone(), done: done.clone() };
        let text = serde_json::to_string(&partial).expect("what was done has only values that JSON knows");
        self.folder.replace(&[(self.name(), text)], &[]).map_err(Failure::usage)
    }

    /// Does what is left. Tells all that is done then, and how many runs of it an earlier run of the command has made.
    pub fn go_on(&self, enumeration: &Enumeration<'_>, title: &str) -> Result<(Done, u64), Failure> {
        let earlier = self.earlier()?;
        let before = earlier.runs().runs;
        let mine = self.shard.share(0..enumeration.units());
        if !earlier.units.is_empty() && self.told {
            let kept = format!("going on after {} of {} units\n\n", thousands(earlier.units.len() as u64), thousands(mine));
            out::print(&kept)?;
        }
        let bar = Units::new(mine);
        let watch = Stopwatch::start();
        let kept = Mutex::new((Duration::ZERO, Ok(())));
        let progress = |done: &Done| {
            bar.show(done.units.len() as u64, format!("{title}  {} runs", thousands(done.runs().runs)));
            let mut kept = kept.lock().expect("nothing here panics");
            if watch.elapsed() >= kept.0 + KEEP_EVERY {
                *kept = (watch.elapsed(), self.keep(done));
            }
        };
        let done =
            enumeration.run(earlier, |unit| self.shard.has(unit), self.threads, &Watch { cancelled: &CANCELLED, progress: &progress });
        bar.end();
        let done = done?;
        kept.into_inner().expect("nothing here panics").1?;
        if (done.units.len() as u64) < mine {
            if done.units.is_empty() {
                return Err(Failure::Interrupted);
            }
            self.keep(&done)?;
            return Err(Failure::Suspended(format!(
                "interrupted; {} of {} units of {} are kept in {}: the same command goes on from there",
                thousands(done.units.len() as u64),
                thousands(mine),
                self.head.label,
                self.reports.join(self.name()).display()
            )));
        }
        // A later row may be interrupted, and this one need not be done again.
        if self.head.faults == Faults::Pairs {
            self.keep(&done)?;
        }
        Ok((done, before))
    }
}
