//! A statement in both dialects. Parameters are `$1`, `$2` … in both; MySQL gets them as `?`.

use crate::host::Dialect;

/// A statement in the words of each dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text<'t> {
    postgres: &'t str,
    mysql: &'t str,
}

impl<'t> Text<'t> {
    /// A statement on which the dialects differ.
    pub const fn new(postgres: &'t str, mysql: &'t str) -> Text<'t> {
        Text { postgres, mysql }
    }

    /// A statement that both understand.
    pub const fn same(text: &'t str) -> Text<'t> {
        Text { postgres: text, mysql: text }
    }

    /// Its words in this dialect.
    pub const fn of(self, dialect: Dialect) -> &'t str {
        match dialect {
            Dialect::PostgreSql => self.postgres,
            Dialect::MySql => self.mysql,
        }
    }
}

impl<'t> From<&'t str> for Text<'t> {
    /// A statement that both understand.
    fn from(text: &'t str) -> Text<'t> {
        Text::same(text)
    }
}

impl<'t> From<&'t String> for Text<'t> {
    /// A statement that both understand.
    fn from(text: &'t String) -> Text<'t> {
        Text::same(text)
    }
}

/// The statement with `?` in the place of each `$n`, and the parameters in the order in which it
/// wants them: `n` counted from 0, as often as it is named. What stands in quotes stays.
pub(super) fn positional(statement: &str) -> (String, Vec<usize>) {
    let (mut text, mut order) = (String::with_capacity(statement.len()), Vec::new());
    let mut quote = None;
    let mut letters = statement.chars().peekable();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (None, '$') if letters.peek().is_some_and(char::is_ascii_digit) => {
                let mut number = 0_usize;
                while let Some(digit) = letters.peek().and_then(|next| next.to_digit(10)) {
                    number = number * 10 + digit as usize;
                    letters.next();
                }
                // `$0` names no parameter: whoever asks for it by this number will not find it.
                order.push(number.wrapping_sub(1));
                text.push('?');
                continue;
            }
            (None, '\'' | '"' | '`') => quote = Some(letter),
            (Some(open), closing) if open == closing => quote = None,
            (None | Some(_), _) => {}
        }
        text.push(letter);
    }
    (text, order)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parameters may be named in any order and more than once, and have more than one digit.
    #[test]
    fn numbered_parameters_become_positional() {
        let (text, order) = positional("UPDATE t SET a = $3, b = $1 WHERE a = $12 AND b = $3");
        assert_eq!((text.as_str(), order), ("UPDATE t SET a = ?, b = ? WHERE a = ? AND b = ?", vec![2, 0, 11, 2]));
    }

    #[test]
    fn what_is_quoted_is_no_parameter() {
        for quoted in ["SELECT '$1'", "SELECT `a$1`", "SELECT 'it''s $1'", "SELECT \"'\", '$1'", "SELECT $ FROM t"] {
            assert_eq!(positional(quoted), (quoted.to_owned(), vec![]), "{quoted}");
        }
        assert_eq!(positional("SELECT '', $1"), ("SELECT '', ?".to_owned(), vec![0]));
    }

    #[test]
    fn a_text_has_the_words_of_its_dialect() {
        let text = Text::new("SELECT id / 10", "SELECT id DIV 10");
        assert_eq!((text.of(Dialect::PostgreSql), text.of(Dialect::MySql)), ("SELECT id / 10", "SELECT id DIV 10"));
        assert_eq!(Text::from("SELECT 1").of(Dialect::MySql), "SELECT 1");
    }
}
