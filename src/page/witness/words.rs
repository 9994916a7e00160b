//! Names of what a page shows.

use crate::report::twin::{Kind, Lease, LeaseEnd, Role, Twin, Wrong};

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

/// What nodes hold: a claim, where only a database knows of it.
pub fn held(twin: &Twin) -> &'static str {
    let of_database = |lease: &Lease| twin.hosts.iter().any(|host| host.name == lease.store && host.role == Role::Database);
    if !twin.leases.is_empty() && twin.leases.iter().all(of_database) { "claim" } else { "lease" }
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

/// A text of at most `most` characters.
pub fn short(text: &str, most: usize) -> String {
    crate::report::words::fit(text, most)
}
