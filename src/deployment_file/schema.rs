//! The keys of a deployment file as a JSON Schema, for editors (Taplo, Even Better TOML and others read it).
//!
//! It comes from the list that the reader goes by, not from types: so both know the same keys, bounds and names.

use crate::deployment_file::keys::{self, Key, Kind};
use serde_json::{Map, Value, json};

/// The schema, as text.
///
/// # Panics
/// Never: a schema has only values that JSON knows.
pub fn text() -> String {
    serde_json::to_string_pretty(&schema()).expect("a schema has only values that JSON knows") + "\n"
}

/// The schema (draft 2020-12).
pub fn schema() -> Value {
    let mut whole = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "onceproof deployment",
        "description": "A scheduled job on several servers, for `onceproof run`",
        "oneOf": [{ "required": ["guard"] }, { "required": ["profile"] }],
    });
    for (key, value) in table("") {
        whole[key.as_str()] = value;
    }
    whole
}

/// What stands in a table.
fn table(at: &str) -> Map<String, Value> {
    let mut properties = Map::new();
    for name in keys::within(at) {
        let path = if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
        let value = keys::find(&path).map(value);
        let inner = keys::is_table(&path).then(|| {
            let mut inner = table(&path);
            let needed = match path.as_str() {
                "job" => Some("p50"),
                "database.pool" => Some("sessions"),
                keys::LIST => Some("node"),
                _ => None,
            };
            inner.extend(needed.map(|name| ("required".to_owned(), json!([name]))));
            if path == "schedule" {
                let civil = ["cron", "zone", "from", "gap", "fold"].map(|name| json!({ "required": [name] }));
                inner.insert("not".to_owned(), json!({ "required": ["every"], "anyOf": civil }));
            }
            Value::Object(inner)
        });
        let property = match (value, inner) {
            (Some(value), Some(inner)) => json!({ "oneOf": [value, inner] }),
            (None, Some(inner)) if path == keys::LIST => json!({ "type": "array", "items": inner }),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => continue,
        };
        properties.insert(name.to_owned(), property);
    }
    let mut table = Map::new();
    table.insert("type".to_owned(), "object".into());
    table.insert("additionalProperties".to_owned(), false.into());
    table.insert("properties".to_owned(), Value::Object(properties));
    table
}

/// Five fields, or a name that stands for them.
const CRON: &str = r"^\s*(?:@[A-Za-z]+|\S+(?:\s+\S+){4})\s*$";

/// Durations that are no good if they are zero.
pub(super) const NOT_ZERO: [&str; 19] = [
    "settle_within",
    "schedule.every",
    "lease.ttl",
    "claim.heartbeat",
    "claim.stale_after",
    "retry.poll",
    "retry.attention",
    "retry.backoff",
    "retry.backoff_max",
    "network.latency_min",
    "network.latency_max",
    "client.timeout",
    "database.lock_timeout",
    "database.idle_in_transaction_timeout",
    "override.lease.ttl",
    "override.lease.renew_every",
    "override.claim.heartbeat",
    "override.claim.stale_after",
    "override.retry.poll",
];

/// Units of durations by their names, the longest first; each may come once, and in this order.
const UNITS: [&str; 6] = [
    "hours|hour|hrs|hr|h",
    "minutes|minute|mins|min|m",
    "seconds|second|secs|sec|s",
    "milliseconds|millisecond|millis|milli|msecs|msec|ms",
    "microseconds|microsecond|micros|micro|usecs|usec|us|µsecs|µsec|µs",
    "nanoseconds|nanosecond|nanos|nano|nsecs|nsec|ns",
];

const SPACE: &str = r"[ \t\n\f\r]";
const FRACTION: &str = "[.,][0-9]{1,9}";

/// What [`crate::plan::duration::parse`] takes; only the last unit may have a fraction.
fn length(zero: bool) -> String {
    let unit = |names: &&str| {
        let behind = format!("(?:{SPACE}*$|(?:,{SPACE})?{SPACE}*(?=[0-9]))");
        // There is nothing below a nanosecond.
        let fraction = if names.starts_with('n') { String::new() } else { format!("{FRACTION}{SPACE}*(?:{names}){SPACE}*$|") };
        format!("(?:[0-9]+(?:{fraction}{SPACE}*(?:{names}){behind}))?")
    };
    let units: String = UNITS.iter().map(unit).collect();
    let more = if zero { "" } else { "(?=.*[1-9])" };
    format!(r"^{more}\+?(?:[0-9]+:[0-9]+:[0-9]+(?:{FRACTION})?{SPACE}*|(?=[0-9]){units})$")
}

fn value(key: &Key) -> Value {
    let mut value = match key.kind {
        Kind::Length => json!({ "type": "string", "pattern": length(!NOT_ZERO.contains(&key.path)) }),
        Kind::Number { least, most } => json!({ "type": "integer", "minimum": least, "maximum": most }),
        Kind::Text if key.path.ends_with("cron") => json!({ "type": "string", "pattern": CRON }),
        Kind::Text => json!({ "type": "string" }),
        Kind::Name(names) => json!({ "type": "string", "enum": names.all() }),
        Kind::Names(names) => json!({ "type": "array", "minItems": 1, "items": { "type": "string", "enum": names.all() } }),
        Kind::Seed => json!({ "type": ["integer", "string"], "minimum": 0, "pattern": "^[0-9]+$" }),
        Kind::Knobs => json!({ "type": "object" }),
        Kind::Flag => json!({ "type": "boolean" }),
    };
    value["description"] = key.about.into();
    if let Some(example) =
        toml::from_str::<toml::Table>(&format!("x = {}", key.example)).ok().and_then(|table| serde_json::to_value(&table["x"]).ok())
    {
        value["examples"] = json!([example]);
    }
    value
}
