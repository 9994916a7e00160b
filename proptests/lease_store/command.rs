//! What a client can ask of the store, and the words in which it does.

use onceproof::store::{RELEASE_SCRIPT, RENEW_SCRIPT};

/// A condition of `SET`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnlyIf {
    Absent,
    Present,
}

/// What a `SET` says about the expiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifetime {
    Endless,
    Milliseconds(i64),
    Seconds(i64),
    Kept,
}

/// An end of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Left,
    Right,
}

/// The unit of an expiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Milliseconds,
    Seconds,
}

/// One of the two scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Script {
    Release,
    Renew,
}

impl Script {
    fn text(self) -> &'static str {
        match self {
            Script::Release => RELEASE_SCRIPT,
            Script::Renew => RENEW_SCRIPT,
        }
    }
}

/// How a script is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// With its text.
    Text,
    /// With the hash of its text.
    Hash,
}

/// One request.
#[derive(Clone, Debug)]
pub enum Command {
    Get {
        key: String,
    },
    Set {
        key: String,
        value: String,
        only_if: Option<OnlyIf>,
        lifetime: Lifetime,
    },
    SetNx {
        key: String,
        value: String,
    },
    Delete {
        keys: Vec<String>,
    },
    Exists {
        keys: Vec<String>,
    },
    Expire {
        key: String,
        unit: Unit,
        time: i64,
    },
    Remaining {
        key: String,
        unit: Unit,
    },
    Increment {
        key: String,
    },
    IncrementBy {
        key: String,
        by: i64,
    },
    Push {
        key: String,
        end: End,
        items: Vec<String>,
    },
    /// One item, or up to `limit` of them.
    Pop {
        key: String,
        end: End,
        limit: Option<i64>,
    },
    Length {
        key: String,
    },
    Run {
        script: Script,
        call: Call,
        key: String,
        token: String,
        ms: i64,
    },
}

impl Command {
    /// The request as a client sends it.
    pub fn words(&self) -> Vec<String> {
        let words = |name: &str, rest: &[&str]| [name].iter().chain(rest).map(|word| (*word).to_owned()).collect();
        let several = |name: &str, rest: &[String]| [name.to_owned()].iter().chain(rest).cloned().collect();
        match self {
            Command::Get { key } => words("GET", &[key]),
            Command::Set { key, value, only_if, lifetime } => {
                let mut set: Vec<String> = words("SET", &[key, value]);
                match lifetime {
                    Lifetime::Endless => {}
                    Lifetime::Milliseconds(ms) => set.extend(["PX".to_owned(), ms.to_string()]),
                    Lifetime::Seconds(s) => set.extend(["EX".to_owned(), s.to_string()]),
                    Lifetime::Kept => set.push("KEEPTTL".to_owned()),
                }
                set.extend(only_if.map(|condition| match condition {
                    OnlyIf::Absent => "NX".to_owned(),
                    OnlyIf::Present => "XX".to_owned(),
                }));
                set
            }
            Command::SetNx { key, value } => words("SETNX", &[key, value]),
            Command::Delete { keys } => several("DEL", keys),
            Command::Exists { keys } => several("EXISTS", keys),
            Command::Expire { key, unit: Unit::Milliseconds, time } => words("PEXPIRE", &[key, &time.to_string()]),
            Command::Expire { key, unit: Unit::Seconds, time } => words("EXPIRE", &[key, &time.to_string()]),
            Command::Remaining { key, unit: Unit::Milliseconds } => words("PTTL", &[key]),
            Command::Remaining { key, unit: Unit::Seconds } => words("TTL", &[key]),
            Command::Increment { key } => words("INCR", &[key]),
            Command::IncrementBy { key, by } => words("INCRBY", &[key, &by.to_string()]),
            Command::Push { key, end, items } => {
                let name = if *end == End::Left { "LPUSH" } else { "RPUSH" };
                words(name, &[key]).into_iter().chain(items.iter().cloned()).collect()
            }
            Command::Pop { key, end, limit } => {
                let name = if *end == End::Left { "LPOP" } else { "RPOP" };
                words(name, &[key]).into_iter().chain(limit.map(|limit| limit.to_string())).collect()
            }
            Command::Length { key } => words("LLEN", &[key]),
            Command::Run { script, call, key, token, ms } => {
                let (name, subject) = match call {
                    Call::Text => ("EVAL", script.text().to_owned()),
                    Call::Hash => ("EVALSHA", redis::Script::new(script.text()).get_hash().to_owned()),
                };
                let mut run = words(name, &[&subject, "1", key, token]);
                if *script == Script::Renew {
                    run.push(ms.to_string());
                }
                run
            }
        }
    }
}
