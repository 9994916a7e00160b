//! Which advice fits what broke.

use crate::class::FaultClass;
use crate::deployment_file::DeploymentFile;
use crate::deployment_file::checks::{kept_for_less_than, longest_job};
use crate::deployment_file::terms::{Constant, terms};
use crate::explore::Mark;
use crate::explore::advice::{Advice, Change, literal};
use crate::id::Letter;
use crate::plan::duration;
use crate::scenario::Misfire;
use crate::strategy::{self, Policy};
use crate::time::Span;
use std::time::Duration;

/// The longest stop that the classes pause and slow draw: a step that takes so much longer.
const LONGEST_STOP: Duration = Duration::from_mins(43);

const D: Mark = Mark::Letter(Letter::D);
const TWO: Mark = Mark::Letter(Letter::Two);
const L: Mark = Mark::Letter(Letter::L);
const K: Mark = Mark::Letter(Letter::K);
const C: Mark = Mark::Letter(Letter::C);
const E: Mark = Mark::Letter(Letter::E);
const S: Mark = Mark::Letter(Letter::S);

/// Another guard that does not make a mistake that these make.
struct Swap {
    name: &'static str,
    /// Guards that make it; all that keep nothing in the settlement transaction, if none is named.
    from: &'static [&'static str],
    marks: &'static [Mark],
    to: &'static str,
    say: &'static str,
}

const SWAPS: &[Swap] = &[
    Swap {
        name: "repetition",
        from: &["lease-set-px-retry", "lease-row", "leader"],
        marks: &[D, TWO, S],
        to: "table-key",
        say: "a lease excludes overlap, not repetition: add a unique key on (period), and insert it in the same transaction as the work",
    },
    Swap {
        name: "unique-key-apart",
        from: &["table-key-marker-first-apart", "table-key-marker-last-apart"],
        marks: &[D, TWO, L, K, C, S],
        to: "table-key",
        say: "the unique key must be inserted in the same transaction as the work: then both are there, or neither is",
    },
    Swap {
        name: "check-then-act",
        from: &["table-key-check-only", "no-guard", "local-mutex", "queue-marker"],
        marks: &[D, TWO, S],
        to: "table-key",
        say: "looking first, or a lock inside one process, excludes no other node: add a unique key on (period), and insert it in the same transaction as the work",
    },
    Swap {
        name: "heed-the-error",
        from: &["table-key-ignores-error"],
        marks: &[D, TWO, C, S],
        to: "table-key",
        say: "whoever meets the unique key must roll back: end the transaction where the insert changed no row",
    },
    Swap {
        name: "one-command",
        from: &["lease-setnx-expire"],
        marks: &[K, L],
        to: "lease-set-px-checked",
        say: "take the lease and its expiry with one command, SET NX PX, and ask again when you were refused",
    },
    Swap {
        name: "ask-again",
        from: &["lease-set-px"],
        marks: &[L, K],
        to: "lease-set-px-checked",
        say: "one attempt a period is lost with the node that made it: ask again, and read first whether it is done",
    },
    Swap {
        name: "tell-the-worker",
        from: &["lease-watchdog-silent"],
        marks: &[D, TWO, S],
        to: "lease-watchdog",
        say: "the worker has to be told when a renewal fails, and to stop",
    },
    Swap {
        name: "stop-renewing",
        from: &["lease-watchdog-orphan"],
        marks: &[L, K],
        to: "lease-watchdog",
        say: "the renewal has to end with the worker, also with one that failed",
    },
    Swap {
        name: "check-the-owner",
        from: &["lease-watchdog-unowned", "lease-machine-id"],
        marks: &[D, TWO, S],
        to: "lease-watchdog",
        say: "compare the owner and renew or delete in one step: what is there may be somebody else's lease by now",
    },
    Swap {
        name: "fence",
        from: &[
            "lease-watchdog",
            "lease-watchdog-silent",
            "lease-watchdog-orphan",
            "lease-watchdog-unowned",
            "lease-machine-id",
            "lease-set-px",
            "lease-set-px-checked",
            "lease-setnx-expire",
        ],
        marks: &[D, TWO, S],
        to: "lease-fenced",
        say: "whoever holds a lease may be stopped until it is somebody else's, and cannot know it: give each grant a number, and let the settlement transaction check that its own is the newest and the period is not done",
    },
    Swap {
        name: "quorum-does-not-fence",
        from: &["redlock"],
        marks: &[D, TWO, S],
        to: "lease-fenced",
        say: "a quorum says who may begin, not who may commit, and does not fence: give each grant a number, and let the settlement transaction check that its own is the newest and the period is not done",
    },
    Swap {
        name: "let-the-log-decide",
        from: &["consensus-lease"],
        marks: &[D, TWO, S],
        to: "consensus-log",
        say: "consensus says who may begin, not who may commit: let the log decide each period once, and the database carry that decision out once",
    },
    Swap {
        name: "acknowledge-last",
        from: &["queue-consumer"],
        marks: &[D, TWO, L, K, S],
        to: "queue-reliable",
        say: "a task that is taken out of the queue before it is done is lost with whoever took it: acknowledge behind the effect, put in again what was never acknowledged, and let a unique key in the transaction refuse what comes twice",
    },
    Swap {
        name: "recover",
        from: &["two-phase-commit-no-recovery"],
        marks: &[L, K],
        to: "two-phase-commit",
        say: "what is prepared and in doubt keeps its locks until somebody ends it: write the decision down, and let any node carry it out",
    },
    Swap {
        name: "look-back",
        from: &["leader"],
        marks: &[L, K],
        to: "table-key",
        say: "a leader knows what is due from its memory, and what is missed between two leaders nobody knows: ask the database at every poll which periods have ended and are not done",
    },
    Swap {
        name: "ask-what-is-undone",
        from: &["lease-row", "slot-key"],
        marks: &[L, K],
        to: "table-key",
        say: "a row or key that is taken before the work says that somebody began, not that he is done: ask again until the work itself is there",
    },
    Swap {
        name: "fired-is-not-done",
        from: &["row-lock"],
        marks: &[L, K],
        to: "table-key",
        say: "between the commit that advances the schedule and that of the work only one process knows that something is due: let the work's own transaction say that the period is done",
    },
    Swap {
        name: "silence-is-not-death",
        from: &["dispatch-center"],
        marks: &[D, TWO, L, K, S],
        to: "table-key",
        say: "a node that was not heard of may be at work, and a centre forgets what it has handed out: let a unique key on (period) in the transaction of the work decide, and nodes ask what is not done",
    },
    Swap {
        name: "outlive-the-session",
        from: &["advisory-lock"],
        marks: &[D, TWO, L, K, S],
        to: "table-key",
        say: "a session's lock goes with its connection, its holder is not told, and one that fell silent keeps it: insert a unique key on (period) in the transaction of the work",
    },
    Swap {
        name: "take-over",
        from: &["version-published"],
        marks: &[L, K],
        to: "version-reclaim",
        say: "a claim needs a heartbeat, and somebody who takes it over when that is old; the attempt's number is checked in the transaction",
    },
    Swap {
        name: "take-over-both",
        from: &["dual-published"],
        marks: &[L, K, D, TWO],
        to: "dual-guard",
        say: "a claim needs a heartbeat, and somebody who takes it over when that is old, beside a lease that is compared before it is deleted",
    },
    Swap {
        name: "fence-the-claim",
        from: &["version-reclaim-unfenced", "version-timestamp"],
        marks: &[D, TWO, L, K, S],
        to: "version-reclaim",
        say: "a claim that was taken over must not commit: the transaction ends with an update that names the attempt, and rolls back if it changed no row",
    },
    Swap {
        name: "one-transaction",
        from: &[],
        marks: &[D, C, E, S],
        to: "table-key",
        say: "let the database decide: insert a unique key on (period) in the transaction that does the work, ask its clock there whether the period has ended, and mark there what was counted",
    },
    Swap {
        name: "nothing-left-behind",
        from: &[],
        marks: &[K],
        to: "table-key",
        say: "whatever a node can leave behind needs an end of its own, a lease an expiry and a claim somebody who takes it over; what is inserted in the transaction ends with it",
    },
    Swap {
        name: "outbox",
        from: &[],
        marks: &[TWO, L],
        to: "table-key",
        say: "what is to be paid belongs into a row of the same transaction, delivered by any node with an idempotency key: then a crash neither loses nor repeats it",
    },
];

/// What fits a deployment in which these broke, each advice with what it should cure. All of it can be written in the file.
pub fn advise(file: &DeploymentFile, broken: &[(FaultClass, Mark)]) -> Vec<Advice> {
    let all = constants(file, broken).into_iter().chain(settings(file, broken)).chain(swaps(file, broken));
    all.filter(|advice| literal::told(file, &advice.change).is_some()).collect()
}

/// Other constants of the same guard.
fn constants(file: &DeploymentFile, broken: &[(FaultClass, Mark)]) -> Vec<Advice> {
    let terms = terms(file.guard.name());
    if terms.decided_in_transaction {
        return Vec::new();
    }
    let text = duration::text;
    let get = |constant: Constant| (constant.get)(&file.scenario);
    let longest = longest_job(&file.scenario);
    let need = longest + LONGEST_STOP + 2.minutes();
    let sum = format!(
        "the longest job ({}) plus the longest stop that you want to survive ({} were tried), and two minutes",
        text(longest),
        text(LONGEST_STOP)
    );
    let under = |classes: &[FaultClass], marks: &[Mark]| -> Vec<(FaultClass, Mark)> {
        broken.iter().copied().filter(|(class, mark)| classes.contains(class) && marks.contains(mark)).collect()
    };
    let mut advice = Vec::new();
    let slow = under(&[FaultClass::Calm, FaultClass::Pause, FaultClass::Slow], &[D, TWO, S]);
    let mut hold = |name, say: String, change| advice.push(Advice { name, say, change, cures: slow.clone() });
    match (terms.ttl.map(get), terms.at_least.map(get), terms.stale_after.map(get)) {
        _ if slow.is_empty() => {}
        (Some(ttl), Some(least), _) if least < need && kept_for_less_than(&file.scenario).is_none_or(|period| need < period) => hold(
            "keep-longer",
            format!("keep the row at least {}, also after the job: {sum}; by the next period it is free again", text(need)),
            Change::AtLeast { least: need, ttl: ttl.max(need) },
        ),
        // Under retry the next node repeats the job as soon as the holder lets go, however long it might have held on.
        (Some(ttl), None, _) if ttl < need && terms.renew_every.is_none() && file.policy() != Policy::Retry => {
            hold("hold-longer", format!("hold the lease at least {}: {sum}; whoever dies holds it as long", text(need)), Change::Ttl(need));
        }
        (None, _, Some(stale)) if stale < need && terms.heartbeat.is_none() => hold(
            "wait-longer",
            format!("wait at least {} before the work is given to another: {sum}; what died is waited for as long", text(need)),
            Change::StaleAfter(need),
        ),
        _ => {}
    }
    if let (Some(ttl), Some(renew)) = (terms.ttl.map(get), terms.renews_every(&file.scenario)) {
        let third = (ttl / 3).max(1.ms());
        let cures = under(&FaultClass::ALL, &[D, L, S]);
        if renew * 2 >= ttl && !cures.is_empty() {
            let say = format!(
                "your renewal period leaves no margin: renew every {}, a third of the ttl, so that two renewals may fail",
                text(third)
            );
            advice.push(Advice { name: "renew-earlier", say, change: Change::RenewEvery(third), cures });
        }
    }
    advice
}

/// The same guard, deployed otherwise.
fn settings(file: &DeploymentFile, broken: &[(FaultClass, Mark)]) -> Vec<Advice> {
    let scenario = &file.scenario;
    let lag = scenario.database.replica_lag;
    let unlike =
        scenario.overrides.iter().any(|other| other.zone.is_some() || other.cron.is_some() || other.unscheduled || other.elsewhere);
    [
        (
            !lag.is_zero(),
            "read-inside",
            format!(
                "what a replica shows is {} old: read what you act on inside the transaction that acts, or from the primary",
                duration::text(lag)
            ),
            Change::Primary,
            &[D, TWO, S][..],
        ),
        (
            scenario.node.misfire.policy != Misfire::FireAll,
            "make-up",
            "what was missed is not made up for: let nodes that come late do what is not done".to_owned(),
            Change::MakeUp,
            &[L, K],
        ),
        (
            scenario.node.policy.is_some(),
            "own-policy",
            "let nodes do after an attempt what the guard is made for".to_owned(),
            Change::Policy(file.guard.policy()),
            &[D, TWO, L, K, S],
        ),
        (
            unlike,
            "one-configuration",
            "nodes that take the schedule for another, or work for another environment, do not share a guard: configure all of them alike"
                .to_owned(),
            Change::Alike,
            &[D, TWO, L, K, C, E, S],
        ),
    ]
    .into_iter()
    .filter(|(applies, ..)| *applies)
    .map(|(_, name, say, change, marks)| Advice {
        name,
        say,
        change,
        cures: broken.iter().copied().filter(|(_, mark)| marks.contains(mark)).collect(),
    })
    .filter(|advice| !advice.cures.is_empty())
    .collect()
}

/// Other guards.
fn swaps(file: &DeploymentFile, broken: &[(FaultClass, Mark)]) -> Vec<Advice> {
    let (guard, rules) = (file.guard, file.scenario.database.rules);
    let of = |swap: &Swap| {
        let fits = if swap.from.is_empty() { !terms(guard.name()).decided_in_transaction } else { swap.from.contains(&guard.name()) };
        let cures: Vec<(FaultClass, Mark)> = broken.iter().copied().filter(|(_, mark)| swap.marks.contains(mark)).collect();
        let to = strategy::find(swap.to).filter(|to| to.runs_under(rules) && to.name() != guard.name())?;
        if !fits || cures.is_empty() {
            return None;
        }
        let change = Change::Guard(to);
        Some(Advice { name: swap.name, say: swap.say.to_owned(), change, cures })
    };
    let mut advice: Vec<Advice> = SWAPS.iter().filter_map(of).collect();
    // The same change is advised once, by the first that fits, for all that it should cure.
    let mut n = 0;
    while n < advice.len() {
        let line = advice[n].change.line();
        let again = advice[..n].iter().position(|earlier| earlier.change.line() == line);
        match again {
            Some(first) => {
                let later = advice.remove(n);
                let new: Vec<_> = later.cures.into_iter().filter(|cure| !advice[first].cures.contains(cure)).collect();
                if !new.is_empty() {
                    advice[first].say = format!("{}; and {}", advice[first].say, later.say);
                    advice[first].cures.extend(new);
                }
            }
            None => n += 1,
        }
    }
    advice
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A guard that is renamed must be renamed here.
    #[test]
    fn every_guard_that_is_named_exists() {
        for name in SWAPS.iter().flat_map(|swap| swap.from.iter().chain([&swap.to])) {
            assert!(strategy::find(name).is_some(), "there is no guard {name}");
        }
    }

    /// Whatever a published guard must break, there is an advice for it.
    #[test]
    fn there_is_an_advice_for_everything_that_must_break() {
        use crate::scenario::Rules;
        use crate::strategy::Expectation;
        for guard in strategy::catalogue() {
            let file = DeploymentFile::read("t", &format!("guard = \"{}\"\n", guard.name())).unwrap();
            for claim in guard.expectations(Rules::default()) {
                let Expectation::Must { class, letters, .. } = claim else { continue };
                for letter in letters {
                    let broken = (class, Mark::Letter(*letter));
                    let advice = advise(&file, &[broken]);
                    assert!(advice.iter().any(|a| a.cures.contains(&broken)), "{} under {class} breaks {letter}: no advice", guard.name());
                }
            }
        }
    }
}
