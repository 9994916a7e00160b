//! What a server answers to a statement, in words that are the same for all of them.

use std::fmt;

/// Why a statement failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Class {
    /// The value of a unique key is there already: 23505, 1062.
    Unique,
    /// A row changed since the snapshot, or the order of the transactions would matter: 40001, 1020.
    Serialization,
    /// Two transactions wait for each other: 40P01, 1213.
    Deadlock,
    /// Waited for too long: 55P03, 1205.
    LockTimeout,
    /// An earlier statement of the transaction failed: 25P02. Only PostgreSQL has it.
    Aborted,
    /// A column that is never null would be: 23502, 1048.
    NotNull,
    /// A CHECK does not hold: 23514, 4025.
    Check,
    /// Not SQL: 42601, 1064.
    Syntax,
    /// No such table: 42P01, 1146.
    NoTable,
    /// No such column: 42703, 1054.
    NoColumn,
    /// Beyond what the type holds: 22003, 1264.
    OutOfRange,
    /// The server can do this, or a real one can, but this one does not offer it: 0A000.
    NotOffered,
    /// None of these, by its number.
    Other(String),
}

impl Class {
    /// Of a SQLSTATE as PostgreSQL uses them.
    pub fn of_sqlstate(state: &str) -> Class {
        match state {
            "23505" => Class::Unique,
            "40001" => Class::Serialization,
            "40P01" => Class::Deadlock,
            "55P03" => Class::LockTimeout,
            "25P02" => Class::Aborted,
            "23502" => Class::NotNull,
            "23514" => Class::Check,
            "42601" => Class::Syntax,
            "42P01" => Class::NoTable,
            "42703" => Class::NoColumn,
            "22003" => Class::OutOfRange,
            "0A000" => Class::NotOffered,
            other => Class::Other(other.to_owned()),
        }
    }

    /// Of an error number of MySQL and MariaDB.
    pub fn of_errno(errno: u16) -> Class {
        match errno {
            1062 => Class::Unique,
            1020 => Class::Serialization,
            1213 => Class::Deadlock,
            1205 => Class::LockTimeout,
            1048 | 1364 => Class::NotNull,
            4025 => Class::Check,
            1064 => Class::Syntax,
            1146 => Class::NoTable,
            1054 => Class::NoColumn,
            1264 | 1690 => Class::OutOfRange,
            other => Class::Other(other.to_string()),
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Class::Unique => "unique",
            Class::Serialization => "serialization",
            Class::Deadlock => "deadlock",
            Class::LockTimeout => "lock-timeout",
            Class::Aborted => "aborted",
            Class::NotNull => "not-null",
            Class::Check => "check",
            Class::Syntax => "syntax",
            Class::NoTable => "no-table",
            Class::NoColumn => "no-column",
            Class::OutOfRange => "out-of-range",
            Class::NotOffered => "not-offered",
            Class::Other(number) => number,
        })
    }
}

/// Rows as text, `None` = NULL.
pub type Rows = Vec<Vec<Option<String>>>;

/// The answer to one statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// What a query returned. Compared as a set: no server promises an order.
    Rows(Rows),
    /// How many rows were changed.
    Changed(u64),
    /// Done, and there is nothing to count.
    Done,
    Failed(Class),
}

impl Answer {
    /// The answer to `sql`, which returned no columns and changed `count` rows.
    pub fn counted(sql: &str, count: u64) -> Answer {
        let counts = ["INSERT", "UPDATE", "DELETE"].iter().any(|verb| sql.starts_with(verb));
        if counts { Answer::Changed(count) } else { Answer::Done }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Rows(rows) => f.write_str(&table(rows)),
            Answer::Changed(count) => write!(f, "ok {count}"),
            Answer::Done => f.write_str("ok"),
            Answer::Failed(class) => write!(f, "error {class}"),
        }
    }
}

/// Rows in their own order: `(1, 10) (2, null)`.
fn table(rows: &Rows) -> String {
    let mut rows: Vec<String> = rows
        .iter()
        .map(|row| {
            let values: Vec<&str> = row.iter().map(|value| value.as_deref().unwrap_or("null")).collect();
            format!("({})", values.join(", "))
        })
        .collect();
    rows.sort();
    if rows.is_empty() { "no rows".to_owned() } else { rows.join(" ") }
}
