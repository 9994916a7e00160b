//! A change as it is written: which lines of the file it takes the place of, and which it takes away.

use crate::deployment_file::DeploymentFile;
use crate::explore::advice::Change;
use crate::plan::duration;
use std::time::Duration;
use toml::{Table, Value};

/// What may become a mistake under another guard, as it is called in a text.
const AWAY: [(&str, &str); 6] = [
    ("lease", "[lease]"),
    ("claim", "[claim]"),
    ("override.lease", "`lease` of [[override]]"),
    ("override.claim", "`claim` of [[override]]"),
    ("try.faults", "`faults` of [try]"),
    ("knobs", "[knobs]"),
];

/// The change in the words of its file, with what has to go; `None` if the file would not be accepted with it.
pub fn told(file: &DeploymentFile, change: &Change) -> Option<String> {
    let (_, away) = edited(file, change)?;
    let profile = matches!(change, Change::Guard(_)) && file.profile.is_some();
    let instead = if profile { " instead of `profile`" } else { "" };
    let and = if profile || away.is_empty() { "" } else { "," };
    let away = if away.is_empty() { String::new() } else { format!("{and} and take {} away", away.join(", ")) };
    Some(change.line() + instead + &away)
}

/// The file with the change made in its text, and what was taken away for it: as little as possible.
pub fn edited(file: &DeploymentFile, change: &Change) -> Option<(DeploymentFile, Vec<&'static str>)> {
    let mut table: Table = file.text().parse().ok()?;
    make(&mut table, change);
    let there: Vec<(&str, &'static str)> = AWAY.into_iter().filter(|(path, _)| has(&table, path)).collect();
    let mut ways: Vec<u32> = (0..1 << there.len()).collect();
    ways.sort_by_key(|way| way.count_ones());
    ways.into_iter().find_map(|way| {
        let chosen = there.iter().enumerate().filter(|(n, _)| way & (1 << n) != 0).map(|(_, one)| *one);
        let mut without = table.clone();
        chosen.clone().for_each(|(path, _)| remove(&mut without, path));
        let text = toml::to_string(&without).ok()?;
        let edited = DeploymentFile::read(&file.file, &text).ok()?;
        Some((edited, chosen.map(|(_, name)| name).collect()))
    })
}

fn make(table: &mut Table, change: &Change) {
    let text = |length: &Duration| Value::String(duration::text(*length));
    match change {
        Change::Ttl(ttl) => put(table, "lease", "ttl", text(ttl)),
        Change::RenewEvery(every) => put(table, "lease", "renew_every", text(every)),
        Change::AtLeast { least, ttl } => {
            put(table, "lease", "at_least", text(least));
            put(table, "lease", "ttl", text(ttl));
        }
        Change::StaleAfter(stale) => put(table, "claim", "stale_after", text(stale)),
        Change::Primary => put(table, "database", "replica_lag", text(&Duration::ZERO)),
        Change::MakeUp => put(table, "misfire", "policy", Value::String("fire-all".to_owned())),
        Change::Policy(policy) => drop(table.insert("policy".to_owned(), Value::String(policy.name().to_owned()))),
        Change::Alike => drop(table.remove("override")),
        Change::Guard(guard) => {
            table.remove("profile");
            table.insert("guard".to_owned(), Value::String(guard.name().to_owned()));
        }
    }
}

fn put(table: &mut Table, group: &str, key: &str, value: Value) {
    let group = table.entry(group).or_insert_with(|| Value::Table(Table::new()));
    if let Some(group) = group.as_table_mut() {
        group.insert(key.to_owned(), value);
    }
}

/// The tables in which the last part of a path may stand.
fn holders<'a>(table: &'a mut Table, path: &'a str) -> (Vec<&'a mut Table>, &'a str) {
    let Some((group, key)) = path.split_once('.') else { return (vec![table], path) };
    let holders = match table.get_mut(group) {
        Some(Value::Table(inner)) => vec![inner],
        Some(Value::Array(all)) => all.iter_mut().filter_map(Value::as_table_mut).collect(),
        _ => Vec::new(),
    };
    (holders, key)
}

fn has(table: &Table, path: &str) -> bool {
    let mut table = table.clone();
    let (holders, key) = holders(&mut table, path);
    holders.iter().any(|holder| holder.contains_key(key))
}

fn remove(table: &mut Table, path: &str) {
    let (holders, key) = holders(table, path);
    for holder in holders {
        holder.remove(key);
    }
}
