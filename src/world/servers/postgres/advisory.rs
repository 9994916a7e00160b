//! Calls of PostgreSQL's advisory locks, as statements of their own: `SELECT pg_try_advisory_lock($1)`.
//!
//! Inside of larger expressions they are refused: how often they would be called there depends on the plan.

use super::error::SqlError;
use super::lexer::Token;
use super::tables::{Key, Table};
use super::value::Type;
use rusqlite::types::Value;

/// The scalar function that answers such a call.
pub(super) const ANSWER: &str = "advisory_answer";

/// The place of no table: what is locked here is a number.
pub(super) const NUMBERS: usize = usize::MAX;

/// What is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub what: What,
    key: Number,
}

/// What it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Takes a lock, which is kept until the end of the session or of the transaction; waits for it, or does not.
    Take { session: bool, waits: bool },
    /// Gives back one of the session's.
    Unlock,
    /// Gives back all of the session's.
    UnlockAll,
}

/// Where the key stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    None,
    Literal(i64),
    /// From 0.
    Parameter(usize),
}

/// What a call answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    No = 0,
    Yes = 1,
    Nothing = 2,
}

impl Call {
    /// The call that a statement is, and its name; `None` if it has nothing to do with advisory locks.
    ///
    /// # Errors
    /// It calls such a function anywhere else, or another of them.
    pub(super) fn of(tokens: &[Token<'_>]) -> Result<Option<(Call, String)>, SqlError> {
        let advisory = |token: &Token<'_>| matches!(token, Token::Word(word) if word.to_ascii_lowercase().contains("_advisory_"));
        if !tokens.iter().any(advisory) {
            return Ok(None);
        }
        let refused = || SqlError::unsupported("advisory locks but in SELECT pg_…advisory…(KEY), with one key of 64 bits");
        let [select, Token::Word(name), Token::Open, inside @ .., Token::Close] = tokens else { return Err(refused()) };
        let name = name.to_ascii_lowercase();
        let what = match name.as_str() {
            "pg_advisory_lock" => What::Take { session: true, waits: true },
            "pg_try_advisory_lock" => What::Take { session: true, waits: false },
            "pg_advisory_xact_lock" => What::Take { session: false, waits: true },
            "pg_try_advisory_xact_lock" => What::Take { session: false, waits: false },
            "pg_advisory_unlock" => What::Unlock,
            "pg_advisory_unlock_all" => What::UnlockAll,
            _ => return Err(refused()),
        };
        let literal = |digits: &str, sign: i64| digits.parse::<i64>().map(|n| Number::Literal(sign * n)).map_err(|_| refused());
        let key = match inside {
            [] if what == What::UnlockAll => Number::None,
            [Token::Parameter(n)] | [Token::Parameter(n), Token::Cast, Token::Word(_)] => Number::Parameter(usize::from(*n) - 1),
            [Token::Number(digits)] => literal(digits, 1)?,
            [Token::Operator("-"), Token::Number(digits)] => literal(digits, -1)?,
            _ => return Err(refused()),
        };
        if select.is("select") { Ok(Some((Call { what, key }, name))) } else { Err(refused()) }
    }

    /// The type of its answer. What returns `void` returns an empty text here.
    pub(super) fn returns(self) -> Type {
        match self.what {
            What::Take { waits: true, .. } | What::UnlockAll => Type::Text,
            What::Take { waits: false, .. } | What::Unlock => Type::Bool,
        }
    }

    /// What it locks.
    pub(super) fn key(self, values: &[Value]) -> Option<Key> {
        match self.key {
            Number::None => None,
            Number::Literal(n) => Table::point(NUMBERS, &Value::Integer(n)),
            Number::Parameter(n) => values.get(n).and_then(|value| Table::point(NUMBERS, value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::lexer;
    use super::*;

    #[test]
    fn calls_are_statements_of_their_own() {
        let of = |text: &str| Call::of(&lexer::tokens(text).expect("tokens")).map(|call| call.map(|(call, _)| call.what));
        let take = |session, waits| Ok(Some(What::Take { session, waits }));
        assert_eq!(of("select 1 from t"), Ok(None));
        assert_eq!(of("SELECT pg_try_advisory_lock($1)"), take(true, false));
        assert_eq!(of("select PG_ADVISORY_XACT_LOCK(-7)"), take(false, true));
        assert_eq!(of("select pg_advisory_unlock_all()"), Ok(Some(What::UnlockAll)));
        for text in [
            "select 1 where pg_try_advisory_lock(1)",
            "select pg_try_advisory_lock(1, 2)",
            "select pg_advisory_lock_shared(1)",
            "select pg_advisory_lock()",
            "update t set a = 1 where pg_advisory_unlock(1)",
        ] {
            assert_eq!(of(text).err().map(|error| error.code), Some("0A000"), "{text}");
        }
    }
}
