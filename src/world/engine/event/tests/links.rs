//! Faults of links: partitions, delays and losses, and who feels them.

use super::stage::{FAULT, N0, N1, SERVER, Stage};
use crate::id::FaultId;
use crate::time::{SimTime, Span};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// One client that asks once at `at`.
fn ask_at(at: u64) -> Stage {
    Stage::new().echo().host(N0, move |desk| async move {
        let mut stream = desk.dial().await;
        desk.until(at).await;
        desk.ask(&mut stream).await;
    })
}

/// A request into a partition of 5 s: held 10 ms after it was sent, tried 200, 600, 1,400, 3,000 and 6,200 ms later, then a round trip.
#[test]
fn request_into_a_partition() {
    let outcome = ask_at(1_000).partition(N0, SERVER, 900, 5_900).run();
    assert_eq!(outcome.when("1"), 1_000 + 10 + 6_200 + 20);
    assert_eq!(*outcome.probe.felt.borrow(), [FAULT]);
}

/// Latency of 1 to 50 ms: the answer comes after about 6.3 s.
#[test]
fn request_into_a_partition_with_latency() {
    let mut stage = ask_at(1_000).partition(N0, SERVER, 900, 5_900);
    stage.settings.latency_min = 1.ms();
    stage.settings.latency_max = 50.ms();
    let took = stage.run().when("1") - 1_000;
    assert!((6_203..=6_350).contains(&took), "{took}");
}

/// A partition during which nobody spoke was not felt.
#[test]
fn idle_partition_is_not_felt() {
    let outcome = ask_at(40_000).partition(N0, SERVER, 1_000, 31_000).run();
    assert_eq!(outcome.when("1"), 40_020);
    assert!(outcome.probe.felt.borrow().is_empty());
}

/// Only the answers are stopped: the request is served, the answer is late.
#[test]
fn one_way_partition() {
    let outcome = ask_at(1_000).at(900, |e| e.block(SERVER, N0, FAULT)).at(3_900, |e| e.unblock(SERVER, N0, FAULT)).run();
    // Held at 1,020, tried 200, 600, 1,400 and 3,000 ms later: it gets in at 4,020 + 10.
    assert_eq!(outcome.when("1"), 4_030);
    assert_eq!(*outcome.probe.felt.borrow(), [FAULT]);
}

/// Blocked for 10 s before the connect: the SYN gets through at its fourth try, 15 s after it was held.
#[test]
fn connect_into_a_partition() {
    let outcome = Stage::new()
        .echo()
        .host(N0, |desk| async move {
            let _stream = desk.dial().await;
            desk.say("connected");
        })
        .partition(N0, SERVER, 0, 10_000)
        .run();
    assert_eq!(outcome.when("connected"), 10 + 15_000 + 20);
}

/// A quarter of an hour of silence: the sender gives up, and so does its connection.
#[test]
fn sender_gives_up() {
    let outcome = Stage::new()
        .echo()
        .host(N0, |desk| async move {
            let mut stream = desk.dial().await;
            desk.until(1_000).await;
            desk.ask(&mut stream).await;
            let error = stream.write_all(b"?").await.expect_err("given up");
            desk.say(format!("write: {:?}", error.kind()));
        })
        .partition(N0, SERVER, 500, 1_200_000)
        .run();
    assert_eq!(outcome.words(), ["TimedOut", "write: TimedOut"]);
    assert_eq!(outcome.when("TimedOut"), 1_010 + 924_600);
}

/// Two faults block the same link; it is open only when both are over, and both were felt.
#[test]
fn blocks_nest() {
    let other = FaultId(8);
    let outcome = ask_at(1_000)
        .at(500, move |e| {
            e.block(N0, SERVER, FAULT);
            e.block(N0, SERVER, other);
        })
        .at(1_100, |e| e.unblock(N0, SERVER, FAULT))
        .at(1_110, |e| e.unblock(N0, SERVER, FAULT))
        .at(2_000, move |e| e.unblock(N0, SERVER, other))
        .run();
    assert_eq!(outcome.when("1"), 1_010 + 1_400 + 20);
    assert_eq!(*outcome.probe.felt.borrow(), [FAULT, other]);
}

/// A new cut before the retransmission gets through stops that one too.
#[test]
fn second_cut_catches_the_retransmission() {
    // Held at 1,010; healed at 1,100; the try of 1,210 arrives at 1,220 and meets the second cut.
    let outcome = ask_at(1_000).partition(N0, SERVER, 900, 1_100).partition(N0, SERVER, 1_215, 2_000).run();
    assert_eq!(outcome.when("1"), 1_010 + 1_400 + 20);
}

/// Two seconds more on the way there: the answer is late, the connection whole. Later requests are on time again.
#[test]
fn delay_is_felt_and_ends() {
    let outcome = Stage::new()
        .echo()
        .host(N0, |desk| async move {
            let mut stream = desk.dial().await;
            for at in [1_000, 10_000] {
                desk.until(at).await;
                desk.ask(&mut stream).await;
            }
        })
        .at(900, |e| e.delay(N0, SERVER, 2.seconds(), FAULT))
        .at(9_000, |e| e.delay(N0, SERVER, 0.seconds(), FAULT))
        .run();
    let times: Vec<u64> = outcome.diary.iter().map(|(at, _)| *at).collect();
    assert_eq!(times[..2], [1_000 + 2_020, 10_020]);
    assert_eq!(*outcome.probe.felt.borrow(), [FAULT]);
}

/// One answer is lost: its connection stays silent for good, others do not notice. The server finds out after a quarter of an hour.
#[test]
fn lost_reply() {
    let outcome = Stage::new()
        .echo()
        .host(N0, |desk| async move {
            let mut stream = desk.dial().await;
            desk.until(1_000).await;
            tokio::select! {
                biased;
                () = desk.ask(&mut stream) => desk.say("answered"),
                () = desk.sleep(5.seconds()) => desk.say("timeout"),
            }
            tokio::select! {
                biased;
                () = desk.ask(&mut stream) => desk.say("answered"),
                () = desk.sleep(5.seconds()) => desk.say("timeout again"),
            }
            let mut fresh = desk.dial().await;
            desk.ask(&mut fresh).await;
            std::future::pending::<()>().await;
        })
        .at(900, |e| e.lose_next(SERVER, N0, FAULT))
        .run();
    assert_eq!(outcome.words(), ["timeout", "timeout again", "1", "server: TimedOut"]);
    assert_eq!(outcome.when("server: TimedOut"), 1_010 + 924_600);
    assert_eq!(*outcome.probe.lost.borrow(), [(SERVER, N0)]);
    assert_eq!(*outcome.probe.felt.borrow(), [FAULT]);
}

/// Credit for what was read cannot travel over a blocked link; the writer waits for it, and gets it when the link opens.
#[test]
fn credit_waits_for_the_way_back() {
    let outcome = Stage::new()
        .host(SERVER, |desk| async move {
            let mut listener = desk.engine.listen(desk.me).await.expect("nobody else listens");
            let (mut stream, _) = listener.accept().await.expect("the run is on");
            let mut all = Vec::new();
            stream.read_to_end(&mut all).await.expect("no fault at this end");
            desk.say(format!("read {}", all.len()));
        })
        .host(N0, |desk| async move {
            let mut stream = desk.dial().await;
            desk.until(1_000).await;
            stream.write_all(&vec![7; 100_000]).await.expect("only late");
            desk.say("written");
        })
        .at(900, |e| e.block(SERVER, N0, FAULT))
        .at(4_000, |e| e.unblock(SERVER, N0, FAULT))
        .run();
    assert_eq!((outcome.when("written"), outcome.when("read 100000")), (4_000, 4_010));
}

/// Other links than the blocked one go on.
#[test]
fn others_are_not_cut_off() {
    let outcome = Stage::new()
        .echo()
        .host(N1, |desk| async move {
            let mut stream = desk.dial().await;
            desk.until(1_000).await;
            desk.ask(&mut stream).await;
            stream.shutdown().await.expect("no fault");
            assert_eq!(stream.read(&mut [0]).await.expect("no fault"), 0);
        })
        .partition(N0, SERVER, 0, 10_000)
        .run();
    assert_eq!(outcome.when("1"), 1_020);
    assert_eq!(outcome.ended_at, SimTime::ZERO + 1.hours());
}
