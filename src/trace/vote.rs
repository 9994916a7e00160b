//! What one of several independent lease stores tells. Such a store grants a vote; the lease is
//! granted to whoever has the votes of most of them.

use crate::id::HostId;
use crate::trace::Event;
use std::fmt;

/// What became of a vote: what [`Event`] tells of a lease, told by one of several stores.
#[expect(missing_docs, reason = "the fields are those of the events of the same names")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vote {
    /// Given to a client on this host.
    Granted { to: HostId, ttl_ms: u64 },
    /// Asked for while somebody had it.
    Refused { to: HostId, holder: HostId },
    /// Its expiry was set anew.
    Extended { by: HostId, holder: HostId, ttl_ms: u64 },
    /// Deleted by a client on host `by`.
    Released { by: HostId, holder: HostId },
    /// Found to have run out.
    Expired { holder: HostId },
    /// Lost by the store.
    Lost { holder: HostId },
    /// There again after a failover.
    Returned { holder: HostId },
}

impl Vote {
    /// What an event about a lease is where its store is one of several; `None`: it is about no lease.
    pub fn of(event: &Event) -> Option<Vote> {
        Some(match *event {
            Event::LeaseGranted { to, ttl_ms } => Vote::Granted { to, ttl_ms },
            Event::LeaseRefused { to, holder } => Vote::Refused { to, holder },
            Event::LeaseExtended { by, holder, ttl_ms } => Vote::Extended { by, holder, ttl_ms },
            Event::LeaseReleased { by, holder } => Vote::Released { by, holder },
            Event::LeaseExpired { holder } => Vote::Expired { holder },
            Event::LeaseLost { holder } => Vote::Lost { holder },
            Event::LeaseReturned { holder } => Vote::Returned { holder },
            _ => return None,
        })
    }

    /// What it is where it decides about the lease.
    pub fn decides(self) -> Event {
        match self {
            Vote::Granted { to, ttl_ms } => Event::LeaseGranted { to, ttl_ms },
            Vote::Refused { to, holder } => Event::LeaseRefused { to, holder },
            Vote::Extended { by, holder, ttl_ms } => Event::LeaseExtended { by, holder, ttl_ms },
            Vote::Released { by, holder } => Event::LeaseReleased { by, holder },
            Vote::Expired { holder } => Event::LeaseExpired { holder },
            Vote::Lost { holder } => Event::LeaseLost { holder },
            Vote::Returned { holder } => Event::LeaseReturned { holder },
        }
    }
}

/// The end of a sentence about its store.
impl fmt::Display for Vote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Vote::Granted { to, ttl_ms: 0 } => write!(f, "votes for {to}, for ever"),
            Vote::Granted { to, ttl_ms } => write!(f, "votes for {to}, for {ttl_ms} ms"),
            Vote::Refused { to, holder } => write!(f, "has no vote for {to}, {holder} has it"),
            Vote::Extended { by, holder, ttl_ms } => write!(f, "lets {by} keep the vote of {holder} for {ttl_ms} ms more"),
            Vote::Released { by, holder } => write!(f, "takes the vote of {holder} back from {by}"),
            Vote::Expired { holder } => write!(f, "finds the vote for {holder} run out"),
            Vote::Lost { holder } => write!(f, "has lost the vote for {holder}"),
            Vote::Returned { holder } => write!(f, "has a vote for {holder} again that was over"),
        }
    }
}
