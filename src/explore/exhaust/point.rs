//! Where a fault can strike in a run that has been seen: its steps, numbered.

use crate::class::{KINDS, Kind};
use crate::id::{HostId, NodeId};
use crate::plan::{Fault, FaultPlan, Trigger};
use crate::scenario::Scenario;
use crate::step::Step;
use crate::time::{SimTime, Span};
use crate::trace::{Event, Phase, StepName, Trace};
use std::collections::{BTreeMap, BTreeSet};

/// A step that a node made in a run: its `nth` of this name, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Who made it.
    pub node: NodeId,
    /// Which one.
    pub step: Step,
    /// The how-manieth of this name that this node made.
    pub nth: u32,
    /// The record of the history with which it began.
    pub record: usize,
}

/// A place and a kind of fault: one plan.
#[derive(Clone, Copy)]
pub struct Point {
    /// Where.
    pub place: Place,
    /// What.
    pub kind: &'static Kind,
}

impl Point {
    /// The fault.
    pub fn fault(&self, scenario: &Scenario) -> Fault {
        let Place { node, step, nth, .. } = self.place;
        let when = Trigger::Step { step: step.name.to_owned(), phase: self.kind.phase, nth, node: Some(HostId::Node(node)) };
        self.kind.harm(scenario).when(when)
    }

    /// The fault alone.
    pub fn plan(&self, scenario: &Scenario) -> FaultPlan {
        FaultPlan::of([self.fault(scenario)])
    }
}

/// All steps of a run, in order.
pub fn places(trace: &Trace, steps: &[Step]) -> Vec<Place> {
    let mut counts: BTreeMap<(NodeId, StepName), u32> = BTreeMap::new();
    let mut places = Vec::new();
    for (record, seen) in trace.records().iter().enumerate() {
        let Event::Step { attempt, step: name, phase: Phase::Before } = seen.event else { continue };
        // A run in which a step is made that is not declared is refused, so there is nothing to miss.
        let Some(step) = steps.iter().find(|s| s.name == name) else { continue };
        let nth = counts.entry((attempt.node, name)).or_default();
        *nth += 1;
        places.push(Place { node: attempt.node, step: *step, nth: *nth, record });
    }
    places
}

/// Every kind at every place that it can strike, in the order of the places.
pub fn points(places: &[Place], kinds: &[&'static Kind], steps: &[Step]) -> Vec<Point> {
    let at = |place: &Place| {
        let place = *place;
        kinds.iter().filter(move |kind| kind.strikes(place.step, steps)).map(move |kind| Point { place, kind })
    };
    places.iter().flat_map(at).collect()
}

/// The kinds of the table's column, or all.
pub fn kinds(all: bool) -> Vec<&'static Kind> {
    KINDS.iter().filter(|kind| all || kind.core).collect()
}

/// Declared steps that nobody made.
pub fn unmade(places: &[Place], steps: &[Step]) -> Vec<StepName> {
    let made: BTreeSet<StepName> = places.iter().map(|place| place.step.name).collect();
    steps.iter().map(|step| step.name).filter(|name| !made.contains(name)).collect()
}

/// What a node does by itself: it looks, it begins, it is in a step. Everything else changes something for somebody.
fn is_quiet(event: &Event) -> bool {
    matches!(event, Event::Step { .. } | Event::Looked { .. } | Event::AttemptBegan { .. } | Event::AttemptEnded { .. })
}

/// What the world was like when a fault struck: which fault without its phase, which node, whether
/// a request was under way, and after how many changes.
type World = (&'static str, NodeId, bool, usize);

/// Which of these points of one history another one stands for, so that trying both shows nothing new:
///
/// * Before a step and after the one that the same node made before it, if less than a second passed
///   and nothing was recorded between but steps: then every store, every timer and everybody's
///   knowledge is the same at both.
/// * A step that the same node made before, as a poll does, if nothing was recorded since.
///
/// Returns the points that stand for themselves.
pub fn distinct(points: Vec<Point>, trace: &Trace) -> Vec<Point> {
    let records = trace.records();
    // How many records that change something stand before each.
    let loud: Vec<usize> = records
        .iter()
        .scan(0, |n, record| {
            let before = *n;
            *n += usize::from(!is_quiet(&record.event));
            Some(before)
        })
        .collect();
    let ends = |place: &Place| {
        let ended = |event: &Event| matches!(*event, Event::Step { attempt, step, phase: Phase::After } if attempt.node == place.node && step == place.step.name);
        records[place.record..].iter().position(|r| ended(&r.event)).map_or(place.record, |n| place.record + n)
    };
    let mut seen: BTreeMap<World, Vec<(StepName, Phase, SimTime)>> = BTreeMap::new();
    let stands_for_itself = |point: &Point| {
        let Point { place, kind } = point;
        let (record, family) = match kind.phase {
            Phase::Before => (place.record, kind.name.trim_end_matches("-before")),
            Phase::Sent => (place.record, kind.name),
            Phase::After => (ends(place), kind.name.trim_end_matches("-after")),
        };
        let at = records[record].at;
        let known = seen.entry((family, place.node, kind.phase == Phase::Sent, loud[record])).or_default();
        let close = |other: &SimTime| at.since(*other) < 1.seconds();
        let same = |(step, phase, when): &(StepName, Phase, SimTime)| {
            (*step, *phase) == (place.step.name, kind.phase) || (kind.phase != Phase::Sent && close(when))
        };
        let new = !known.iter().any(same);
        if new {
            known.push((place.step.name, kind.phase, at));
        }
        new
    };
    points.into_iter().filter(stands_for_itself).collect()
}
