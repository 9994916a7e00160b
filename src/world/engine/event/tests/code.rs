//! What host code may do, and what ends its process or its run.

use super::stage::{N0, N1, SERVER, Stage};
use crate::time::{SimTime, Span};
use crate::world::engine::{Ended, Refused};
use std::cell::Cell;
use std::rc::Rc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Fifteen idle days between two settlements are one jump: two polls, and tokio's clock jumps too.
#[test]
fn idle_days_cost_nothing() {
    let mut stage = Stage::new().host(N0, |desk| async move {
        let before = tokio::time::Instant::now();
        desk.sleep(360.hours()).await;
        assert_eq!(before.elapsed(), 360.hours(), "tokio's clock is out of step");
        desk.say("awake");
    });
    stage.settings.until = SimTime::ZERO + 400.hours();
    stage.settings.poll_budget = 2;
    let outcome = stage.run();
    assert_eq!(outcome.ended, Ok(Ended::Horizon));
    assert_eq!((outcome.when("awake"), outcome.ended_at), (360 * 3_600_000, SimTime(400 * 3_600_000)));
    assert!(outcome.probe.panics.borrow().is_empty(), "{:?}", outcome.probe.panics);
}

/// A sleep that loses a race leaves no trace: nothing happens at its time.
#[test]
fn dropped_sleep_is_forgotten() {
    let outcome = Stage::new()
        .host(N0, |desk| async move {
            for _ in 0..3 {
                tokio::select! { biased; () = desk.sleep(1.hours()) => desk.say("late"), () = desk.sleep(1.ms()) => desk.say("early") }
            }
        })
        .run();
    assert_eq!(outcome.diary.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(outcome.words(), ["early"; 3]);
}

#[test]
fn tokio_timer_is_refused() {
    let outcome = Stage::new().host(N0, |_| std::future::pending()).host(N1, |_| tokio::time::sleep(1.ms())).run();
    assert_eq!(outcome.ended, Err(Refused::TokioTimer { host: N1 }));
    assert!(outcome.probe.panics.borrow().is_empty(), "a refusal is not a finding");
}

#[test]
fn tokio_spawn_is_refused() {
    let outcome = Stage::new()
        .host(N1, |_| async {
            drop(tokio::spawn(async {}));
            std::future::pending::<()>().await;
        })
        .run();
    assert_eq!(outcome.ended, Err(Refused::TokioSpawn { host: N1 }));
    let blocking = Stage::new().host(N1, |_| async { drop(tokio::task::spawn_blocking(|| ())) }).run();
    assert_eq!(blocking.ended, Err(Refused::TokioSpawn { host: N1 }));
    let local = Stage::new().host(N1, |_| async { drop(tokio::task::spawn_local(async {})) }).run();
    assert_eq!(local.ended, Err(Refused::TokioSpawn { host: N1 }));
}

/// A panic kills its own process, as a crash does, and nothing else.
#[test]
fn panic_is_told_and_kills_the_process() {
    let outcome = Stage::new()
        .echo()
        .host(N0, |desk| async move {
            let stream = desk.dial().await;
            let here = desk.clone();
            desk.spawn(async move {
                here.sleep(1.seconds()).await;
                here.say("survived");
                drop(stream);
            })
            .detach();
            desk.sleep(1.ms()).await;
            panic!("the job has a bug");
        })
        .host(N1, |desk| async move {
            desk.sleep(5.seconds()).await;
            desk.say("undisturbed");
        })
        .run();
    assert_eq!(outcome.words(), ["server: ConnectionReset", "undisturbed"]);
    let panics = outcome.probe.panics.borrow();
    assert_eq!(panics.len(), 1);
    assert!(panics[0].0 == N0 && panics[0].1.starts_with("the job has a bug, at "), "{panics:?}");
}

/// A panic while a task is dropped is told too, and does not stop the others from being dropped.
#[test]
fn panic_in_a_destructor_is_contained() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }
    let bombs = |killed: Option<u64>| {
        let stage = Stage::new().host(N0, |desk| async move {
            let bomb = Bomb;
            desk.spawn(std::future::pending()).detach();
            std::future::pending::<()>().await;
            drop(bomb);
        });
        let stage = stage.echo();
        match killed {
            Some(at) => stage.at(at, |e| e.crash(N0)).run(),
            None => stage.run(),
        }
    };
    assert_eq!(bombs(Some(5)).probe.panics.borrow().len(), 1);
    assert_eq!(bombs(None).probe.panics.borrow().len(), 0, "after the run nobody listens");
}

#[test]
fn endless_yielding_is_cut() {
    for spin in [true, false] {
        let mut stage = Stage::new().host(N0, move |desk| async move {
            loop {
                if spin {
                    tokio::task::yield_now().await;
                } else {
                    desk.sleep(0.ms()).await;
                }
            }
        });
        stage.settings.poll_budget = 5_000;
        let outcome = stage.run();
        assert_eq!((outcome.ended, outcome.ended_at), (Ok(Ended::StepBudget), SimTime::ZERO));
    }
}

/// A task stops at its next suspension when it is aborted, also by itself; the next task is not hit.
#[test]
fn abort_hits_one_task() {
    let outcome = Stage::new()
        .host(N0, |desk| async move {
            let (one, two, three) = (desk.clone(), desk.clone(), desk.clone());
            let other = desk.spawn(async move {
                one.sleep(10.ms()).await;
                one.say("aborted task ran on");
            });
            let own = Rc::new(Cell::new(None));
            let mine = own.clone();
            own.set(Some(desk.spawn(async move {
                two.sleep(1.ms()).await;
                if let Some(me) = mine.take() {
                    crate::host::Task::abort(me);
                }
                two.say("still in the same poll");
                two.sleep(1.ms()).await;
                two.say("ran on after its own abort");
            })));
            desk.spawn(async move {
                three.sleep(20.ms()).await;
                three.say("third ran");
            })
            .detach();
            desk.sleep(5.ms()).await;
            other.abort();
        })
        .run();
    assert_eq!(outcome.words(), ["still in the same poll", "third ran"]);
}

/// A hundred thousand short tasks and connections later, a run holds no more than at its beginning.
#[test]
fn slots_are_reused() {
    let mut stage = Stage::new().echo().host(N0, |desk| async move {
        for _ in 0..2_000 {
            let here = desk.clone();
            desk.spawn(async move { here.sleep(1.ms()).await }).detach();
            let mut stream = desk.dial().await;
            stream.write_all(b"?").await.expect("connected");
            stream.read_u8().await.expect("answered");
        }
        // The last FIN, and the server's answer to it, take 20 ms.
        desk.sleep(30.ms()).await;
        let (tasks, conns) = super::super::current::with(|machine| {
            let (executor, fabric) = (machine.executor.borrow(), machine.fabric.borrow());
            (executor.alive(), fabric.conns.alive())
        })
        .expect("the run is on");
        // The two main tasks are all that is left.
        desk.say(format!("{tasks} tasks, {conns} connections"));
    });
    stage.settings.until = SimTime::ZERO + 24.hours();
    assert_eq!(stage.run().words().last(), Some(&"2 tasks, 0 connections"));
}

/// Connects that are given up, at any stage, leave nothing behind either.
#[test]
fn abandoned_connects_are_forgotten() {
    let outcome = Stage::new()
        .echo()
        .host(N0, |desk| async move {
            // Before the SYN arrives, while the answer is under way, and long after the SYN was held.
            for patience in [5, 15, 3_000] {
                tokio::select! { biased; _ = desk.connect(SERVER) => desk.say("connected"), () = desk.sleep(patience.ms()) => {} }
            }
            // The kernel holds back what it still wants to tell the dark host, and gives up after 924.6 s.
            desk.sleep(930.seconds()).await;
            let left = super::super::current::with(|machine| machine.fabric.borrow().conns.alive());
            desk.say(format!("{left:?}"));
        })
        .at(20, |e| e.power_off(SERVER))
        .run();
    assert_eq!(outcome.words(), ["Some(0)"]);
}

/// A stream may be kept beyond its run, even into the next: it is dead there, and harms nobody.
#[test]
fn stream_outlives_its_run() {
    let kept = Rc::new(Cell::new(None));
    let given = kept.clone();
    Stage::new()
        .echo()
        .host(N0, move |desk| {
            let given = given.clone();
            async move { given.set(Some(desk.dial().await)) }
        })
        .run();
    let old = Rc::new(Cell::new(kept.take()));
    let outcome = Stage::new()
        .echo()
        .host(N0, move |desk| {
            let old = old.clone();
            async move {
                let mut fresh = desk.dial().await;
                let mut old = old.take().expect("the first run connected");
                desk.ask(&mut old).await;
                drop(old);
                desk.ask(&mut fresh).await;
            }
        })
        .run();
    assert_eq!(outcome.words(), ["ConnectionAborted", "1", "server: end"]);
    assert_eq!(SERVER.index(), 0);
}
