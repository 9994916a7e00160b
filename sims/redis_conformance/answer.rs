//! Answers as text, on one line: `OK`, `nil`, `:5`, `"text"`, `+PONG`, `[:1, nil]`, `-ERR what is wrong`.

use super::TOLERANCE_MS;
use redis::{RedisResult, Value};

/// What a client was answered.
///
/// # Panics
/// It was not answered at all: the connection is gone.
pub fn text(answer: RedisResult<Value>) -> String {
    match answer {
        Ok(value) => of_value(value),
        Err(error) => match error.code() {
            Some(code) => format!("-{code} {}", error.detail().unwrap_or_default()),
            None => panic!("no answer: {error}"),
        },
    }
}

fn of_value(value: Value) -> String {
    match value {
        Value::Okay => "OK".to_owned(),
        Value::Nil => "nil".to_owned(),
        Value::Int(n) => format!(":{n}"),
        Value::SimpleString(text) => format!("+{text}"),
        Value::BulkString(text) => format!("\"{}\"", String::from_utf8_lossy(&text)),
        Value::Array(items) => format!("[{}]", items.into_iter().map(of_value).collect::<Vec<_>>().join(", ")),
        Value::ServerError(error) => format!("-{} {}", error.code(), error.details().unwrap_or_default()),
        other => panic!("RESP2 has no {other:?}"),
    }
}

/// Of an error its first word, of anything else all of it.
pub fn class(answer: &str) -> &str {
    match answer.starts_with('-') {
        true => answer.split(' ').next().unwrap_or(answer),
        false => answer,
    }
}

/// Whether what is left of an expiry is the same within the tolerance.
pub fn close(one: &str, other: &str) -> bool {
    let left = |answer: &str| answer.strip_prefix(':')?.parse::<u64>().ok();
    matches!((left(one), left(other)), (Some(one), Some(other)) if one.abs_diff(other) <= TOLERANCE_MS)
}
