//! Names of the things a trace talks about. Their `Display` is the language of every story: `n2`, `2026-01-10`, `n2#3`.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A scheduler node, counted from zero: `n0`, `n1`, …
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u8);

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n{}", self.0)
    }
}

/// One process of the simulated deployment. Everything that can crash, pause or be cut off is a host.
///
/// The order of the variants is the order of registration, which must never decide a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HostId {
    /// The lease store, a server that speaks RESP.
    Lease,
    /// The database server.
    Database,
    /// The payout service, reached over HTTP.
    Payout,
    /// The players: earns points through SQL.
    Traffic,
    /// A scheduler node.
    Node(NodeId),
    /// A lease store beside `Lease` and independent of it, for guards that ask a quorum: `lease1`, `lease2`, …
    FurtherLease(u8),
    /// A member of the replicated log: `log0`, `log1`, …
    Log(u8),
    /// The dispatch centre.
    Centre,
    /// The database of another environment, which shares the lease store: `db-elsewhere`. What it commits is no settlement.
    DatabaseElsewhere,
}

/// Room for this many nodes in tables with one row a host.
const NODES: usize = 32;

impl HostId {
    /// Hosts that exist once in every deployment, in index order; nodes follow them.
    pub const FIXED: [HostId; 4] = [HostId::Lease, HostId::Database, HostId::Payout, HostId::Traffic];

    /// Hosts that exist only where a strategy's steps name them, or an override does; in tables their rows follow those of all nodes that there may be.
    pub const ON_DEMAND: [HostId; 9] = [
        HostId::FurtherLease(1),
        HostId::FurtherLease(2),
        HostId::FurtherLease(3),
        HostId::FurtherLease(4),
        HostId::Log(0),
        HostId::Log(1),
        HostId::Log(2),
        HostId::Centre,
        HostId::DatabaseElsewhere,
    ];

    /// How many members a replicated log has.
    pub const LOG_MEMBERS: u8 = 3;

    /// One more than the largest index.
    pub const LIMIT: usize = Self::FIXED.len() + NODES + Self::ON_DEMAND.len();

    /// The node with this number.
    pub fn node(n: u8) -> HostId {
        HostId::Node(NodeId(n))
    }

    /// By which name steps call it: the members of the log are asked as one, for who leads is nobody's choice.
    pub const fn asked_as(self) -> HostId {
        match self {
            HostId::Log(_) => HostId::Log(0),
            HostId::Lease
            | HostId::Database
            | HostId::Payout
            | HostId::Traffic
            | HostId::Node(_)
            | HostId::FurtherLease(_)
            | HostId::Centre
            | HostId::DatabaseElsewhere => self,
        }
    }

    /// Dense index, for tables with one row a host.
    pub fn index(self) -> usize {
        match self {
            HostId::Lease => 0,
            HostId::Database => 1,
            HostId::Payout => 2,
            HostId::Traffic => 3,
            HostId::Node(n) => Self::FIXED.len() + usize::from(n.0),
            HostId::FurtherLease(n) => Self::FIXED.len() + NODES + usize::from(n) - 1,
            HostId::Log(n) => Self::FIXED.len() + NODES + 4 + usize::from(n),
            HostId::Centre => Self::FIXED.len() + NODES + 7,
            HostId::DatabaseElsewhere => Self::FIXED.len() + NODES + 8,
        }
    }

    /// Inverse of [`HostId::index`].
    ///
    /// # Panics
    /// The index is that of no host: a bug of the caller.
    pub fn from_index(index: usize) -> HostId {
        match index.checked_sub(Self::FIXED.len()) {
            None => Self::FIXED[index],
            Some(node @ 0..NODES) => HostId::node(node as u8),
            Some(further) => Self::ON_DEMAND[further - NODES],
        }
    }

    /// The hosts that every deployment with `nodes` scheduler nodes has, in index order.
    pub fn all(nodes: u8) -> impl Iterator<Item = HostId> {
        (0..Self::FIXED.len() + usize::from(nodes)).map(HostId::from_index)
    }

    /// The node's id, if this host is a node.
    pub fn as_node(self) -> Option<NodeId> {
        match self {
            HostId::Node(n) => Some(n),
            HostId::Lease
            | HostId::Database
            | HostId::Payout
            | HostId::Traffic
            | HostId::FurtherLease(_)
            | HostId::Log(_)
            | HostId::Centre
            | HostId::DatabaseElsewhere => None,
        }
    }
}

impl fmt::Display for HostId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostId::Lease => f.write_str("lease"),
            HostId::Database => f.write_str("db"),
            HostId::Payout => f.write_str("payout"),
            HostId::Traffic => f.write_str("traffic"),
            HostId::Node(n) => n.fmt(f),
            HostId::FurtherLease(n) => write!(f, "lease{n}"),
            HostId::Log(n) => write!(f, "log{n}"),
            HostId::Centre => f.write_str("centre"),
            HostId::DatabaseElsewhere => f.write_str("db-elsewhere"),
        }
    }
}

impl FromStr for HostId {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        if let Some(fixed) = Self::FIXED.into_iter().chain(Self::ON_DEMAND).find(|h| h.to_string() == s) {
            return Ok(fixed);
        }
        s.strip_prefix('n')
            .and_then(|digits| digits.parse().ok())
            .map(HostId::node)
            .ok_or_else(|| format!("unknown host `{s}`; write `n0`, `n1`, …, `lease`, `db`, `payout` or `traffic`"))
    }
}

impl Serialize for HostId {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for HostId {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}

/// A settlement period, named by the local date on which it ends (`2026-01-10`), or by its
/// number in an interval schedule (`#3`). The value is what the `period` column stores:
/// `20260110`, or `3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PeriodId(pub i64);

impl PeriodId {
    /// The period that ends on a local date.
    pub fn on(date: jiff::civil::Date) -> PeriodId {
        PeriodId(i64::from(date.year()) * 10_000 + i64::from(date.month()) * 100 + i64::from(date.day()))
    }
}

impl fmt::Display for PeriodId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            n @ 0..10_000 => write!(f, "#{n}"),
            n => write!(f, "{:04}-{:02}-{:02}", n / 10_000, n / 100 % 100, n % 100),
        }
    }
}

/// One attempt of one node, numbered over the whole run (restarts included): `n2#3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttemptId {
    /// The node that makes the attempt.
    pub node: NodeId,
    /// Its how-manieth attempt this is, from 1.
    pub number: u32,
}

impl fmt::Display for AttemptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.node, self.number)
    }
}

/// A database transaction, numbered by the server in the order of their beginnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TxId(pub u32);

impl fmt::Display for TxId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tx{}", self.0)
    }
}

/// A player.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlayerId(pub i64);

impl fmt::Display for PlayerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "player {}", self.0)
    }
}

/// The position of a fault in its plan, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FaultId(pub u16);

impl fmt::Display for FaultId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fault {}", self.0)
    }
}

/// A letter of the truth table: what kind of damage a broken invariant means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Letter {
    /// Settled twice (dirty data).
    D,
    /// Paid twice.
    #[serde(rename = "2")]
    Two,
    /// Lost: not settled or not paid in the end.
    L,
    /// Stuck.
    K,
    /// Points or ranking corrupt.
    C,
    /// Early.
    E,
    /// Stale commit.
    S,
}

impl Letter {
    /// All letters, in the order in which a cell shows them.
    pub const ALL: [Letter; 7] = [Letter::D, Letter::Two, Letter::L, Letter::K, Letter::C, Letter::E, Letter::S];
}

impl fmt::Display for Letter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Letter::D => "D",
            Letter::Two => "2",
            Letter::L => "L",
            Letter::K => "K",
            Letter::C => "C",
            Letter::E => "E",
            Letter::S => "S",
        })
    }
}
