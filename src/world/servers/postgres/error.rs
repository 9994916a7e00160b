//! What a client is told when its statement failed: a SQLSTATE and a message, as PostgreSQL words them.

use rusqlite::{Error, ErrorCode, ffi};

/// What the constraint is called that keeps values of other types out of a column.
pub(super) const OF_ITS_TYPE: &str = "of_its_type";

/// An error as it goes over the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SqlError {
    /// SQLSTATE. Clients decide by it.
    pub code: &'static str,
    /// For people.
    pub message: String,
}

impl SqlError {
    pub(super) fn new(code: &'static str, message: impl Into<String>) -> SqlError {
        SqlError { code, message: message.into() }
    }

    /// Something PostgreSQL can do and this server cannot: the client must not go on as if it could.
    pub(super) fn unsupported(what: impl std::fmt::Display) -> SqlError {
        SqlError::new("0A000", format!("{what}: not offered by the simulated database"))
    }

    /// Whether it says something about this server rather than about the statement: what it does not offer, functions included.
    pub(super) fn is_ours(&self) -> bool {
        matches!(self.code, "0A000" | "42883")
    }

    /// The client sent bytes that are not the protocol.
    pub(super) fn protocol(message: impl Into<String>) -> SqlError {
        SqlError::new("08P01", message)
    }
}

impl From<Error> for SqlError {
    fn from(error: Error) -> SqlError {
        match error {
            Error::SqliteFailure(failure, message) => {
                let message = message.unwrap_or_else(|| failure.to_string());
                if failure.extended_code == ffi::SQLITE_CONSTRAINT_CHECK && message.ends_with(OF_ITS_TYPE) {
                    let what = "a column is given a value of another type, or one that is out of its range; cast it to the column's type";
                    return SqlError::new("42804", what);
                }
                match constraint(failure.extended_code) {
                    Some((code, what)) => SqlError::new(code, format!("{what} ({})", subject(&message))),
                    None => SqlError::new(by_message(&message).unwrap_or_else(|| by_code(failure.code)), message),
                }
            }
            Error::SqlInputError { msg, .. } => SqlError::new(by_message(&msg).unwrap_or("42601"), msg),
            other => SqlError::new("XX000", other.to_string()),
        }
    }
}

/// SQLSTATE and wording of a violated constraint.
fn constraint(extended_code: i32) -> Option<(&'static str, &'static str)> {
    Some(match extended_code {
        ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY | ffi::SQLITE_CONSTRAINT_ROWID => {
            ("23505", "duplicate key value violates unique constraint")
        }
        ffi::SQLITE_CONSTRAINT_NOTNULL => ("23502", "null value violates not-null constraint"),
        ffi::SQLITE_CONSTRAINT_FOREIGNKEY => ("23503", "violates foreign key constraint"),
        ffi::SQLITE_CONSTRAINT_CHECK => ("23514", "new row violates check constraint"),
        _ => return None,
    })
}

/// `settlement.period` of `UNIQUE constraint failed: settlement.period`.
fn subject(message: &str) -> &str {
    message.split_once(": ").map_or(message, |(_, subject)| subject)
}

/// SQLite tells many errors apart by their text alone.
fn by_message(message: &str) -> Option<&'static str> {
    const TEXTS: [(&str, &str); 13] = [
        ("no such table", "42P01"),
        ("no such column", "42703"),
        ("has no column named", "42703"),
        ("ambiguous column name", "42702"),
        ("no such function", "42883"),
        ("wrong number of arguments to function", "42883"),
        ("not authorized", "0A000"),
        ("prohibited", "0A000"),
        ("ON CONFLICT clause does not match", "42P10"),
        ("integer overflow", "22003"),
        ("invalid input syntax", "22P02"),
        ("out of range", "22003"),
        ("syntax error", "42601"),
    ];
    TEXTS.iter().find(|(text, _)| message.contains(text)).map(|(_, code)| *code)
}

fn by_code(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::TypeMismatch => "22P02",
        ErrorCode::TooBig => "54000",
        ErrorCode::ParameterOutOfRange => "08P01",
        ErrorCode::Unknown => "42601",
        _ => "XX000",
    }
}
