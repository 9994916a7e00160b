//! A script on the simulated store, in virtual time, through redis-rs.

#[path = "../../proptests/lease_store/host.rs"]
#[expect(dead_code, reason = "the property tests use all of it")]
mod host;

use super::TOLERANCE_MS;
use super::answer;
use super::script::{Request, Script, Turn};
use host::{Wire, WireHost, connect};
use onceproof::host::Host;
use onceproof::id::HostId;
use onceproof::world::servers::lease::{LeaseStore, serve};
use redis::aio::MultiplexedConnection;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use tokio::task::{JoinHandle, LocalSet};

/// What the clock shows in the beginning: 2026-01-09 00:00:00 UTC.
const ORIGIN: i64 = 1_767_916_800_000;

/// What came of it.
pub struct Played {
    pub answers: Vec<String>,
    /// The first request that is so close to an expiry that a real server may answer it either way.
    pub too_close: Option<usize>,
}

/// Plays a script from an empty store.
pub fn play(script: &Script) -> Played {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    LocalSet::new().block_on(&runtime, played(script))
}

async fn played(script: &Script) -> Played {
    let wire = Wire::new(ORIGIN);
    let store = Rc::new(RefCell::new(LeaseStore::default()));
    let server = wire.host(HostId::Lease);
    server.spawn("lease", Box::pin(serve(Rc::<WireHost>::clone(&server), store))).detach();
    while !wire.listens() {
        tokio::task::yield_now().await;
    }
    let mut clients = Vec::new();
    for n in 0..3 {
        clients.push(connect(&wire, HostId::node(n)).await);
    }
    let mut waiting: [Option<JoinHandle<String>>; 3] = Default::default();
    let mut auditor = connect(&wire, HostId::Traffic).await;
    let (mut played, mut now) = (Played { answers: Vec::new(), too_close: None }, 0_u64);
    let mut runs_out: BTreeMap<&str, u64> = BTreeMap::new();
    for turn in &script.turns {
        let request = match turn {
            Turn::Wait(ms) => {
                wire.pass(*ms);
                now += ms;
                settle().await;
                continue;
            }
            Turn::Send(request) | Turn::Ask(request, _) => request,
        };
        if runs_out.values().any(|at| is_close(request, *at, now)) {
            played.too_close.get_or_insert(played.answers.len());
        }
        match turn {
            Turn::Send(_) => {
                let (mut client, words) = (clients[request.client].clone(), request.sent(""));
                waiting[request.client] = Some(tokio::task::spawn_local(async move { ask(&mut client, &words).await }));
                settle().await;
            }
            Turn::Ask(Request { client, sent_before: true, .. }, _) => {
                let answer = waiting[*client].take().expect("it was sent before");
                assert!(answer.is_finished(), "`{}` waits for {request}, to which nobody answers by itself", script.name);
                played.answers.push(answer.await.expect("it is answered"));
            }
            Turn::Ask(..) | Turn::Wait(_) => played.answers.push(ask(&mut clients[request.client], &request.sent("")).await),
        }
        for key in script.keys() {
            let left = ask(&mut auditor, &["PTTL".to_owned(), key.to_owned()]).await;
            match left.strip_prefix(':').and_then(|ms| ms.parse::<u64>().ok()) {
                Some(ms) => runs_out.insert(key, now.saturating_add(ms)),
                None => runs_out.remove(key),
            };
        }
    }
    played
}

/// Lets everybody run who can.
async fn settle() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
}

/// Whether a key that runs out at `at` may have run out or not when this is asked, or may have
/// another number of seconds left.
fn is_close(request: &Request, at: u64, now: u64) -> bool {
    let seconds = |left: u64| left.saturating_add(500) / 1000;
    let left = at.saturating_sub(now);
    let another_second = seconds(left.saturating_sub(TOLERANCE_MS)) != seconds(left.saturating_add(TOLERANCE_MS));
    at.abs_diff(now) <= TOLERANCE_MS || (request.is("TTL") && another_second)
}

async fn ask(connection: &mut MultiplexedConnection, words: &[String]) -> String {
    answer::text(redis::cmd(&words[0]).arg(&words[1..]).query_async(connection).await)
}
