//! A script on a real Redis, in real time.
//!
//! Keys begin with a prefix of their own and are deleted afterwards. Nothing else on the server
//! is touched. Requests are made at the script's own times, so that lateness does not add up.

#![expect(clippy::disallowed_methods, reason = "a real server keeps real time")]

use super::TOLERANCE_MS;
use super::answer;
use super::script::{Script, Turn};
use redis::{Client, Connection};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// Scripts mostly wait: so many are played at a time.
const AT_A_TIME: usize = 8;

/// How often a script is played until the machine was quick enough.
const TRIES: u32 = 40;

/// Three clients of a real server.
pub struct Redis {
    clients: [Connection; 3],
}

impl Redis {
    /// # Panics
    /// There is no Redis.
    pub fn at(url: &str) -> Redis {
        let client = Client::open(url).unwrap_or_else(|error| panic!("{url}: {error}"));
        let connect = |_| client.get_connection().unwrap_or_else(|error| panic!("{url}: {error}"));
        Redis { clients: [0, 1, 2].map(connect) }
    }

    /// One request, as it is sent.
    pub fn ask(&mut self, client: usize, words: &[String]) -> String {
        answer::text(redis::cmd(&words[0]).arg(&words[1..]).query(&mut self.clients[client]))
    }

    /// The answers of a script; `None` if one of them came too late to mean anything.
    fn play(&mut self, script: &Script) -> Option<Vec<String>> {
        let prefix = prefix();
        let began = Instant::now();
        let (mut due, mut in_time, mut answers) = (Duration::ZERO, true, Vec::new());
        for turn in &script.turns {
            match turn {
                Turn::Wait(ms) => {
                    due += Duration::from_millis(*ms);
                    thread::sleep(due.saturating_sub(began.elapsed()));
                }
                Turn::Send(request) => {
                    let words = request.sent(&prefix);
                    let sent =
                        self.clients[request.client].send_packed_command(&redis::cmd(&words[0]).arg(&words[1..]).get_packed_command());
                    sent.expect("it is sent");
                    in_time &= began.elapsed() < due + Duration::from_millis(TOLERANCE_MS);
                }
                Turn::Ask(request, _) => {
                    let answer = match request.sent_before {
                        true => answer::text(self.clients[request.client].recv_response()),
                        false => self.ask(request.client, &request.sent(&prefix)),
                    };
                    answers.push(answer.replace(&prefix, ""));
                    in_time &= began.elapsed() < due + Duration::from_millis(TOLERANCE_MS);
                }
            }
        }
        let keys = script.keys().into_iter().map(|key| format!("{prefix}{key}"));
        let delete: Vec<String> = ["DEL".to_owned()].into_iter().chain(keys).collect();
        if delete.len() > 1 {
            self.ask(0, &delete);
        }
        in_time.then_some(answers)
    }
}

/// Nobody else has it: neither another process nor another try.
fn prefix() -> String {
    static TAKEN: AtomicU64 = AtomicU64::new(0);
    let since = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos());
    format!("onceproof:{}:{since:x}:{}:", std::process::id(), TAKEN.fetch_add(1, Ordering::Relaxed))
}

/// The answers of all scripts, in their order.
///
/// # Panics
/// There is no Redis at `url`, or the machine is never quick enough for one of them.
pub fn play_all(url: &str, scripts: &[Script]) -> Vec<Vec<String>> {
    let next = AtomicUsize::new(0);
    let answers: Mutex<Vec<Option<Vec<String>>>> = Mutex::new(vec![None; scripts.len()]);
    thread::scope(|scope| {
        for _ in 0..AT_A_TIME.min(scripts.len()) {
            scope.spawn(|| {
                while let Some((n, script)) = Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|n| Some((n, scripts.get(n)?))) {
                    let played = (0..TRIES).find_map(|_| Redis::at(url).play(script));
                    let played = played.unwrap_or_else(|| panic!("`{}` was late {TRIES} times: this machine is too busy", script.name));
                    answers.lock().unwrap_or_else(PoisonError::into_inner)[n] = Some(played);
                }
            });
        }
    });
    let answers = answers.into_inner().unwrap_or_else(PoisonError::into_inner);
    answers.into_iter().map(|played| played.expect("every script was played")).collect()
}
