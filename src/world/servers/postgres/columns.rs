//! What type a column or a parameter has, where neither the client nor SQLite says so.
//!
//! PostgreSQL types every expression; SQLite types values. The text is enough for what
//! strategies write: casts, comparisons, literals, columns by name. What PostgreSQL would
//! return as `numeric` is refused: code that forgets the cast fails there, too.

use super::dialect;
use super::error::SqlError;
use super::lexer::Token;
use super::value::Type;

/// The columns of the schema that are not `bigint`.
const TEXT_COLUMNS: [&str; 4] = ["name", "key", "payload", "gid"];

/// Tokens of the longest expression whose type is looked for.
const LONGEST: usize = 1000;

/// The type of the column with this name, if the schema has one.
fn column_type(token: &Token<'_>) -> Option<Type> {
    match token {
        Token::Word(_) if token.is_any(&TEXT_COLUMNS) => Some(Type::Text),
        Token::Word(_) | Token::Name(_) => Some(Type::Int8),
        _ => None,
    }
}

fn is_comparison(token: &Token<'_>) -> bool {
    matches!(token, Token::Operator("=" | "<>" | "!=" | "<" | ">" | "<=" | ">="))
}

/// The type that the text gives to the parameter at a position: by its cast, by what it is
/// compared with or assigned to, by the column it is inserted into.
pub(super) fn parameter_type(tokens: &[Token<'_>], at: usize) -> Option<Type> {
    if tokens.get(at + 1) == Some(&Token::Cast) {
        return dialect::cast_type(&tokens[at + 2..]).ok().map(|(of, _)| of);
    }
    match tokens[..at] {
        [.., ref column, ref operator] if is_comparison(operator) => column_type(column),
        _ => inserted_into(tokens, at),
    }
}

/// The column of `INSERT INTO t (a, b) VALUES ($1, $2), …` that the value at a position goes to.
fn inserted_into(tokens: &[Token<'_>], at: usize) -> Option<Type> {
    let [insert, into, _, Token::Open, rest @ ..] = tokens else { return None };
    if !insert.is("insert") || !into.is("into") {
        return None;
    }
    let mut place = 0;
    for token in tokens[..at].iter().rev() {
        match token {
            Token::Comma => place += 1,
            Token::Open => break,
            Token::Parameter(_) | Token::Number(_) | Token::Literal(_) | Token::Word(_) => {}
            _ => return None,
        }
    }
    rest.split(|token| *token == Token::Close).next()?.split(|token| *token == Token::Comma).nth(place)?.first().and_then(column_type)
}

/// The types of a statement's result columns as far as its text tells them, one entry for
/// each item of its list; empty if the list contains a `*`.
///
/// # Errors
/// A column would be `numeric` in PostgreSQL.
pub(super) fn result_types(tokens: &[Token<'_>], parameters: &[Type]) -> Result<Vec<Option<Type>>, SqlError> {
    let list = result_list(tokens);
    let items = split(list);
    if items.iter().any(|item| item.last() == Some(&Token::Operator("*"))) {
        return Ok(Vec::new());
    }
    items.into_iter().map(|item| expression_type(item, parameters)).collect()
}

/// The tokens between `SELECT` (or `RETURNING`) and what follows its list.
fn result_list<'a, 't>(tokens: &'a [Token<'t>]) -> &'a [Token<'t>] {
    const ENDS: [&str; 11] = ["from", "where", "order", "limit", "offset", "union", "group", "having", "except", "intersect", "for"];
    let top: Vec<usize> = at_top(tokens).collect();
    let begins = |word: &str| top.iter().copied().find(|i| tokens[*i].is(word));
    let Some(begin) = begins("returning").or_else(|| begins("select")) else { return &[] };
    let begin = begin + 1 + tokens[begin + 1..].iter().take_while(|t| t.is_any(&["distinct", "all"])).count();
    let end = top.iter().copied().find(|i| *i >= begin && tokens[*i].is_any(&ENDS)).unwrap_or(tokens.len());
    &tokens[begin..end]
}

/// Positions outside of all parentheses and `CASE … END`.
pub(super) fn at_top<'a>(tokens: &'a [Token<'_>]) -> impl Iterator<Item = usize> + 'a {
    let mut depth = 0_i32;
    tokens.iter().enumerate().filter_map(move |(i, token)| match token {
        Token::Open => {
            depth += 1;
            (depth == 1).then_some(i)
        }
        Token::Close => {
            depth -= 1;
            (depth == 0).then_some(i)
        }
        Token::Word(_) if token.is("case") => {
            depth += 1;
            None
        }
        Token::Word(_) if token.is("end") => {
            depth -= 1;
            None
        }
        _ => (depth == 0).then_some(i),
    })
}

/// The items of a list, apart at its commas.
fn split<'a, 't>(list: &'a [Token<'t>]) -> Vec<&'a [Token<'t>]> {
    let mut begin = 0;
    let mut items = Vec::new();
    for comma in at_top(list).filter(|i| list[*i] == Token::Comma) {
        items.push(&list[begin..comma]);
        begin = comma + 1;
    }
    items.push(&list[begin..]);
    items
}

fn expression_type(item: &[Token<'_>], parameters: &[Type]) -> Result<Option<Type>, SqlError> {
    // Calls nest, and so does this function: no text of a client may exhaust the stack.
    if item.len() > LONGEST {
        return Ok(None);
    }
    let item = match item {
        [expression @ .., alias, Token::Word(_) | Token::Name(_)] if alias.is("as") => expression,
        whole => whole,
    };
    if let Some(cast) = item.iter().rposition(|token| *token == Token::Cast) {
        let (of, length) = dialect::cast_type(&item[cast + 1..])?;
        if cast + 1 + length == item.len() {
            return Ok(Some(of));
        }
    }
    let top: Vec<&Token<'_>> = at_top(item).map(|i| &item[i]).collect();
    if top.windows(2).any(|pair| *pair[0] == Token::Cast && pair[1].is_any(&["float8", "double"])) {
        return Ok(Some(Type::Float8));
    }
    if top.first().is_some_and(|t| t.is_any(&["exists", "not"]))
        || top.iter().any(|t| is_comparison(t) || t.is_any(&["is", "like", "in", "between", "and", "or"]))
    {
        return Ok(Some(Type::Bool));
    }
    if top.contains(&&Token::Operator("||")) {
        return Ok(Some(Type::Text));
    }
    match item {
        [Token::Literal(_)] => Ok(Some(Type::Text)),
        [Token::Parameter(n)] => Ok(parameters.get(usize::from(*n) - 1).copied()),
        [word] if word.is_any(&["true", "false"]) => Ok(Some(Type::Bool)),
        [column @ Token::Word(_)] => Ok(column_type(column).filter(|of| *of == Type::Text)),
        [function, Token::Open, arguments @ .., Token::Close] => call_type(function, arguments, parameters),
        _ => Ok(None),
    }
}

fn call_type(function: &Token<'_>, arguments: &[Token<'_>], parameters: &[Type]) -> Result<Option<Type>, SqlError> {
    if function.is_any(&["sum", "avg"]) {
        return Err(SqlError::unsupported("numeric, the type of sum(bigint) and avg(bigint); write sum(…)::bigint"));
    }
    if function.is_any(&["lower", "upper", "trim", "substr", "replace"]) {
        return Ok(Some(Type::Text));
    }
    if function.is_any(&["coalesce", "max", "min", "nullif"]) {
        return split(arguments).first().map_or(Ok(None), |first| expression_type(first, parameters));
    }
    if function.is("cast")
        && let Some(of) = arguments.iter().rposition(|token| token.is("as"))
    {
        return dialect::cast_type(&arguments[of + 1..]).map(|(of, _)| Some(of));
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::super::lexer;
    use super::*;
    use crate::settlement::SCHEMA;

    fn results(text: &str) -> Vec<Option<Type>> {
        result_types(&lexer::tokens(text).expect("tokens"), &[Type::Float8]).expect("types")
    }

    #[test]
    fn the_text_columns_are_those_of_the_schema() {
        let schema = SCHEMA.join(" ");
        let words: Vec<&str> = schema.split([' ', '(', ',', ')']).filter(|w| !w.is_empty()).collect();
        let mut text: Vec<&str> = words.windows(2).filter(|pair| pair[1] == "text").map(|pair| pair[0]).collect();
        text.sort_unstable();
        text.dedup();
        let mut known = TEXT_COLUMNS;
        known.sort_unstable();
        assert_eq!(text, known);
    }

    #[test]
    fn casts_comparisons_and_literals_type_a_result() {
        assert_eq!(
            results(
                "select a, b::text as c, count(*) > 1, 'x', case when a = 1 then 2 else 3 end, exists (select 1), sum(a)::bigint from t"
            ),
            [None, Some(Type::Text), Some(Type::Bool), Some(Type::Text), None, Some(Type::Bool), Some(Type::Int8)]
        );
        assert_eq!(results("update t set a = 1 where b = 2 returning a, coalesce(max(payload), 'y')"), [None, Some(Type::Text)]);
        assert_eq!(results("select t.* from t"), []);
        assert_eq!(results("select $1 as x"), [Some(Type::Float8)]);
        let sum = lexer::tokens("select coalesce(sum(a), 0) from t").expect("tokens");
        assert_eq!(result_types(&sum, &[]).expect_err("numeric").code, "0A000");
    }

    #[test]
    fn parameters_are_typed_by_cast_comparison_and_column() {
        let of = |text: &str| {
            let tokens = lexer::tokens(text).expect("tokens");
            let at = tokens.iter().rposition(|t| matches!(t, Token::Parameter(_))).expect("a parameter");
            parameter_type(&tokens, at)
        };
        assert_eq!(of("select $1::text"), Some(Type::Text));
        assert_eq!(of("select a from t where name = $1"), Some(Type::Text));
        assert_eq!(of("select a from t where token < $1"), Some(Type::Int8));
        assert_eq!(of("insert into outbox (id, key, payload, sent) values (1, 'a', 'b', 0), (2, $1, $2"), Some(Type::Text));
        assert_eq!(of("insert into outbox (id, key) values ($1"), Some(Type::Int8));
        assert_eq!(of("select a from t limit $1"), None);
    }
}
