use super::*;
use crate::explore::made_up::{MadeUp, SAFE, WRONG};
use crate::id::HostId;
use crate::invariant::InvariantId;
use crate::world::Refused;
use std::sync::Mutex;

const CLASSES: [FaultClass; 3] = [FaultClass::Calm, FaultClass::Pause, FaultClass::Crash];

fn sweep(subjects: &[&dyn Subject], quota: Quota, threads: usize, watch: &Watch<'_>) -> Result<Swept, Stopped> {
    Sweep { subjects, classes: &CLASSES, base: Seed(1), quota, shard: Shard::WHOLE, threads }.run(watch)
}

fn unwatched() -> Watch<'static> {
    static NEVER: AtomicBool = AtomicBool::new(false);
    Watch { cancelled: &NEVER, out_of_time: &|| false, progress: &|_| {} }
}

/// Five threads finish in another order than one, and see the same.
#[test]
fn what_is_seen_does_not_depend_on_the_number_of_threads() {
    let safe = MadeUp::of(&SAFE).breaking(|seed, _| if seed.0 % 97 == 5 { &[InvariantId::SettledOnce] } else { &[] });
    let wrong = MadeUp::of(&WRONG).breaking(|seed, _| if seed.0 % 3 == 0 { &[InvariantId::PaidOnce] } else { &[] });
    let subjects: [&dyn Subject; 2] = [&safe, &wrong];
    let one = sweep(&subjects, Quota::Seeds(260), 1, &unwatched()).unwrap();
    let five = sweep(&subjects, Quota::Seeds(260), 5, &unwatched()).unwrap();
    assert_eq!(one.tallies, five.tallies);
    let kept = |swept: &Swept| swept.samples.iter().map(|s| (s.subject, s.class, s.case.key, s.trace.digest())).collect::<Vec<_>>();
    assert_eq!(kept(&one), kept(&five));
    assert!(one.tallies.iter().flatten().all(|tally| tally.runs == 260 && tally.felt == 260));
    assert!(one.tallies[0].iter().any(|tally| !tally.broken.is_empty()), "nothing broke: nothing compared");
}

/// The must-claims of the wrong strategy, and only they, bring pinned plans.
#[test]
fn pinned_plans_are_run_even_when_there_is_no_time() {
    let (safe, wrong) = (MadeUp::of(&SAFE), MadeUp::of(&WRONG));
    let watch = Watch { out_of_time: &|| true, ..unwatched() };
    let swept = sweep(&[&safe, &wrong], Quota::Time, 2, &watch).unwrap();
    let pinned: Vec<Vec<usize>> = swept.tallies.iter().map(|row| row.iter().map(|t| t.pinned.len()).collect()).collect();
    assert_eq!(pinned, [[0, 0, 0], [1, 1, 0]]);
    assert!(swept.tallies.iter().flatten().all(|tally| tally.runs == 0));
}

/// When time is up, no cell has more than a ticket or two more than another.
#[test]
fn a_time_quota_is_shared_evenly() {
    let safe = MadeUp::of(&SAFE);
    let asked = AtomicU64::new(0);
    let out_of_time = || asked.fetch_add(1, Ordering::Relaxed) > 1000;
    let swept = sweep(&[&safe], Quota::Time, 2, &Watch { out_of_time: &out_of_time, ..unwatched() }).unwrap();
    let runs: Vec<u64> = swept.tallies[0].iter().map(|tally| tally.runs).collect();
    let (least, most) = (runs.iter().min().unwrap(), runs.iter().max().unwrap());
    assert!(*least > 200 && most - least <= 2 * TICKET, "{runs:?}");
}

#[test]
fn the_first_refusal_is_the_one_that_is_told() {
    let (safe, refused) = (MadeUp::of(&SAFE), MadeUp::of(&WRONG).refused_at(Seed(1).nth(130)));
    for threads in [1, 4] {
        let stopped = sweep(&[&safe, &refused], Quota::Seeds(200), threads, &unwatched()).unwrap_err();
        let why = NoResult::Refused(Refused::TokioSpawn { host: HostId::node(0) });
        assert_eq!(stopped, Stopped::NoResult { strategy: "made-up-wrong", class: FaultClass::Calm, seed: Seed(1).nth(130), why });
    }
}

#[test]
fn a_cancelled_sweep_has_no_result() {
    let (safe, cancelled) = (MadeUp::of(&SAFE), AtomicBool::new(false));
    let cancel = |progress: Progress| cancelled.store(progress.runs >= 50, Ordering::Relaxed);
    let watch = Watch { cancelled: &cancelled, progress: &cancel, ..unwatched() };
    assert_eq!(sweep(&[&safe], Quota::Seeds(10_000), 2, &watch).unwrap_err(), Stopped::Cancelled);
}

/// The last report says that everything is done: 3 cells, 60 runs each.
#[test]
fn progress_reaches_the_end() {
    let (safe, last) = (MadeUp::of(&SAFE), Mutex::new(Progress { cells: 0, runs: 0 }));
    let keep = |p: Progress| {
        let mut last = last.lock().unwrap();
        *last = Progress { cells: last.cells.max(p.cells), runs: last.runs.max(p.runs) };
    };
    sweep(&[&safe], Quota::Seeds(60), 2, &Watch { progress: &keep, ..unwatched() }).unwrap();
    assert_eq!(*last.lock().unwrap(), Progress { cells: 3, runs: 180 });
}

fn keys(swept: &Swept) -> Vec<(usize, FaultClass, RunKey)> {
    swept.samples.iter().map(|s| (s.subject, s.class, s.case.key)).collect()
}

/// What holds goes on until it has felt enough, what breaks ends with its batch, and what feels
/// nothing is given up: wherever that is, it is there on any number of threads.
#[test]
fn until_a_bound_every_cell_ends_where_it_should() {
    let safe = MadeUp::of(&SAFE);
    let seldom = MadeUp::of(&SAFE).breaking(|seed, _| if seed == Seed(1).nth(300) { &[InvariantId::SettledOnce] } else { &[] });
    let numb = MadeUp::of(&SAFE).numb();
    let subjects: [&dyn Subject; 3] = [&safe, &seldom, &numb];
    let one = sweep(&subjects, Quota::Felt(450), 1, &unwatched()).unwrap();
    let five = sweep(&subjects, Quota::Felt(450), 5, &unwatched()).unwrap();
    assert_eq!(one.tallies, five.tallies);
    let runs = |row: usize| one.tallies[row].iter().map(|tally| tally.runs).collect::<Vec<_>>();
    assert_eq!(runs(0), [500, 500, 500], "four batches");
    // What breaks in calm is inherited by the others: it does not end them.
    assert_eq!(runs(1), [375, 500, 500], "the run that broke was in the third");
    assert_eq!(runs(2), [500, 1800, 1800], "calm feels everything; the others come to the cap");
    assert!(one.tallies[0].iter().all(|tally| crate::explore::bound::upper_bound(tally.felt).unwrap() < 0.0067));
}

/// Pinned plans, drawn runs and the samples that are made twice: every one of them is in one shard.
#[test]
fn shards_together_are_the_whole() {
    let wrong = MadeUp::of(&WRONG).breaking(|seed, _| if seed.0 % 7 == 0 { &[InvariantId::PaidOnce] } else { &[] });
    let subjects: [&dyn Subject; 1] = [&wrong];
    let part = |shard: &str| {
        let (quota, shard) = (Quota::Seeds(260), shard.parse().unwrap());
        Sweep { subjects: &subjects, classes: &CLASSES, base: Seed(1), quota, shard, threads: 2 }.run(&unwatched()).unwrap()
    };
    let whole = part("1/1");
    for of in [2, 3, 300] {
        let parts: Vec<Swept> = (1..=of).map(|n| part(&format!("{n}/{of}"))).collect();
        let mut merged = vec![Tally::default(); CLASSES.len()];
        let mut samples = Vec::new();
        for part in parts {
            samples.extend(keys(&part));
            merged.iter_mut().zip(part.tallies.into_iter().flatten()).for_each(|(into, tally)| into.merge(tally));
        }
        samples.sort();
        assert_eq!((&vec![merged], samples), (&whole.tallies, keys(&whole)), "{of} shards");
    }
}
