//! The payout service as a participant of two-phase commits. Every request may be repeated.
//!
//! What nobody has prepared may be aborted all the same, and that is remembered: a request to
//! prepare it that was under way meanwhile comes too late.

use super::Payment;
use crate::host::Host;
use crate::id::{HostId, PlayerId};
use crate::trace::Event;
use hyper::StatusCode;
use std::collections::BTreeMap;

/// What a request is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Prepare,
    Commit,
    Abort,
}

impl Phase {
    /// The last part of a request's path.
    pub(super) fn named(name: &str) -> Option<Phase> {
        match name {
            "prepare" => Some(Phase::Prepare),
            "commit" => Some(Phase::Commit),
            "abort" => Some(Phase::Abort),
            _ => None,
        }
    }
}

/// What has become of payments that were prepared.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fate {
    InDoubt(u32, Vec<Payment>),
    Paid,
    GivenUp,
}

/// All that were ever heard of, by name.
#[derive(Debug, Default)]
pub(super) struct Transactions {
    all: BTreeMap<String, Fate>,
    /// How many were prepared.
    prepared: u32,
}

/// What a request is answered.
type Answer = (StatusCode, String);

impl Transactions {
    /// Promises to pay, if that is asked for.
    pub(super) fn prepare(&mut self, host: &dyn Host, by: HostId, name: &str, payments: Vec<Payment>) -> Answer {
        match self.all.get(name) {
            Some(Fate::GivenUp) => (StatusCode::CONFLICT, "aborted before".to_owned()),
            Some(Fate::InDoubt(..) | Fate::Paid) => (StatusCode::OK, "prepared before".to_owned()),
            None => {
                self.prepared += 1;
                let number = self.prepared;
                if let Some(first) = payments.first() {
                    host.record(Event::PaymentsPrepared { number, period: first.period, by });
                }
                self.all.insert(name.to_owned(), Fate::InDoubt(number, payments));
                (StatusCode::CREATED, "prepared".to_owned())
            }
        }
    }

    /// Pays what was promised.
    pub(super) fn commit(&mut self, host: &dyn Host, by: HostId, name: &str) -> Answer {
        match self.all.get_mut(name) {
            None => (StatusCode::NOT_FOUND, "not prepared".to_owned()),
            Some(Fate::GivenUp) => (StatusCode::CONFLICT, "aborted before".to_owned()),
            Some(Fate::Paid) => (StatusCode::OK, "paid before".to_owned()),
            Some(fate @ Fate::InDoubt(..)) => {
                let Fate::InDoubt(number, payments) = std::mem::replace(fate, Fate::Paid) else { unreachable!("it is in doubt") };
                host.record(Event::PaymentsEnded { number, by, committed: true });
                for Payment { period, rank, player, amount } in payments {
                    host.record(Event::Paid { period, rank, player: PlayerId(player), amount, keyed: true });
                }
                (StatusCode::OK, "paid".to_owned())
            }
        }
    }

    /// Promises nothing any more.
    pub(super) fn abort(&mut self, host: &dyn Host, by: HostId, name: &str) -> Answer {
        match self.all.get(name) {
            Some(Fate::Paid) => return (StatusCode::CONFLICT, "paid before".to_owned()),
            Some(Fate::InDoubt(number, _)) => host.record(Event::PaymentsEnded { number: *number, by, committed: false }),
            Some(Fate::GivenUp) | None => {}
        }
        self.all.insert(name.to_owned(), Fate::GivenUp);
        (StatusCode::OK, "aborted".to_owned())
    }

    /// Number and name of what is in doubt, in the order of the names.
    pub(super) fn in_doubt(&self) -> impl Iterator<Item = (u32, &str)> {
        self.all.iter().filter_map(|(name, fate)| match fate {
            Fate::InDoubt(number, _) => Some((*number, name.as_str())),
            Fate::Paid | Fate::GivenUp => None,
        })
    }
}
