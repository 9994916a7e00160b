//! A connection pooler between clients and database.

use serde::{Deserialize, Serialize};

/// How sessions of the server are shared: one statement or one transaction at a time, as `PgBouncer` does in transaction mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoolKnobs {
    /// How many sessions of the server there are. 1 to 1,000.
    pub sessions: u32,
    /// Whether they are handed out in turn (`server_round_robin`); else the one that was used last goes first.
    #[serde(default)]
    pub round_robin: bool,
}
