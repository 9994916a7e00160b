//! The two scripts with which a client releases or renews only what it holds itself.
//!
//! The store runs no Lua: it knows them by their text, whatever the spacing. That is exact,
//! and cheaper by far than an interpreter.

use bytes::Bytes;

/// A script that the store knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Script {
    /// Deletes `KEYS[1]` if it holds `ARGV[1]`.
    CompareAndDelete,
    /// Sets the expiry of `KEYS[1]` to `ARGV[2]` milliseconds if it holds `ARGV[1]`.
    CompareAndExpire,
}

const COMPARE_AND_DELETE: &str = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";
const COMPARE_AND_EXPIRE: &str =
    "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) else return 0 end";

impl Script {
    /// The script with this text.
    pub(super) fn recognise(text: &[u8]) -> Option<Script> {
        let words: Vec<&str> = std::str::from_utf8(text).ok()?.split_whitespace().collect();
        match words.join(" ").as_str() {
            COMPARE_AND_DELETE => Some(Script::CompareAndDelete),
            COMPARE_AND_EXPIRE => Some(Script::CompareAndExpire),
            _ => None,
        }
    }
}

/// The name under which `EVALSHA` calls a script.
pub(super) fn hash(text: &Bytes) -> String {
    redis::Script::new(&String::from_utf8_lossy(text)).get_hash().to_owned()
}
