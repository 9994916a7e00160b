//! Which advice fits what broke.

use crate::class::FaultClass;
use crate::deployment_file::DeploymentFile;
use crate::deployment_file::checks::longest_job;
use crate::deployment_file::terms::terms;
use crate::explore::Mark;
use crate::explore::advice::{Advice, Change};
use crate::id::Letter;
use crate::plan::duration;
use crate::strategy::{Policy, Strategy};
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

const SWAPS: [Swap; 16] = [
    Swap {
        name: "repetition",
        from: &["lease-set-px-retry"],
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
        from: &["table-key-check-only", "no-guard", "local-mutex"],
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

/// What fits a deployment in which these broke, each advice with what it should cure.
pub fn advise(file: &DeploymentFile, broken: &[(FaultClass, Mark)]) -> Vec<Advice> {
    constants(file, broken).into_iter().chain(swaps(file.guard, broken)).collect()
}

/// Other constants of the same guard.
fn constants(file: &DeploymentFile, broken: &[(FaultClass, Mark)]) -> Vec<Advice> {
    let terms = terms(file.guard.name());
    let Some(ttl) = terms.ttl.map(|constant| constant.get(&file.scenario.guard)).filter(|_| !terms.decided_in_transaction) else {
        return Vec::new();
    };
    let text = duration::text;
    let under = |classes: &[FaultClass], marks: &[Mark]| -> Vec<(FaultClass, Mark)> {
        broken.iter().copied().filter(|(class, mark)| classes.contains(class) && marks.contains(mark)).collect()
    };
    let mut advice = Vec::new();
    match terms.renew_every.map(|constant| constant.get(&file.scenario.guard)) {
        // Under retry the next node repeats the job as soon as the holder lets go, however long it might have held on.
        None if file.guard.policy() != Policy::Retry => {
            let longest = longest_job(&file.scenario);
            let need = longest + LONGEST_STOP + 2.minutes();
            let cures = under(&[FaultClass::Calm, FaultClass::Pause, FaultClass::Slow], &[D, TWO, S]);
            if ttl < need && !cures.is_empty() {
                let say = format!(
                    "hold the lease at least {}: the longest job ({}) plus the longest stop that you want to survive ({} were tried), and two minutes; whoever dies holds it as long",
                    text(need),
                    text(longest),
                    text(LONGEST_STOP)
                );
                advice.push(Advice { name: "hold-longer", say, change: Change::Ttl(need), cures });
            }
        }
        Some(renew) if renew * 2 >= ttl => {
            let third = (ttl / 3).max(1.ms());
            let cures = under(&FaultClass::ALL, &[D, L, S]);
            if !cures.is_empty() {
                let say = format!(
                    "your renewal period leaves no margin: renew every {}, a third of the ttl, so that two renewals may fail",
                    text(third)
                );
                advice.push(Advice { name: "renew-earlier", say, change: Change::RenewEvery(third), cures });
            }
        }
        None | Some(_) => {}
    }
    advice
}

/// Other guards.
fn swaps(guard: &'static dyn Strategy, broken: &[(FaultClass, Mark)]) -> Vec<Advice> {
    let of = |swap: &Swap| {
        let fits = if swap.from.is_empty() { !terms(guard.name()).decided_in_transaction } else { swap.from.contains(&guard.name()) };
        let cures: Vec<(FaultClass, Mark)> = broken.iter().copied().filter(|(_, mark)| swap.marks.contains(mark)).collect();
        let change = Change::guard(swap.to).filter(|_| fits && !cures.is_empty() && swap.to != guard.name())?;
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
    use crate::strategy;

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
