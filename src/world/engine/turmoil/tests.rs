//! Stories on raw streams: what a connection, a process and a link do when they are hurt.

mod order;
mod stage;

use super::run;
use crate::host::Duplex;
use crate::id::{FaultId, HostId};
use crate::seed::Seed;
use crate::time::{SimTime, Span};
use crate::world::engine::{Boot, Ended, Engine, Observer, Refused, Settings};
use stage::{CLIENT, FAULT, SERVER, ping, pinger, settings, tell, tell_with_panics};
use std::cell::RefCell;
use std::io::{self, ErrorKind};
use std::rc::{Rc, Weak};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

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
            stage.write(format!("{:?}", stage.dial(CLIENT).await.map(drop).map_err(|e| e.kind())));
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
            stage.write(format!("{:?}", stage.dial(CLIENT).await.map(drop).map_err(|e| e.kind())));
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
    let told = tell_with_panics(&settings(12), |stage| {
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
    let panics = told.seen.panics.borrow();
    assert_eq!(panics.len(), 1, "{panics:?}");
    assert!(panics[0].0 == CLIENT && panics[0].1.starts_with("no more coffee, at "), "{panics:?}");
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

/// The server is paused while a client writes `segments` segments and closes: when were they
/// written, and when were they, and the end, read?
fn into_a_paused_server(segments: usize) -> (u64, u64) {
    let told = tell(&settings(15), |stage| {
        stage.at(50, |engine| engine.pause(SERVER));
        stage.at(5_000, |engine| engine.resume(SERVER));
        let server = stage.host(SERVER, |stage| async move {
            let mut listener = stage.engine.listen(SERVER).await.expect("nobody else listens here");
            let (mut stream, _) = listener.accept().await.expect("the client comes");
            let mut all = Vec::new();
            stream.read_to_end(&mut all).await.expect("the client closes in peace");
            stage.write(format!("read {}", all.len()));
        });
        let client = stage.host(CLIENT, move |stage| async move {
            let mut stream = stage.dial(CLIENT).await.expect("the server listens");
            stage.sleep(100.ms()).await;
            for _ in 0..segments {
                stream.write_all(&[7; 100]).await.expect("the server is there");
            }
            stage.write("written");
        });
        vec![server, client]
    });
    (told.at("written"), told.at(&format!("read {}", 100 * segments)))
}

#[test]
fn a_writer_waits_for_a_reader_that_does_not_read() {
    let (written, read) = into_a_paused_server(3 * super::UNREAD);
    assert!(written >= 5_000 && read >= 5_000, "the window is smaller than what is written");
}

/// turmoil 0.7.2 forgets an end of stream that finds the receiver full: the server would wait
/// for it for ever.
#[test]
fn the_end_of_a_stream_arrives_even_when_its_receiver_was_full() {
    let (written, read) = into_a_paused_server(super::UNREAD);
    assert!(written < 200, "just so much is taken without waiting");
    assert!((5_000..5_020).contains(&read));
}

/// A request is held by a block while its sender dies and starts again: the kernel still delivers it, and then the end.
#[test]
fn what_a_process_wrote_into_a_block_outlives_the_process() {
    let told = tell(&settings(16), |stage| {
        stage.at(50, |engine| engine.block(CLIENT, SERVER, FAULT));
        stage.at(200, |engine| engine.crash(CLIENT));
        stage.at(1_000, |engine| engine.unblock(CLIENT, SERVER, FAULT));
        let server = stage.host(SERVER, |stage| async move {
            let mut listener = stage.engine.listen(SERVER).await.expect("nobody else listens here");
            let (mut stream, _) = listener.accept().await.expect("the client comes");
            let mut all = Vec::new();
            stream.read_to_end(&mut all).await.expect("the kernel closes in peace");
            stage.write(format!("read {all:?}"));
        });
        let client = stage.host(CLIENT, |stage| async move {
            let mut stream = stage.dial(CLIENT).await.expect("the server listens");
            stage.sleep(100.ms()).await;
            stream.write_all(&[1, 2, 3]).await.expect("the kernel takes it");
            std::future::pending::<()>().await;
        });
        vec![server, client]
    });
    assert!((1_000..1_220).contains(&told.at("read [1, 2, 3]")));
}

/// A request that has left before the power went is applied; what a block held at that time is lost with its kernel.
#[test]
fn a_power_cut_loses_what_is_held_but_not_what_is_on_its_way() {
    let told = tell(&settings(17), |stage| {
        let server = stage.host(SERVER, |stage| async move {
            let mut listener = stage.engine.listen(SERVER).await.expect("nobody else listens here");
            let (mut stream, _) = listener.accept().await.expect("the client comes");
            while let Ok(byte) = stream.read_u8().await {
                stage.write(format!("read {byte}"));
            }
            stage.write("end");
        });
        let client = stage.host(CLIENT, |stage| async move {
            let mut stream = stage.dial(CLIENT).await.expect("the server listens");
            stream.write_u8(1).await.expect("the server is there");
            stage.engine.block(CLIENT, SERVER, FAULT);
            stream.write_u8(2).await.expect("the kernel takes it");
            stage.engine.power_off(CLIENT);
            stage.engine.unblock(CLIENT, SERVER, FAULT);
        });
        vec![server, client]
    });
    assert_eq!(told.lines(), ["read 1"]);
}

#[test]
fn a_run_leaves_nothing_alive() {
    let held = Rc::new(RefCell::new(Weak::<()>::new()));
    let told = tell(&settings(18), |stage| {
        let token = Rc::new(());
        *held.borrow_mut() = Rc::downgrade(&token);
        let client = stage.host(CLIENT, move |stage| {
            let token = token.clone();
            async move {
                let stream = stage.dial(CLIENT).await;
                stage.sleep(1.hours()).await;
                drop((stream, token));
            }
        });
        stage.at(1_000, |engine| engine.power_off(CLIENT));
        stage.at(2_000, |engine| engine.restart(CLIENT));
        vec![stage.echo(), client]
    });
    assert_eq!(told.outcome, Ok(Ended::Horizon));
    assert!(held.borrow().upgrade().is_none(), "the host's code is gone with the run");
    assert_eq!(Rc::strong_count(&told.seen), 1, "and so is the engine");
}
