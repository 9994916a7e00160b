//! Makes a [`Twin`] of a run: what its page shows, worked out from its history once.
//!
//! Each file here makes one of its lists. What all of them need is a `View`: the records, the
//! transactions and clocks found in them, and the hosts that took part.

mod bands;
mod beats;
mod beliefs;
mod claims;
mod clocks;
mod cuts;
mod head;
mod leases;
mod log;
mod messages;
mod most;
mod ticks;
mod view;
mod wrong;

use crate::explore::{Observed, Subject, Witness};
use crate::plan::FaultPlan;
use crate::report::twin::{FORMAT, Twin};
use crate::report::{knobs, regression};
use crate::scenario::Scenario;
use crate::time::zone_name;
use view::View;

/// A run of which a twin is to be made.
pub struct Told<'a> {
    /// What it was made on.
    pub subject: &'a dyn Subject,
    /// The deployment that this varies.
    pub usual: &'a Scenario,
    /// What went wrong.
    pub plan: &'a FaultPlan,
    /// The run.
    pub seen: &'a Observed,
    /// The same, as it is kept.
    pub witness: &'a Witness,
    /// The rule for whose sake; the worst that broke if it is not said.
    pub rule: Option<&'a str>,
    /// The command that replays it.
    pub replay: String,
}

/// The twin of a run.
pub fn twin(told: &Told<'_>) -> Twin {
    let Told { subject, seen, witness, .. } = *told;
    let (scenario, calendar) = (subject.scenario(), subject.calendar());
    let view = View::of(told);
    let leases = leases::held(&view);
    let rule = view.finding.map(|finding| finding.rule);
    Twin {
        format: FORMAT,
        onceproof: env!("CARGO_PKG_VERSION").to_owned(),
        label: scenario.database.rules.label(subject.strategy().name()),
        about: subject.strategy().about().to_owned(),
        faults: witness.faults.to_string(),
        seed: witness.seed.to_string(),
        engine: witness.engine.name().to_owned(),
        time_scale: scenario.time_scale,
        digest: seen.run.trace.digest().to_string(),
        zone: zone_name(&calendar.zone),
        origin_unix_ms: calendar.origin.0.0,
        ends_ms: view.ends.0,
        events: view.records.len(),
        sentence: witness.sentence.clone(),
        because: witness.because.clone(),
        violations: head::violations(&view),
        knobs: knobs::drawn(scenario, told.usual).iter().map(head::knob).collect(),
        plan: head::plan(&view),
        replay: told.replay.clone(),
        test: rule.map(|rule| regression::test(witness, rule)).unwrap_or_default(),
        hosts: view.hosts.iter().map(|host| host.told()).collect(),
        boundaries: head::boundaries(calendar),
        bands: bands::bands(&view),
        cuts: cuts::cuts(&view),
        beliefs: beliefs::beliefs(&view, &leases),
        leases: most::of(leases, most::LEASES, &view, |held| held.from.0).iter().map(leases::Held::told).collect(),
        messages: messages::messages(&view),
        ticks: ticks::ticks(&view),
        clocks: clocks::clocks(&view),
        beats: beats::beats(&view),
        shrunk: head::shrunk(witness),
        before: None,
    }
}

/// Its file.
///
/// # Panics
/// Never: everything in a twin can be written as JSON.
pub fn json(twin: &Twin) -> String {
    serde_json::to_string(twin).expect("a twin has only values that JSON knows") + "\n"
}

#[cfg(test)]
mod tests;
