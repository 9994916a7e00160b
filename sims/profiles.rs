//! Every profile undisturbed, under a fault that its documentation or a public report says it
//! survives, and under one that they say it does not.

use crate::stage::{N0, Played, after, before, both_of, boundary, crash, cut, fault, pause};
use onceproof::id::{HostId, Letter};
use onceproof::plan::{Direction, FaultPlan, Harm, Target, Trigger};
use onceproof::profile;
use onceproof::time::Span;
use onceproof::trace::Phase;

/// Every node dies three seconds before the boundary, and is back five minutes later.
fn restart() -> FaultPlan {
    let down = Harm::Crash { host: Target::AllNodes, back_after: 5.minutes() };
    fault(down, Trigger::At { at_ms: boundary() - 3.seconds() })
}

/// n0 cannot ask who leads, the first time; and whoever records a tick first takes half a minute for it.
fn n0_cannot_ask() -> FaultPlan {
    let cut = Harm::Partition { host: N0, from: Target::Host(HostId::Lease), direction: Direction::Both, lasts: 10.minutes() };
    let asks = Trigger::Step { step: "lease.acquire".to_owned(), phase: Phase::Before, nth: 1, node: Some(HostId::node(0)) };
    FaultPlan::of([cut.when(asks), Harm::SlowStep { extra: 30.seconds() }.when(before("tick.record"))])
}

/// One node's clock is fast by more than the job takes.
fn fast_clock() -> FaultPlan {
    FaultPlan::of([Harm::ClockOffset { host: N0, by_ms: 270_000 }.when(Trigger::start())])
}

/// What a profile survives, and what breaks it.
struct Said {
    profile: &'static str,
    survives: FaultPlan,
    breaks: FaultPlan,
    letters: &'static [Letter],
}

/// One node's clock is slow by more than the job takes.
fn slow_clock() -> FaultPlan {
    FaultPlan::of([Harm::ClockOffset { host: N0, by_ms: -270_000 }.when(Trigger::start())])
}

fn said() -> Vec<Said> {
    vec![
        // README: a node that is refused does not wait. The lock is released when the task has finished (ShedLock#6, whois#915).
        Said {
            profile: "shedlock",
            survives: fault(pause(40.minutes()), before("work.3")),
            breaks: fault(Harm::Pause { host: N0, lasts: 40.minutes() }, Trigger::At { at_ms: boundary() - 2.minutes() }),
            letters: &[Letter::D],
        },
        // README: the least time is there against differences between clocks. A task whose node dies is not run by another.
        Said {
            profile: "shedlock-db-time",
            survives: slow_clock(),
            breaks: fault(crash(5.minutes()), before("work.3")),
            letters: &[Letter::L],
        },
        // The watchdog lets go of the lock of a dead instance. A holder whose renewals fail goes on (redisson#5698, #3194).
        Said {
            profile: "redisson",
            survives: fault(crash(5.minutes()), before("work.3")),
            breaks: fault(cut(HostId::Lease, 40.minutes()), before("work.1")),
            letters: &[Letter::D, Letter::S],
        },
        // README: dead executions are found and run again. One that only seems dead goes on too (db-scheduler#365, #433).
        Said {
            profile: "db-scheduler",
            survives: fault(crash(5.minutes()), before("work.3")),
            breaks: fault(pause(40.minutes()), before("work.3")),
            letters: &[Letter::D, Letter::S],
        },
        // What a dead node had acquired is set free. A mark that cycles is no proof of the time that was read (quartz#107, #29).
        Said {
            profile: "quartz",
            survives: fault(crash(5.minutes()), after("trigger.acquire")),
            breaks: fault(Harm::SlowStep { extra: 2.minutes() }, before("trigger.acquire")),
            letters: &[Letter::D],
        },
        // One trigger at a time under the lock. What is in the ring of a centre that dies is not triggered (xxl-job#3369).
        Said {
            profile: "xxl-job",
            survives: fault(pause(40.minutes()), before("work.3")),
            breaks: fault(crash(5.minutes()), after("trigger.commit")),
            letters: &[Letter::L],
        },
        // The schedule is in Redis, and a beat that starts looks back. One that could not ask sends without the lock (redbeat#208).
        Said { profile: "redbeat", survives: restart(), breaks: n0_cannot_ask(), letters: &[Letter::D] },
        // A leader that was away stands down. Only durable jobs keep their times over restarts (docs, sidekiq#6804).
        Said { profile: "river", survives: fault(pause(40.minutes()), before("work.3")), breaks: restart(), letters: &[Letter::L] },
        // Missed times are looked for, each under a name of its own. The controller goes by its own clock.
        Said { profile: "kubernetes-cronjob", survives: restart(), breaks: fast_clock(), letters: &[Letter::E] },
    ]
}

#[test]
fn profiles_break_as_documented_and_reported() {
    let said = said();
    assert_eq!(said.len(), profile::all().len(), "a profile about which nothing is said");
    for Said { profile, survives, breaks, letters } in said {
        let scenario = profile::find(profile).expect("a profile").scenario().of_one_period();
        both_of(&scenario, &FaultPlan::none(), Played::holds);
        both_of(&scenario, &survives, Played::holds);
        both_of(&scenario, &breaks, |played| played.breaks(letters));
    }
}
