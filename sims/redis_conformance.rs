//! The simulated lease store answers as Redis does.
//!
//! A script is a list of requests by two clients, and pauses. It is played on the simulated
//! store in virtual time and on a real Redis in real time, and compared answer by answer.
//!
//! * `corpus.txt` holds fixed scripts for every command that the store offers, with the answers
//!   of a real Redis: the store is compared with them wherever the tests run, and the recording
//!   with the Redis at `ONCEPROOF_REDIS`, if there is one. Every answer is equal to the letter,
//!   or listed in `differences`. `ONCEPROOF_RECORD=1` records it anew.
//! * Drawn scripts (`ONCEPROOF_SCRIPTS` of them, from `ONCEPROOF_SCRIPT_SEED`) are compared by
//!   answer and class of error, and the share of equal ones is printed.
//! * `restarts` starts servers of its own, which may be killed.

mod actual;
mod answer;
mod draw;
mod restarts;
mod script;
mod server;
mod simulated;

use crate::real;
use actual::Redis;
use onceproof::seed::Seed;
use onceproof::world::servers::differences::DIFFERENCES;
use script::{Expected, Script};
use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::PathBuf;
use std::str::FromStr;

/// How late an answer of a real server may be, in milliseconds: so close to an expiry nothing is
/// asked, and by so much may what is left of one differ. An answer that is later is no evidence:
/// the script is played again.
const TOLERANCE_MS: u64 = 30;

/// At least this share of drawn scripts is equal, in percent.
const EQUAL_AT_LEAST: usize = 97;

/// How many scripts are drawn if nobody says.
const DRAWN: u64 = 40;

fn corpus_file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("sims/redis_conformance/corpus.txt")
}

fn corpus() -> Vec<Script> {
    script::read(&fs::read_to_string(corpus_file()).expect("the corpus is there"))
}

/// What the simulated store answers is what Redis answered when the corpus was recorded, but for what is listed.
#[test]
fn the_store_answers_as_redis_was_recorded() {
    let (mut used, mut wrong) = (BTreeSet::new(), Vec::new());
    for script in corpus() {
        let played = simulated::play(&script);
        assert_eq!(played.too_close, None, "`{}` asks something too close to an expiry", script.name);
        for (answer, (request, recorded)) in played.answers.iter().zip(script.recorded()) {
            let Expected { real, otherwise } = recorded.unwrap_or_else(|| panic!("`{}`: {request} has no recorded answer", script.name));
            let (equal, told) = (request.agrees(real, answer), format!("`{}`: {request}\n  Redis: {real}\n  store: {answer}", script.name));
            match otherwise {
                None if equal => {}
                None => wrong.push(told),
                Some(_) if equal => wrong.push(format!("{told}\n  is listed as a difference, and is none")),
                Some((id, listed)) if listed == answer => drop(used.insert(id.clone())),
                Some((id, listed)) => wrong.push(format!("{told}\n  {id}: {listed}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let listed = DIFFERENCES.iter().filter(|d| d.server == "lease").map(|d| d.id.to_owned());
    assert_eq!(used, listed.collect(), "the listed differences are those that scripts show");
}

/// Every command that README.md says the store offers is asked for in the corpus.
#[test]
fn the_corpus_covers_every_command() {
    let asked: BTreeSet<String> = corpus().iter().flat_map(Script::commands).collect();
    for command in [
        "PING", "SELECT", "CLIENT", "SET", "SETNX", "GET", "DEL", "EXISTS", "EXPIRE", "PEXPIRE", "TTL", "PTTL", "INCR", "INCRBY", "LPUSH",
        "RPUSH", "LPOP", "RPOP", "LLEN", "LRANGE", "LREM", "LMOVE", "BLPOP", "BRPOP", "BLMOVE", "EVAL", "EVALSHA", "SCRIPT",
    ] {
        assert!(asked.contains(command), "nothing in the corpus asks for {command}");
    }
}

/// The recording is what the Redis of today answers; or is made anew.
#[test]
fn redis_answers_as_it_was_recorded() {
    let Some(url) = real::address("ONCEPROOF_REDIS", "redis_answers_as_it_was_recorded") else { return };
    let scripts = corpus();
    let answers = actual::play_all(&url, &scripts);
    if env::var_os("ONCEPROOF_RECORD").is_some_and(|v| v == "1") {
        let recorded: Vec<Script> = scripts.into_iter().zip(answers).map(|(script, answers)| script.answered(answers)).collect();
        fs::write(corpus_file(), script::write(&recorded)).expect("the corpus can be written");
        return;
    }
    for (script, answers) in scripts.iter().zip(answers) {
        for (answer, (request, recorded)) in answers.iter().zip(script.recorded()) {
            let Expected { real, otherwise } = recorded.expect("every request has a recorded answer");
            // Another version of Redis may answer as the store does.
            let listed = otherwise.as_ref().is_some_and(|(_, listed)| listed == answer);
            assert!(listed || request.agrees(real, answer), "`{}`: {request}\n  recorded: {real}\n  now: {answer}", script.name);
        }
    }
}

/// Whatever clients ask, and whenever: the share of drawn scripts in which every answer is equal.
#[test]
fn drawn_scripts_are_equal() {
    let Some(url) = real::address("ONCEPROOF_REDIS", "drawn_scripts_are_equal") else { return };
    let (count, seed) = (number("ONCEPROOF_SCRIPTS", DRAWN), number("ONCEPROOF_SCRIPT_SEED", 1));
    let (mut scripts, mut simulated, mut drawn) = (Vec::new(), Vec::new(), 0);
    while (scripts.len() as u64) < count {
        let script = draw::script(Seed(seed).nth(drawn));
        drawn += 1;
        let played = simulated::play(&script);
        if played.too_close.is_none() {
            simulated.push(played.answers);
            scripts.push(script);
        }
    }
    let real = actual::play_all(&url, &scripts);
    let differs = |n: usize| {
        let both = simulated[n].iter().zip(&real[n]).zip(scripts[n].requests());
        both.into_iter().position(|((store, redis), request)| !request.agrees_in_class(redis, store))
    };
    let different: Vec<(usize, usize)> = (0..scripts.len()).filter_map(|n| differs(n).map(|at| (n, at))).collect();
    let equal = scripts.len() - different.len();
    let left_out = drawn - count;
    eprintln!(
        "lease store, Redis: {equal} of {} scripts equal ({:.1} %), seed {seed}; {left_out} more were too close to an expiry to be compared",
        scripts.len(),
        100.0 * equal as f64 / scripts.len() as f64
    );
    if let Some((n, at)) = different.first() {
        let answered = scripts[*n].clone().answered(real[*n].clone());
        eprintln!("the first that differs, at request {} (store: {}):\n{}", at + 1, simulated[*n][*at], script::write(&[answered]));
    }
    assert!(equal * 100 >= scripts.len() * EQUAL_AT_LEAST, "less than {EQUAL_AT_LEAST} % are equal");
}

/// The control of the comparison: a store that is wrong in one answer is not equal.
#[test]
fn a_wrong_answer_is_noticed() {
    let script = &script::read("== a lease\na SET @k me PX 500\n  OK\na PTTL @k\n  :500\na INCR @k\n  -ERR value is not an integer\n")[0];
    let requests: Vec<_> = script.requests().collect();
    for (n, right, wrong) in [(0, "OK", "nil"), (1, ":500", ":440"), (1, ":500", ":-1"), (2, "-ERR other words", "-WRONGTYPE other words")]
    {
        assert!(requests[n].agrees_in_class(&script.recorded().nth(n).expect("three").1.expect("recorded").real, right));
        assert!(!requests[n].agrees_in_class(right, wrong), "{wrong} passes for {right}");
    }
    assert!(requests[1].agrees(":500", ":471"), "an expiry may differ by the tolerance");
    assert!(!requests[2].agrees("-ERR one", "-ERR another"), "in the corpus the words of errors count");
}

fn number<T: FromStr>(variable: &str, otherwise: T) -> T {
    match env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable} is a number, not {text:?}")),
        Err(_) => otherwise,
    }
}

/// A Redis of a URL, so that `restarts` can ask its own servers.
fn connect(url: &str) -> Redis {
    Redis::at(url)
}
