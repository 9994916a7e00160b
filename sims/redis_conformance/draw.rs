//! Scripts, drawn: three clients, of which two may wait for a message, three keys, pauses around short expiries, and a good share of
//! what a store has to refuse.

use super::script::{Request, Script, Turn};
use onceproof::seed::{Rng, Seed};
use rand::RngExt;
use rand::seq::IndexedRandom;
use std::ops::RangeInclusive;

/// How many requests a script has.
const REQUESTS: RangeInclusive<usize> = 6..=16;

/// How many of a hundred requests are made after a pause.
const PAUSES: u32 = 30;

/// Milliseconds of a pause.
const PAUSE_MS: RangeInclusive<u64> = 1..=220;

/// Instead of how many of a hundred requests somebody waits for a message.
const WAITS: u32 = 10;

/// How long he waits at most, in seconds, and when he surely has his answer.
const PATIENCE: (&str, u64) = ("0.3", 340);

/// Until a request has surely reached a server, in milliseconds.
const ARRIVED: u64 = 50;

/// Milliseconds of an ordinary expiry.
const EXPIRY_MS: RangeInclusive<i64> = 60..=400;

/// Ends of a list, and none.
const ENDS: [&str; 5] = ["LEFT", "RIGHT", "left", "RIGHT", "UP"];

/// Places in a list, and how many to take out of it.
const PLACES: [&str; 7] = ["0", "1", "-1", "-2", "5", "-9", "x"];

const KEYS: [&str; 3] = ["@a", "@b", "@c"];

/// Owners' tokens, numbers, and what only looks like a number.
const VALUES: [&str; 9] = ["n0", "n1", "7", "-3", "9223372036854775807", "007", "+5", "-0", ""];

/// No lengths of time, or such as no clock can show.
const ODD: [&str; 9] = ["0", "-1", "ten", "1.5", "", " 5", "9223372036854775807", "9223372036854775", "-9223372036854775808"];

/// A script of this seed.
pub fn script(seed: Seed) -> Script {
    let mut drawing = Drawing { rng: seed.fork("redis script").rng(), loaded: [false; 2] };
    let mut turns = Vec::new();
    for _ in 0..drawing.rng.random_range(REQUESTS) {
        if drawing.rng.random_range(0..100) < PAUSES {
            turns.push(Turn::Wait(drawing.rng.random_range(PAUSE_MS)));
        }
        if drawing.rng.random_range(0..100) < WAITS {
            turns.extend(drawing.waits());
            continue;
        }
        let client = drawing.rng.random_range(0..2);
        turns.push(Turn::Ask(Request { client, sent_before: false, words: drawing.words() }, None));
    }
    Script { name: format!("drawn from seed {seed}"), turns }
}

struct Drawing {
    rng: Rng,
    /// Which scripts the server must know by now: it may know others from before.
    loaded: [bool; 2],
}

impl Drawing {
    fn words(&mut self) -> Vec<String> {
        let mut words = self.good();
        let whole = words.clone();
        match self.rng.random_range(0..100) {
            // A word too few, a word too many, a command that nobody knows.
            0..4 => {
                words.pop();
                if words.is_empty() {
                    words.push("PING".to_owned());
                }
            }
            4..7 => words.push(self.any(&VALUES)),
            7..9 => "FLY".clone_into(&mut words[0]),
            9..12 => words[0] = words[0].to_lowercase(),
            _ => {}
        }
        if words == whole && words[0] == "EVAL" {
            self.loaded[usize::from(words[1] == "%renew")] = true;
        }
        words
    }

    /// One or two clients wait, another does something that may concern them, and they hear.
    fn waits(&mut self) -> Vec<Turn> {
        let mut turns = Vec::new();
        let waiters: Vec<Request> = (0..self.rng.random_range(1..=2)).map(|client| self.wish(client)).collect();
        for wish in &waiters {
            turns.extend([Turn::Send(Request { sent_before: false, ..wish.clone() }), Turn::Wait(ARRIVED)]);
        }
        for _ in 0..self.rng.random_range(1..=3) {
            let words = if self.rng.random() { self.brings() } else { self.words() };
            turns.push(Turn::Ask(Request { client: 2, sent_before: false, words }, None));
        }
        turns.push(Turn::Wait(PATIENCE.1));
        turns.extend(waiters.into_iter().map(|wish| Turn::Ask(wish, None)));
        turns
    }

    fn wish(&mut self, client: usize) -> Request {
        let (key, other) = (self.any(&KEYS), self.any(&KEYS));
        let patience = PATIENCE.0.to_owned();
        let words = match self.rng.random_range(0..4) {
            0 => vec!["BRPOP".to_owned(), key, patience],
            1 => vec!["BLPOP".to_owned(), key, other, patience],
            _ => vec!["BLMOVE".to_owned(), key, other, self.any(&ENDS), self.any(&ENDS), patience],
        };
        Request { client, sent_before: true, words }
    }

    /// What may bring a message.
    fn brings(&mut self) -> Vec<String> {
        let (key, value) = (self.any(&KEYS), self.any(&VALUES));
        match self.rng.random_range(0..3) {
            0 => vec!["LMOVE".to_owned(), key, self.any(&KEYS), self.any(&ENDS), self.any(&ENDS)],
            1 => vec!["LPUSH".to_owned(), key, value],
            _ => vec!["RPUSH".to_owned(), key, value, self.any(&VALUES)],
        }
    }

    fn good(&mut self) -> Vec<String> {
        let (key, value) = (self.any(&KEYS), self.any(&VALUES));
        match self.rng.random_range(0..70) {
            0..6 => vec!["GET".to_owned(), key],
            6..20 => self.set(key, value),
            20..24 => vec!["SETNX".to_owned(), key, value],
            24..27 => self.several("DEL"),
            27..29 => self.several("EXISTS"),
            29..31 => vec!["PEXPIRE".to_owned(), key, self.length()],
            31..33 => vec!["PEXPIRE".to_owned(), key, self.length(), self.any(&["NX", "XX", "GT", "LT", "gt", "SOON"])],
            33..35 => vec!["EXPIRE".to_owned(), key, self.any(&["1", "100", "0", "-1", "ten", "9223372036854775"])],
            35..38 => vec!["PTTL".to_owned(), key],
            38..40 => vec!["TTL".to_owned(), key],
            40..43 => vec!["INCR".to_owned(), key],
            43..45 => vec!["INCRBY".to_owned(), key, self.any(&["5", "-5", "9223372036854775807", "05", "x"])],
            45..49 => vec![self.any(&["LPUSH", "RPUSH"]), key, value, self.any(&VALUES)],
            49..51 => vec![self.any(&["LPOP", "RPOP"]), key],
            51..53 => vec![self.any(&["LPOP", "RPOP"]), key, self.any(&["0", "1", "2", "-1", "x"])],
            53 => vec!["LLEN".to_owned(), key],
            60..63 => vec!["LRANGE".to_owned(), key, self.any(&PLACES), self.any(&PLACES)],
            63..65 => vec!["LREM".to_owned(), key, self.any(&PLACES), value],
            65..68 => vec!["LMOVE".to_owned(), key, self.any(&KEYS), self.any(&ENDS), self.any(&ENDS)],
            68 => vec!["LPUSH".to_owned(), key, value.clone(), value],
            69 => vec!["BRPOP".to_owned(), key, self.any(&["-1", "x", "", "nan"])],
            54 => vec![self.any(&["PING", "PING", "SELECT"]), "0".to_owned()],
            _ => self.run(key, value),
        }
    }

    fn set(&mut self, key: String, value: String) -> Vec<String> {
        let mut words = vec!["SET".to_owned(), key, value];
        for _ in 0..2 {
            match self.rng.random_range(0..10) {
                0..3 => words.push("NX".to_owned()),
                3 => words.push("XX".to_owned()),
                4 => words.push("KEEPTTL".to_owned()),
                5..8 => words.extend(["PX".to_owned(), self.length()]),
                8 => words.extend(["EX".to_owned(), self.any(&["1", "100", "0", "ten"])]),
                _ => words.push("GET".to_owned()),
            }
        }
        words
    }

    /// One of the lease scripts; by its hash only if the server must know it.
    fn run(&mut self, key: String, value: String) -> Vec<String> {
        let which: usize = self.rng.random_range(0..2);
        let (name, sha) = [("%release", "%release-sha"), ("%renew", "%renew-sha")][which];
        let mut words = match self.rng.random_range(0..3) {
            0 if self.loaded[which] => vec!["EVALSHA".to_owned(), sha.to_owned()],
            _ => vec!["EVAL".to_owned(), name.to_owned()],
        };
        words.extend(["1".to_owned(), key, value]);
        if which == 1 {
            words.push(self.length());
        }
        words
    }

    fn several(&mut self, command: &str) -> Vec<String> {
        let count = self.rng.random_range(1..=3);
        let keys: Vec<String> = (0..count).map(|_| self.any(&KEYS)).collect();
        [command.to_owned()].into_iter().chain(keys).collect()
    }

    fn length(&mut self) -> String {
        match self.rng.random_range(0..8) {
            0 => self.any(&ODD),
            _ => self.rng.random_range(EXPIRY_MS).to_string(),
        }
    }

    fn any(&mut self, of: &[&str]) -> String {
        (*of.choose(&mut self.rng).expect("there are some")).to_owned()
    }
}
