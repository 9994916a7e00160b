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

/// What is left out breaks exactly what the point breaks that stands for it: tried on guards whose
/// hazard lies between two steps, inside of a transaction or between a look and an act.
#[test]
fn what_is_left_out_breaks_what_its_stand_in_breaks() {
    for strategy in ["version-published", "lease-watchdog", "lease-set-px-checked", "table-key-check-only"] {
        let subject = deployed(strategy);
        let seen = observed(&subject, FaultClass::Calm, Seed(1), &FaultPlan::none()).unwrap();
        let steps = Subject::strategy(&subject).steps();
        let every = point::points(&point::places(&seen.run.trace, steps), &point::kinds(false), steps);
        let kept = point::distinct(&every, &seen.run.trace);
        let broken = |p: &Point| -> BTreeSet<Mark> {
            let seen = observed(&subject, p.kind.class, Seed(1), &p.plan(Subject::scenario(&subject))).unwrap();
            seen.findings.into_iter().map(|f| f.mark).collect()
        };
        let is_kept = |p: &Point| kept.iter().any(|k| k.place == p.place && k.kind.name == p.kind.name);
        let mut left_out = 0;
        for point in every.iter().filter(|p| !is_kept(p)) {
            let stem = point.kind.name.strip_suffix("-before").expect("only what strikes before a step is left out");
            let before = |p: &&Point| p.place.node == point.place.node && p.place.record < point.place.record;
            let stand_in = every.iter().filter(before).rfind(|p| p.kind.name == format!("{stem}-after")).expect("one stands for it");
            assert_eq!(broken(point), broken(stand_in), "{strategy}: {} at {:?} and {:?}", point.kind.name, point.place, stand_in.place);
            left_out += 1;
        }
        assert!(left_out > 10, "{strategy}: hardly anything was left out");
    }
}

/// A first fault that nobody has noticed may matter when the second strikes: a clock set back, and a crash that
/// makes its node look at the clock again.
#[test]
fn a_fault_that_was_not_felt_can_be_the_first_of_a_pair() {
    let subject = deployed("lease-set-px");
    let kinds = [Kind::find("clock-back").unwrap(), Kind::find("crash-after").unwrap()];
    let enumeration = Enumeration::of(&subject, &kinds, Seed(1), Faults::Pairs).unwrap();
    let never = AtomicBool::new(false);
    let done = enumeration.run(Done::default(), |_| true, 2, &Watch { cancelled: &never, progress: &|_| () }).unwrap();
    let broken = &done.kinds["clock-back"].broken;
    assert!(broken.contains_key(&Mark::Letter(Letter::D)), "{:?}", broken.keys().collect::<Vec<_>>());
}

/// Whatever a single fault breaks, some pair that begins with it, or ends with it, breaks too.
#[test]
fn pairs_break_what_single_faults_break() {
    let subject = deployed("version-published");
    let kinds = [Kind::find("pause-before").unwrap(), Kind::find("pause-after").unwrap()];
    let marks = |faults| {
        let enumeration = Enumeration::of(&subject, &kinds, Seed(1), faults).unwrap();
        let never = AtomicBool::new(false);
        let done = enumeration.run(Done::default(), |_| true, 2, &Watch { cancelled: &never, progress: &|_| () }).unwrap();
        done.kinds.values().flat_map(|tally| tally.broken.keys().copied()).collect::<BTreeSet<_>>()
    };
    let single = marks(Faults::Single);
    assert!(single.contains(&Mark::Letter(Letter::L)) && marks(Faults::Pairs).is_superset(&single));
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
