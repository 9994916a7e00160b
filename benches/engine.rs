//! What the event engine itself costs: work on raw frames, without a client library.
//!
//! * A lease race: three nodes and two stores for 60 s, latency 1 to 50 ms. Every 10 s each node
//!   asks the lease store for the lease; who gets it works for 2 s, writes to the other store and
//!   gives the lease back.
//! * A settlement with SQL: the same race, but what stands behind the frames is SQLite. Six
//!   periods, 318 requests; `engine/settlement.rs` adds them up.
//!
//! | bench | budget, CPU on one core |
//! |---|---|
//! | `lease race on raw frames` | 0.03 ms |
//! | `settlement/on raw frames` | 0.9 ms |
//! | `settlement/SQLite alone` | the same statements without network and runtime: what no engine can save |
//!
//! Afterwards the two settlements take turns, and their ratio is printed: it says more than the
//! figures on a machine that is busy with other things.
//!
//! `cargo bench --bench engine`

#[path = "engine/books.rs"]
mod books;
#[path = "engine/race.rs"]
mod race;
#[path = "engine/settlement.rs"]
mod settlement;

use books::Books;
use criterion::{Criterion, criterion_group};
use onceproof::id::{FaultId, HostId};
use onceproof::seed::Seed;
use onceproof::time::{SimTime, Span};
use onceproof::trace::Proof;
use onceproof::world::engine::{Observer, Settings};
use std::cell::Cell;
use std::hint::black_box;
use std::rc::Rc;
use std::time::Duration;

/// The allocator of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Seeds of one turn, and turns, when the ratio is taken.
const TURN: u64 = 100;
const TURNS: u64 = 21;

/// Nobody breaks anything here; the digest of a real world is replaced by a count.
#[derive(Default)]
struct Count(Cell<u64>);

impl Observer for Count {
    fn note(&self, _at: SimTime, word: u64) {
        self.0.set(self.0.get().wrapping_add(word));
    }
    fn felt(&self, _: FaultId, _: Proof) {}
    fn reply_lost(&self, _from: HostId, _to: HostId) {}
    fn panicked(&self, host: HostId, message: String) {
        panic!("{host}: {message}");
    }
}

/// A network of 1 to 50 ms.
fn settings(seed: Seed, length: Duration) -> Settings {
    Settings { seed, latency_min: 1.ms(), latency_max: 50.ms(), until: SimTime::ZERO + length, poll_budget: 1_000_000 }
}

fn lease_race(c: &mut Criterion) {
    assert_eq!(race::race(Seed(1)), 5, "a job at 10, 20, 30, 40 and 50 s");
    let mut seeds = 0..;
    c.bench_function("lease race on raw frames", |b| {
        b.iter(|| black_box(race::race(Seed(seeds.next().expect("seeds do not run out")))));
    });
}

fn settlement_with_sql(c: &mut Criterion) {
    let books = Rc::new(Books::new(settlement::PERIODS));
    assert_eq!(settlement::on_frames(&books, Seed(1)), settlement::REQUESTS, "every request is made once");
    let mut group = c.benchmark_group("settlement");
    let mut seeds = 0..;
    group.bench_function("on raw frames", |b| {
        b.iter(|| black_box(settlement::on_frames(&books, Seed(seeds.next().expect("seeds do not run out")))));
    });
    group.bench_function("SQLite alone", |b| b.iter(|| settlement::alone(&books)));
    group.finish();
}

/// The median over some turns of how much longer the settlement takes on the engine than SQLite does.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
fn ratio(turns: u64, seeds: u64) -> f64 {
    let books = Rc::new(Books::new(settlement::PERIODS));
    let timed = |work: &dyn Fn(u64)| {
        let began = std::time::Instant::now();
        (0..seeds).for_each(work);
        began.elapsed().as_secs_f64()
    };
    let mut ratios: Vec<f64> = (0..turns)
        .map(|turn| {
            let on_frames = timed(&|n| {
                black_box(settlement::on_frames(&books, Seed(turn * seeds + n)));
            });
            on_frames / timed(&|_| settlement::alone(&books))
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}

criterion_group!(benches, lease_race, settlement_with_sql);

fn main() {
    benches();
    Criterion::default().configure_from_args().final_summary();
    let once = std::env::args().any(|argument| argument == "--test");
    let (turns, seeds) = if once { (1, 1) } else { (TURNS, TURN) };
    println!("settlement on raw frames : SQLite alone = {:.2} : 1, the median of {turns} turns", ratio(turns, seeds));
}
