//! The two scripts with which a client releases or renews only what it holds itself.
//!
//! The store runs no Lua: it knows them by their text, whatever the spacing. That is exact,
//! and cheaper by far than an interpreter.

use bytes::Bytes;

/// A script that the store knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Script {
    pub does: Does,
    /// The name under which `EVALSHA` calls it.
    pub hash: String,
    /// The line of its first call, `get`.
    pub reads_in: usize,
    /// The line of its second.
    pub writes_in: usize,
}

/// What it does to `KEYS[1]` if that holds `ARGV[1]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Does {
    /// Deletes it.
    Delete,
    /// Sets its expiry to `ARGV[2]` milliseconds.
    Expire,
}

const COMPARE_AND_DELETE: &str = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";
const COMPARE_AND_EXPIRE: &str =
    "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) else return 0 end";

impl Script {
    /// The script with this text.
    pub(super) fn recognise(text: &Bytes) -> Option<Script> {
        let code = std::str::from_utf8(text).ok()?;
        let does = match code.split_whitespace().collect::<Vec<_>>().join(" ").as_str() {
            COMPARE_AND_DELETE => Does::Delete,
            COMPARE_AND_EXPIRE => Does::Expire,
            _ => return None,
        };
        let mut calls = code.match_indices("redis.call").map(|(at, _)| 1 + code[..at].matches('\n').count());
        Some(Script { does, hash: hash(text), reads_in: calls.next()?, writes_in: calls.next()? })
    }
}

/// The name under which `EVALSHA` calls a script.
pub(super) fn hash(text: &Bytes) -> String {
    redis::Script::new(&String::from_utf8_lossy(text)).get_hash().to_owned()
}
