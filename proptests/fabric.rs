//! Whatever the network suffers, a stream delivers what was written, in order and without gaps:
//! all of it, or a beginning of it. It never reorders, repeats or invents a byte.
//!
//! Two hosts talk over one connection, in both directions, in random portions at random times,
//! while random faults strike. Each direction carries a counting pattern, so that any byte out
//! of place shows.

use onceproof::host::Duplex;
use onceproof::id::{FaultId, HostId, NodeId};
use onceproof::seed::Seed;
use onceproof::time::{SimTime, Span};
use onceproof::trace::Proof;
use onceproof::world::engine::event::run;
use onceproof::world::engine::{Boot, Ended, Engine, Observer, Settings};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use std::cell::RefCell;
use std::io::ErrorKind;
use std::rc::Rc;
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};

const SERVER: HostId = HostId::Lease;
const CLIENT: HostId = HostId::Node(NodeId(0));

/// What one side writes: how much, after which pause in milliseconds.
type Portions = Vec<(usize, u64)>;

#[derive(Clone, Copy, Debug)]
enum Hurt {
    Block { reverse: bool, lasts: u64 },
    Delay { reverse: bool, extra: u64, lasts: u64 },
    Lose { reverse: bool },
    Pause { server: bool, lasts: u64 },
    Crash { server: bool },
    PowerOff { server: bool, back_after: u64 },
}

impl Hurt {
    /// Nothing that was sent is lost for good.
    fn is_gentle(self) -> bool {
        match self {
            Hurt::Block { .. } | Hurt::Delay { .. } | Hurt::Pause { .. } => true,
            Hurt::Lose { .. } | Hurt::Crash { .. } | Hurt::PowerOff { .. } => false,
        }
    }
}

/// Milliseconds: around one latency, around one retransmission, or for long.
fn lasting() -> impl Strategy<Value = u64> {
    prop_oneof![1..60_u64, 60..1_000_u64, 1_000..20_000_u64]
}

fn gentle() -> impl Strategy<Value = Hurt> {
    prop_oneof![
        (any::<bool>(), lasting()).prop_map(|(reverse, lasts)| Hurt::Block { reverse, lasts }),
        (any::<bool>(), 1..3_000_u64, lasting()).prop_map(|(reverse, extra, lasts)| Hurt::Delay { reverse, extra, lasts }),
        (any::<bool>(), lasting()).prop_map(|(server, lasts)| Hurt::Pause { server, lasts }),
    ]
}

fn any_hurt() -> impl Strategy<Value = Hurt> {
    prop_oneof![
        3 => gentle(),
        1 => any::<bool>().prop_map(|reverse| Hurt::Lose { reverse }),
        1 => any::<bool>().prop_map(|server| Hurt::Crash { server }),
        1 => (any::<bool>(), lasting()).prop_map(|(server, back_after)| Hurt::PowerOff { server, back_after }),
    ]
}

fn portions() -> impl Strategy<Value = Portions> {
    // Small ones close together put several segments under way at once; large ones fill the window.
    let small = prop::collection::vec((1..300_usize, 0..40_u64), 0..40);
    let large = prop::collection::vec((1..40_000_usize, 0..1_000_u64), 0..6);
    prop_oneof![small, large]
}

type Heal = Box<dyn FnOnce(&Rc<dyn Engine>)>;

/// Does harm now, and heals it later.
fn strike(engine: &Rc<dyn Engine>, number: u16, hurt: Hurt) {
    let fault = FaultId(number);
    let way = |reverse| if reverse { (SERVER, CLIENT) } else { (CLIENT, SERVER) };
    let who = |server| if server { SERVER } else { CLIENT };
    let later = |ms: u64, heal: Heal| {
        let again = engine.clone();
        engine.call_at(engine.now() + ms.ms(), Box::new(move || heal(&again)));
    };
    match hurt {
        Hurt::Block { reverse, lasts } => {
            let (from, to) = way(reverse);
            engine.block(from, to, fault);
            later(lasts, Box::new(move |e| e.unblock(from, to, fault)));
        }
        Hurt::Delay { reverse, extra, lasts } => {
            let (from, to) = way(reverse);
            engine.delay(from, to, extra.ms(), fault);
            later(lasts, Box::new(move |e| e.delay(from, to, 0.ms(), fault)));
        }
        Hurt::Lose { reverse } => {
            let (from, to) = way(reverse);
            engine.lose_next(from, to, fault);
        }
        Hurt::Pause { server, lasts } => {
            engine.pause(who(server));
            later(lasts, Box::new(move |e| e.resume(who(server))));
        }
        Hurt::Crash { server } => engine.crash(who(server)),
        Hurt::PowerOff { server, back_after } => {
            engine.power_off(who(server));
            later(back_after, Box::new(move |e| e.restart(who(server))));
        }
    }
}

/// The byte at a place of a direction's pattern; its period is prime, so that no shift by a buffer looks right.
fn pattern(place: usize) -> u8 {
    (place % 251) as u8
}

/// What one direction came to.
#[derive(Default, Debug)]
struct Direction {
    written: usize,
    /// The last write and the shutdown were accepted.
    finished: bool,
    read: usize,
    /// The reader saw the end.
    ended: bool,
    failed: Option<ErrorKind>,
}

type Shared = Rc<RefCell<Direction>>;

async fn write(engine: Rc<dyn Engine>, mut stream: WriteHalf<Box<dyn Duplex>>, portions: Portions, state: Shared) {
    for (bytes, pause) in portions {
        engine.sleep(pause.ms()).await;
        for _ in 0..bytes {
            // Byte by byte, so that `written` is exact whenever the process dies.
            let place = state.borrow().written;
            if stream.write_all(&[pattern(place)]).await.is_err() {
                return;
            }
            state.borrow_mut().written += 1;
        }
    }
    if stream.shutdown().await.is_ok() {
        state.borrow_mut().finished = true;
    }
}

async fn read(mut stream: ReadHalf<Box<dyn Duplex>>, state: Shared) {
    let mut bytes = [0; 5_000];
    loop {
        match stream.read(&mut bytes).await {
            Ok(0) => return state.borrow_mut().ended = true,
            Ok(n) => {
                let mut state = state.borrow_mut();
                for byte in &bytes[..n] {
                    assert_eq!(*byte, pattern(state.read), "byte {} is out of place", state.read);
                    state.read += 1;
                }
                assert!(state.read <= state.written, "read {} of {} written", state.read, state.written);
            }
            Err(e) => return state.borrow_mut().failed = Some(e.kind()),
        }
    }
}

/// Writes and reads on one host, each in a task of its own.
fn talk(engine: &Rc<dyn Engine>, me: HostId, stream: Box<dyn Duplex>, portions: Portions, out: &Shared, back: &Shared) {
    let (reader, writer) = tokio::io::split(stream);
    engine.spawn(me, "write", Box::pin(write(engine.clone(), writer, portions, out.clone()))).detach();
    engine.spawn(me, "read", Box::pin(read(reader, back.clone()))).detach();
}

#[derive(Default)]
struct Quiet {
    panics: RefCell<Vec<String>>,
}

impl Observer for Quiet {
    fn note(&self, _: SimTime, _: u64) {}
    fn felt(&self, _: FaultId, _: Proof) {}
    fn reply_lost(&self, _: HostId, _: HostId) {}
    fn panicked(&self, host: HostId, message: String) {
        self.panics.borrow_mut().push(format!("{host}: {message}"));
    }
}

/// Runs one conversation; gives what came of the client's words and of the server's. A process
/// talks once in its life; after a restart it does not talk again.
fn converse(seed: u64, up: &Portions, down: &Portions, hurts: &[(u64, Hurt)]) -> (Direction, Direction) {
    let settings =
        Settings { seed: Seed(seed), latency_min: 1.ms(), latency_max: 50.ms(), until: SimTime::ZERO + 2.hours(), poll_budget: 10_000_000 };
    let (sent, answered, quiet) = (Shared::default(), Shared::default(), Rc::new(Quiet::default()));
    let ended = run(&settings, quiet.clone(), |engine| {
        for (number, (at, hurt)) in (0..).zip(hurts.iter().copied()) {
            let again = engine.clone();
            engine.call_at(SimTime(at), Box::new(move || strike(&again, number, hurt)));
        }
        let started = Rc::new(RefCell::new(false));
        let (e, words, out, back) = (engine.clone(), down.clone(), answered.clone(), sent.clone());
        let server: Boot = Rc::new(move || {
            let (e, words, out, back) = (e.clone(), words.clone(), out.clone(), back.clone());
            Box::pin(async move {
                let mut listener = e.listen(SERVER).await.expect("nobody else listens");
                while let Ok((stream, _)) = listener.accept().await {
                    talk(&e, SERVER, stream, words.clone(), &out, &back);
                }
            })
        });
        let (e, words, out, back) = (engine.clone(), up.clone(), sent.clone(), answered.clone());
        let client: Boot = Rc::new(move || {
            let (e, words, out, back, started) = (e.clone(), words.clone(), out.clone(), back.clone(), started.clone());
            Box::pin(async move {
                if started.replace(true) {
                    return;
                }
                if let Ok(stream) = e.connect(CLIENT, SERVER).await {
                    talk(&e, CLIENT, stream, words, &out, &back);
                }
            })
        });
        vec![(SERVER, server), (CLIENT, client)]
    });
    assert_eq!(ended, Ok(Ended::Horizon));
    assert!(quiet.panics.borrow().is_empty(), "{:?}", quiet.panics);
    (sent.take(), answered.take())
}

/// From the first millisecond on: a server that is stopped before it listens refuses, as TCP does, and nothing is tested.
fn hurts(one: impl Strategy<Value = Hurt>) -> impl Strategy<Value = Vec<(u64, Hurt)>> {
    prop::collection::vec((1..2_000_u64, one), 0..8)
}

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 256,
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    /// Any faults: what is read is a beginning of what was written (the reader checks it byte by
    /// byte), and whoever sees the end has read everything.
    #[test]
    fn in_order_or_not_at_all(seed in any::<u64>(), up in portions(), down in portions(), hurts in hurts(any_hurt())) {
        let (sent, answered) = converse(seed, &up, &down, &hurts);
        for direction in [sent, answered] {
            prop_assert!(direction.read <= direction.written, "{direction:?}");
            prop_assert!(!(direction.ended && direction.failed.is_some()), "{direction:?}");
            if direction.ended {
                prop_assert_eq!(direction.read, direction.written, "the end came before the last byte");
            }
        }
    }

    /// Faults that lose nothing for good: everything arrives.
    #[test]
    fn everything_arrives_after_gentle_faults(seed in any::<u64>(), up in portions(), down in portions(), hurts in hurts(gentle())) {
        prop_assert!(hurts.iter().all(|(_, hurt)| hurt.is_gentle()));
        let (sent, answered) = converse(seed, &up, &down, &hurts);
        for (direction, portions) in [(sent, up), (answered, down)] {
            let all: usize = portions.iter().map(|(bytes, _)| bytes).sum();
            prop_assert!(direction.finished && direction.ended, "{direction:?} of {all}");
            prop_assert_eq!(direction.read, all);
        }
    }
}
