//! Where a simulated server answers otherwise than the real one, and why that is left so.
//!
//! The comparisons with real servers accept what stands here, by its id, and nothing else.

/// One known difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
pub const DIFFERENCES: [Difference; 3] = [
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
];

const fn lease(id: &'static str, what: &'static str, why: &'static str) -> Difference {
    Difference { id, server: "lease", what, why }
}
