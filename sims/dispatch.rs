//! A centre gives each run to one node, hears nothing, and gives it to another.

use crate::stage::{Played, before, both, fault};
use onceproof::id::{HostId, Letter};
use onceproof::plan::{FaultPlan, Harm, Target};
use onceproof::time::Span;
use onceproof::trace::{Belief, Event};

fn dispatches(played: &Played) -> usize {
    played.count(|e| matches!(e, Event::Dispatched { .. }))
}

/// The control: as long as it hears in time, each run is one node's.
#[test]
fn a_run_is_given_to_one_node() {
    both("dispatch-center", &FaultPlan::none(), |played| {
        assert_eq!((dispatches(played), played.settlements(), played.believed(Belief::Settled)), (1, 1, 1));
        played.holds();
    });
}

/// The job takes 45 minutes. After ten the centre calls it failed, and another node settles beside it.
#[test]
fn a_slow_run_is_given_to_a_second_node() {
    both("dispatch-center", &fault(Harm::SlowStep { extra: 45.minutes() }, before("work.3")), |played| {
        assert!(dispatches(played) > 1);
        assert_eq!(played.settlements(), 2);
        played.breaks(&[Letter::D]);
    });
}

/// A node dies with its run. The timeout is right this time, and the period is settled by another.
#[test]
fn a_dead_nodes_run_is_given_to_another() {
    both("dispatch-center", &fault(Harm::Crash { host: Target::Self_, back_after: 40.minutes() }, before("work.3")), |played| {
        assert_eq!((dispatches(played), played.settlements()), (2, 1));
        played.holds();
    });
}

/// A node dies with its run and is soon back: it waits for the timeout as the others do, who asked all along.
#[test]
fn a_node_that_comes_back_is_given_its_run_no_sooner() {
    both("dispatch-center", &fault(Harm::Crash { host: Target::Self_, back_after: 1.minutes() }, before("work.3")), |played| {
        let given: Vec<_> = played.records().iter().filter(|r| matches!(r.event, Event::Dispatched { .. })).map(|r| r.at).collect();
        let [first, again] = given[..] else { panic!("given {} times", given.len()) };
        let timeout = played.scenario().centre.timeout;
        assert!(again.since(first) >= timeout, "given again after {:?}, timeout {timeout:?}", again.since(first));
        assert_eq!(played.settlements(), 1);
        played.holds();
    });
}

/// The centre dies in the middle of a job and forgets its run: whoever has it settles, and the others find nothing to do.
#[test]
fn a_centre_that_forgets_gives_nothing_twice() {
    let harm = Harm::Crash { host: Target::Host(HostId::Centre), back_after: 5.minutes() };
    both("dispatch-center", &fault(harm, before("work.3")), |played| {
        assert_eq!((dispatches(played), played.settlements()), (1, 1));
        played.holds();
    });
}
