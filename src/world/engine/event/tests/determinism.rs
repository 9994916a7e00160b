//! The same seed, the same run: again, elsewhere, and later.

use super::stage::{Desk, FAULT, N0, N1, SERVER, Stage};
use crate::seed::Seed;
use crate::time::{SimTime, Span};
use crate::trace::Digest;

/// Two nodes ask for a minute, while one is cut off, the other killed and the server paused.
fn digest(seed: u64) -> Digest {
    let client = |desk: Desk| async move {
        loop {
            if let Ok(mut stream) = desk.connect(SERVER).await {
                desk.ask(&mut stream).await;
                desk.ask(&mut stream).await;
            }
            desk.sleep(700.ms()).await;
        }
    };
    let mut stage = Stage::seeded(Seed(seed))
        .echo()
        .host(N0, client)
        .host(N1, client)
        .partition(N0, SERVER, 5_000, 9_000)
        .at(12_000, |e| e.crash(N1))
        .at(13_000, |e| e.restart(N1))
        .at(20_000, |e| e.pause(SERVER))
        .at(23_000, |e| e.resume(SERVER))
        .at(30_000, |e| e.lose_next(SERVER, N0, FAULT));
    stage.settings.latency_min = 1.ms();
    stage.settings.latency_max = 50.ms();
    stage.settings.until = SimTime::ZERO + 1.minutes();
    let outcome = stage.run();
    assert!(outcome.diary.len() > 100, "too little happened: {}", outcome.diary.len());
    let mut digest = outcome.probe.digest.get().expect("segments travelled");
    for (at, words) in &outcome.diary {
        digest.mix(*at);
        digest.mix(words.len() as u64);
    }
    digest
}

#[test]
fn twice_the_same() {
    assert_eq!(digest(3), digest(3));
    assert_ne!(digest(3), digest(4), "the seed decides nothing");
}

#[test]
fn the_same_on_another_thread() {
    let elsewhere = std::thread::spawn(|| digest(3));
    let here = digest(3);
    assert_eq!(here, elsewhere.join().expect("the run does not panic"));
}

#[test]
fn the_same_after_two_hundred_others() {
    let before = digest(3);
    for seed in 100..300 {
        digest(seed);
    }
    assert_eq!(before, digest(3));
}
