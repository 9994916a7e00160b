//! One classification of everything that can go wrong with a store, made once, where the
//! client library's error is still at hand. What matters to a strategy is whether its request
//! was applied.

use std::fmt::Display;
use std::io;

/// Why a store did not do what it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// A unique key has this value already (SQLSTATE 23505; MySQL's 1062).
    UniqueViolation,
    /// The transaction cannot be placed in any serial order (40001; MariaDB's 1020). Not applied.
    Serialization,
    /// The transaction waited in a circle (40P01; MySQL's 1213). Not applied.
    Deadlock,
    /// Another transaction held a lock for too long (55P03; MySQL's 1205). The statement was not applied.
    LockTimeout,
    /// The transaction was over before the statement: an earlier error (25P02), or the server
    /// ended it for being idle (25P03), or its connection is gone. Not applied.
    TransactionAborted,
    /// No connection could be made: certainly not applied.
    NotSent,
    /// The answer was lost, or did not come in time: applied or not, nobody here can know.
    MaybeApplied,
    /// Anything else that the server said. Not applied.
    Rejected,
    /// The client library could not write the request, or could not make of the answer what was
    /// asked for: another type, another number of rows. What the server has answered is applied.
    Unusable,
}

impl ErrorKind {
    /// Whether a database refused one statement, or all after one that it refused.
    pub fn is_refusal(self) -> bool {
        matches!(self, ErrorKind::UniqueViolation | ErrorKind::TransactionAborted)
    }
}

/// A store did not do what it was asked, or nobody knows whether it did.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct StoreError {
    /// What it means for the request.
    pub kind: ErrorKind,
    /// What the client library or the server said.
    pub text: String,
}

impl StoreError {
    /// The server was not reached.
    pub fn not_sent(why: impl Display) -> StoreError {
        StoreError { kind: ErrorKind::NotSent, text: why.to_string() }
    }

    /// No answer within the client timeout.
    pub fn timed_out() -> StoreError {
        StoreError::maybe_applied("no answer in time")
    }

    /// The answer was lost.
    pub fn maybe_applied(why: impl Display) -> StoreError {
        StoreError { kind: ErrorKind::MaybeApplied, text: why.to_string() }
    }

    /// The server answered, but not what was asked for.
    pub fn rejected(why: impl Display) -> StoreError {
        StoreError { kind: ErrorKind::Rejected, text: why.to_string() }
    }

    /// The connection on which the transaction was open is gone, and the transaction with it.
    pub fn transaction_lost() -> StoreError {
        StoreError { kind: ErrorKind::TransactionAborted, text: "the connection was lost inside a transaction".to_owned() }
    }

    /// Whether the connection can no longer be used.
    pub fn lost_connection(&self) -> bool {
        match self.kind {
            ErrorKind::NotSent | ErrorKind::MaybeApplied => true,
            ErrorKind::UniqueViolation
            | ErrorKind::Serialization
            | ErrorKind::Deadlock
            | ErrorKind::LockTimeout
            | ErrorKind::TransactionAborted
            | ErrorKind::Rejected
            | ErrorKind::Unusable => false,
        }
    }
}

impl From<io::Error> for StoreError {
    /// Connecting failed.
    fn from(error: io::Error) -> StoreError {
        StoreError::not_sent(error)
    }
}

impl From<tokio_postgres::Error> for StoreError {
    /// A statement failed.
    fn from(error: tokio_postgres::Error) -> StoreError {
        let kind = match error.code() {
            Some(state) => by_sqlstate(state.code()),
            None if is_about_values(&error) => ErrorKind::Unusable,
            None => ErrorKind::MaybeApplied,
        };
        let text = error.as_db_error().map_or_else(|| error.to_string(), |said| format!("{} ({})", said.message(), said.code().code()));
        StoreError { kind, text }
    }
}

/// Whether the library stumbled over a value, a column or a number of rows rather than over the
/// connection. Its kinds are not public; these are its words (tokio-postgres 0.7.18).
fn is_about_values(error: &tokio_postgres::Error) -> bool {
    const WORDS: [&str; 6] = [
        "error serializing parameter",
        "error deserializing column",
        "invalid column",
        "query returned an unexpected number of",
        "expected ",
        "error encoding message",
    ];
    let said = error.to_string();
    WORDS.iter().any(|words| said.starts_with(words))
}

/// What a SQLSTATE means for the statement that got it.
fn by_sqlstate(state: &str) -> ErrorKind {
    match state {
        "23505" => ErrorKind::UniqueViolation,
        "40001" => ErrorKind::Serialization,
        "40P01" => ErrorKind::Deadlock,
        "55P03" => ErrorKind::LockTimeout,
        "25P02" | "25P03" => ErrorKind::TransactionAborted,
        // The server ends the session. What was open is rolled back; whether a COMMIT came first it does not say.
        "57P01" | "57P02" | "57P03" => ErrorKind::MaybeApplied,
        // Class 08 is about the connection: the server does not say how far it came.
        _ if state.starts_with("08") => ErrorKind::MaybeApplied,
        _ => ErrorKind::Rejected,
    }
}

impl From<mysql_async::Error> for StoreError {
    /// A statement failed.
    fn from(error: mysql_async::Error) -> StoreError {
        use mysql_async::{DriverError as Driver, Error};
        let kind = match &error {
            Error::Server(said) => by_mysql_code(said.code, &said.state),
            Error::Driver(
                Driver::FromValue { .. }
                | Driver::FromRow { .. }
                | Driver::Params(_)
                | Driver::MixedParams
                | Driver::StmtParamsMismatch { .. }
                | Driver::StmtParamsNumberExceedsLimit { .. }
                | Driver::PacketTooLarge,
            )
            | Error::Url(_) => ErrorKind::Unusable,
            // A stream that ended, or that nobody can read on.
            Error::Io(_) | Error::Driver(_) | Error::Other(_) => ErrorKind::MaybeApplied,
        };
        let text = match &error {
            Error::Server(said) => format!("{} ({})", said.message, said.code),
            Error::Driver(_) | Error::Io(_) | Error::Other(_) | Error::Url(_) => error.to_string(),
        };
        StoreError { kind, text }
    }
}

/// What an error number of MySQL or MariaDB means for the statement that got it.
fn by_mysql_code(code: u16, state: &str) -> ErrorKind {
    match code {
        // ER_DUP_ENTRY, ER_DUP_ENTRY_WITH_KEY_NAME
        1062 | 1586 => ErrorKind::UniqueViolation,
        // ER_CHECKREAD: MariaDB with `innodb_snapshot_isolation`
        1020 => ErrorKind::Serialization,
        // ER_LOCK_DEADLOCK
        1213 => ErrorKind::Deadlock,
        // ER_LOCK_WAIT_TIMEOUT
        1205 => ErrorKind::LockTimeout,
        // ER_CONNECTION_KILLED of MariaDB, ER_CLIENT_INTERACTION_TIMEOUT of MySQL
        1927 | 4031 => ErrorKind::MaybeApplied,
        _ if state.starts_with("08") => ErrorKind::MaybeApplied,
        _ => ErrorKind::Rejected,
    }
}

impl From<redis::RedisError> for StoreError {
    /// A command failed.
    fn from(error: redis::RedisError) -> StoreError {
        use redis::ErrorKind as Redis;
        let kind = match error.kind() {
            // A reply that does not parse leaves a stream that nobody can read on.
            Redis::Io | Redis::Parse => ErrorKind::MaybeApplied,
            Redis::UnexpectedReturnType | Redis::Client => ErrorKind::Unusable,
            _ if error.is_connection_dropped() => ErrorKind::MaybeApplied,
            _ => ErrorKind::Rejected,
        };
        StoreError { kind, text: error.to_string() }
    }
}

impl From<hyper::Error> for StoreError {
    /// A request failed before its answer was complete.
    fn from(error: hyper::Error) -> StoreError {
        let kind = if error.is_canceled() { ErrorKind::NotSent } else { ErrorKind::MaybeApplied };
        StoreError { kind, text: error.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The states that strategies act on, and the rule that an unknown one is a plain "no".
    #[test]
    fn sqlstates_are_told_apart() {
        let kinds = ["23505", "40001", "40P01", "55P03", "25P02", "25P03", "57P01", "08006", "42P01"].map(by_sqlstate);
        assert_eq!(
            kinds,
            [
                ErrorKind::UniqueViolation,
                ErrorKind::Serialization,
                ErrorKind::Deadlock,
                ErrorKind::LockTimeout,
                ErrorKind::TransactionAborted,
                ErrorKind::TransactionAborted,
                ErrorKind::MaybeApplied,
                ErrorKind::MaybeApplied,
                ErrorKind::Rejected,
            ]
        );
    }

    /// The numbers that strategies act on, what says nothing about the statement, and a plain "no".
    #[test]
    fn mysql_numbers_are_told_apart() {
        use mysql_async::{DriverError, Error, IoError, ServerError};
        let said = |code, state: &str| {
            let error = ServerError { code, message: "no".to_owned(), state: state.to_owned() };
            StoreError::from(Error::Server(error))
        };
        let kinds = [
            (1062, "23000", ErrorKind::UniqueViolation),
            (1020, "HY000", ErrorKind::Serialization),
            (1213, "40001", ErrorKind::Deadlock),
            (1205, "HY000", ErrorKind::LockTimeout),
            (1053, "08S01", ErrorKind::MaybeApplied),
            (1927, "70100", ErrorKind::MaybeApplied),
            (1064, "42000", ErrorKind::Rejected),
            (1048, "23000", ErrorKind::Rejected),
        ];
        for (code, state, kind) in kinds {
            assert_eq!(said(code, state), StoreError { kind, text: format!("no ({code})") });
        }
        let broken = StoreError::from(Error::Io(IoError::Io(io::ErrorKind::ConnectionReset.into())));
        assert_eq!((broken.kind, broken.lost_connection()), (ErrorKind::MaybeApplied, true));
        assert_eq!(StoreError::from(Error::Driver(DriverError::ConnectionClosed)).kind, ErrorKind::MaybeApplied);
        let mismatch = Error::Driver(DriverError::StmtParamsMismatch { required: 1, supplied: 2 });
        assert_eq!(StoreError::from(mismatch).kind, ErrorKind::Unusable);
    }

    /// A reply that never came and a refusal must not be confused: only one of them may be repeated blindly.
    #[test]
    fn a_lost_reply_is_ambiguous_and_a_refusal_is_not() {
        let lost = StoreError::from(redis::RedisError::from(io::Error::from(io::ErrorKind::BrokenPipe)));
        assert_eq!(lost.kind, ErrorKind::MaybeApplied);
        assert!(lost.lost_connection());

        let refused = StoreError::from(io::Error::from(io::ErrorKind::ConnectionRefused));
        assert_eq!(refused.kind, ErrorKind::NotSent);

        let said_no = StoreError::from(redis::RedisError::from((redis::ErrorKind::Server(redis::ServerErrorKind::ResponseError), "no")));
        assert_eq!(said_no.kind, ErrorKind::Rejected);
        assert!(!said_no.lost_connection());
    }
}
