use super::*;
use crate::class::KINDS;
use crate::id::Letter;
use crate::scenario::Scenario;
use crate::world::{Deployment, EngineKind};

fn deployed(strategy: &str) -> Deployment {
    Deployment::new(&Scenario::calm(strategy).of_one_period(), EngineKind::Event).unwrap()
}

fn all(subject: &dyn Subject, faults: Faults, threads: usize) -> (Enumeration<'_>, Done) {
    let enumeration = Enumeration::of(subject, &point::kinds(false), Seed(1), faults).unwrap();
    let never = AtomicBool::new(false);
    let done = enumeration.run(Done::default(), |_| true, threads, &Watch { cancelled: &never, progress: &|_| () }).unwrap();
    (enumeration, done)
}

/// A place that is numbered is reached: every fault of the list strikes, and all of these kinds are noticed.
#[test]
fn every_single_fault_strikes_and_is_felt() {
    let subject = deployed("dual-guard");
    let (enumeration, done) = all(&subject, Faults::Single, 2);
    let runs = done.runs();
    assert_eq!(runs.runs, enumeration.units());
    let fired: u64 = done.kinds.values().map(|tally| tally.receipts.fired).sum();
    assert_eq!(fired, runs.runs, "a fault that never strikes was counted as a run");
    for (kind, tally) in &done.kinds {
        // Whoever has just seen that all is done, and dies, is not missed.
        assert!(tally.apart.felt * 3 >= tally.apart.runs * 2, "{kind}: {} of {} felt", tally.apart.felt, tally.apart.runs);
    }
}

#[test]
fn what_is_seen_does_not_depend_on_threads_nor_on_the_order_of_parts() {
    let subject = deployed("lease-set-px-checked");
    let (enumeration, whole) = all(&subject, Faults::Single, 1);
    assert_eq!(all(&subject, Faults::Single, 3).1, whole);
    let never = AtomicBool::new(false);
    let watch = Watch { cancelled: &never, progress: &|_| () };
    let part = |n| enumeration.run(Done::default(), |unit| unit % 3 == n, 1, &watch).unwrap();
    let mut merged = part(2);
    merged.merge(part(0));
    assert_ne!(merged, whole, "a third is missing");
    assert_eq!(enumeration.run(merged, |_| true, 1, &watch).unwrap(), whole, "what was done is not done again, and what was not is");
}

/// The pinned story of the catalogue is found without being told: a holder stops beyond its lease.
#[test]
fn a_paused_holder_settles_twice_and_a_fence_prevents_it() {
    let broken = |strategy, kind: &str| {
        let subject = deployed(strategy);
        let (enumeration, done) = all(&subject, Faults::Single, 2);
        let exhausted = enumeration.weigh(done);
        assert!(
            exhausted.as_expected(),
            "{strategy}: {:?}",
            exhausted.kinds.iter().map(|(k, c)| (k.name, &c.surprises)).collect::<Vec<_>>()
        );
        let (_, cell) = exhausted.kinds.into_iter().find(|(k, _)| k.name == kind).unwrap();
        cell.own().collect::<Vec<_>>()
    };
    assert!(broken("lease-set-px-checked", "pause-before").contains(&Mark::Letter(Letter::D)));
    assert_eq!(broken("table-key", "pause-before"), []);
}

/// Steps that only a fault brings about are told, not passed over; pairs reach some of them.
#[test]
fn steps_that_no_fault_reached_are_told() {
    let subject = deployed("version-reclaim");
    let (enumeration, done) = all(&subject, Faults::Single, 2);
    assert!(!enumeration.unmade().is_empty());
    let single = enumeration.weigh(done).unreached;
    assert!(enumeration.unmade().iter().all(|step| single.contains(step)), "{single:?}");
}

/// A kind that a strategy cannot feel is no evidence: cutting the lease store from a guard without leases is not even tried.
#[test]
fn what_cannot_be_felt_is_not_counted_as_tried() {
    let subject = deployed("table-key");
    let (_, done) = all(&subject, Faults::Single, 2);
    assert!(!done.kinds.contains_key("cut-lease"));
    assert!(done.kinds.contains_key("reply-lost"));
}

/// Leaving out must not lose anything that single faults can show: what the pruned points of a run
/// break is what those that stand for them break.
#[test]
fn points_that_are_left_out_show_nothing_new() {
    for strategy in ["version-published", "lease-set-px-checked"] {
        let subject = deployed(strategy);
        let seen = observed(&subject, FaultClass::Calm, Seed(1), &FaultPlan::none()).unwrap();
        let steps = Subject::strategy(&subject).steps();
        let every = point::points(&point::places(&seen.run.trace, steps), &point::kinds(false), steps);
        let marks = |points: &[Point]| -> BTreeSet<Mark> {
            let broken = |p: &Point| {
                let seen = observed(&subject, p.kind.class, Seed(1), &p.plan(Subject::scenario(&subject))).unwrap();
                seen.findings.into_iter().map(|f| f.mark).collect::<Vec<_>>()
            };
            points.iter().flat_map(broken).collect()
        };
        let kept = point::distinct(every.clone(), &seen.run.trace);
        assert!(kept.len() < every.len(), "{strategy}: nothing was left out");
        assert_eq!(marks(&kept), marks(&every), "{strategy}");
    }
}

#[test]
fn kinds_have_names_of_their_own_and_seven_are_the_tables() {
    let names: BTreeSet<&str> = KINDS.iter().map(|kind| kind.name).collect();
    assert_eq!(names.len(), KINDS.len());
    assert_eq!(point::kinds(false).len(), 7);
}

/// Two faults: the second strikes after the first, and both count.
#[test]
fn pairs_strike_twice() {
    let subject = deployed("table-key-published");
    let kinds = [Kind::find("crash-before").unwrap()];
    let enumeration = Enumeration::of(&subject, &kinds, Seed(1), Faults::Pairs).unwrap();
    let never = AtomicBool::new(false);
    let done = enumeration.run(Done::default(), |_| true, 2, &Watch { cancelled: &never, progress: &|_| () }).unwrap();
    let tally = &done.kinds["crash-before"];
    assert!(tally.apart.runs > enumeration.units(), "{} pairs of {} firsts", tally.apart.runs, enumeration.units());
    assert_eq!((tally.receipts.planned, tally.receipts.fired), (2 * tally.apart.runs, 2 * tally.apart.runs));
}
