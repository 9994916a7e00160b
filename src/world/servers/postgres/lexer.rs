//! Cuts SQL text, in PostgreSQL's spelling, into tokens. What PostgreSQL writes and SQLite
//! would read as something else is refused here.

use super::error::SqlError;

/// A piece of SQL. Words, numbers and literals keep their spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Word(&'a str),
    Number(&'a str),
    /// A string literal, quotes included.
    Literal(&'a str),
    /// A quoted name, quotes included.
    Name(&'a str),
    /// `$n`
    Parameter(u16),
    /// `::`
    Cast,
    Open,
    Close,
    Comma,
    Semicolon,
    Operator(&'a str),
}

impl Token<'_> {
    /// Whether this is that keyword; `word` is in lower case.
    pub(super) fn is(&self, word: &str) -> bool {
        matches!(self, Token::Word(w) if w.eq_ignore_ascii_case(word))
    }

    pub(super) fn is_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.is(word))
    }
}

/// A token and where it ends in the text.
type Spanned<'a> = (Token<'a>, usize);

/// All tokens of a text.
pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>, SqlError> {
    let mut tokens = Vec::with_capacity(text.len() / 4);
    let mut at = 0;
    while let Some((token, end)) = next(text, at)? {
        tokens.push(token);
        at = end;
    }
    Ok(tokens)
}

/// The statements of a text, apart at their semicolons; those that are empty are left out.
pub(super) fn statements(text: &str) -> Result<Vec<&str>, SqlError> {
    let (mut statements, mut begin, mut at, mut empty) = (Vec::new(), 0, 0, true);
    while let Some((token, end)) = next(text, at)? {
        if token == Token::Semicolon {
            if !empty {
                statements.push(&text[begin..end - 1]);
            }
            (begin, empty) = (end, true);
        } else {
            empty = false;
        }
        at = end;
    }
    if !empty {
        statements.push(&text[begin..]);
    }
    Ok(statements)
}

/// The first token at or after a byte, and where it ends.
fn next(text: &str, at: usize) -> Result<Option<Spanned<'_>>, SqlError> {
    let at = skip_blanks(text, at)?;
    let rest = &text[at..];
    let Some(first) = rest.chars().next() else { return Ok(None) };
    let (token, length) = match first {
        '\'' => quoted(rest, '\'').map(|length| (Token::Literal(&rest[..length]), length))?,
        '"' => quoted(rest, '"').map(|length| (Token::Name(&rest[..length]), length))?,
        '$' => parameter(rest)?,
        '(' => (Token::Open, 1),
        ')' => (Token::Close, 1),
        ',' => (Token::Comma, 1),
        ';' => (Token::Semicolon, 1),
        ':' if rest.starts_with("::") => (Token::Cast, 2),
        c if c.is_ascii_digit() || c == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit()) => {
            let length = number(rest);
            (Token::Number(&rest[..length]), length)
        }
        c if is_word(c) => word(rest)?,
        _ => operator(rest)?,
    };
    Ok(Some((token, at + length)))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || !c.is_ascii() && !c.is_whitespace()
}

/// Skips white space and comments; comments nest.
fn skip_blanks(text: &str, mut at: usize) -> Result<usize, SqlError> {
    loop {
        let rest = &text[at..];
        let trimmed = rest.trim_start();
        at += rest.len() - trimmed.len();
        if trimmed.starts_with("--") {
            at += trimmed.find('\n').unwrap_or(trimmed.len());
        } else if trimmed.starts_with("/*") {
            at += comment(trimmed)?;
        } else {
            return Ok(at);
        }
    }
}

fn comment(text: &str) -> Result<usize, SqlError> {
    let (mut depth, mut at) = (0, 0);
    loop {
        let rest = &text.as_bytes()[at..];
        match rest {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            [_, ..] => at += 1,
            [] => return Err(SqlError::new("42601", "unterminated /* comment")),
        }
        if depth == 0 {
            return Ok(at);
        }
    }
}

/// Length of a quoted text, which doubles its quote to contain it.
fn quoted(text: &str, quote: char) -> Result<usize, SqlError> {
    let mut at = 1;
    loop {
        let Some(end) = text[at..].find(quote) else {
            return Err(SqlError::new("42601", format!("unterminated quoted text at or near {text:.40}")));
        };
        at += end + 1;
        if !text[at..].starts_with(quote) {
            return Ok(at);
        }
        at += 1;
    }
}

fn parameter(text: &str) -> Result<(Token<'_>, usize), SqlError> {
    let digits = text[1..].bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 {
        return Err(SqlError::unsupported("dollar quoting"));
    }
    match text[1..=digits].parse() {
        Ok(n @ 1..) => Ok((Token::Parameter(n), 1 + digits)),
        Ok(0) | Err(_) => Err(SqlError::new("42P02", format!("there is no parameter {}", &text[..=digits]))),
    }
}

fn number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut length = digits(0);
    if bytes.get(length) == Some(&b'.') {
        length += 1 + digits(length + 1);
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        let exponent = digits((length + 1 + sign).min(bytes.len()));
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    length
}

fn word(text: &str) -> Result<(Token<'_>, usize), SqlError> {
    let length = text.find(|c| !is_word(c) && c != '$').unwrap_or(text.len());
    // E'..', B'..', X'..', N'..' and U&'..' are literals in PostgreSQL; SQLite would see a name and a string.
    if text[length..].starts_with('\'') {
        return Err(SqlError::unsupported(format!("a literal written {}'…'", &text[..length])));
    }
    Ok((Token::Word(&text[..length]), length))
}

fn operator(text: &str) -> Result<(Token<'_>, usize), SqlError> {
    const LONG: [&str; 5] = ["<>", "<=", ">=", "!=", "||"];
    const SHORT: &str = "+-*/%<>=.";
    if let Some(long) = LONG.iter().find(|long| text.starts_with(**long)) {
        return Ok((Token::Operator(long), long.len()));
    }
    match text.chars().next() {
        Some(c) if SHORT.contains(c) => Ok((Token::Operator(&text[..1]), 1)),
        Some(c) => Err(SqlError::new("42601", format!("syntax error at or near \"{c}\""))),
        None => Err(SqlError::new("42601", "syntax error at end of input")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_comments_and_casts_are_told_apart() {
        let text = "select 'it''s; $1' /* a /* b */ c */, \"a\"\"b\", $12::bigint, 1.5e3<=.5 -- end\n";
        let expected = [
            Token::Word("select"),
            Token::Literal("'it''s; $1'"),
            Token::Comma,
            Token::Name("\"a\"\"b\""),
            Token::Comma,
            Token::Parameter(12),
            Token::Cast,
            Token::Word("bigint"),
            Token::Comma,
            Token::Number("1.5e3"),
            Token::Operator("<="),
            Token::Number(".5"),
        ];
        assert_eq!(tokens(text).expect("it is SQL"), expected);
    }

    #[test]
    fn statements_are_cut_at_semicolons_outside_of_literals() {
        assert_eq!(statements("BEGIN; select ';' ;; -- ;\n COMMIT").expect("it is SQL"), ["BEGIN", " select ';' ", " -- ;\n COMMIT"]);
        assert_eq!(statements(" ; /* nothing */ ;").expect("it is SQL"), [""; 0]);
    }

    #[test]
    fn what_sqlite_would_misread_is_refused() {
        for text in ["E'a\\n'", "$$a$$", "'open", "\"open", "/* open", "a ? b", "a[1]", ":name", "@x", "$0", "$99999", "é'"] {
            assert!(tokens(text).is_err(), "{text}");
        }
    }
}
