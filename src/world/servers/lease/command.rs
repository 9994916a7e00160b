//! The commands of the lease store, and its errors in Redis's words.

use super::script::{self, Script};
use super::store::{Caller, End, LeaseStore, Presence, SetOptions, Ttl, WrongType};
use bytes::Bytes;
use redis_protocol::resp2::types::BytesFrame;

const NOT_AN_INTEGER: &str = "ERR value is not an integer or out of range";
const SYNTAX: &str = "ERR syntax error";

/// What a client is told when its command failed.
struct Refusal(String);

impl From<WrongType> for Refusal {
    fn from(_: WrongType) -> Refusal {
        Refusal("WRONGTYPE Operation against a key holding the wrong kind of value".to_owned())
    }
}

type Reply = Result<BytesFrame, Refusal>;

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
pub(super) fn execute(store: &mut LeaseStore, caller: Caller<'_>, request: &[Bytes]) -> BytesFrame {
    let (name, arguments) = (request[0].to_ascii_uppercase(), &request[1..]);
    let reply = match arity(&name) {
        None => {
            let text = unknown(&request[0], arguments);
            caller.host.not_offered(text.clone());
            refuse(text)
        }
        Some((least, most)) if arguments.len() < least || arguments.len() > most => {
            refuse(format!("ERR wrong number of arguments for '{}' command", String::from_utf8_lossy(&name).to_lowercase()))
        }
        Some(_) => dispatch(store, caller, &name, arguments),
    };
    reply.unwrap_or_else(|Refusal(text)| BytesFrame::Error(text.into()))
}

/// How many arguments a command takes, at least and at most.
fn arity(name: &[u8]) -> Option<(usize, usize)> {
    const ANY: usize = usize::MAX;
    Some(match name {
        b"PING" => (0, 1),
        b"SELECT" | b"GET" | b"INCR" | b"TTL" | b"PTTL" | b"LLEN" => (1, 1),
        b"SETNX" | b"INCRBY" => (2, 2),
        b"SET" | b"LPUSH" | b"RPUSH" | b"EVAL" | b"EVALSHA" | b"EXPIRE" | b"PEXPIRE" => (2, ANY),
        b"LPOP" | b"RPOP" => (1, 2),
        b"CLIENT" | b"DEL" | b"EXISTS" | b"SCRIPT" => (1, ANY),
        _ => return None,
    })
}

fn unknown(name: &Bytes, arguments: &[Bytes]) -> String {
    let first: Vec<String> = arguments.iter().take(3).map(|argument| format!("'{}' ", String::from_utf8_lossy(argument))).collect();
    format!("ERR unknown command '{}', with args beginning with: {}", String::from_utf8_lossy(name), first.concat())
}

fn dispatch(store: &mut LeaseStore, caller: Caller<'_>, name: &[u8], arguments: &[Bytes]) -> Reply {
    Ok(match name {
        b"PING" => arguments.first().map_or_else(|| simple("PONG"), |text| BytesFrame::BulkString(text.clone())),
        b"CLIENT" => client(&arguments[0])?,
        b"SELECT" => match number(&arguments[0])? {
            0 => simple("OK"),
            _ => return refuse("ERR DB index is out of range"),
        },
        b"GET" => store.text(caller, &arguments[0])?.map_or(BytesFrame::Null, BytesFrame::BulkString),
        b"SET" => {
            let stored = store.set(caller, &arguments[0], &arguments[1], set_options(caller, &arguments[2..])?);
            if stored { simple("OK") } else { BytesFrame::Null }
        }
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
        b"LPUSH" => count(store.push(caller, &arguments[0], End::Left, &arguments[1..])?),
        b"RPUSH" => count(store.push(caller, &arguments[0], End::Right, &arguments[1..])?),
        b"LPOP" => pop(store, caller, arguments, End::Left)?,
        b"RPOP" => pop(store, caller, arguments, End::Right)?,
        b"LLEN" => count(store.length(caller, &arguments[0])?),
        b"EVAL" => {
            let script = recognise(caller, &arguments[0])?;
            store.load_script(script::hash(&arguments[0]), script);
            run(store, caller, script, &arguments[1..])?
        }
        b"EVALSHA" => match store.script(&String::from_utf8_lossy(&arguments[0]).to_lowercase()) {
            Some(script) => run(store, caller, script, &arguments[1..])?,
            None => return refuse("NOSCRIPT No matching script. Please use EVAL."),
        },
        b"SCRIPT" => scripts(store, caller, arguments)?,
        other => unreachable!("command {} has an arity but no meaning", String::from_utf8_lossy(other)),
    })
}

fn client(subcommand: &Bytes) -> Reply {
    match subcommand.to_ascii_uppercase().as_slice() {
        b"SETINFO" | b"SETNAME" | b"NO-EVICT" | b"NO-TOUCH" => Ok(simple("OK")),
        _ => refuse(format!("ERR unknown subcommand '{}'. Try CLIENT HELP.", String::from_utf8_lossy(subcommand))),
    }
}

/// What stands behind key and value in a `SET`.
fn set_options(caller: Caller<'_>, words: &[Bytes]) -> Result<SetOptions, Refusal> {
    let mut options = SetOptions::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.to_ascii_uppercase().as_slice() {
            b"NX" if options.only_if.is_none() => options.only_if = Some(Presence::Absent),
            b"XX" if options.only_if.is_none() => options.only_if = Some(Presence::Present),
            b"KEEPTTL" if options.ttl_ms.is_none() => options.keep_ttl = true,
            unit @ (b"PX" | b"EX") if options.ttl_ms.is_none() && !options.keep_ttl => {
                let Some(word) = words.next() else { return refuse(SYNTAX) };
                let ms = number(word)?.checked_mul(if unit == b"EX" { 1000 } else { 1 }).filter(|ms| *ms > 0);
                options.ttl_ms = Some(from_now(caller, ms, "set")?.cast_unsigned());
            }
            _ => return refuse(SYNTAX),
        }
    }
    Ok(options)
}

fn expire(store: &mut LeaseStore, caller: Caller<'_>, arguments: &[Bytes], unit_ms: i64, name: &str) -> Reply {
    let time = number(&arguments[1])?;
    if let Some(option) = arguments.get(2) {
        return refuse(format!("ERR Unsupported option {}", String::from_utf8_lossy(option)));
    }
    let ms = from_now(caller, time.checked_mul(unit_ms), name)?;
    Ok(count(usize::from(store.expire(caller, &arguments[0], ms))))
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

fn pop(store: &mut LeaseStore, caller: Caller<'_>, arguments: &[Bytes], end: End) -> Reply {
    let Some(limit) = arguments.get(1) else {
        let item = store.pop(caller, &arguments[0], end, 1)?.and_then(|mut items| items.pop());
        return Ok(item.map_or(BytesFrame::Null, BytesFrame::BulkString));
    };
    let Ok(limit) = usize::try_from(number(limit)?) else { return refuse("ERR value is out of range, must be positive") };
    let items = store.pop(caller, &arguments[0], end, limit)?;
    Ok(items.map_or(BytesFrame::Null, |items| BytesFrame::Array(items.into_iter().map(BytesFrame::BulkString).collect())))
}

fn recognise(caller: Caller<'_>, text: &Bytes) -> Result<Script, Refusal> {
    const UNKNOWN: &str =
        "ERR this simulated store runs no Lua: it knows compare-and-delete and compare-and-pexpire by their text, not this script";
    Script::recognise(text).map_or_else(
        || {
            caller.host.not_offered(UNKNOWN.to_owned());
            refuse(UNKNOWN)
        },
        Ok,
    )
}

fn scripts(store: &mut LeaseStore, caller: Caller<'_>, arguments: &[Bytes]) -> Reply {
    match (arguments[0].to_ascii_uppercase().as_slice(), &arguments[1..]) {
        (b"LOAD", [text]) => {
            let hash = script::hash(text);
            store.load_script(hash.clone(), recognise(caller, text)?);
            Ok(BytesFrame::BulkString(hash.into()))
        }
        (b"EXISTS", hashes @ [_, ..]) => {
            let known = |hash: &Bytes| store.script(&String::from_utf8_lossy(hash).to_lowercase()).is_some();
            Ok(BytesFrame::Array(hashes.iter().map(|hash| count(usize::from(known(hash)))).collect()))
        }
        (b"FLUSH", _) => {
            store.forget_scripts();
            Ok(simple("OK"))
        }
        _ => refuse(format!(
            "ERR unknown subcommand or wrong number of arguments for '{}'. Try SCRIPT HELP.",
            String::from_utf8_lossy(&arguments[0])
        )),
    }
}

/// Runs a script; `arguments` = number of keys, keys, values.
fn run(store: &mut LeaseStore, caller: Caller<'_>, script: Script, arguments: &[Bytes]) -> Reply {
    let Ok(keys) = usize::try_from(number(&arguments[0])?) else { return refuse("ERR Number of keys can't be negative") };
    let arguments = &arguments[1..];
    if keys > arguments.len() {
        return refuse("ERR Number of keys can't be greater than number of args");
    }
    let (keys, values) = arguments.split_at(keys);
    let (Some(key), Some(value)) = (keys.first(), values.first()) else {
        return refuse("ERR Lua redis lib command arguments must be strings or integers");
    };
    if store.text(caller, key)?.as_ref() != Some(value) {
        return Ok(BytesFrame::Integer(0));
    }
    let done = match script {
        Script::CompareAndDelete => store.delete(caller, key),
        Script::CompareAndExpire => match values.get(1) {
            Some(ms) => store.expire(caller, key, from_now(caller, Some(number(ms)?), "pexpire")?),
            None => return refuse("ERR Lua redis lib command arguments must be strings or integers"),
        },
    };
    Ok(count(usize::from(done)))
}
