//! `EVAL`, `EVALSHA` and `SCRIPT`.

use super::{Refusal, Reply, count, from_now, number, refuse, simple, wrong_arity};
use crate::world::servers::lease::asked::ExpireIf;
use crate::world::servers::lease::script::{Does, Script, hash};
use crate::world::servers::lease::store::{Caller, LeaseStore};
use bytes::Bytes;
use redis_protocol::resp2::types::BytesFrame;
use std::rc::Rc;

const NO_TEXT: &str = "ERR Lua redis lib command arguments must be strings or integers";

pub(super) fn eval(store: &mut LeaseStore, caller: Caller<'_>, arguments: &[Bytes]) -> Reply {
    let script = Rc::new(recognise(caller, &arguments[0])?);
    store.load_script(Rc::clone(&script));
    run(store, caller, &script, &arguments[1..])
}

pub(super) fn eval_by_hash(store: &mut LeaseStore, caller: Caller<'_>, arguments: &[Bytes]) -> Reply {
    match store.script(&String::from_utf8_lossy(&arguments[0]).to_lowercase()) {
        Some(script) => run(store, caller, &script, &arguments[1..]),
        None => refuse("NOSCRIPT No matching script. Please use EVAL."),
    }
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

pub(super) fn manage(store: &mut LeaseStore, caller: Caller<'_>, arguments: &[Bytes]) -> Reply {
    match (arguments[0].to_ascii_uppercase().as_slice(), &arguments[1..]) {
        (b"LOAD", [text]) => {
            store.load_script(Rc::new(recognise(caller, text)?));
            Ok(BytesFrame::BulkString(hash(text).into()))
        }
        (b"EXISTS", hashes @ [_, ..]) => {
            let known = |hash: &Bytes| store.script(&String::from_utf8_lossy(hash).to_lowercase()).is_some();
            Ok(BytesFrame::Array(hashes.iter().map(|hash| count(usize::from(known(hash)))).collect()))
        }
        (b"FLUSH", []) => {
            store.forget_scripts();
            Ok(simple("OK"))
        }
        (subcommand @ (b"LOAD" | b"EXISTS" | b"FLUSH"), _) => wrong_arity(&[b"SCRIPT|", subcommand].concat()),
        _ => {
            let text = format!("ERR unknown subcommand '{}'. Try SCRIPT HELP.", String::from_utf8_lossy(&arguments[0]));
            caller.host.not_offered(text.clone());
            refuse(text)
        }
    }
}

/// Runs a script; `arguments` = number of keys, keys, values.
fn run(store: &mut LeaseStore, caller: Caller<'_>, script: &Script, arguments: &[Bytes]) -> Reply {
    let Ok(keys) = usize::try_from(number(&arguments[0])?) else { return refuse("ERR Number of keys can't be negative") };
    let arguments = &arguments[1..];
    if keys > arguments.len() {
        return refuse("ERR Number of keys can't be greater than number of args");
    }
    let (keys, values) = arguments.split_at(keys);
    // What a call refuses, the script hands on with the place at which it was made.
    let at = |line: usize| move |Refusal(text)| Refusal(format!("{text} script: {}, on @user_script:{line}.", script.hash));
    let Some(key) = keys.first() else { return refuse(NO_TEXT).map_err(at(script.reads_in)) };
    let held = store.text(caller, key).map_err(Refusal::from).map_err(at(script.reads_in))?;
    // A value that is not given is nil, which no text equals.
    if held.is_none() || held.as_ref() != values.first() {
        return Ok(BytesFrame::Integer(0));
    }
    let done = match script.does {
        Does::Delete => Ok(store.delete(caller, key)),
        Does::Expire => match values.get(1) {
            Some(ms) => {
                number(ms).and_then(|ms| from_now(caller, Some(ms), "pexpire")).map(|ms| store.expire(caller, key, ms, ExpireIf::default()))
            }
            None => refuse(NO_TEXT),
        },
    };
    Ok(count(usize::from(done.map_err(at(script.writes_in))?)))
}
