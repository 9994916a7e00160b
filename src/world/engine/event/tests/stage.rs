//! A small deployment for tests: hosts made of closures, a diary of what they say, and a probe
//! that remembers what the engine says.

use super::super::run;
use crate::host::{Duplex, Task};
use crate::id::{FaultId, HostId};
use crate::seed::Seed;
use crate::time::{SimTime, Span};
use crate::trace::{Digest, Proof};
use crate::world::engine::{Boot, Ended, Engine, Observer, Refused, Settings};
use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

pub(super) const SERVER: HostId = HostId::Lease;
pub(super) const N0: HostId = HostId::Node(crate::id::NodeId(0));
pub(super) const N1: HostId = HostId::Node(crate::id::NodeId(1));
pub(super) const FAULT: FaultId = FaultId(7);

/// What the engine told.
#[derive(Default)]
pub(super) struct Probe {
    pub(super) digest: Cell<Option<Digest>>,
    pub(super) felt: RefCell<Vec<FaultId>>,
    pub(super) lost: RefCell<Vec<(HostId, HostId)>>,
    pub(super) panics: RefCell<Vec<(HostId, String)>>,
}

impl Observer for Probe {
    fn note(&self, at: SimTime, word: u64) {
        let mut digest = self.digest.get().unwrap_or(Digest::EMPTY);
        digest.mix(at.0);
        digest.mix(word);
        self.digest.set(Some(digest));
    }
    fn felt(&self, fault: FaultId, _: Proof) {
        self.felt.borrow_mut().push(fault);
    }
    fn reply_lost(&self, from: HostId, to: HostId) {
        self.lost.borrow_mut().push((from, to));
    }
    fn panicked(&self, host: HostId, message: String) {
        self.panics.borrow_mut().push((host, message));
    }
}

/// What hosts wrote down: time and words.
pub(super) type Diary = Rc<RefCell<Vec<(u64, String)>>>;

/// A host's view in a test.
#[derive(Clone)]
pub(super) struct Desk {
    pub(super) engine: Rc<dyn Engine>,
    pub(super) me: HostId,
    pub(super) diary: Diary,
}

impl Desk {
    pub(super) fn say(&self, words: impl Into<String>) {
        self.diary.borrow_mut().push((self.engine.now().0, words.into()));
    }
    pub(super) async fn connect(&self, to: HostId) -> io::Result<Box<dyn Duplex>> {
        self.engine.connect(self.me, to).await
    }
    /// Connects to the server, or fails the test.
    pub(super) async fn dial(&self) -> Box<dyn Duplex> {
        self.connect(SERVER).await.expect("the server listens")
    }
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + 'static) -> Task {
        self.engine.spawn(self.me, "task", Box::pin(task))
    }
    pub(super) async fn sleep(&self, d: Duration) {
        self.engine.sleep(d).await;
    }
    pub(super) async fn until(&self, ms: u64) {
        self.engine.sleep(SimTime(ms).since(self.engine.now())).await;
    }
    /// Sends one byte and reads one; says what came of it.
    pub(super) async fn ask(&self, stream: &mut Box<dyn Duplex>) {
        let mut reply = [0; 1];
        let said = match stream.write_all(b"?").await {
            Ok(()) => stream.read(&mut reply).await.map(|n| n.to_string()),
            Err(e) => Err(e),
        };
        self.say(said.unwrap_or_else(|e| format!("{:?}", e.kind())));
    }
}

/// What a run left.
pub(super) struct Outcome {
    pub(super) ended: Result<Ended, Refused>,
    pub(super) probe: Rc<Probe>,
    pub(super) diary: Vec<(u64, String)>,
    pub(super) ended_at: SimTime,
}

impl Outcome {
    pub(super) fn words(&self) -> Vec<&str> {
        self.diary.iter().map(|(_, words)| words.as_str()).collect()
    }
    /// When these words were said first.
    pub(super) fn when(&self, words: &str) -> u64 {
        let said = self.diary.iter().find(|(_, said)| said == words);
        said.unwrap_or_else(|| panic!("nobody said {words:?}: {:?}", self.diary)).0
    }
}

type Code = Rc<dyn Fn(Desk) -> futures_util::future::LocalBoxFuture<'static, ()>>;
type Script = Box<dyn FnOnce(&Rc<dyn Engine>)>;

/// A deployment, and what is done to it.
pub(super) struct Stage {
    pub(super) settings: Settings,
    hosts: Vec<(HostId, Code)>,
    script: Vec<(u64, Script)>,
}

impl Stage {
    /// Ten milliseconds everywhere, one hour.
    pub(super) fn new() -> Stage {
        Stage::seeded(Seed(1))
    }

    pub(super) fn seeded(seed: Seed) -> Stage {
        let settings =
            Settings { seed, latency_min: 10.ms(), latency_max: 10.ms(), until: SimTime::ZERO + 1.hours(), poll_budget: 1_000_000 };
        Stage { settings, hosts: Vec::new(), script: Vec::new() }
    }

    pub(super) fn host<F: Future<Output = ()> + 'static>(mut self, host: HostId, code: impl Fn(Desk) -> F + 'static) -> Stage {
        self.hosts.push((host, Rc::new(move |desk| Box::pin(code(desk)))));
        self
    }

    /// A server that answers each read with one byte.
    pub(super) fn echo(self) -> Stage {
        self.host(SERVER, |desk| async move {
            let mut listener = desk.engine.listen(desk.me).await.expect("nobody else listens");
            loop {
                let (mut stream, _) = listener.accept().await.expect("the run is on");
                let here = desk.clone();
                desk.spawn(async move {
                    let mut bytes = [0; 64];
                    loop {
                        match stream.read(&mut bytes).await {
                            Ok(0) => return here.say("server: end"),
                            Ok(_) => {
                                if let Err(e) = stream.write_all(b"!").await {
                                    return here.say(format!("server: write {:?}", e.kind()));
                                }
                            }
                            Err(e) => return here.say(format!("server: {:?}", e.kind())),
                        }
                    }
                })
                .detach();
            }
        })
    }

    /// Does something to the deployment at a time.
    pub(super) fn at(mut self, ms: u64, act: impl FnOnce(&Rc<dyn Engine>) + 'static) -> Stage {
        self.script.push((ms, Box::new(act)));
        self
    }

    /// Cuts both ways between two hosts for a while.
    pub(super) fn partition(self, a: HostId, b: HostId, from: u64, to: u64) -> Stage {
        self.at(from, move |e| {
            e.block(a, b, FAULT);
            e.block(b, a, FAULT);
        })
        .at(to, move |e| {
            e.unblock(a, b, FAULT);
            e.unblock(b, a, FAULT);
        })
    }

    pub(super) fn run(self) -> Outcome {
        let (probe, diary) = (Rc::new(Probe::default()), Diary::default());
        let kept = RefCell::new(None);
        let ended = run(&self.settings, probe.clone(), |engine| {
            *kept.borrow_mut() = Some(engine.clone());
            for (ms, act) in self.script {
                let again = engine.clone();
                engine.call_at(SimTime(ms), Box::new(move || act(&again)));
            }
            let desk = |me| Desk { engine: engine.clone(), me, diary: diary.clone() };
            self.hosts
                .into_iter()
                .map(|(host, code)| {
                    let desk = desk(host);
                    (host, Rc::new(move || code(desk.clone())) as Boot)
                })
                .collect()
        });
        let engine = kept.into_inner().expect("the world was built");
        let ended_at = engine.now();
        assert_eq!(Rc::strong_count(&engine), 1, "something of the run is left that holds the engine");
        assert_eq!((Rc::strong_count(&probe), Rc::strong_count(&diary)), (1, 1), "something of the run is left that holds the world");
        Outcome { ended, probe, diary: diary.take(), ended_at }
    }
}
