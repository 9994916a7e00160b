//! Sockets on a healthy network: how they open, carry, and close.

use super::stage::{N0, N1, SERVER, Stage};
use crate::time::Span;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Connecting takes one round trip, and so does an answer: 10 ms each way.
#[test]
fn a_round_trip_each() {
    let outcome = Stage::new()
        .echo()
        .host(N0, |desk| async move {
            let mut stream = desk.dial().await;
            desk.say("connected");
            desk.ask(&mut stream).await;
        })
        .run();
    assert_eq!((outcome.when("connected"), outcome.when("1"), outcome.when("server: end")), (20, 40, 50));
}

/// Nobody listens, the process is down, or the host was never built: refused after a round trip.
#[test]
fn refused_after_a_round_trip() {
    let outcome = Stage::new()
        .host(SERVER, |_| std::future::pending())
        .host(N0, |desk| async move {
            for to in [SERVER, N1, crate::id::HostId::node(30)] {
                let error = desk.connect(to).await.expect_err("nobody listens");
                desk.say(format!("{:?}", error.kind()));
            }
        })
        .at(0, |e| e.crash(N1))
        .run();
    assert_eq!(outcome.diary, [20, 40, 60].map(|at| (at, "ConnectionRefused".to_owned())));
}

/// Everything written in one poll leaves as one segment, when the poll ends.
#[test]
fn one_segment_a_poll() {
    let outcome = Stage::new()
        .host(SERVER, |desk| async move {
            let mut listener = desk.engine.listen(desk.me).await.expect("nobody else listens");
            let (mut stream, from) = listener.accept().await.expect("the run is on");
            assert_eq!(from, N0);
            let mut bytes = [0; 64];
            loop {
                let n = stream.read(&mut bytes).await.expect("no fault");
                desk.say(String::from_utf8_lossy(&bytes[..n]));
                if n == 0 {
                    // The client has only shut down its own direction.
                    return stream.write_all(b"bye").await.expect("half open");
                }
            }
        })
        .host(N0, |desk| async move {
            let mut stream = desk.dial().await;
            stream.write_all(b"a").await.expect("no fault");
            stream.write_all(b"b").await.expect("no fault");
            desk.sleep(1.ms()).await;
            stream.write_all(b"c").await.expect("no fault");
            stream.shutdown().await.expect("no fault");
            assert!(stream.write_all(b"d").await.is_err(), "nothing may be written after the end");
            let mut rest = String::new();
            stream.read_to_string(&mut rest).await.expect("no fault");
            desk.say(format!("client: {rest}"));
        })
        .run();
    assert_eq!(outcome.diary, [(30, "ab"), (31, "c"), (31, ""), (41, "client: bye")].map(|(at, words)| (at, words.to_owned())));
}

/// Unread bytes at the time of closing make it a reset.
#[test]
fn closing_with_unread_bytes_resets() {
    let outcome = Stage::new()
        .echo()
        .host(N0, |desk| async move {
            let mut stream = desk.dial().await;
            stream.write_all(b"?").await.expect("connected");
            desk.sleep(100.ms()).await;
        })
        .run();
    assert_eq!(outcome.words(), ["server: ConnectionReset"]);
}

/// A mebibyte against a window of 64 KiB: a paused reader stops the writer, and gets it all afterwards.
#[test]
fn window_stops_the_writer() {
    let upload = |pause: bool| {
        let stage = Stage::new()
            .host(SERVER, |desk| async move {
                let mut listener = desk.engine.listen(desk.me).await.expect("nobody else listens");
                let (mut stream, _) = listener.accept().await.expect("the run is on");
                let mut all = Vec::new();
                stream.read_to_end(&mut all).await.expect("no fault");
                assert!(all.iter().enumerate().all(|(i, byte)| *byte == (i % 251) as u8), "bytes changed on the way");
                desk.say(format!("read {}", all.len()));
            })
            .host(N0, |desk| async move {
                let mut stream = desk.dial().await;
                let bytes: Vec<u8> = (0..1 << 20).map(|i| (i % 251) as u8).collect();
                stream.write_all(&bytes).await.expect("no fault");
                desk.say("written");
            });
        let outcome = if pause { stage.at(25, |e| e.pause(SERVER)).at(3_025, |e| e.resume(SERVER)).run() } else { stage.run() };
        (outcome.when("written"), outcome.when("read 1048576"))
    };
    // 16 windows of one segment each: the last is written after 15 credits, 10 ms apart.
    assert_eq!(upload(false), (20 + 150, 20 + 160));
    // The first window waits from 30 to 3,025 ms to be read.
    assert_eq!(upload(true), (3_025 + 140, 3_025 + 150));
}

/// A second listener on a host is an error; after the first is dropped it is not, and what waited to be accepted is reset.
#[test]
fn one_listener_a_host() {
    let outcome = Stage::new()
        .host(SERVER, |desk| async move {
            let first = desk.engine.listen(desk.me).await.expect("nobody else listens");
            let error = desk.engine.listen(desk.me).await.err().expect("somebody listens");
            desk.say(format!("{:?}", error.kind()));
            desk.sleep(1.seconds()).await;
            drop(first);
            assert!(desk.engine.listen(desk.me).await.is_ok());
        })
        .host(N0, |desk| async move {
            let mut stream = desk.dial().await;
            let error = stream.read_u8().await.expect_err("never accepted");
            desk.say(format!("{:?}", error.kind()));
        })
        .run();
    assert_eq!(outcome.diary, [(0, "AddrInUse".to_owned()), (1_010, "ConnectionReset".to_owned())]);
}
