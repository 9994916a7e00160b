//! Statements that take as many rows at a time as there are.

use crate::host::Dialect;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::rc::Rc;

/// Statement texts by their number of rows: made once a thread, because the same few are needed in every run.
type Texts = RefCell<BTreeMap<(Dialect, usize), Rc<str>>>;

/// Inserts as many places of a ranking: the period, and then rank, player and points of each.
pub(super) fn insert_ranking(dialect: Dialect, rows: usize) -> Rc<str> {
    thread_local!(static TEXTS: Texts = RefCell::default());
    let head = match dialect {
        Dialect::PostgreSql => "INSERT INTO ranking (period, rank, player, points) VALUES ",
        Dialect::MySql => "INSERT INTO ranking (period, `rank`, player, points) VALUES ",
    };
    let row = |row, out: &mut String| write!(out, "($1, ${}, ${}, ${})", 2 + 3 * row, 3 + 3 * row, 4 + 3 * row);
    TEXTS.with(|texts| text(texts, (dialect, rows), [head, ", ", ""], row))
}

/// Takes points from as many players: player and points of each.
pub(super) fn take_points(dialect: Dialect, rows: usize) -> Rc<str> {
    thread_local!(static TEXTS: Texts = RefCell::default());
    TEXTS.with(|texts| match dialect {
        // `column1` and `column2` are what PostgreSQL and SQLite both call the columns of VALUES.
        Dialect::PostgreSql => {
            let head = "UPDATE points SET points = points - taken.column2 FROM (VALUES ";
            let tail = ") AS taken WHERE points.player = taken.column1";
            text(texts, (dialect, rows), [head, ", ", tail], |row, out| write!(out, "(${}, ${})", 1 + 2 * row, 2 + 2 * row))
        }
        // MySQL and MariaDB write VALUES as a table differently; a parameter in a list of columns has no type there.
        Dialect::MySql => {
            let head = "UPDATE points JOIN (";
            let tail = ") AS taken ON taken.player = points.player SET points.points = points.points - taken.amount";
            text(texts, (dialect, rows), [head, " UNION ALL ", tail], |row, out| {
                write!(out, "SELECT CAST(${} AS SIGNED) AS player, CAST(${} AS SIGNED) AS amount", 1 + 2 * row, 2 + 2 * row)
            })
        }
    })
}

fn text(
    texts: &Texts,
    key: (Dialect, usize),
    [head, between, tail]: [&str; 3],
    row: impl Fn(usize, &mut String) -> std::fmt::Result,
) -> Rc<str> {
    let mut texts = texts.borrow_mut();
    let text = texts.entry(key).or_insert_with(|| {
        let mut text = head.to_owned();
        for n in 0..key.1 {
            if n > 0 {
                text.push_str(between);
            }
            row(n, &mut text).expect("writing to a String cannot fail");
        }
        text.push_str(tail);
        text.into()
    });
    Rc::clone(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settlement::SCHEMA;
    use rusqlite::Connection;

    #[test]
    fn statement_texts_number_their_parameters() {
        let postgres = insert_ranking(Dialect::PostgreSql, 2);
        assert_eq!(&*postgres, "INSERT INTO ranking (period, rank, player, points) VALUES ($1, $2, $3, $4), ($1, $5, $6, $7)");
        assert_eq!(&*insert_ranking(Dialect::MySql, 2), postgres.replace("rank,", "`rank`,"));
        insta::assert_snapshot!(
            take_points(Dialect::MySql, 2),
            @"UPDATE points JOIN (SELECT CAST($1 AS SIGNED) AS player, CAST($2 AS SIGNED) AS amount UNION ALL SELECT CAST($3 AS SIGNED) AS player, CAST($4 AS SIGNED) AS amount) AS taken ON taken.player = points.player SET points.points = points.points - taken.amount"
        );
        for dialect in [Dialect::PostgreSql, Dialect::MySql] {
            assert!(Rc::ptr_eq(&take_points(dialect, 3), &take_points(dialect, 3)), "a text is made once");
        }
    }

    /// The set-based subtraction must touch the settled players alone, and subtract rather than reset.
    #[test]
    fn points_earned_meanwhile_survive_the_reduction() {
        let db = Connection::open_in_memory().unwrap();
        for table in SCHEMA {
            db.execute(table, []).unwrap();
        }
        db.execute_batch("INSERT INTO points VALUES (1, 10, 0), (2, 20, 0), (3, 30, 0)").unwrap();
        let changed = db.execute(&take_points(Dialect::PostgreSql, 2), [1, 4, 3, 30]).unwrap();
        assert_eq!(changed, 2);
        let left: Vec<i64> = db
            .prepare("SELECT points FROM points ORDER BY player")
            .unwrap()
            .query_map([], |row| row.get(0))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert_eq!(left, [6, 20, 0]);
    }
}
