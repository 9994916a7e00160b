//! Names of what a page shows.

use crate::report::twin::{Kind, Lease, LeaseEnd, Role, Twin, Wrong};
use maud::{Markup, html};

/// What a host is.
pub fn role(role: Role) -> &'static str {
    match role {
        Role::Node => "node",
        Role::Store => "lease store",
        Role::Database => "database",
        Role::Payout => "payments",
        Role::Log => "log",
        Role::Centre => "centre",
    }
}

/// What nodes hold: a claim, where no lease store knows of it.
pub fn held(twin: &Twin) -> &'static str {
    let elsewhere = |lease: &Lease| twin.hosts.iter().any(|host| host.name == lease.store && host.role != Role::Store);
    if !twin.leases.is_empty() && twin.leases.iter().all(elsewhere) { "claim" } else { "lease" }
}

/// What was wrong with a host.
pub fn wrong(wrong: Wrong) -> &'static str {
    match wrong {
        Wrong::Paused => "stopped",
        Wrong::Down => "down",
        Wrong::Busy => "busy",
        Wrong::Slow => "slow",
        Wrong::Lagging => "late",
    }
}

/// How a lease ended.
pub fn ended(end: LeaseEnd) -> &'static str {
    match end {
        LeaseEnd::Expired => "ran out",
        LeaseEnd::Released => "given back",
        LeaseEnd::Deleted => "deleted by somebody else",
        LeaseEnd::Lost => "lost by the store",
        LeaseEnd::Replaced => "given to somebody else",
        LeaseEnd::Held => "held to the end",
        LeaseEnd::Failed => "set to failed",
        LeaseEnd::Completed => "set to completed",
        LeaseEnd::TakenAway => "taken away by somebody else",
        LeaseEnd::Over => "over",
    }
}

/// What a tick is.
pub fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Began => "an attempt begins",
        Kind::Ended => "an attempt ends",
        Kind::Settled => "a settlement is committed",
        Kind::Paid => "a winner is paid",
        Kind::Repeated => "a payment is asked for again, not made again",
        Kind::Alerted => "a human is called",
        Kind::Fault => "a fault strikes",
        Kind::Broke => "a rule breaks",
    }
}

/// `#1 begins` as `attempt #1 begins`.
pub fn attempt(text: &str) -> String {
    if text.starts_with('#') { format!("attempt {text}") } else { text.to_owned() }
}

/// A text in which what stands between backticks is code.
pub fn coded(text: &str) -> Markup {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return html! { (text) };
    }
    html! {
        @for (i, part) in parts.iter().enumerate() {
            @if i % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// A text that begins as a sentence does; a name such as `n0` stays as it is.
pub fn begins(text: &str) -> String {
    let first = text.split_whitespace().next().unwrap_or_default();
    match first.chars().next() {
        Some(small) if first.chars().all(char::is_alphabetic) => small.to_uppercase().chain(text.chars().skip(1)).collect(),
        _ => text.to_owned(),
    }
}

/// A text without its backticks, for where nothing can be set as code.
pub fn plain(text: &str) -> String {
    text.replace('`', "")
}

/// A text of at most `most` characters.
pub fn short(text: &str, most: usize) -> String {
    crate::report::words::fit(text, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_begins_with_a_capital_and_a_name_stays() {
        let said = ["the reply of the database is lost", "n0 settles", "2026-01-10 was settled", "`a` b", "ärger", ""].map(begins);
        assert_eq!(said, ["The reply of the database is lost", "n0 settles", "2026-01-10 was settled", "`a` b", "Ärger", ""]);
    }

    #[test]
    fn what_stands_between_backticks_is_code_and_still_escaped() {
        assert_eq!(coded("before `a<b` and `c`").into_string(), "before <code>a&lt;b</code> and <code>c</code>");
        assert_eq!(coded("one ` alone").into_string(), "one ` alone");
    }
}
