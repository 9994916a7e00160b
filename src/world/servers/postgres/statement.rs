//! A statement that has been parsed: what it is, what it takes, what it returns.

use super::advisory::{ANSWER, Call};
use super::columns;
use super::dialect::{self, Translation};
use super::error::SqlError;
use super::footprint::Footprint;
use super::lexer::{self, Token};
use super::value::Type;

/// What a statement is to the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing but blanks.
    Empty,
    Begin,
    Commit,
    Rollback,
    Savepoint,
    RollbackTo,
    Release,
    /// The first phase of a commit.
    Prepare,
    CommitPrepared,
    RollbackPrepared,
    /// A setting, which is accepted and has no effect.
    Set,
    /// Everything that the database runs.
    Query,
}

/// A result column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column {
    pub name: String,
    pub of: Type,
}

/// A parsed statement.
#[derive(Debug)]
pub(super) struct Statement {
    pub kind: Kind,
    /// What SQLite runs.
    pub sql: String,
    pub parameters: Vec<Type>,
    pub columns: Vec<Column>,
    /// What the completion says: `SELECT`, `INSERT 0`, …
    pub tag: &'static str,
    /// The isolation level that `BEGIN` asks for.
    pub level: Option<Level>,
    /// The savepoint or the prepared transaction that it is about.
    pub name: String,
    /// It changes rows.
    pub writes: bool,
    /// It locks rows although it only reads.
    pub locks: bool,
    /// What it touches.
    pub footprint: Footprint,
    /// The advisory lock that it is about.
    pub advisory: Option<Call>,
}

/// An isolation level, as SQL names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

/// What the text alone tells about a statement.
pub(super) struct Parsed {
    pub kind: Kind,
    pub tag: &'static str,
    pub level: Option<Level>,
    pub name: String,
    pub translation: Translation,
    /// Types of the parameters: as the client gave them, else as the text tells, else `bigint`.
    pub parameters: Vec<Type>,
    /// Types of the result columns, as far as the text tells them.
    pub results: Vec<Option<Type>>,
    pub advisory: Option<Call>,
}

/// Parses one statement; `given` are the types that the client gave to its parameters, 0 = none.
pub(super) fn parse(text: &str, given: &[u32]) -> Result<Parsed, SqlError> {
    let mut tokens = lexer::tokens(text)?;
    while tokens.last() == Some(&Token::Semicolon) {
        tokens.pop();
    }
    if tokens.contains(&Token::Semicolon) {
        return Err(SqlError::new("42601", "cannot insert multiple commands into a prepared statement"));
    }
    let (kind, tag) = verb(&tokens)?;
    let level = if kind == Kind::Begin { level(&tokens)? } else { None };
    let name = match kind {
        Kind::Savepoint | Kind::RollbackTo | Kind::Release => savepoint(&tokens)?,
        Kind::Prepare | Kind::CommitPrepared | Kind::RollbackPrepared => transaction(&tokens)?,
        Kind::Empty | Kind::Begin | Kind::Commit | Kind::Rollback | Kind::Set | Kind::Query => String::new(),
    };
    let (mut translation, mut results);
    let (mut parameters, mut advisory) = (Vec::new(), None);
    if kind == Kind::Query {
        translation = dialect::translate(&tokens)?;
        parameters = parameter_types(&translation, given)?;
        results = columns::result_types(&tokens, &parameters)?;
        if let Some((call, name)) = Call::of(&tokens)? {
            translation.sql = format!("SELECT {ANSWER}() AS {name}");
            (results, advisory) = (vec![Some(call.returns())], Some(call));
        }
    } else {
        (translation, results) = Default::default();
    }
    Ok(Parsed { kind, tag, level, name, translation, parameters, results, advisory })
}

fn parameter_types(translation: &Translation, given: &[u32]) -> Result<Vec<Type>, SqlError> {
    let told = &translation.parameters;
    (0..told.len().max(given.len()))
        .map(|i| match given.get(i) {
            None | Some(0) => Ok(told.get(i).copied().flatten().unwrap_or(Type::Int8)),
            Some(oid) => Type::from_oid(*oid),
        })
        .collect()
}

/// What kind of statement this is, by its first word.
fn verb(tokens: &[Token<'_>]) -> Result<(Kind, &'static str), SqlError> {
    let Some(first) = tokens.first() else { return Ok((Kind::Empty, "")) };
    let Token::Word(word) = first else { return Err(SqlError::new("42601", "a statement begins with a word")) };
    let control = match word.to_ascii_lowercase().as_str() {
        "prepare" if tokens.get(1).is_some_and(|t| t.is("transaction")) => return Ok((Kind::Prepare, "PREPARE TRANSACTION")),
        "commit" if tokens.get(1).is_some_and(|t| t.is("prepared")) => return Ok((Kind::CommitPrepared, "COMMIT PREPARED")),
        "rollback" if tokens.get(1).is_some_and(|t| t.is("prepared")) => return Ok((Kind::RollbackPrepared, "ROLLBACK PREPARED")),
        "begin" | "start" => (Kind::Begin, "BEGIN"),
        "commit" | "end" => (Kind::Commit, "COMMIT"),
        "rollback" | "abort" if tokens.iter().any(|t| t.is("to")) => (Kind::RollbackTo, "ROLLBACK"),
        "rollback" | "abort" => (Kind::Rollback, "ROLLBACK"),
        "savepoint" => (Kind::Savepoint, "SAVEPOINT"),
        "release" => (Kind::Release, "RELEASE"),
        "set" => (Kind::Set, "SET"),
        "with" => return main_verb(tokens),
        _ => return query_tag(first).map(|tag| (Kind::Query, tag)),
    };
    match control.0 {
        Kind::Set => setting(tokens)?,
        Kind::Commit | Kind::Rollback if tokens.iter().any(|t| t.is("chain")) && !tokens.iter().any(|t| t.is("no")) => {
            return Err(SqlError::unsupported("AND CHAIN"));
        }
        Kind::Begin => {}
        _ => isolation(tokens)?,
    }
    Ok(control)
}

/// The name at the end of a statement about a savepoint. As for all names, only quotes keep its case.
fn savepoint(tokens: &[Token<'_>]) -> Result<String, SqlError> {
    match tokens {
        [.., before, Token::Word(name)] if before.is_any(&["savepoint", "to", "release"]) => Ok(name.to_ascii_lowercase()),
        [.., before, Token::Name(name)] if before.is_any(&["savepoint", "to", "release"]) => Ok(name.trim_matches('"').to_owned()),
        _ => Err(SqlError::new("42601", "syntax error at the name of the savepoint")),
    }
}

/// The name of a prepared transaction, which stands in quotes at the end.
fn transaction(tokens: &[Token<'_>]) -> Result<String, SqlError> {
    match tokens {
        [_, _, Token::Literal(name)] => Ok(name.trim_matches('\'').replace("''", "'")),
        _ => Err(SqlError::new("42601", "syntax error at the name of the transaction")),
    }
}

/// The verb behind the common table expressions, which stand in parentheses.
fn main_verb(tokens: &[Token<'_>]) -> Result<(Kind, &'static str), SqlError> {
    let mut depth = 0_i32;
    for token in tokens {
        match token {
            Token::Open => depth += 1,
            Token::Close => depth -= 1,
            Token::Word(_) if depth == 0 && token.is_any(&["select", "insert", "update", "delete", "values"]) => {
                return query_tag(token).map(|tag| (Kind::Query, tag));
            }
            _ => {}
        }
    }
    Err(SqlError::new("42601", "syntax error at end of input"))
}

/// The completion tag of a query; only these statements reach SQLite.
fn query_tag(verb: &Token<'_>) -> Result<&'static str, SqlError> {
    const VERBS: [(&str, &str); 5] =
        [("select", "SELECT"), ("values", "SELECT"), ("insert", "INSERT 0"), ("update", "UPDATE"), ("delete", "DELETE")];
    const KNOWN: [&str; 19] = [
        "create", "drop", "alter", "truncate", "lock", "show", "copy", "listen", "notify", "explain", "vacuum", "analyze", "declare",
        "fetch", "prepare", "execute", "discard", "merge", "xa",
    ];
    if let Some((_, tag)) = VERBS.iter().find(|(word, _)| verb.is(word)) {
        return Ok(tag);
    }
    let Token::Word(word) = verb else { return Err(SqlError::new("42601", "a statement begins with a word")) };
    if verb.is_any(&KNOWN) {
        return Err(SqlError::unsupported(word.to_ascii_uppercase()));
    }
    Err(SqlError::new("42601", format!("syntax error at or near \"{word}\"")))
}

/// The isolation level of `BEGIN` or `START TRANSACTION`.
fn level(tokens: &[Token<'_>]) -> Result<Option<Level>, SqlError> {
    let Some(at) = tokens.iter().position(|t| t.is("level")) else { return isolation(tokens).map(|()| None) };
    let says = |words: &[&str]| words.iter().enumerate().all(|(n, word)| tokens.get(at + 1 + n).is_some_and(|t| t.is(word)));
    match () {
        () if says(&["read", "committed"]) => Ok(Some(Level::ReadCommitted)),
        () if says(&["read", "uncommitted"]) => Ok(Some(Level::ReadUncommitted)),
        () if says(&["repeatable", "read"]) => Ok(Some(Level::RepeatableRead)),
        () if says(&["serializable"]) => Ok(Some(Level::Serializable)),
        () => Err(SqlError::new("42601", "syntax error in the isolation level")),
    }
}

/// Only settings that change nothing that happens here are taken; the others would be missed.
fn setting(tokens: &[Token<'_>]) -> Result<(), SqlError> {
    const HARMLESS: [&str; 11] = [
        "application_name",
        "bytea_output",
        "client_encoding",
        "client_min_messages",
        "datestyle",
        "extra_float_digits",
        "intervalstyle",
        "names",
        "search_path",
        "standard_conforming_strings",
        "timezone",
    ];
    isolation(tokens)?;
    let names = tokens.iter().skip(1).skip_while(|t| t.is_any(&["session", "local"]));
    match names.clone().next() {
        Some(name) if name.is_any(&HARMLESS) || name.is("time") => Ok(()),
        Some(Token::Word(name) | Token::Name(name)) => Err(SqlError::unsupported(format!(
            "SET {name}; lock and idle timeouts are `database.lock_timeout` and `database.idle_in_transaction_timeout` of the scenario, a level stands in BEGIN"
        ))),
        _ => Err(SqlError::new("42601", "syntax error after SET")),
    }
}

/// Refuses to change the isolation of transactions but at their beginning.
fn isolation(tokens: &[Token<'_>]) -> Result<(), SqlError> {
    if tokens.iter().any(|t| t.is_any(&["serializable", "repeatable", "uncommitted", "prepared"])) {
        return Err(SqlError::unsupported("an isolation level anywhere but in BEGIN or START TRANSACTION"));
    }
    if tokens.windows(2).any(|pair| pair[0].is("read") && pair[1].is("only")) {
        return Err(SqlError::unsupported("READ ONLY"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Any order of SQL's pieces, and any depth of nesting, parses or is refused.
    #[test]
    fn no_text_panics() {
        const PIECES: [&str; 40] = [
            "select",
            "insert",
            "into",
            "update",
            "delete",
            "with",
            "values",
            "returning",
            "from",
            "for",
            "update",
            "share",
            "of",
            "as",
            "case",
            "end",
            "cast",
            "coalesce",
            "sum",
            "extract",
            "epoch",
            "clock_timestamp",
            "bigint",
            "double",
            "::",
            "(",
            ")",
            ",",
            ";",
            "*",
            "=",
            "||",
            ".",
            "$1",
            "$3",
            "1e5",
            "'x'",
            "\"y\"",
            "begin",
            "exists",
        ];
        let mut dice = 7_u64;
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..14 {
                dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                text.push_str(PIECES[usize::try_from(dice >> 33).expect("31 bits") % PIECES.len()]);
                text.push(' ');
            }
            let _ = parse(&text, &[20, 0]);
        }
        let deep = format!("select {}1{}", "coalesce(".repeat(50_000), ")".repeat(50_000));
        assert!(parse(&deep, &[]).is_ok(), "SQLite will refuse it");
    }

    #[test]
    fn verbs_and_tags() {
        for (text, kind, tag) in [
            (" -- nothing", Kind::Empty, ""),
            ("BEGIN WORK;", Kind::Begin, "BEGIN"),
            ("start transaction read write", Kind::Begin, "BEGIN"),
            ("end", Kind::Commit, "COMMIT"),
            ("abort", Kind::Rollback, "ROLLBACK"),
            ("set application_name = 'x'", Kind::Set, "SET"),
            ("prepare transaction 'a'", Kind::Prepare, "PREPARE TRANSACTION"),
            ("Rollback Prepared 'a';", Kind::RollbackPrepared, "ROLLBACK PREPARED"),
            ("with a as (insert into t values (1)) update t set a = 1", Kind::Query, "UPDATE"),
            ("values (1)", Kind::Query, "SELECT"),
        ] {
            let parsed = parse(text, &[]).expect(text);
            assert_eq!((parsed.kind, parsed.tag), (kind, tag), "{text}");
        }
        for text in [
            "begin read only",
            "set lock_timeout = 4",
            "set default_transaction_isolation = 'x'",
            "commit and chain",
            "set transaction isolation level serializable",
            "prepare a as select 1",
            "xa start 'a'",
        ] {
            assert_eq!(parse(text, &[]).err().map(|error| error.code), Some("0A000"), "{text}");
        }
    }
}
