//! Forty players who have earned something, some of it at the boundary and after it; and what
//! must be in the tables when their period is settled, worked out without SQL.

use onceproof::host::Dialect;
use onceproof::id::PlayerId;
use onceproof::settlement::{Board, Period, RANKED, REWARDS, SCHEMA, SCHEMA_MYSQL, UNIQUE_MARKER};
use onceproof::store::{Sql, StoreError};
use std::collections::BTreeMap;
use std::fmt::Write;

struct Earning {
    id: i64,
    player: i64,
    amount: i64,
    at: i64,
}

/// Two each, well before the boundary; three more players are active exactly at it or after it.
fn earnings(period: Period) -> Vec<Earning> {
    let before = (1..=80).map(|id| (id, (id - 1) % 40 + 1, 10 + id * 7 % 13, period.due.0 - 1_000 * id));
    let close =
        [(81, 3, 5, 0), (82, 4, 6, 1), (83, 41, 7, 60_000)].map(|(id, player, amount, after)| (id, player, amount, period.due.0 + after));
    before.chain(close).map(|(id, player, amount, at)| Earning { id, player, amount, at }).collect()
}

/// Points and last activity of every player.
fn accounts(period: Period) -> BTreeMap<i64, (i64, i64)> {
    let mut accounts = BTreeMap::new();
    for Earning { player, amount, at, .. } in earnings(period) {
        let (points, last) = accounts.entry(player).or_insert((0, i64::MIN));
        *points += amount;
        *last = at.max(*last);
    }
    accounts
}

/// Makes the tables, and fills them.
pub async fn move_in(sql: &Sql, unique_marker: bool, period: Period) -> Result<(), StoreError> {
    let schema = match sql.dialect() {
        Dialect::PostgreSql => SCHEMA,
        Dialect::MySql => SCHEMA_MYSQL,
    };
    let mut statements: Vec<String> = schema.map(str::to_owned).into();
    if unique_marker {
        statements.push(UNIQUE_MARKER.to_owned());
    }
    statements.push(listed("INSERT INTO earnings (id, player, amount, at) VALUES ", earnings(period), |e, out| {
        write!(out, "({}, {}, {}, {})", e.id, e.player, e.amount, e.at)
    }));
    statements.push(listed("INSERT INTO points VALUES ", accounts(period), |(player, (points, last)), out| {
        write!(out, "({player}, {points}, {last})")
    }));
    statements
        .push(format!("INSERT INTO task (period, due, status, version, attempt) VALUES ({}, {}, 0, 0, 0)", period.id.0, period.due.0));
    statements.push("INSERT INTO fence (name, token) VALUES ('settlement', 0)".to_owned());
    statements.push(format!("INSERT INTO schedule_row (name, next_fire, acquired) VALUES ('settlement', {}, 0)", period.due.0));
    for statement in statements {
        sql.execute(statement.as_str().into(), &[]).await?;
    }
    Ok(())
}

fn listed<T>(head: &str, rows: impl IntoIterator<Item = T>, row: impl Fn(T, &mut String) -> std::fmt::Result) -> String {
    let mut text = head.to_owned();
    for (n, each) in rows.into_iter().enumerate() {
        text.push_str(if n == 0 { "" } else { ", " });
        row(each, &mut text).expect("writing to a String cannot fail");
    }
    text
}

/// What the tables must hold.
pub struct Expected {
    pub ranking: Vec<(i64, i64, i64)>,
    pub points: Vec<(i64, i64)>,
    pub marked: Vec<i64>,
    pub paid: Vec<(i64, i64, i64)>,
}

/// What was earned before the boundary is ranked and taken, and nothing else.
pub fn after_the_good_body(period: Period) -> Expected {
    let earned = earnings(period);
    let inside: Vec<&Earning> = earned.iter().filter(|e| e.at < period.due.0).collect();
    let mut board = Board::default();
    for e in &inside {
        board.add(PlayerId(e.player), e.amount);
    }
    let left = |player: i64, points: i64| (player, points - board.points(PlayerId(player)));
    let points = accounts(period).into_iter().map(|(player, (points, _))| left(player, points)).collect();
    expected(&board, points, inside.iter().map(|e| e.id).collect())
}

/// Whoever was last active up to the boundary is ranked with all that he has, and everybody is reset.
pub fn after_the_published_body(period: Period) -> Expected {
    let mut board = Board::default();
    for (player, (points, last)) in accounts(period) {
        if last <= period.due.0 {
            board.add(PlayerId(player), points);
        }
    }
    expected(&board, accounts(period).into_keys().map(|player| (player, 0)).collect(), Vec::new())
}

fn expected(board: &Board, points: Vec<(i64, i64)>, marked: Vec<i64>) -> Expected {
    let places = board.ranking(RANKED);
    assert_eq!(places.len(), RANKED, "some are left out");
    let ranking: Vec<_> = places.iter().map(|place| (place.rank, place.player.0, place.points)).collect();
    let paid = places.iter().zip(REWARDS).map(|(place, amount)| (place.rank, place.player.0, amount)).collect();
    Expected { ranking, points, marked, paid }
}
