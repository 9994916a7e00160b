//! Crash, power cut, restart and pause, as the streams of others notice them.

use super::stage::{N0, N1, SERVER, Stage};
use crate::time::{SimTime, Span};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// A client that keeps one connection and asks at these times, then tries to connect again until it can.
fn client(stage: Stage, times: &'static [u64]) -> Stage {
    stage.host(N0, move |desk| async move {
        let mut stream = desk.dial().await;
        for at in times {
            desk.until(*at).await;
            desk.ask(&mut stream).await;
        }
        drop(stream);
        for _ in 0..100 {
            match desk.connect(SERVER).await {
                Ok(mut stream) => {
                    desk.say("reconnected");
                    return desk.ask(&mut stream).await;
                }
                Err(e) => desk.say(format!("connect: {:?}", e.kind())),
            }
            desk.sleep(1.seconds()).await;
        }
    })
}

/// The server's process dies: its clients know at once, are refused, and come back after the restart.
#[test]
fn server_crash() {
    let outcome = client(Stage::new().echo(), &[1_000, 2_000]).at(1_500, |e| e.crash(SERVER)).at(4_500, |e| e.restart(SERVER)).run();
    assert_eq!(
        outcome.words()[..6],
        ["1", "ConnectionReset", "connect: ConnectionRefused", "connect: ConnectionRefused", "connect: ConnectionRefused", "reconnected"]
    );
    assert_eq!(outcome.when("ConnectionReset"), 2_000);
}

/// The server loses power before a request: silence, until the new kernel answers the
/// retransmitted request with a reset. Held since 2,010; the tries are 200, 600, 1,400, 3,000,
/// 6,200 and 12,600 ms later; power is back at 11,500; a round trip is 20 ms.
#[test]
fn server_power_cut() {
    let outcome = client(Stage::new().echo(), &[1_000, 2_000]).at(1_500, |e| e.power_off(SERVER)).at(11_500, |e| e.restart(SERVER)).run();
    assert_eq!(outcome.words()[..3], ["1", "ConnectionReset", "reconnected"]);
    assert_eq!(outcome.when("ConnectionReset"), 2_010 + 12_600 + 20);
}

/// A connection that was idle over a power cut is answered by a reset at its next use.
#[test]
fn old_connection_is_reset_by_the_new_process() {
    for power in [false, true] {
        let outcome = client(Stage::new().echo(), &[1_000, 5_000])
            .partition(SERVER, N0, 1_900, 3_000)
            .at(2_000, move |e| if power { e.power_off(SERVER) } else { e.crash(SERVER) })
            .at(2_500, |e| e.restart(SERVER))
            .run();
        assert_eq!(outcome.words()[..3], ["1", "ConnectionReset", "reconnected"]);
        // After the crash the reset was held by the partition, and came before the request; after the power cut it answers the request.
        assert_eq!(outcome.when("ConnectionReset"), if power { 5_020 } else { 5_000 });
    }
}

/// Powered off for good: a connect times out after 127 s.
#[test]
fn connect_to_a_dark_host_times_out() {
    let outcome = Stage::new()
        .echo()
        .host(N0, |desk| async move {
            let error = desk.connect(SERVER).await.expect_err("nobody is there");
            desk.say(format!("{:?}", error.kind()));
        })
        .at(0, |e| e.power_off(SERVER))
        .run();
    assert_eq!(outcome.diary, [(127_010, "TimedOut".to_owned())]);
}

/// Powered off for five seconds: the SYN goes through on its grid, held at 10 and tried 1, 3 and 7 s later.
#[test]
fn connect_waits_for_a_rebooting_host() {
    let outcome = Stage::new()
        .echo()
        .host(N0, |desk| async move {
            let _stream = desk.dial().await;
            desk.say("connected");
        })
        .at(0, |e| e.power_off(SERVER))
        .at(5_000, |e| e.restart(SERVER))
        .run();
    assert_eq!(outcome.when("connected"), 7_010 + 20);
}

/// A client's process dies: what it wrote in the very same poll still arrives, then the server is told. Its new process works at once.
#[test]
fn client_crash() {
    let outcome = Stage::new()
        .echo()
        .host(N0, |desk| async move {
            let mut stream = desk.dial().await;
            if desk.engine.now() < SimTime(1_000) {
                stream.write_all(b"last words").await.expect("connected");
                desk.engine.crash(desk.me);
                desk.say("in the same poll");
                desk.sleep(1.ms()).await;
                desk.say("polled after its death");
            }
            desk.ask(&mut stream).await;
        })
        .at(2_000, |e| e.restart(N0))
        .run();
    // The last words are read at 30; answering them fails, because the reset of the crash is there already.
    assert_eq!(outcome.words(), ["in the same poll", "server: write ConnectionReset", "1", "server: end"]);
    assert_eq!(outcome.when("1"), 2_040);
}

/// A client loses power: the server never learns of it, however long it waits.
#[test]
fn client_power_cut() {
    let outcome = Stage::new()
        .echo()
        .host(N0, |desk| async move {
            let mut stream = desk.dial().await;
            desk.ask(&mut stream).await;
            std::future::pending::<()>().await;
        })
        .at(1_000, |e| e.power_off(N0))
        .at(3_000, |e| e.restart(N0))
        .run();
    assert_eq!(outcome.diary, [(40, "1".to_owned()), (3_040, "1".to_owned())]);
}

/// A host that cuts its own power says nothing more, not even what it wrote in that poll.
#[test]
fn own_power_cut_is_silent() {
    let outcome = Stage::new()
        .echo()
        .host(N0, |desk| async move {
            let mut stream = desk.dial().await;
            stream.write_all(b"?").await.expect("connected");
            desk.engine.power_off(desk.me);
            std::future::pending::<()>().await;
        })
        .run();
    assert!(outcome.diary.is_empty(), "{:?}", outcome.diary);
}

/// What a host that lost power was still holding back is never sent: nobody is left to send it.
#[test]
fn held_segments_die_with_their_host() {
    let outcome = Stage::new()
        .echo()
        .host(N0, |desk| async move {
            let mut stream = desk.dial().await;
            desk.until(1_000).await;
            desk.ask(&mut stream).await;
        })
        .partition(N0, SERVER, 500, 5_000)
        .at(2_000, |e| e.power_off(N0))
        .run();
    assert!(outcome.diary.is_empty(), "{:?}", outcome.diary);
}

/// What was under way behind the missing bytes does get there, and must not be read: nobody will ever fill the gap.
#[test]
fn nothing_is_read_behind_a_gap() {
    let outcome = Stage::new()
        .host(SERVER, |desk| async move {
            let mut listener = desk.engine.listen(desk.me).await.expect("nobody else listens");
            let (mut stream, _) = listener.accept().await.expect("the run is on");
            let got = stream.read_u8().await;
            desk.say(format!("{got:?}"));
        })
        .host(N0, |desk| async move {
            let mut stream = desk.dial().await;
            for at in [1_000, 1_100] {
                desk.until(at).await;
                stream.write_all(b"?").await.expect("connected");
            }
            std::future::pending::<()>().await;
        })
        // The first byte is held at 1,010 and would be sent again at 1,210. The second is under way when the power goes.
        .partition(N0, SERVER, 500, 1_020)
        .at(1_105, |e| e.power_off(N0))
        .run();
    assert!(outcome.diary.is_empty(), "{:?}", outcome.diary);
}

/// A paused client: its timer is overdue, the reply has waited; both are there when it goes on.
#[test]
fn client_paused() {
    let outcome = Stage::new()
        .echo()
        .host(N0, |desk| async move {
            let here = desk.clone();
            desk.spawn(async move {
                here.until(5_000).await;
                here.say("timer");
            })
            .detach();
            let mut stream = desk.dial().await;
            desk.until(1_000).await;
            // It pauses itself in the poll that sends the request: the request has left.
            desk.engine.pause(desk.me);
            desk.ask(&mut stream).await;
        })
        .at(31_000, |e| e.resume(N0))
        .run();
    assert_eq!((outcome.when("timer"), outcome.when("1")), (31_000, 31_000));
}

/// A paused server's kernel still accepts connections and takes data; nobody answers.
#[test]
fn server_paused() {
    let outcome = Stage::new()
        .echo()
        .host(N0, |desk| async move {
            desk.until(2_000).await;
            let mut stream = desk.dial().await;
            desk.say("connected");
            desk.ask(&mut stream).await;
        })
        .at(1_000, |e| e.pause(SERVER))
        .at(21_000, |e| e.resume(SERVER))
        .run();
    assert_eq!((outcome.when("connected"), outcome.when("1")), (2_020, 21_010));
}

/// A paused process can be killed; the new one is not paused.
#[test]
fn crash_ends_a_pause() {
    let outcome = Stage::new()
        .echo()
        .host(N1, |desk| async move {
            desk.sleep(1.seconds()).await;
            desk.say("awake");
        })
        .at(500, |e| e.pause(N1))
        .at(2_000, |e| {
            e.crash(N1);
            e.restart(N1);
        })
        .at(9_000, |e| e.resume(N1))
        .run();
    assert_eq!(outcome.diary, [(3_000, "awake".to_owned())]);
}

/// Starting what runs, and killing what is dead, changes nothing.
#[test]
fn lifecycle_calls_are_idempotent() {
    let outcome = Stage::new()
        .host(N0, |desk| async move { desk.say("boot") })
        .at(1_000, |e| {
            e.restart(N0);
            e.crash(N0);
            e.crash(N0);
            e.pause(N0);
            e.power_off(N0);
            e.power_off(N0);
            e.resume(N0);
        })
        .at(2_000, |e| {
            e.restart(N0);
            e.restart(N0);
        })
        .run();
    assert_eq!(outcome.diary, [(0, "boot".to_owned()), (2_000, "boot".to_owned())]);
}
