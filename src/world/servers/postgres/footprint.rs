//! What a statement touches, as its text tells: which tables, which rows, and how to find them.
//!
//! SQLite's plan is not asked: what a statement locks on a real server depends on its own plan,
//! and the usual ones are seen in the text. `WHERE key = value` reads one row; anything else
//! reads the table.

use super::columns::at_top;
use super::dialect;
use super::error::SqlError;
use super::lexer::Token;
use super::tables::{Key, Table};
use rusqlite::types::Value;

/// Which rows of a table a statement reads.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Rows {
    All,
    /// The one with this primary key.
    Literal(Value),
    /// The one whose primary key is this parameter, from 0.
    Parameter(usize),
    /// Those whose primary key, a number, is in this range.
    Range(Range),
}

/// A range of a primary key of one column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Range {
    /// Selects the rowids of its rows, in SQLite's words.
    pub rows: String,
    /// Selects the rowid of the row behind it; `None` if the range has no upper end.
    pub behind: Option<String>,
}

impl Rows {
    /// The key of the one row, if it is one.
    pub(super) fn key(&self, table: usize, values: &[Value]) -> Option<Key> {
        match self {
            Rows::All | Rows::Range(_) => None,
            Rows::Literal(value) => Table::point(table, value),
            Rows::Parameter(n) => values.get(*n).and_then(|value| Table::point(table, value)),
        }
    }
}

/// Rows that are locked before they are used.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Locked {
    pub table: usize,
    /// Selects their rowids.
    pub sql: String,
    /// Against writers only.
    pub shared: bool,
}

/// What a statement touches.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Footprint {
    /// The tables that it names, as bits by their place.
    pub tables: u64,
    /// The tables that it reads, and which rows of them.
    pub reads: Vec<(usize, Rows)>,
    /// It is an `UPDATE` or a `DELETE`: it changes the rows that it finds.
    pub scans: bool,
    /// The rows of a locking read, or those that an `INSERT … SELECT` reads.
    pub locked: Option<Locked>,
    /// It reads aggregates of what it locks, which only some servers do.
    pub locks_aggregates: bool,
    /// The same statement, but rows in its way are deleted: finds out which they are.
    pub probe: Option<String>,
    /// It has an `ON CONFLICT`.
    pub on_conflict: bool,
}

/// All tables, where there are too many for a bit each.
const EVERYTHING: u64 = u64::MAX;

/// The bit of a table in [`Footprint::tables`].
pub(super) fn bit(table: usize) -> u64 {
    u32::try_from(table).ok().and_then(|table| 1_u64.checked_shl(table)).unwrap_or(EVERYTHING)
}

impl Footprint {
    /// Of a statement, cut into tokens, whose translation is `sql`.
    ///
    /// # Errors
    /// It locks rows of several tables.
    pub(super) fn of(tokens: &[Token<'_>], sql: &str, tables: &[Table]) -> Result<Footprint, SqlError> {
        let named = |token: &Token<'_>| named(tables, token);
        let mut footprint = Footprint { on_conflict: tokens.iter().any(|t| t.is("conflict")), ..Footprint::default() };
        for (at, token) in tokens.iter().enumerate() {
            let Some(table) = named(token) else { continue };
            footprint.tables |= bit(table);
            let into = at.checked_sub(1).is_some_and(|before| tokens[before].is("into"));
            if !into && !footprint.reads.iter().any(|(known, _)| *known == table) {
                footprint.reads.push((table, Rows::All));
            }
        }
        let verb = tokens.first();
        let starts = |word: &str| verb.is_some_and(|verb| verb.is(word));
        footprint.scans = starts("update") || starts("delete");
        if let [(table, rows)] = &mut footprint.reads[..] {
            *rows = by_key(tokens, &tables[*table]).unwrap_or(Rows::All);
        }
        footprint.probe = probe(tokens, sql, footprint.on_conflict);
        let top: Vec<usize> = at_top(tokens).collect();
        let find = |word: &str, from: usize| top.iter().copied().find(|at| *at >= from && tokens[*at].is(word));
        if starts("select") {
            let end = top.iter().copied().find(|at| dialect::locking_clause(&tokens[*at..]).is_ok_and(|length| length.is_some()));
            if let Some(end) = end {
                let shared = tokens[end..].iter().any(|t| t.is("share"));
                footprint.locked = Some(
                    locked(tokens, find("from", 0), end, shared, tables)?
                        .ok_or_else(|| SqlError::unsupported("a locking clause over anything but one table"))?,
                );
                // What stands in parentheses, a subquery, may aggregate.
                let aggregate =
                    |at: &usize| tokens[*at].is_any(&["count", "sum", "min", "max", "avg"]) && tokens.get(at + 1) == Some(&Token::Open);
                footprint.locks_aggregates =
                    top.iter().any(|at| aggregate(at) || tokens[*at].is_any(&["group", "distinct", "having", "union"]));
            }
        } else if starts("insert")
            && let Some(select) = find("select", 1)
        {
            let end = find("on", select).or_else(|| find("returning", select)).unwrap_or(tokens.len());
            footprint.locked = locked(tokens, find("from", select), end, true, tables)?;
        }
        Ok(footprint)
    }
}

/// The table that a word names.
fn named(tables: &[Table], token: &Token<'_>) -> Option<usize> {
    let name = match token {
        Token::Word(word) => word,
        Token::Name(name) => name.trim_matches('"'),
        _ => return None,
    };
    tables.iter().position(|table| table.name.eq_ignore_ascii_case(name))
}

/// The rows between `FROM` and `end`, if they are of one table.
fn locked(tokens: &[Token<'_>], from: Option<usize>, end: usize, shared: bool, tables: &[Table]) -> Result<Option<Locked>, SqlError> {
    let Some(from) = from.filter(|from| *from < end) else { return Ok(None) };
    let source = &tokens[from + 1..end];
    let Some(table) = source.first().and_then(|token| named(tables, token)) else { return Ok(None) };
    let clause = source.iter().take_while(|t| !t.is_any(&["where", "order", "limit", "group", "offset"]));
    if clause.clone().any(|t| *t == Token::Comma || t.is("join")) {
        return Ok(None);
    }
    let rest = dialect::translate(&tokens[from..end])?.sql;
    Ok(Some(Locked { table, sql: format!("SELECT rowid {rest}"), shared }))
}

/// `WHERE key = value`, `WHERE key <= value` of a statement on one table.
fn by_key(tokens: &[Token<'_>], table: &Table) -> Option<Rows> {
    let [key] = table.keys[0][..] else { return None };
    let column = &table.columns[key];
    let at = at_top(tokens).find(|at| tokens[*at].is("where"))?;
    let mut rest = &tokens[at + 1..];
    if let [_, Token::Operator("."), qualified @ ..] = rest {
        rest = qualified;
    }
    let [Token::Word(name), Token::Operator(operator), value, after @ ..] = rest else { return None };
    if !name.eq_ignore_ascii_case(column) || after.first().is_some_and(|t| !t.is_any(&["and", "returning", "for", "limit", "order"])) {
        return None;
    }
    if let ("<" | "<=" | ">" | ">=", Token::Number(_) | Token::Parameter(_)) = (*operator, value) {
        let value = if let Token::Parameter(n) = value { format!("?{n}") } else { dialect::translate(&[*value]).ok()?.sql };
        let rows = |operator: &str| format!("SELECT rowid FROM \"{}\" WHERE \"{column}\" {operator} {value}", table.name);
        let first = |rows: String| format!("{rows} ORDER BY \"{column}\" LIMIT 1");
        let behind = match *operator {
            "<" => Some(first(rows(">="))),
            "<=" => Some(first(rows(">"))),
            _ => None,
        };
        return Some(Rows::Range(Range { rows: rows(operator), behind }));
    }
    if *operator != "=" {
        return None;
    }
    match value {
        Token::Parameter(n) => Some(Rows::Parameter(usize::from(*n) - 1)),
        Token::Number(number) => number.parse().ok().map(|number| Rows::Literal(Value::Integer(number))),
        Token::Literal(text) => Some(Rows::Literal(Value::Text(text[1..text.len() - 1].replace("''", "'")))),
        _ => None,
    }
}

/// The statement with `OR REPLACE`, if a unique key can fail it.
fn probe(tokens: &[Token<'_>], sql: &str, on_conflict: bool) -> Option<String> {
    let verb = tokens.first()?;
    if on_conflict || !verb.is_any(&["insert", "update"]) {
        return None;
    }
    let Token::Word(verb) = verb else { return None };
    Some(format!("{verb} OR REPLACE{}", &sql[verb.len()..]))
}
