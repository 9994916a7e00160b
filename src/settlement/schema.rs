//! The tables that every strategy shares, in PostgreSQL's words and in MySQL's.

/// Players on a ranking.
pub const RANKED: usize = 30;

/// What the first three of a ranking are paid, in rank order.
pub const REWARDS: [i64; 3] = [100, 50, 20];

/// All tables, one statement each. There is deliberately no unique key on `settlement` or
/// `ranking`; only strategies that say so add [`UNIQUE_MARKER`].
///
/// * `points` is what a player sees: earned and not yet settled.
/// * `earnings` is the append-only truth of what was earned; `at` is in milliseconds since the epoch.
/// * `task` is what the version strategies claim; a planner fills it beforehand. `heartbeat` is in milliseconds, `updated` in whole seconds since the epoch.
/// * `outbox` holds payments that were decided in a settlement transaction and are delivered later.
/// * `lease` holds leases by name, with times in milliseconds since the epoch and the number of the node that took them last.
/// * `schedule_row` holds a schedule's next due time in milliseconds since the epoch, whether it is acquired, what was fired last and by whom, and when he checked in. A planner fills it beforehand.
/// * `marker` marks settled periods for those strategies that mark them in a transaction of its own.
/// * `alert` calls a human for a period that was given up.
/// * `decision` says of each two-phase commit, by its name, whether it commits.
pub const SCHEMA: [&str; 12] = [
    "CREATE TABLE points (player bigint PRIMARY KEY, points bigint NOT NULL, last_active bigint NOT NULL)",
    "CREATE TABLE earnings (id bigint PRIMARY KEY, player bigint NOT NULL, amount bigint NOT NULL, at bigint NOT NULL, settled_in bigint)",
    "CREATE TABLE settlement (period bigint NOT NULL, node bigint NOT NULL, attempt bigint NOT NULL, at bigint NOT NULL)",
    "CREATE TABLE ranking (period bigint NOT NULL, rank bigint NOT NULL, player bigint NOT NULL, points bigint NOT NULL)",
    "CREATE TABLE task (period bigint PRIMARY KEY, due bigint NOT NULL, status bigint NOT NULL, version bigint NOT NULL, owner bigint, heartbeat bigint, attempt bigint NOT NULL, failures bigint NOT NULL DEFAULT 0, updated bigint NOT NULL DEFAULT 0)",
    "CREATE TABLE fence (name text PRIMARY KEY, token bigint NOT NULL)",
    "CREATE TABLE outbox (id bigint PRIMARY KEY, key text NOT NULL, payload text NOT NULL, sent bigint NOT NULL)",
    "CREATE TABLE marker (period bigint PRIMARY KEY)",
    "CREATE TABLE alert (period bigint PRIMARY KEY, handled bigint NOT NULL)",
    "CREATE TABLE decision (gid text PRIMARY KEY, commits bigint NOT NULL)",
    "CREATE TABLE lease (name text PRIMARY KEY, lock_until bigint NOT NULL, locked_at bigint NOT NULL, locked_by bigint NOT NULL)",
    "CREATE TABLE schedule_row (name text PRIMARY KEY, next_fire bigint NOT NULL, acquired bigint NOT NULL, fired bigint, owner bigint, seen bigint)",
];

/// The same tables for MySQL and MariaDB. A primary key cannot be a `text` there, so names have at
/// most 64 characters; `rank` and `key` are reserved words; and only `InnoDB` has transactions.
pub const SCHEMA_MYSQL: [&str; 12] = [
    "CREATE TABLE points (player bigint PRIMARY KEY, points bigint NOT NULL, last_active bigint NOT NULL) ENGINE=InnoDB",
    "CREATE TABLE earnings (id bigint PRIMARY KEY, player bigint NOT NULL, amount bigint NOT NULL, at bigint NOT NULL, settled_in bigint) ENGINE=InnoDB",
    "CREATE TABLE settlement (period bigint NOT NULL, node bigint NOT NULL, attempt bigint NOT NULL, at bigint NOT NULL) ENGINE=InnoDB",
    "CREATE TABLE ranking (period bigint NOT NULL, `rank` bigint NOT NULL, player bigint NOT NULL, points bigint NOT NULL) ENGINE=InnoDB",
    "CREATE TABLE task (period bigint PRIMARY KEY, due bigint NOT NULL, status bigint NOT NULL, version bigint NOT NULL, owner bigint, heartbeat bigint, attempt bigint NOT NULL, failures bigint NOT NULL DEFAULT 0, updated bigint NOT NULL DEFAULT 0) ENGINE=InnoDB",
    "CREATE TABLE fence (name varchar(64) PRIMARY KEY, token bigint NOT NULL) ENGINE=InnoDB",
    "CREATE TABLE outbox (id bigint PRIMARY KEY, `key` varchar(64) NOT NULL, payload text NOT NULL, sent bigint NOT NULL) ENGINE=InnoDB",
    "CREATE TABLE marker (period bigint PRIMARY KEY) ENGINE=InnoDB",
    "CREATE TABLE alert (period bigint PRIMARY KEY, handled bigint NOT NULL) ENGINE=InnoDB",
    "CREATE TABLE decision (gid varchar(64) PRIMARY KEY, commits bigint NOT NULL) ENGINE=InnoDB",
    "CREATE TABLE lease (name varchar(64) PRIMARY KEY, lock_until bigint NOT NULL, locked_at bigint NOT NULL, locked_by bigint NOT NULL) ENGINE=InnoDB",
    "CREATE TABLE schedule_row (name varchar(64) PRIMARY KEY, next_fire bigint NOT NULL, acquired bigint NOT NULL, fired bigint, owner bigint, seen bigint) ENGINE=InnoDB",
];

/// Makes the settlement row of a period unique.
pub const UNIQUE_MARKER: &str = "CREATE UNIQUE INDEX settlement_period ON settlement (period)";

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever adds a column to one list has to add it to the other.
    #[test]
    fn both_dialects_have_the_same_columns() {
        let plain = |table: &str| table.replace('`', "").replace("varchar(64)", "text").replace(" ENGINE=InnoDB", "");
        assert_eq!(SCHEMA_MYSQL.map(plain), SCHEMA.map(str::to_owned));
    }
}
