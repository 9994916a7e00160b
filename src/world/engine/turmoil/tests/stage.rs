//! What the stories share: a stage for hosts that write a diary, and an observer that listens.

use super::*;
use crate::trace::Proof;

pub(super) const SERVER: HostId = HostId::Lease;
pub(super) const CLIENT: HostId = HostId::Traffic;
pub(super) const FAULT: FaultId = FaultId(3);

pub(super) fn settings(seed: u64) -> Settings {
    Settings { seed: Seed(seed), latency_min: 2.ms(), latency_max: 8.ms(), until: SimTime(20_000), poll_budget: 100_000 }
}

/// What an observer of one run was told.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) notes: RefCell<Vec<(SimTime, u64)>>,
    pub(super) felt: RefCell<Vec<FaultId>>,
    pub(super) lost: RefCell<Vec<(HostId, HostId)>>,
    pub(super) panics: RefCell<Vec<(HostId, String)>>,
}

impl Observer for Seen {
    fn note(&self, at: SimTime, word: u64) {
        self.notes.borrow_mut().push((at, word));
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

/// The engine, and what the hosts of a story write down, with the time at which they do.
#[derive(Clone)]
pub(super) struct Stage {
    pub(super) engine: Rc<dyn Engine>,
    pub(super) diary: Rc<RefCell<Vec<(u64, String)>>>,
}

impl Stage {
    pub(super) fn write(&self, line: impl Into<String>) {
        self.diary.borrow_mut().push((self.engine.now().0, line.into()));
    }

    pub(super) async fn sleep(&self, d: Duration) {
        self.engine.sleep(d).await;
    }

    pub(super) async fn dial(&self, from: HostId) -> io::Result<Box<dyn Duplex>> {
        self.engine.connect(from, SERVER).await
    }

    pub(super) fn at(&self, ms: u64, call: impl FnOnce(&dyn Engine) + 'static) {
        let engine = self.engine.clone();
        self.engine.call_at(SimTime(ms), Box::new(move || call(&*engine)));
    }

    /// A host that answers each byte with the same byte, on any number of connections.
    pub(super) fn echo(&self) -> (HostId, Boot) {
        self.host(SERVER, |stage| async move {
            let mut listener = stage.engine.listen(SERVER).await.expect("nobody else listens here");
            while let Ok((mut stream, _)) = listener.accept().await {
                let echo = async move {
                    while let Ok(byte) = stream.read_u8().await {
                        if stream.write_u8(byte).await.is_err() {
                            return;
                        }
                    }
                };
                stage.engine.spawn(SERVER, "echo", Box::pin(echo)).detach();
            }
        })
    }

    pub(super) fn host<F: Future<Output = ()> + 'static>(&self, host: HostId, main: impl Fn(Stage) -> F + 'static) -> (HostId, Boot) {
        let stage = self.clone();
        (host, Rc::new(move || Box::pin(main(stage.clone()))))
    }
}

pub(super) struct Told {
    pub(super) outcome: Result<Ended, Refused>,
    pub(super) diary: Vec<(u64, String)>,
    pub(super) seen: Rc<Seen>,
}

impl Told {
    pub(super) fn lines(&self) -> Vec<&str> {
        self.diary.iter().map(|(_, line)| line.as_str()).collect()
    }

    pub(super) fn at(&self, wanted: &str) -> u64 {
        let found = self.diary.iter().find(|(_, line)| line == wanted);
        found.unwrap_or_else(|| panic!("`{wanted}` is not in {:?}", self.diary)).0
    }
}

/// Tells a story in which nobody panics, not even in an assertion inside a host.
pub(super) fn tell(settings: &Settings, build: impl FnOnce(&Stage) -> Vec<(HostId, Boot)>) -> Told {
    let told = tell_with_panics(settings, build);
    assert_eq!(*told.seen.panics.borrow(), []);
    told
}

pub(super) fn tell_with_panics(settings: &Settings, build: impl FnOnce(&Stage) -> Vec<(HostId, Boot)>) -> Told {
    let seen = Rc::new(Seen::default());
    let diary = Rc::new(RefCell::new(Vec::new()));
    let outcome = run(settings, seen.clone(), |engine| build(&Stage { engine, diary: diary.clone() }));
    Told { outcome, diary: diary.take(), seen }
}

/// Sends a byte and waits for its echo: `echo`, `end`, the kind of error, or `silence` after a second.
pub(super) async fn ping(stage: &Stage, stream: &mut Box<dyn Duplex>, byte: u8) -> String {
    let answer = async {
        if let Err(error) = stream.write_u8(byte).await {
            return format!("{:?}", error.kind());
        }
        match stream.read_u8().await {
            Ok(answer) if answer == byte => "echo".to_owned(),
            Ok(answer) => format!("echo of {answer}"),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => "end".to_owned(),
            Err(error) => format!("{:?}", error.kind()),
        }
    };
    tokio::select! {
        biased;
        answer = answer => answer,
        () = stage.engine.sleep(1.seconds()) => "silence".to_owned(),
    }
}

/// A client that pings every 100 ms on one connection, `times` times.
pub(super) fn pinger(stage: &Stage, times: u8) -> (HostId, Boot) {
    stage.host(CLIENT, move |stage| async move {
        let mut stream = stage.dial(CLIENT).await.expect("the server listens");
        stage.write("connected");
        for n in 0..times {
            let answer = ping(&stage, &mut stream, n).await;
            stage.write(answer);
            stage.sleep(100.ms()).await;
        }
    })
}
