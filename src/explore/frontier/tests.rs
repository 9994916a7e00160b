use super::*;
use crate::strategy;
use crate::time::Span;

static NEVER: AtomicBool = AtomicBool::new(false);

fn points(strategy: &str, is: impl Fn(&Point) -> bool) -> Vec<Point> {
    Point::all_of(strategy::find(strategy).unwrap()).into_iter().filter(is).collect()
}

fn measure(points: &[Point], seeds: usize, threads: usize) -> Vec<Measured> {
    Frontier { points, base: Seed(1), seeds, resolution: 1.seconds(), threads }.run(&NEVER, &|_| {}).unwrap()
}

/// Where a node that makes one attempt and comes late begins to overlap and to settle again, in milliseconds.
fn late(is: impl Fn(&Conditions) -> bool) -> (Threshold, Threshold, Line) {
    let found = measure(&points("lease-set-px", |p| is(&p.given)), 4, 1);
    let [one] = &found[..] else { panic!("{} points", found.len()) };
    (one.overlap, one.twice, one.point.overlap)
}

fn begins_at(threshold: Threshold) -> u64 {
    threshold.begins().unwrap_or_else(|| panic!("no threshold: {threshold:?}"))
}

/// The holder stops for 40 min, and its lease lasts 30: whoever comes 30 min late is granted it, and nobody who comes earlier.
#[test]
fn without_drift_overlap_begins_on_the_line() {
    let (overlap, twice, line) = late(|c| c.stall == 40.minutes() && c.store_ppm == 0 && c.store_set_ms == 0);
    assert_eq!(line, Line::From(1_800_000));
    for measured in [overlap, twice] {
        assert!(begins_at(measured).abs_diff(1_800_000) <= 1_000, "{measured:?}");
    }
}

/// A store that is 2 % fast ends 30 min 35.294 s earlier, a slow one 36.734 s later; one that is set by 5 min, 5 min.
#[test]
fn wrong_clocks_of_the_store_move_the_line_by_what_they_should() {
    for (ppm, set_ms, line) in [(20_000, 0, 1_764_705), (-20_000, 0, 1_836_734), (0, 300_000, 1_500_000), (0, -300_000, 2_100_000)] {
        let (overlap, _, _) = late(|c| c.store_ppm == ppm && c.store_set_ms == set_ms && !c.stall.is_zero());
        assert!(begins_at(overlap).abs_diff(line) <= 1_000, "{ppm} ppm, set by {set_ms} ms: {overlap:?}");
    }
}

/// Who polls looks once a minute: over the seeds, somebody looks soon after the lease has run out. Nobody finds it free before.
#[test]
fn who_polls_finds_the_lease_free_within_a_poll_of_the_line() {
    let chosen = points("lease-set-px-checked", |p| [2.minutes(), 20.minutes()].contains(&p.given.job) && p.given.store_set_ms == 0);
    let found = measure(&chosen, 20, 2);
    assert_eq!(found.len(), 7, "two job lengths, two drifts of each clock, one skew");
    for one in &found {
        let (Agreement::Within(overlap), Agreement::Within(twice)) = (one.overlap_agrees(), one.twice_agrees()) else {
            panic!("{:?}: {:?}, {:?}", one.point.given, one.overlap, one.twice)
        };
        assert!((-100..20_000).contains(&overlap), "{:?}: {overlap}", one.point.given);
        // The transaction follows the job: a second settlement needs no overlap.
        assert!(twice <= overlap, "{:?}: {twice} {overlap}", one.point.given);
    }
}

/// Two are at work when the claim of the first has grown stale, and only one of them settles, however long it stops.
#[test]
fn who_decides_in_the_transaction_never_settles_twice() {
    let chosen: Vec<Point> = ["dual-guard", "table-key"].into_iter().flat_map(|name| points(name, |_| true)).collect();
    for one in measure(&chosen, 8, 2) {
        assert_eq!(one.twice, Threshold::Never { up_to: 61 * 60_000, of: 8 }, "{}", one.point.strategy.name());
        assert!(one.overlap.begins().is_some(), "{} never overlaps: nothing was tried", one.point.strategy.name());
        assert!(one.as_expected());
    }
}

/// The renewal tells a holder that goes on at work, a moment after it has gone on, and not one that has finished it.
#[test]
fn a_watchdog_moves_the_frontier_behind_the_job() {
    let found = measure(&points("lease-watchdog", |p| p.given.job == 2.minutes()), 20, 2);
    let [at_work, after_it] = &found[..] else { panic!("{} points", found.len()) };
    assert!(
        matches!((at_work.overlap_agrees(), at_work.twice_agrees()), (Agreement::Within(_), Agreement::Neither)),
        "{:?}",
        at_work.twice
    );
    assert!(
        matches!((after_it.overlap_agrees(), after_it.twice_agrees()), (Agreement::Neither, Agreement::Within(_))),
        "{:?}",
        after_it.twice
    );
}

#[test]
fn what_is_measured_does_not_depend_on_the_number_of_threads() {
    let chosen = points("lease-setnx-expire", |_| true);
    let told = |threads| measure(&chosen, 3, threads).iter().map(|m| (m.overlap, m.twice, m.runs)).collect::<Vec<_>>();
    assert_eq!(told(1), told(3));
}

/// The control: the same measurement, held against a line that is wrong by two minutes, is off.
#[test]
fn a_wrong_line_is_noticed() {
    let mut chosen = points("lease-set-px", |p| p.given.stall == 40.minutes() && p.given.store_ppm == 0 && p.given.store_set_ms == 0);
    assert!(measure(&chosen, 3, 1)[0].as_expected());
    chosen[0].overlap = Line::From(1_920_000);
    assert_eq!(measure(&chosen, 3, 1)[0].overlap_agrees(), Agreement::Off);
    chosen[0].overlap = Line::Never;
    assert_eq!(measure(&chosen, 3, 1)[0].overlap_agrees(), Agreement::Off);
}

#[test]
fn a_cancelled_measurement_has_no_result() {
    let chosen = points("lease-set-px", |_| true);
    let cancelled = AtomicBool::new(true);
    let stopped = Frontier { points: &chosen, base: Seed(1), seeds: 2, resolution: 1.seconds(), threads: 2 }.run(&cancelled, &|_| {});
    assert!(matches!(stopped, Err(NoFrontier::Stopped(Stopped::Cancelled))));
}

/// Settled twice, and never two at work: the second is granted the lease after the first has done its work, and
/// before that has committed. So a second settlement may begin before the line of two at work, by as much as that takes.
#[test]
fn who_comes_between_the_work_and_its_commit_settles_again_without_meeting_anybody() {
    use crate::trace::{Event, Record};
    let point = points("lease-set-px-checked", |p| p.given == Conditions { job: 2.minutes(), ..Conditions::default() }).remove(0);
    let deployment = Deployment::with_strategy(&point.scenario(), point.strategy, EngineKind::Event).unwrap();
    let Line::From(line) = point.twice else { panic!("it has a line") };
    let values = (0..point.slack_ms() / 50).map(|n| line - 50 * n);
    let runs = values.flat_map(|value| (0..300).map(move |n| (value, Seed(1).nth(n))));
    let mut alone = runs.filter_map(|(value, seed)| {
        let seen = observe(&deployment, CLASS, seed, &point.plan(value)).unwrap();
        let twice = seen.findings.iter().any(|finding| finding.mark == Mark::Letter(Letter::D));
        (twice && overlap(&seen.run.trace).is_none()).then_some(seen.run.trace)
    });
    let trace = alone.next().expect("somebody comes just then");
    let at = |is: &dyn Fn(&Event) -> bool| trace.records().iter().filter(|r| is(&r.event)).map(|Record { at, .. }| *at).collect::<Vec<_>>();
    let settled = at(&|e| matches!(e, Event::Settled { .. }));
    let granted = at(&|e| matches!(e, Event::LeaseGranted { .. }));
    let worked = at(&|e| matches!(e, Event::Step { step: "work.5", .. }));
    let last_work = *worked.iter().rfind(|at| **at < settled[0]).unwrap();
    assert!(last_work < settled[0] && granted[1] < settled[0], "{last_work} {granted:?} {settled:?}");
    assert!(granted[1].since(last_work) < crate::time::Span::seconds(1), "{last_work} {granted:?}");
}
