//! Every profile undisturbed, under a fault that its documentation or a public report says it
//! survives, and under one that they say it does not.

use crate::stage::{N0, before, both_of, boundary, crash, cut, fault, pause};
use onceproof::id::{HostId, Letter};
use onceproof::plan::{FaultPlan, Harm, Trigger};
use onceproof::profile;
use onceproof::time::Span;

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
    ]
}

#[test]
fn profiles_break_as_documented_and_reported() {
    let said = said();
    assert_eq!(said.len(), profile::all().len(), "a profile about which nothing is said");
    for Said { profile, survives, breaks, letters } in said {
        let scenario = profile::find(profile).expect("a profile").scenario().of_one_period();
        both_of(&scenario, &FaultPlan::none(), |played| played.holds());
        both_of(&scenario, &survives, |played| played.holds());
        both_of(&scenario, &breaks, |played| played.breaks(letters));
    }
}
