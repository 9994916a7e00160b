//! Equal seeds tell equal stories, and no host wins races by its place in a list.

use super::stage::{FAULT, SERVER, ping, settings, tell};
use super::{AsyncReadExt, AsyncWriteExt, Ended, HostId, Settings, SimTime, Span};

/// What the network noted, and what the hosts wrote.
type Busy = (Vec<(SimTime, u64)>, Vec<(u64, String)>);

/// Everything at once.
fn busy(seed: u64) -> Busy {
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
    (told.seen.notes.take(), told.diary)
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
/// neither at the shortest tick nor at one of several milliseconds, nor when all are equally far away.
#[test]
fn three_nodes_that_race_win_about_equally_often() {
    for (latency_min, latency_max) in [(2, 8), (8, 32), (5, 5)] {
        let mut wins = [0; 3];
        for seed in 0..300 {
            let settings = Settings { latency_min: latency_min.ms(), latency_max: latency_max.ms(), until: SimTime(200), ..settings(seed) };
            wins[winner(&settings).index() - HostId::node(0).index()] += 1;
        }
        assert!(wins.iter().all(|&n| n >= 70), "of 300 races at {latency_min} to {latency_max} ms, the nodes won {wins:?}");
    }
}
