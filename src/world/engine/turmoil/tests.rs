//! Stories on raw streams: what a connection, a process and a link do when they are hurt.

use super::*;
use crate::seed::Seed;
use crate::time::Span;
use crate::trace::Digest;
use std::io::ErrorKind;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const SERVER: HostId = HostId::Lease;
const CLIENT: HostId = HostId::Traffic;
const FAULT: FaultId = FaultId(3);

fn settings(seed: u64) -> Settings {
    Settings { seed: Seed(seed), latency_min: 2.ms(), latency_max: 8.ms(), until: SimTime(20_000), poll_budget: 100_000 }
}

/// What an observer of one run was told.
struct Seen {
    digest: Cell<Digest>,
    felt: RefCell<Vec<FaultId>>,
    lost: RefCell<Vec<(HostId, HostId)>>,
    panics: RefCell<Vec<(HostId, String)>>,
}

impl Observer for Seen {
    fn note(&self, at: SimTime, word: u64) {
        let mut digest = self.digest.get();
        digest.mix(at.0);
        digest.mix(word);
        self.digest.set(digest);
    }
    fn felt(&self, fault: FaultId) {
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
struct Stage {
    engine: Rc<dyn Engine>,
    diary: Rc<RefCell<Vec<(u64, String)>>>,
}

impl Stage {
    fn write(&self, line: impl Into<String>) {
        self.diary.borrow_mut().push((self.engine.now().0, line.into()));
    }

    async fn sleep(&self, d: Duration) {
        self.engine.sleep(d).await;
    }

    async fn dial(&self, from: HostId) -> io::Result<Box<dyn Duplex>> {
        self.engine.connect(from, SERVER).await
    }

    fn at(&self, ms: u64, call: impl FnOnce(&dyn Engine) + 'static) {
        let engine = self.engine.clone();
        self.engine.call_at(SimTime(ms), Box::new(move || call(&*engine)));
    }

    /// A host that answers each byte with the same byte, on any number of connections.
    fn echo(&self) -> (HostId, Boot) {
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

    fn host<F: Future<Output = ()> + 'static>(&self, host: HostId, main: impl Fn(Stage) -> F + 'static) -> (HostId, Boot) {
        let stage = self.clone();
        (host, Rc::new(move || Box::pin(main(stage.clone()))))
    }
}

struct Told {
    outcome: Result<Ended, Refused>,
    diary: Vec<(u64, String)>,
    seen: Rc<Seen>,
}

impl Told {
    fn lines(&self) -> Vec<&str> {
        self.diary.iter().map(|(_, line)| line.as_str()).collect()
    }

    fn at(&self, wanted: &str) -> u64 {
        let found = self.diary.iter().find(|(_, line)| line == wanted);
        found.unwrap_or_else(|| panic!("`{wanted}` is not in {:?}", self.diary)).0
    }
}

fn tell(settings: &Settings, build: impl FnOnce(&Stage) -> Vec<(HostId, Boot)>) -> Told {
    let seen = Rc::new(Seen {
        digest: Cell::new(Digest::EMPTY),
        felt: RefCell::default(),
        lost: RefCell::default(),
        panics: RefCell::default(),
    });
    let diary = Rc::new(RefCell::new(Vec::new()));
    let outcome = run(settings, seen.clone(), |engine| build(&Stage { engine, diary: diary.clone() }));
    Told { outcome, diary: diary.take(), seen }
}

/// Sends a byte and waits for its echo: `echo`, `end`, the kind of error, or `silence` after a second.
async fn ping(stage: &Stage, stream: &mut Box<dyn Duplex>, byte: u8) -> String {
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
fn pinger(stage: &Stage, times: u8) -> (HostId, Boot) {
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

#[test]
fn an_echo_takes_a_round_trip_and_sleep_is_exact() {
    let told = tell(&settings(1), |stage| {
        let client = stage.host(CLIENT, |stage| async move {
            stage.sleep(50.ms()).await;
            stage.write("slept");
            let mut stream = stage.dial(CLIENT).await.expect("the server listens");
            stage.write("connected");
            let answer = ping(&stage, &mut stream, 7).await;
            stage.write(answer);
        });
        vec![stage.echo(), client]
    });
    assert_eq!(told.outcome, Ok(Ended::Horizon));
    assert_eq!(told.at("slept"), 50);
    let (connected, echoed) = (told.at("connected") - 50, told.at("echo") - told.at("connected"));
    assert!((4..=16).contains(&connected) && (4..=16).contains(&echoed), "{connected} and {echoed} are a round trip of 2 to 8 ms each way");
}

#[test]
fn nobody_listening_is_refused_after_a_round_trip() {
    let told = tell(&settings(2), |stage| {
        let client = stage.host(CLIENT, |stage| async move {
            stage.write(format!("{:?}", stage.dial(CLIENT).await.map_err(|e| e.kind()).map(|_| ())));
        });
        vec![stage.host(SERVER, |stage| async move { stage.sleep(1.hours()).await }), client]
    });
    assert!((4..=16).contains(&told.at("Err(ConnectionRefused)")));
}

#[test]
fn a_crash_closes_connections_refuses_new_ones_and_a_restart_serves_again() {
    let told = tell(&settings(3), |stage| {
        stage.at(150, |engine| engine.crash(SERVER));
        stage.at(1_000, |engine| engine.restart(SERVER));
        let client = stage.host(CLIENT, |stage| async move {
            let mut stream = stage.dial(CLIENT).await.expect("the server listens");
            let first = ping(&stage, &mut stream, 1).await;
            stage.write(first);
            let end = stream.read(&mut [0]).await;
            stage.write(format!("{end:?}"));
            stage.write(format!("{:?}", stage.dial(CLIENT).await.map_err(|e| e.kind()).map(|_| ())));
            stage.sleep(1.seconds()).await;
            let mut stream = stage.dial(CLIENT).await.expect("the server listens again");
            let again = ping(&stage, &mut stream, 2).await;
            stage.write(format!("again {again}"));
        });
        vec![stage.echo(), client]
    });
    assert_eq!(told.lines(), ["echo", "Ok(0)", "Err(ConnectionRefused)", "again echo"]);
    assert!((152..=160).contains(&told.at("Ok(0)")), "the kernel closes at once");
}

#[test]
fn a_host_that_crashes_itself_never_goes_on_and_what_it_wrote_arrives() {
    let told = tell(&settings(4), |stage| {
        let server = stage.host(SERVER, |stage| async move {
            let mut listener = stage.engine.listen(SERVER).await.expect("nobody else listens here");
            let (mut stream, _) = listener.accept().await.expect("the client comes");
            stream.write_u8(9).await.expect("the client is there");
            stage.engine.crash(SERVER);
            stage.write("last breath");
            stage.sleep(1.ms()).await;
            stage.write("ghost");
        });
        let client = stage.host(CLIENT, |stage| async move {
            let mut stream = stage.dial(CLIENT).await.expect("the server listens");
            stage.write(format!("{:?}", stream.read_u8().await.ok()));
            stage.write(format!("{:?}", stream.read(&mut [0]).await));
        });
        vec![server, client]
    });
    assert_eq!(told.lines(), ["last breath", "Some(9)", "Ok(0)"]);
}

#[test]
fn a_power_cut_is_silent_until_the_host_is_back_and_resets_what_it_does_not_know() {
    let told = tell(&settings(5), |stage| {
        stage.at(50, |engine| engine.power_off(SERVER));
        stage.at(3_000, |engine| engine.restart(SERVER));
        let client = stage.host(CLIENT, |stage| async move {
            let mut stream = stage.dial(CLIENT).await.expect("the server listens");
            let first = ping(&stage, &mut stream, 1).await;
            stage.write(first);
            stage.sleep(100.ms()).await;
            let second = ping(&stage, &mut stream, 2).await;
            stage.write(second);
            stage.write("dials");
            let mut fresh = stage.dial(CLIENT).await.expect("the server listens again");
            stage.write("connected");
            let third = ping(&stage, &mut stream, 3).await;
            stage.write(third);
            let fourth = ping(&stage, &mut fresh, 4).await;
            stage.write(fourth);
        });
        vec![stage.echo(), client]
    });
    assert_eq!(told.lines(), ["echo", "silence", "dials", "connected", "ConnectionReset", "echo"]);
    assert!(told.at("dials") < 1_500 && told.at("connected") >= 3_000, "silence, not a refusal, while it is off");
}

#[test]
fn a_paused_host_runs_nothing_and_finds_overdue_timers_and_queued_data_when_resumed() {
    let told = tell(&settings(6), |stage| {
        stage.at(500, |engine| engine.pause(SERVER));
        stage.at(2_500, |engine| engine.resume(SERVER));
        let server = stage.host(SERVER, |stage| async move {
            let ticker = stage.clone();
            let ticks = async move {
                loop {
                    ticker.sleep(300.ms()).await;
                    ticker.write("tick");
                }
            };
            stage.engine.spawn(SERVER, "ticks", Box::pin(ticks)).detach();
            let mut listener = stage.engine.listen(SERVER).await.expect("nobody else listens here");
            let (mut stream, peer) = listener.accept().await.expect("the client comes");
            assert_eq!(peer, CLIENT);
            stage.write("accepted");
            stage.write(format!("read {:?}", stream.read_u8().await.ok()));
        });
        let client = stage.host(CLIENT, |stage| async move {
            stage.sleep(1.seconds()).await;
            let mut stream = stage.dial(CLIENT).await.expect("a kernel accepts for a paused process");
            stage.write("connected");
            stream.write_u8(5).await.expect("a kernel receives for a paused process");
            std::future::pending::<()>().await;
        });
        vec![server, client]
    });
    assert!(told.at("connected") < 1_020);
    assert_eq!((told.at("accepted"), told.at("read Some(5)")), (2_500, 2_500));
    let ticks = told.diary.iter().filter(|(_, line)| line == "tick").map(|(at, _)| *at).take(3).collect::<Vec<_>>();
    assert_eq!(ticks, [300, 2_500, 2_800], "the timer of 600 is overdue");
}

#[test]
fn a_block_holds_one_direction_and_what_was_held_arrives_in_the_end() {
    let told = tell(&settings(7), |stage| {
        stage.at(150, |engine| engine.block(SERVER, CLIENT, FAULT));
        stage.at(3_000, |engine| engine.unblock(SERVER, CLIENT, FAULT));
        let client = stage.host(CLIENT, |stage| async move {
            let mut stream = stage.dial(CLIENT).await.expect("the server listens");
            for n in 0..3 {
                stage.sleep(100.ms()).await;
                stream.write_u8(n).await.expect("this direction is open");
            }
            for n in 0..3 {
                stage.write(format!("{n}: {:?}", stream.read_u8().await.ok()));
            }
        });
        vec![stage.echo(), client]
    });
    assert_eq!(told.lines(), ["0: Some(0)", "1: Some(1)", "2: Some(2)"]);
    assert!((3_000..3_220).contains(&told.at("1: Some(1)")), "sent again soon after the heal");
    assert_eq!(*told.seen.felt.borrow(), [FAULT]);
}

#[test]
fn a_connect_into_a_block_waits_and_the_fault_of_an_unused_link_is_not_felt() {
    let told = tell(&settings(8), |stage| {
        stage.engine.block(SERVER, CLIENT, FAULT);
        stage.engine.block(CLIENT, HostId::Payout, FaultId(4));
        stage.at(2_000, |engine| engine.unblock(SERVER, CLIENT, FAULT));
        vec![stage.echo(), pinger(stage, 1)]
    });
    assert!((2_000..2_220).contains(&told.at("connected")));
    assert_eq!(*told.seen.felt.borrow(), [FAULT]);
}

#[test]
fn a_block_holds_the_end_of_a_dead_process_too() {
    let told = tell(&settings(9), |stage| {
        stage.at(50, |engine| engine.block(SERVER, CLIENT, FAULT));
        stage.at(60, |engine| engine.crash(SERVER));
        stage.at(2_000, |engine| engine.unblock(SERVER, CLIENT, FAULT));
        let client = stage.host(CLIENT, |stage| async move {
            let mut stream = stage.dial(CLIENT).await.expect("the server listens");
            stage.write(format!("{:?}", stream.read(&mut [0]).await));
        });
        vec![stage.echo(), client]
    });
    assert!((2_000..2_220).contains(&told.at("Ok(0)")));
}

#[test]
fn a_delay_adds_to_one_direction_keeps_order_and_ends() {
    let told = tell(&settings(10), |stage| {
        stage.at(50, |engine| engine.delay(CLIENT, SERVER, 300.ms(), FAULT));
        stage.at(90, |engine| engine.delay(CLIENT, SERVER, 0.ms(), FAULT));
        let client = stage.host(CLIENT, |stage| async move {
            let mut stream = stage.dial(CLIENT).await.expect("the server listens");
            stage.sleep(SimTime(60).since(stage.engine.now())).await;
            stream.write_u8(1).await.expect("the server is there");
            stage.sleep(40.ms()).await;
            stream.write_u8(2).await.expect("the server is there");
            for _ in 0..2 {
                stage.write(format!("{:?}", stream.read_u8().await.ok()));
            }
            stage.sleep(1.seconds()).await;
            let answer = ping(&stage, &mut stream, 3).await;
            stage.write(answer);
        });
        vec![stage.echo(), client]
    });
    assert_eq!(told.lines(), ["Some(1)", "Some(2)", "echo"]);
    assert!((364..=376).contains(&told.at("Some(1)")), "60 + 300 + a round trip");
    assert!(told.at("Some(2)") <= 376 && told.at("echo") <= told.at("Some(2)") + 1_016);
    assert_eq!(*told.seen.felt.borrow(), [FAULT]);
}

#[test]
fn a_lost_reply_silences_its_direction_of_its_connection_only() {
    let told = tell(&settings(11), |stage| {
        stage.at(50, |engine| engine.lose_next(SERVER, CLIENT, FAULT));
        let client = stage.host(CLIENT, |stage| async move {
            let mut stream = stage.dial(CLIENT).await.expect("the server listens");
            for n in 0..3 {
                let answer = ping(&stage, &mut stream, n).await;
                stage.write(answer);
                stage.sleep(100.ms()).await;
            }
            let mut fresh = stage.dial(CLIENT).await.expect("the server listens");
            let answer = ping(&stage, &mut fresh, 9).await;
            stage.write(format!("fresh {answer}"));
        });
        vec![stage.echo(), client]
    });
    assert_eq!(told.lines(), ["echo", "silence", "silence", "fresh echo"]);
    assert_eq!((&*told.seen.felt.borrow(), &*told.seen.lost.borrow()), (&vec![FAULT], &vec![(SERVER, CLIENT)]));
}

#[test]
fn a_panic_is_reported_and_kills_its_process_alone() {
    let told = tell(&settings(12), |stage| {
        let client = stage.host(CLIENT, |stage| async move {
            let survivor = stage.clone();
            let other_task = async move {
                survivor.sleep(100.ms()).await;
                survivor.write("survived");
            };
            stage.engine.spawn(CLIENT, "other", Box::pin(other_task)).detach();
            stage.sleep(50.ms()).await;
            panic!("no more {}", "coffee");
        });
        let node = stage.host(HostId::node(0), |stage| async move {
            let mut stream = stage.dial(HostId::node(0)).await.expect("the server listens");
            stage.sleep(1.seconds()).await;
            let answer = ping(&stage, &mut stream, 1).await;
            stage.write(answer);
        });
        vec![stage.echo(), client, node]
    });
    assert_eq!(*told.seen.panics.borrow(), [(CLIENT, "no more coffee".to_owned())]);
    assert_eq!(told.lines(), ["echo"]);
}

#[test]
fn a_task_that_spins_is_cut_and_a_raw_spawn_is_refused() {
    let spins = tell(&settings(13), |stage| {
        vec![stage.host(CLIENT, |stage| async move {
            loop {
                stage.sleep(Duration::ZERO).await;
            }
        })]
    });
    assert_eq!(spins.outcome, Ok(Ended::StepBudget));
    let spawns = tell(&settings(13), |stage| {
        vec![stage.host(CLIENT, |stage| async move {
            stage.sleep(50.ms()).await;
            drop(tokio::spawn(async {}));
            stage.sleep(1.hours()).await;
        })]
    });
    assert_eq!(spawns.outcome, Err(Refused::TokioSpawn { host: CLIENT }));
}

#[test]
fn an_aborted_task_ends_and_drops_what_it_holds() {
    let told = tell(&settings(14), |stage| {
        let client = stage.host(CLIENT, |stage| async move {
            let ticker = stage.clone();
            let ticks = async move {
                let _stream = ticker.dial(CLIENT).await.expect("the server listens");
                loop {
                    ticker.sleep(100.ms()).await;
                    ticker.write("tick");
                }
            };
            let task = stage.engine.spawn(CLIENT, "ticks", Box::pin(ticks));
            stage.sleep(150.ms()).await;
            task.abort();
        });
        let server = stage.host(SERVER, |stage| async move {
            let mut listener = stage.engine.listen(SERVER).await.expect("nobody else listens here");
            let (mut stream, _) = listener.accept().await.expect("the client comes");
            stage.write(format!("{:?}", stream.read(&mut [0]).await));
        });
        vec![client, server]
    });
    assert_eq!(told.lines(), ["tick", "Ok(0)"]);
    assert!((152..=158).contains(&told.at("Ok(0)")));
}

/// Everything at once, as food for the digest.
fn busy(seed: u64) -> (Digest, Vec<(u64, String)>) {
    let told = tell(&settings(seed), |stage| {
        stage.at(2_000, |engine| engine.pause(SERVER));
        stage.at(2_500, |engine| engine.resume(SERVER));
        stage.at(4_000, |engine| engine.crash(SERVER));
        stage.at(4_100, |engine| engine.restart(SERVER));
        stage.at(6_000, |engine| engine.block(HostId::node(1), SERVER, FAULT));
        stage.at(7_000, |engine| engine.unblock(HostId::node(1), SERVER, FAULT));
        stage.at(8_000, |engine| engine.lose_next(SERVER, HostId::node(2), FAULT));
        let nodes = (0..3).map(HostId::node).map(|node| {
            stage.host(node, move |stage| async move {
                loop {
                    if let Ok(mut stream) = stage.dial(node).await {
                        while let answer = ping(&stage, &mut stream, 1).await
                            && answer == "echo"
                        {
                            stage.write(format!("{node} {answer}"));
                        }
                    }
                    stage.sleep(50.ms()).await;
                }
            })
        });
        nodes.chain([stage.echo()]).collect()
    });
    assert_eq!(told.outcome, Ok(Ended::Horizon));
    (told.seen.digest.get(), told.diary)
}

#[test]
fn the_same_seed_tells_the_same_story_twice_and_on_another_thread() {
    let first = busy(21);
    assert!(first.1.len() > 1_000, "the nodes were busy: {} echoes", first.1.len());
    assert_eq!(first, busy(21));
    assert_eq!(first, std::thread::spawn(|| busy(21)).join().expect("the thread ends"));
    assert_ne!(first.0, busy(22).0);
}

/// Who of three nodes that start together gets the one thing that a server gives away.
fn winner(settings: &Settings) -> HostId {
    let told = tell(settings, |stage| {
        let nodes = (0..3).map(HostId::node).map(|node| {
            stage.host(node, move |stage| async move {
                let mut stream = stage.dial(node).await.expect("the server listens");
                stage.sleep(SimTime(100).since(stage.engine.now())).await;
                stream.write_u8(1).await.expect("the server is there");
                std::future::pending::<()>().await;
            })
        });
        let server = stage.host(SERVER, |stage| async move {
            let mut listener = stage.engine.listen(SERVER).await.expect("nobody else listens here");
            while let Ok((mut stream, node)) = listener.accept().await {
                let judge = stage.clone();
                let first = async move {
                    if stream.read_u8().await.is_ok() {
                        judge.write(node.to_string());
                    }
                };
                stage.engine.spawn(SERVER, "judge", Box::pin(first)).detach();
            }
        });
        nodes.chain([server]).collect()
    });
    told.diary[0].1.parse().expect("a host's name")
}

/// The server gives to the first who asks. Whoever is registered first must not be favoured,
/// neither at the shortest tick nor at one of several milliseconds.
#[test]
fn three_nodes_that_race_win_about_equally_often() {
    for (latency_min, latency_max) in [(2, 8), (8, 32)] {
        let mut wins = [0; 3];
        for seed in 0..300 {
            let settings = Settings { latency_min: latency_min.ms(), latency_max: latency_max.ms(), until: SimTime(200), ..settings(seed) };
            wins[winner(&settings).index() - HostId::node(0).index()] += 1;
        }
        assert!(wins.iter().all(|&n| n >= 70), "of 300 races at {latency_min} to {latency_max} ms, the nodes won {wins:?}");
    }
}
