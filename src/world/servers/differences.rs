//! Where a simulated server answers otherwise than the real one, and why that is left so.
//!
//! The comparisons with real servers accept what stands here, by its id, and nothing else.

use serde::Serialize;

/// One known difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// What the recorded comparisons call it.
    pub id: &'static str,
    /// Which server: `lease` or `db`.
    pub server: &'static str,
    /// What differs.
    pub what: &'static str,
    /// Why it is left so.
    pub why: &'static str,
}

/// All that are known.
pub const DIFFERENCES: [Difference; 8] = [
    lease(
        "client-setinfo",
        "CLIENT SETINFO is answered with OK; Redis before 7.2 does not know it",
        "newer servers do, and clients that send it ignore the answer",
    ),
    lease(
        "one-database",
        "there is database 0 only; Redis has sixteen",
        "no guard keeps its lock in another, and a run has one lease store",
    ),
    lease(
        "no-lua",
        "EVAL runs compare-and-delete and compare-and-pexpire, known by their text, and refuses every other script",
        "those two are what lease clients send; an interpreter would cost more than the rest of the store",
    ),
    db(
        "innodb-over-postgres-wire",
        "InnoDB's rules are served over PostgreSQL's wire, in its SQL, with its codes: 1062 is 23505, 1213 is 40P01, 1205 is 55P03, \
         1020 is 40001",
        "strategies are written once; what differs between the servers in a race is the rules, not the wire",
    ),
    db(
        "no-numeric",
        "numeric values, among them the sum and the average of bigint, are refused unless they are cast to bigint or double precision",
        "SQLite has none; guards count and compare",
    ),
    db(
        "postgres-freed-key",
        "at repeatable read a unique key counts as taken if it was in the snapshot; in PostgreSQL it is free once its deletion is committed",
        "no guard deletes its marker",
    ),
    db(
        "serializable-doom",
        "a serializable transaction fails when it completes a dangerous structure itself; PostgreSQL also dooms one that others have \
         completed, which then fails at its next statement that finds a row",
        "whoever fails, it is told so before its commit",
    ),
    db(
        "innodb-upsert-count",
        "ON CONFLICT DO UPDATE counts a row that it updates once; ON DUPLICATE KEY UPDATE counts it twice",
        "the statement is PostgreSQL's, and so is its count",
    ),
];

const fn lease(id: &'static str, what: &'static str, why: &'static str) -> Difference {
    Difference { id, server: "lease", what, why }
}

const fn db(id: &'static str, what: &'static str, why: &'static str) -> Difference {
    Difference { id, server: "db", what, why }
}
