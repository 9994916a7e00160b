//! The commands of the lease store, and its errors in Redis's words.

mod lists;
mod options;
mod scripts;

use super::asked::{Presence, SetOptions};
use super::lists::End;
use super::store::{Caller, LeaseStore, Ttl, WrongType};
use super::waiting::{Blocked, Served};
use bytes::Bytes;
use redis_protocol::resp2::types::BytesFrame;
use std::fmt::Write;

const NOT_AN_INTEGER: &str = "ERR value is not an integer or out of range";

/// What a client is told when its command failed.
struct Refusal(String);

impl From<WrongType> for Refusal {
    fn from(_: WrongType) -> Refusal {
        Refusal("WRONGTYPE Operation against a key holding the wrong kind of value".to_owned())
    }
}

impl From<Refusal> for BytesFrame {
    fn from(Refusal(text): Refusal) -> BytesFrame {
        BytesFrame::Error(text.into())
    }
}

type Reply = Result<BytesFrame, Refusal>;

/// What a request comes to.
pub(super) enum Answer {
    /// This.
    Now(BytesFrame),
    /// What comes while the client waits.
    Later(Blocked),
}

/// What a client is told whose wait is over.
pub(super) fn served(answer: Served) -> BytesFrame {
    answer.unwrap_or_else(|wrong| Refusal::from(wrong).into())
}

fn refuse<T>(text: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal(text.into()))
}

fn simple(text: &'static str) -> BytesFrame {
    BytesFrame::SimpleString(Bytes::from_static(text.as_bytes()))
}

fn count(n: usize) -> BytesFrame {
    BytesFrame::Integer(i64::try_from(n).unwrap_or(i64::MAX))
}

/// Only the shortest way to write a number is one: `007`, `+5` and `-0` are texts.
fn number(word: &Bytes) -> Result<i64, Refusal> {
    let parsed = std::str::from_utf8(word).ok().and_then(|text| text.parse().ok());
    parsed.filter(|number: &i64| number.to_string().as_bytes() == word).map_or_else(|| refuse(NOT_AN_INTEGER), Ok)
}

/// A time from now in milliseconds, unless no clock can ever show it.
fn from_now(caller: Caller<'_>, ms: Option<i64>, command: &str) -> Result<i64, Refusal> {
    let ms = ms.filter(|ms| caller.host.wall().0.checked_add(*ms).is_some());
    ms.map_or_else(|| refuse(format!("ERR invalid expire time in '{command}' command")), Ok)
}

/// Answers one request, which has at least one word.
pub(super) fn execute(store: &mut LeaseStore, caller: Caller<'_>, request: &[Bytes]) -> Answer {
    let (name, arguments) = (request[0].to_ascii_uppercase(), &request[1..]);
    let reply = match arity(&name) {
        None => {
            let text = unknown(&request[0], arguments);
            caller.host.not_offered(text.clone());
            refuse(text)
        }
        Some((least, most)) if arguments.len() < least || arguments.len() > most => wrong_arity(&name),
        Some(_) => match name.as_slice() {
            b"BLPOP" => lists::blocking_pop(store, caller, arguments, End::Left),
            b"BRPOP" => lists::blocking_pop(store, caller, arguments, End::Right),
            b"BLMOVE" => lists::blocking_shift(store, caller, arguments),
            name => dispatch(store, caller, name, arguments).map(Answer::Now),
        },
    };
    reply.unwrap_or_else(|refusal| Answer::Now(refusal.into()))
}

/// How many arguments a command takes, at least and at most.
fn arity(name: &[u8]) -> Option<(usize, usize)> {
    const ANY: usize = usize::MAX;
    Some(match name {
        b"PING" => (0, 1),
        b"SELECT" | b"GET" | b"INCR" | b"TTL" | b"PTTL" | b"LLEN" => (1, 1),
        b"SETNX" | b"INCRBY" => (2, 2),
        b"LRANGE" | b"LREM" => (3, 3),
        b"LMOVE" => (4, 4),
        b"BLMOVE" => (5, 5),
        b"SET" | b"LPUSH" | b"RPUSH" | b"EVAL" | b"EVALSHA" | b"EXPIRE" | b"PEXPIRE" | b"BLPOP" | b"BRPOP" => (2, ANY),
        b"LPOP" | b"RPOP" => (1, 2),
        b"CLIENT" | b"DEL" | b"EXISTS" | b"SCRIPT" => (1, ANY),
        _ => return None,
    })
}

fn wrong_arity<T>(name: &[u8]) -> Result<T, Refusal> {
    refuse(format!("ERR wrong number of arguments for '{}' command", String::from_utf8_lossy(name).to_lowercase()))
}

/// Redis repeats the arguments up to about 128 bytes.
fn unknown(name: &Bytes, arguments: &[Bytes]) -> String {
    const MOST: usize = 128;
    let text = |bytes: &[u8], most: usize| String::from_utf8_lossy(&bytes[..bytes.len().min(most)]).into_owned();
    let mut told = String::new();
    for argument in arguments {
        if told.len() >= MOST {
            break;
        }
        let rest = MOST - told.len();
        let _ = write!(told, "'{}' ", text(argument, rest));
    }
    format!("ERR unknown command '{}', with args beginning with: {told}", text(name, MOST))
}

fn dispatch(store: &mut LeaseStore, caller: Caller<'_>, name: &[u8], arguments: &[Bytes]) -> Reply {
    Ok(match name {
        b"PING" => arguments.first().map_or_else(|| simple("PONG"), |text| BytesFrame::BulkString(text.clone())),
        b"CLIENT" => client(caller, arguments)?,
        b"SELECT" => match number(&arguments[0])? {
            0 => simple("OK"),
            _ => return refuse("ERR DB index is out of range"),
        },
        b"GET" => store.text(caller, &arguments[0])?.map_or(BytesFrame::Null, BytesFrame::BulkString),
        b"SET" => set(store, caller, arguments)?,
        b"SETNX" => {
            let options = SetOptions { only_if: Some(Presence::Absent), ..SetOptions::default() };
            count(usize::from(store.set(caller, &arguments[0], &arguments[1], options)))
        }
        b"DEL" => count(arguments.iter().filter(|key| store.delete(caller, key)).count()),
        b"EXISTS" => count(arguments.iter().filter(|key| store.exists(caller, key)).count()),
        b"EXPIRE" => expire(store, caller, arguments, 1000, "expire")?,
        b"PEXPIRE" => expire(store, caller, arguments, 1, "pexpire")?,
        b"TTL" => ttl(store, caller, &arguments[0], |ms| (ms + 500) / 1000),
        b"PTTL" => ttl(store, caller, &arguments[0], |ms| ms),
        b"INCR" => increment(store, caller, &arguments[0], 1)?,
        b"INCRBY" => increment(store, caller, &arguments[0], number(&arguments[1])?)?,
        b"LPUSH" => lists::push(store, caller, arguments, End::Left)?,
        b"RPUSH" => lists::push(store, caller, arguments, End::Right)?,
        b"LPOP" => lists::pop(store, caller, arguments, End::Left)?,
        b"RPOP" => lists::pop(store, caller, arguments, End::Right)?,
        b"LRANGE" => lists::range(store, caller, arguments)?,
        b"LREM" => lists::remove(store, caller, arguments)?,
        b"LMOVE" => lists::shift(store, caller, arguments)?,
        b"LLEN" => count(store.length(caller, &arguments[0])?),
        b"EVAL" => scripts::eval(store, caller, arguments)?,
        b"EVALSHA" => scripts::eval_by_hash(store, caller, arguments)?,
        b"SCRIPT" => scripts::manage(store, caller, arguments)?,
        other => unreachable!("command {} has an arity but no meaning", String::from_utf8_lossy(other)),
    })
}

fn client(caller: Caller<'_>, arguments: &[Bytes]) -> Reply {
    match (arguments[0].to_ascii_uppercase().as_slice(), arguments.len() - 1) {
        (b"SETINFO", 2) | (b"SETNAME" | b"NO-EVICT" | b"NO-TOUCH", 1) => Ok(simple("OK")),
        (subcommand @ (b"SETINFO" | b"SETNAME" | b"NO-EVICT" | b"NO-TOUCH"), _) => wrong_arity(&[b"CLIENT|", subcommand].concat()),
        _ => {
            let text = format!("ERR unknown subcommand '{}'. Try CLIENT HELP.", String::from_utf8_lossy(&arguments[0]));
            caller.host.not_offered(text.clone());
            refuse(text)
        }
    }
}

fn set(store: &mut LeaseStore, caller: Caller<'_>, arguments: &[Bytes]) -> Reply {
    let (options, get) = options::of_set(caller, &arguments[2..])?;
    let old = if get { store.text(caller, &arguments[0])? } else { None };
    let stored = store.set(caller, &arguments[0], &arguments[1], options);
    Ok(match (get, stored) {
        (true, _) => old.map_or(BytesFrame::Null, BytesFrame::BulkString),
        (false, true) => simple("OK"),
        (false, false) => BytesFrame::Null,
    })
}

fn expire(store: &mut LeaseStore, caller: Caller<'_>, arguments: &[Bytes], unit_ms: i64, name: &str) -> Reply {
    let only_if = options::of_expire(&arguments[2..])?;
    let ms = from_now(caller, number(&arguments[1])?.checked_mul(unit_ms), name)?;
    Ok(count(usize::from(store.expire(caller, &arguments[0], ms, only_if))))
}

fn ttl(store: &mut LeaseStore, caller: Caller<'_>, key: &Bytes, unit: impl Fn(i64) -> i64) -> BytesFrame {
    BytesFrame::Integer(match store.ttl(caller, key) {
        Ttl::NoKey => -2,
        Ttl::Forever => -1,
        Ttl::Ms(ms) => unit(ms),
    })
}

fn increment(store: &mut LeaseStore, caller: Caller<'_>, key: &Bytes, by: i64) -> Reply {
    let old = store.text(caller, key)?.map_or(Ok(0), |text| number(&text))?;
    let Some(new) = old.checked_add(by) else { return refuse("ERR increment or decrement would overflow") };
    store.set_counter(caller, key, new);
    Ok(BytesFrame::Integer(new))
}
