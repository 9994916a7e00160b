//! Where a fault can strike in a run that has been seen: its steps, numbered.

use crate::class::{KINDS, Kind};
use crate::id::{HostId, NodeId};
use crate::plan::{Fault, FaultPlan, Trigger};
use crate::scenario::Scenario;
use crate::step::Step;
use crate::time::Span;
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

/// So many times that a node makes a step after a first fault, a second one is tried there.
pub const SOON: usize = 8;

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

/// Which of these points of one history another one stands for, so that trying both shows nothing new: a
/// crash, a power cut or a pause before a step is the same as after the step that its node made before, if
/// the one record stands directly behind the other and less than a second lies between them. Then no
/// request was under way, nobody did anything meanwhile, and no lease ran out; the node has done what it
/// does between two steps, and nobody has seen it.
///
/// Returns the points that stand for themselves.
pub fn distinct(points: &[Point], trace: &Trace) -> Vec<Point> {
    let records = trace.records();
    let tried: BTreeSet<(usize, &str)> = points.iter().map(|point| (point.place.record, point.kind.name)).collect();
    // The places of each node, in order.
    let mut made: BTreeMap<NodeId, Vec<Place>> = BTreeMap::new();
    for Point { place, .. } in points {
        let places = made.entry(place.node).or_default();
        if places.last() != Some(place) {
            places.push(*place);
        }
    }
    let stands_behind_another = |point: &Point| {
        let (Phase::Before, Some(stem)) = (point.kind.phase, point.kind.name.strip_suffix("-before")) else { return false };
        let Some(previous) = point.place.record.checked_sub(1).map(|n| records[n]) else { return false };
        let Event::Step { attempt, step, phase: Phase::After } = previous.event else { return false };
        let earlier = made[&point.place.node].iter().rfind(|place| place.record < point.place.record);
        let is_its = |place: &Place| attempt.node == place.node && place.step.name == step;
        // The step before it has to be among the points: it may have been made before the first fault struck.
        earlier.is_some_and(|place| is_its(place) && tried.contains(&(place.record, &*format!("{stem}-after"))))
            && records[point.place.record].at.since(previous.at) < 1.seconds()
    };
    points.iter().filter(|point| !stands_behind_another(point)).copied().collect()
}

/// Of the points after a first fault, those at the first few times that a node makes a step: a node that polls makes
/// the same step hundreds of times.
pub fn soon(points: Vec<Point>) -> Vec<Point> {
    let mut met: BTreeMap<(NodeId, StepName), BTreeSet<u32>> = BTreeMap::new();
    let among_the_first = |point: &Point| {
        let times = met.entry((point.place.node, point.place.step.name)).or_default();
        times.insert(point.place.nth);
        times.len() <= SOON
    };
    points.into_iter().filter(among_the_first).collect()
}
