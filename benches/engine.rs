//! What the event engine itself costs: a lease race on raw frames, without a client library.
//!
//! Three nodes and two stores for 60 s, latency 1 to 50 ms. Every 10 s each node asks the lease
//! store for the lease; who gets it works for 2 s, writes to the other store and gives the lease
//! back.
//!
//! | bench | budget, CPU on one core |
//! |---|---|
//! | `lease race on raw frames` | 0.03 ms |
//!
//! `cargo bench --bench engine`

use criterion::{Criterion, criterion_group, criterion_main};
use futures_util::future::LocalBoxFuture;
use onceproof::host::Duplex;
use onceproof::id::{FaultId, HostId};
use onceproof::seed::Seed;
use onceproof::time::{SimTime, Span};
use onceproof::trace::Proof;
use onceproof::world::engine::{Boot, Engine, Observer, Settings, event};
use std::cell::Cell;
use std::hint::black_box;
use std::rc::Rc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// The allocator of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const ACQUIRE: u8 = b'a';
const RELEASE: u8 = b'r';
const WRITE: u8 = b'w';

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

/// What the stores hold. It is the run's own, so one struct serves both.
#[derive(Default)]
struct Stores {
    holder: Cell<Option<u8>>,
    writes: Cell<u32>,
}

/// Answers frames of two bytes, what and who, with one byte: whether it was done.
async fn answer(mut stream: Box<dyn Duplex>, stores: Rc<Stores>) {
    let mut frame = [0; 2];
    while stream.read_exact(&mut frame).await.is_ok() {
        let [what, who] = frame;
        let free = stores.holder.get().is_none();
        match what {
            ACQUIRE if free => stores.holder.set(Some(who)),
            RELEASE => stores.holder.set(None),
            WRITE => stores.writes.set(stores.writes.get() + 1),
            _ => {}
        }
        if stream.write_all(&[u8::from(what != ACQUIRE || free)]).await.is_err() {
            return;
        }
    }
}

async fn store(engine: Rc<dyn Engine>, me: HostId, stores: Rc<Stores>) {
    let mut listener = engine.listen(me).await.expect("nobody else listens");
    while let Ok((stream, _)) = listener.accept().await {
        engine.spawn(me, "connection", Box::pin(answer(stream, Rc::clone(&stores)))).detach();
    }
}

async fn ask(stream: &mut Box<dyn Duplex>, what: u8, who: u8) -> bool {
    let mut reply = [0; 1];
    stream.write_all(&[what, who]).await.expect("nothing breaks");
    stream.read_exact(&mut reply).await.expect("nothing breaks");
    reply[0] == 1
}

async fn node(engine: Rc<dyn Engine>, number: u8) {
    let me = HostId::node(number);
    let mut lease = engine.connect(me, HostId::Lease).await.expect("the store listens");
    let mut database = engine.connect(me, HostId::Database).await.expect("the store listens");
    for period in 1_u64.. {
        engine.sleep(SimTime(10_000 * period).since(engine.now())).await;
        if ask(&mut lease, ACQUIRE, number).await {
            engine.sleep(2.seconds()).await;
            ask(&mut database, WRITE, number).await;
            ask(&mut lease, RELEASE, number).await;
        }
    }
}

/// One race; how often the job ran.
fn race(seed: Seed) -> u32 {
    let settings = Settings { seed, latency_min: 1.ms(), latency_max: 50.ms(), until: SimTime::ZERO + 1.minutes(), poll_budget: 1_000_000 };
    let stores = Rc::new(Stores::default());
    let observer = Rc::new(Count::default());
    let build = |engine: Rc<dyn Engine>| {
        let boot = |id: HostId| -> Boot {
            let (engine, stores) = (Rc::clone(&engine), Rc::clone(&stores));
            Rc::new(move || -> LocalBoxFuture<'static, ()> {
                match id {
                    HostId::Node(n) => Box::pin(node(Rc::clone(&engine), n.0)),
                    HostId::Lease | HostId::Database | HostId::Payout | HostId::Traffic => {
                        Box::pin(store(Rc::clone(&engine), id, Rc::clone(&stores)))
                    }
                }
            })
        };
        let hosts = [HostId::Lease, HostId::Database, HostId::node(0), HostId::node(1), HostId::node(2)];
        hosts.map(|id| (id, boot(id))).into()
    };
    event::run(&settings, observer, build).expect("only the engine's own timers are used");
    stores.writes.get()
}

fn lease_race(c: &mut Criterion) {
    assert_eq!(race(Seed(1)), 5, "a job at 10, 20, 30, 40 and 50 s");
    let mut seeds = 0..;
    c.bench_function("lease race on raw frames", |b| {
        b.iter(|| black_box(race(Seed(seeds.next().expect("seeds do not run out")))));
    });
}

criterion_group!(benches, lease_race);
criterion_main!(benches);
