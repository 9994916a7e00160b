//! The commands on lists.

use super::{Answer, Refusal, Reply, count, number, refuse};
use crate::world::servers::lease::lists::{End, Way};
use crate::world::servers::lease::store::{Caller, LeaseStore};
use crate::world::servers::lease::waiting::Wish;
use bytes::Bytes;
use redis_protocol::resp2::types::BytesFrame;
use std::time::Duration;

fn array(texts: Vec<Bytes>) -> BytesFrame {
    BytesFrame::Array(texts.into_iter().map(BytesFrame::BulkString).collect())
}

pub(super) fn push(store: &mut LeaseStore, caller: Caller<'_>, arguments: &[Bytes], end: End) -> Reply {
    let length = store.push(caller, &arguments[0], end, &arguments[1..])?;
    store.serve(caller.host, &arguments[0]);
    Ok(count(length))
}

pub(super) fn pop(store: &mut LeaseStore, caller: Caller<'_>, arguments: &[Bytes], end: End) -> Reply {
    let Some(limit) = arguments.get(1) else {
        let text = store.pop(caller, &arguments[0], end, 1)?.and_then(|mut texts| texts.pop());
        return Ok(text.map_or(BytesFrame::Null, BytesFrame::BulkString));
    };
    let limit = number(limit).ok().and_then(|limit| usize::try_from(limit).ok());
    let Some(limit) = limit else { return refuse("ERR value is out of range, must be positive") };
    Ok(store.pop(caller, &arguments[0], end, limit)?.map_or(BytesFrame::Null, array))
}

pub(super) fn range(store: &mut LeaseStore, caller: Caller<'_>, arguments: &[Bytes]) -> Reply {
    let (first, last) = (number(&arguments[1])?, number(&arguments[2])?);
    Ok(array(store.range(caller, &arguments[0], first, last)?))
}

pub(super) fn remove(store: &mut LeaseStore, caller: Caller<'_>, arguments: &[Bytes]) -> Reply {
    Ok(count(store.remove(caller, &arguments[0], number(&arguments[1])?, &arguments[2])?))
}

pub(super) fn shift(store: &mut LeaseStore, caller: Caller<'_>, arguments: &[Bytes]) -> Reply {
    let way = way(arguments)?;
    let text = store.shift(caller, &way)?;
    if text.is_some() {
        store.serve(caller.host, &way.to.0);
    }
    Ok(text.map_or(BytesFrame::Null, BytesFrame::BulkString))
}

/// `BLPOP` and `BRPOP`: the keys, and last the timeout.
pub(super) fn blocking_pop(store: &mut LeaseStore, caller: Caller<'_>, arguments: &[Bytes], end: End) -> Result<Answer, Refusal> {
    let [keys @ .., timeout] = arguments else { unreachable!("its arity was checked") };
    let timeout = length(timeout)?;
    blocking(store, caller, Wish::Pop { keys: keys.to_vec(), end }, timeout)
}

/// `BLMOVE`: as `LMOVE`, and last the timeout.
pub(super) fn blocking_shift(store: &mut LeaseStore, caller: Caller<'_>, arguments: &[Bytes]) -> Result<Answer, Refusal> {
    let way = way(arguments)?;
    let timeout = length(&arguments[4])?;
    let to = way.to.0.clone();
    let answer = blocking(store, caller, Wish::Move(way), timeout)?;
    if matches!(answer, Answer::Now(_)) {
        store.serve(caller.host, &to);
    }
    Ok(answer)
}

fn blocking(store: &mut LeaseStore, caller: Caller<'_>, wish: Wish, timeout: Option<Duration>) -> Result<Answer, Refusal> {
    Ok(match store.grant(caller, &wish)? {
        Some(reply) => Answer::Now(reply),
        None => Answer::Later(store.wait(caller.by, wish, timeout)),
    })
}

fn way(arguments: &[Bytes]) -> Result<Way, Refusal> {
    let end = |word: &Bytes| match word.to_ascii_uppercase().as_slice() {
        b"LEFT" => Ok(End::Left),
        b"RIGHT" => Ok(End::Right),
        _ => refuse("ERR syntax error"),
    };
    Ok(Way { from: (arguments[0].clone(), end(&arguments[2])?), to: (arguments[1].clone(), end(&arguments[3])?) })
}

/// How long somebody waits, in seconds with decimals, to the next millisecond; 0 = for ever.
fn length(word: &Bytes) -> Result<Option<Duration>, Refusal> {
    let seconds: Option<f64> = std::str::from_utf8(word).ok().and_then(|text| text.parse().ok()).filter(|n: &f64| n.is_finite());
    let Some(seconds) = seconds else { return refuse("ERR timeout is not a float or out of range") };
    if seconds < 0.0 {
        return refuse("ERR timeout is negative");
    }
    let Ok(whole) = Duration::try_from_secs_f64((seconds * 1000.0).ceil() / 1000.0) else {
        return refuse("ERR timeout is out of range");
    };
    Ok((!whole.is_zero()).then_some(whole))
}
