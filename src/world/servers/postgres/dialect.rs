//! From PostgreSQL's SQL to SQLite's: only what the two spell differently.
//!
//! * `$n` becomes `?n`.
//! * `(extract(epoch from clock_timestamp()) * 1000)::bigint`, the milliseconds of the
//!   database's clock, becomes a call of [`CLOCK`].
//! * `::type` on a parameter says its type and disappears; elsewhere it becomes a `CAST`, or a
//!   call of [`TO_INTEGER`], for SQLite's own cast to an integer cuts where PostgreSQL's rounds.
//! * `FOR UPDATE` disappears, and the statement is marked as one that locks.

use super::columns;
use super::error::SqlError;
use super::lexer::Token;
use super::value::Type;

/// The scalar function that reads the database's clock in milliseconds.
pub(super) const CLOCK: &str = "wall_ms";

/// The scalar function that turns a value into an integer as PostgreSQL does.
pub(super) const TO_INTEGER: &str = "to_integer";

/// A statement in SQLite's words.
#[derive(Debug, Default)]
pub(super) struct Translation {
    pub sql: String,
    /// Types of the parameters, as far as the text tells them.
    pub parameters: Vec<Option<Type>>,
    /// It has a `FOR UPDATE` or the like.
    pub locks: bool,
}

/// What the clock looks like in PostgreSQL's words.
const CLOCK_TOKENS: [Token<'static>; 14] = [
    Token::Open,
    Token::Word("extract"),
    Token::Open,
    Token::Word("epoch"),
    Token::Word("from"),
    Token::Word("clock_timestamp"),
    Token::Open,
    Token::Close,
    Token::Close,
    Token::Operator("*"),
    Token::Number("1000"),
    Token::Close,
    Token::Cast,
    Token::Word("bigint"),
];

/// How many tokens at the beginning of `tokens` are the clock.
pub(super) fn clock(tokens: &[Token<'_>]) -> Option<usize> {
    let same = |(found, wanted): (&Token<'_>, &Token<'_>)| match wanted {
        Token::Word(word) => found.is(word),
        other => found == other,
    };
    (tokens.len() >= CLOCK_TOKENS.len() && tokens.iter().zip(&CLOCK_TOKENS).all(same)).then_some(CLOCK_TOKENS.len())
}

/// The type behind a `::`, and how many tokens it takes.
pub(super) fn cast_type(tokens: &[Token<'_>]) -> Result<(Type, usize), SqlError> {
    let Some(Token::Word(name)) = tokens.first() else { return Err(SqlError::new("42601", "syntax error at or near \"::\"")) };
    let words = if name.eq_ignore_ascii_case("double") && tokens.get(1).is_some_and(|t| t.is("precision")) { 2 } else { 1 };
    let of = Type::from_name(if words == 2 { "double precision" } else { name })?;
    // The length of varchar(n) is not enforced.
    let length = match tokens[words..] {
        [Token::Open, Token::Number(_), Token::Close, ..] => 3,
        _ => 0,
    };
    Ok((of, words + length))
}

/// Translates one statement.
pub(super) fn translate(tokens: &[Token<'_>]) -> Result<Translation, SqlError> {
    let mut writer = Writer::default();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += match token {
            Token::Open if clock(&tokens[at..]).is_some() => {
                writer.piece(format!("{CLOCK}()"));
                clock(&tokens[at..]).unwrap_or(1)
            }
            Token::Word(_) if token.is("for") => match locking_clause(&tokens[at..])? {
                Some(length) => {
                    writer.translation.locks = true;
                    length
                }
                None => writer.copy(token),
            },
            Token::Word(_) if token.is("insert") && tokens.get(at + 1).is_some_and(|t| t.is("or")) => {
                return Err(SqlError::new("42601", "syntax error at or near \"or\""));
            }
            Token::Cast => {
                let (of, length) = cast_type(&tokens[at + 1..])?;
                let Some(operand) = at.checked_sub(1).map(|before| &tokens[before]) else {
                    return Err(SqlError::new("42601", "syntax error at or near \"::\""));
                };
                writer.cast(of, operand);
                1 + length
            }
            Token::Parameter(n) => writer.parameter(*n, columns::parameter_type(tokens, at)),
            _ => writer.copy(token),
        };
    }
    Ok(writer.translation())
}

/// Length of `FOR UPDATE …` at the beginning of `tokens`.
pub(super) fn locking_clause(tokens: &[Token<'_>]) -> Result<Option<usize>, SqlError> {
    let strength = tokens.iter().skip(1).take_while(|t| t.is_any(&["no", "key", "update", "share"])).count();
    if strength == 0 || !tokens[strength].is_any(&["update", "share"]) {
        return Ok(None);
    }
    let mut length = 1 + strength;
    if tokens.get(length).is_some_and(|t| t.is("of")) {
        let names = tokens[length + 1..].iter().take_while(|t| matches!(t, Token::Comma | Token::Name(_) | Token::Word(_))).count();
        length += 1 + names;
    }
    match tokens.get(length) {
        Some(t) if t.is_any(&["nowait", "skip"]) => Err(SqlError::unsupported("NOWAIT and SKIP LOCKED")),
        _ => Ok(Some(length)),
    }
}

/// Whether a word before a parenthesis is the name of a function.
fn is_function(word: &str) -> bool {
    const KEYWORDS: [&str; 28] = [
        "select",
        "distinct",
        "all",
        "from",
        "where",
        "and",
        "or",
        "not",
        "in",
        "is",
        "like",
        "between",
        "case",
        "when",
        "then",
        "else",
        "on",
        "by",
        "having",
        "limit",
        "offset",
        "returning",
        "set",
        "values",
        "union",
        "except",
        "intersect",
        "as",
    ];
    word.starts_with(|c: char| c.is_alphabetic() || c == '_') && !KEYWORDS.iter().any(|keyword| word.eq_ignore_ascii_case(keyword))
}

/// Collects the pieces of the translation and knows where its last operand began.
#[derive(Default)]
struct Writer {
    pieces: Vec<String>,
    /// Where each open parenthesis stands.
    open: Vec<usize>,
    /// Where the last complete operand began.
    operand: usize,
    translation: Translation,
}

impl Writer {
    fn piece(&mut self, piece: String) {
        self.operand = self.pieces.len();
        self.pieces.push(piece);
    }

    /// Copies a token; tells how many it took.
    fn copy(&mut self, token: &Token<'_>) -> usize {
        match token {
            Token::Word(text) | Token::Number(text) | Token::Literal(text) | Token::Name(text) | Token::Operator(text) => {
                self.piece((*text).to_owned());
            }
            Token::Open => {
                self.open.push(self.pieces.len());
                self.piece("(".to_owned());
            }
            Token::Close => {
                self.piece(")".to_owned());
                if let Some(open) = self.open.pop() {
                    // The name of a function belongs to the operand.
                    let before = open.checked_sub(1).map(|before| self.pieces[before].as_str());
                    self.operand = open - usize::from(before.is_some_and(is_function));
                }
            }
            Token::Comma => self.piece(",".to_owned()),
            Token::Semicolon => self.piece(";".to_owned()),
            Token::Parameter(n) => self.piece(format!("?{n}")),
            Token::Cast => self.piece("::".to_owned()),
        }
        1
    }

    fn parameter(&mut self, n: u16, of: Option<Type>) -> usize {
        let parameters = &mut self.translation.parameters;
        if parameters.len() < usize::from(n) {
            parameters.resize(usize::from(n), None);
        }
        let known = &mut parameters[usize::from(n) - 1];
        *known = known.or(of);
        self.copy(&Token::Parameter(n))
    }

    fn cast(&mut self, of: Type, operand: &Token<'_>) {
        let (open, close) = match (of, operand) {
            (_, Token::Parameter(_)) | (Type::Text, Token::Literal(_)) | (Type::Bool, _) => return,
            (Type::Int2 | Type::Int4 | Type::Int8, Token::Number(n)) if n.parse::<i64>().is_ok() => return,
            (Type::Int2 | Type::Int4 | Type::Int8, _) => (format!("{TO_INTEGER}( "), ")"),
            (Type::Float8, _) => ("CAST( ".to_owned(), "AS REAL )"),
            (Type::Text, _) => ("CAST( ".to_owned(), "AS TEXT )"),
        };
        self.pieces[self.operand].insert_str(0, &open);
        self.pieces.push(close.to_owned());
    }

    fn translation(mut self) -> Translation {
        self.translation.sql = self.pieces.join(" ");
        self.translation
    }
}

#[cfg(test)]
mod tests {
    use super::super::lexer;
    use super::*;

    fn sql(text: &str) -> String {
        translate(&lexer::tokens(text).expect("tokens")).expect("a translation").sql
    }

    #[test]
    fn the_clock_is_recognised_whatever_its_spacing() {
        assert_eq!(
            sql("select id from t where at <= ( EXTRACT(EPOCH FROM clock_timestamp( ))*1000 )::BIGINT - $1"),
            "select id from t where at <= wall_ms() - ?1"
        );
    }

    #[test]
    fn casts_convert_but_on_parameters() {
        assert_eq!(sql("select $1::bigint, coalesce(sum(a), 0)::bigint"), "select ?1 , to_integer( coalesce ( sum ( a ) , 0 ) )");
        assert_eq!(sql("select 1::int, (a / 2.0)::bigint + 1"), "select 1 , to_integer( ( a / 2.0 ) ) + 1");
        assert_eq!(sql("select a::float8 / 2, max(a)::text || 'x'"), "select CAST( a AS REAL ) / 2 , CAST( max ( a ) AS TEXT ) || 'x'");
        assert_eq!(sql("select '7'::bigint + 1"), "select to_integer( '7' ) + 1");
    }

    #[test]
    fn a_locking_clause_disappears_and_is_remembered() {
        for text in ["select a from t for update", "select a from t FOR NO KEY UPDATE OF t", "select a from t for share"] {
            let translation = translate(&lexer::tokens(text).expect("tokens")).expect("a translation");
            assert!(translation.locks && translation.sql == "select a from t", "{text}: {translation:?}");
        }
        let tokens = lexer::tokens("select a from t for update skip locked").expect("tokens");
        assert_eq!(translate(&tokens).expect_err("refused").code, "0A000");
    }

    #[test]
    fn no_token_sequence_panics() {
        for text in ["::bigint", "::text", "::", ") :: text", "for", "for update", "(((", ")))", "insert or", "a::double", "$3 $1"] {
            let _ = translate(&lexer::tokens(text).expect("tokens"));
        }
    }
}
