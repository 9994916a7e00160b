//! Nobody wins by registration order.

use super::stage::{SERVER, Stage};
use crate::id::HostId;
use crate::seed::Seed;
use crate::time::Span;
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Three nodes ask one server for one key at the same instant; who was first?
fn winner(seed: Seed, min: Duration, max: Duration) -> usize {
    let first = Rc::new(Cell::new(None));
    let noted = first.clone();
    let mut stage = Stage::seeded(seed).host(SERVER, move |desk| {
        let first = noted.clone();
        async move {
            let mut listener = desk.engine.listen(desk.me).await.expect("nobody else listens");
            loop {
                let (mut stream, _) = listener.accept().await.expect("the run is on");
                let first = first.clone();
                desk.spawn(async move {
                    let mut who = [0; 1];
                    if stream.read_exact(&mut who).await.is_ok() && first.get().is_none() {
                        first.set(Some(usize::from(who[0])));
                    }
                })
                .detach();
            }
        }
    });
    for n in 0..3 {
        stage = stage.host(HostId::node(n), move |desk| async move {
            let mut stream = desk.dial().await;
            desk.until(1_000).await;
            stream.write_all(&[n]).await.expect("connected");
            std::future::pending::<()>().await;
        });
    }
    stage.settings.latency_min = min;
    stage.settings.latency_max = max;
    stage.settings.until = crate::time::SimTime(2_000);
    stage.run();
    first.get().expect("somebody asked")
}

/// Over 1,000 seeds, a third each give or take 50: four standard deviations are 60.
fn is_fair(min: Duration, max: Duration) {
    let mut wins = [0; 3];
    for seed in 0..1_000 {
        wins[winner(Seed(7).nth(seed), min, max)] += 1;
    }
    assert!(wins.iter().all(|won| (280..=390).contains(won)), "{wins:?}");
}

#[test]
fn fair_when_latency_is_fixed() {
    is_fair(10.ms(), 10.ms());
}

#[test]
fn fair_when_latency_varies() {
    is_fair(1.ms(), 50.ms());
}
