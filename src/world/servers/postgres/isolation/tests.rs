use super::*;
use crate::world::servers::postgres::sqlite::Template;

const TABLES: &[&str] = &[
    "CREATE TABLE pts (uid bigint NOT NULL PRIMARY KEY, point bigint)",
    "CREATE TABLE badge (id bigint NOT NULL PRIMARY KEY, place bigint UNIQUE)",
    "CREATE TABLE award (uid bigint)",
    "INSERT INTO pts VALUES (1, 10), (2, 20), (3, 30)",
    "INSERT INTO badge VALUES (1, 1), (2, 2)",
];

/// A database with sessions 1 to 3.
struct Stage(Isolation);

impl Stage {
    fn new(rules: Rules) -> Stage {
        let template = Template { players: 0, unique_marker: false, tasks: Vec::new(), tables: TABLES };
        let mut isolation = Isolation::new(rules, Pooled::take(template));
        for session in 1..=3 {
            isolation.connected(SessionId(session));
        }
        Stage(isolation)
    }

    /// `begin`, `commit`, `rollback`, or a statement: its rows, its count, its SQLSTATE, or `waits`.
    fn run(&mut self, session: u32, text: &str) -> String {
        let (id, isolation) = (SessionId(session), &mut self.0);
        let statement = match text {
            "begin" => return isolation.begin(id, None).map_or_else(|e| e.code.to_owned(), |()| "ok".to_owned()),
            "commit" => return isolation.commit(id).map_or_else(|e| e.code.to_owned(), |()| "ok".to_owned()),
            "rollback" => {
                isolation.rollback(id);
                return "ok".to_owned();
            }
            _ => isolation.sqlite().statement(text, &[]).expect("it is SQL"),
        };
        let mut rows = Vec::new();
        let mut keep = |row: &rusqlite::Row<'_>| {
            rows.push((0..statement.columns.len()).map(|i| row.get(i)).collect::<Result<Vec<Value>, _>>()?);
            Ok(())
        };
        let execution = Execution { statement: &statement, values: &[], origin: None };
        match isolation.execute(id, execution, &mut keep) {
            Ok(Outcome::Done(count)) => told(count, &rows),
            Ok(Outcome::Wait) => "waits".to_owned(),
            Err(error) => error.code.to_owned(),
        }
    }

    /// The answer of a statement that waited.
    fn answer(&mut self, session: u32) -> String {
        match self.0.answer(SessionId(session)) {
            None => "still waits".to_owned(),
            Some(Ok(Answer { count, rows })) => told(count, &rows),
            Some(Err(error)) => error.code.to_owned(),
        }
    }

    /// Each line a session and what it does, with what comes of it; `?` asks for the answer of one that waited.
    fn play(&mut self, lines: &[(u32, &str, &str)]) {
        for (session, text, expected) in lines {
            let came = if *text == "?" { self.answer(*session) } else { self.run(*session, text) };
            assert_eq!(came, *expected, "session {session}: {text}");
        }
    }
}

fn told(count: u64, rows: &[Vec<Value>]) -> String {
    if rows.is_empty() {
        return count.to_string();
    }
    let row = |row: &Vec<Value>| {
        let value = |value: &Value| if let Value::Integer(number) = value { number.to_string() } else { format!("{value:?}") };
        row.iter().map(value).collect::<Vec<_>>().join(",")
    };
    rows.iter().map(row).collect::<Vec<_>>().join(" ")
}

/// SQLite gives two transactions the same hidden rowid; here neither sees, blocks or overwrites the other.
#[test]
fn rows_without_a_key_do_not_meet() {
    // Serializable refuses it: each reads what the other inserts.
    for rules in Rules::ALL.into_iter().filter(|rules| *rules != Rules::PostgresSerializable) {
        Stage::new(rules).play(&[
            (1, "begin", "ok"),
            (2, "begin", "ok"),
            (1, "insert into award values (1)", "1"),
            (2, "insert into award values (2)", "1"),
            (2, "select uid from award", "2"),
            (1, "select uid from award", "1"),
            (1, "commit", "ok"),
            (2, "insert into award values (3)", "1"),
            (2, "commit", "ok"),
            (3, "select uid from award order by uid", "1 2 3"),
            (3, "delete from award where uid = 2", "1"),
            (1, "select uid from award order by uid", "1 3"),
        ]);
    }
}

/// Values of a unique key that change places are done again in the order in which they were done.
#[test]
fn unique_values_may_change_places() {
    for rules in Rules::ALL {
        Stage::new(rules).play(&[
            (1, "begin", "ok"),
            (1, "update badge set place = -1 where id = 1", "1"),
            (1, "update badge set place = 1 where id = 2", "1"),
            (1, "update badge set place = 2 where id = 1", "1"),
            (2, "select place from badge order by id", "1 2"),
            (2, "update pts set point = 11 where uid = 1", "1"),
            (1, "select place from badge order by id", "2 1"),
            (1, "commit", "ok"),
            (2, "select place from badge order by id", "2 1"),
        ]);
    }
}

/// Who changes other rows does not wait, who changes the same row does, and then works on what it finds.
#[test]
fn rows_are_locked_and_nothing_else() {
    Stage::new(Rules::PostgresReadCommitted).play(&[
        (1, "begin", "ok"),
        (1, "update pts set point = point + 1 where uid = 1", "1"),
        (2, "update pts set point = point + 1 where uid = 2", "1"),
        (2, "select point from pts order by uid", "10 21 30"),
        (2, "update pts set point = point * 2 where uid = 1", "waits"),
        (1, "select point from pts order by uid", "11 21 30"),
        (2, "?", "still waits"),
        (1, "commit", "ok"),
        (2, "?", "1"),
        (3, "select point from pts order by uid", "22 21 30"),
    ]);
}

/// A duplicate that ends PostgreSQL's transaction and undoes one statement of InnoDB's.
#[test]
fn a_duplicate_waits_for_the_fate_of_the_first() {
    for (rules, after) in [(Rules::PostgresReadCommitted, false), (Rules::InnodbRepeatableRead, true), (Rules::InnodbReadCommitted, true)] {
        let mut stage = Stage::new(rules);
        stage.play(&[
            (1, "begin", "ok"),
            (1, "insert into badge values (7, 7)", "1"),
            (2, "begin", "ok"),
            (2, "insert into award values (5)", "1"),
            (2, "insert into badge values (8, 7)", "waits"),
            (1, "commit", "ok"),
            (2, "?", "23505"),
        ]);
        assert_eq!(stage.0.in_transaction(SessionId(2)), after, "{}", rules.name());
        stage.run(2, "commit");
        assert_eq!(stage.run(3, "select count(*) from award"), if after { "1" } else { "0" });
    }
}

/// A snapshot stays as it is whatever is committed meanwhile; what was changed since cannot be changed.
#[test]
fn snapshots_stay() {
    for rules in [Rules::PostgresRepeatableRead, Rules::PostgresSerializable] {
        Stage::new(rules).play(&[
            (1, "begin", "ok"),
            (1, "select point from pts order by uid", "10 20 30"),
            (2, "update pts set point = 0", "3"),
            (2, "delete from pts where uid = 2", "1"),
            (2, "insert into pts values (4, 40)", "1"),
            (1, "select point from pts order by uid", "10 20 30"),
            (1, "update pts set point = 1 where uid = 2", "40001"),
            (3, "select point from pts order by uid", "0 0 40"),
        ]);
    }
    Stage::new(Rules::InnodbRepeatableRead).play(&[
        (1, "begin", "ok"),
        (1, "select point from pts order by uid", "10 20 30"),
        (2, "update pts set point = 0", "3"),
        (2, "insert into pts values (4, 40)", "1"),
        (1, "select point from pts order by uid", "10 20 30"),
        (1, "update pts set point = point + 1 where uid = 1", "1"),
        // A row that is written becomes visible, as it is now.
        (1, "update pts set point = point + 1 where uid = 4", "1"),
        (1, "select point from pts order by uid", "1 20 30 41"),
        (1, "commit", "ok"),
        (3, "select point from pts order by uid", "1 0 0 41"),
    ]);
}

/// Opposite orders: PostgreSQL fails whoever closes the circle, InnoDB whoever changed less.
#[test]
fn a_circle_is_broken() {
    let until = [
        (1, "begin", "ok"),
        (2, "begin", "ok"),
        (1, "update pts set point = 1 where uid = 1", "1"),
        (1, "update pts set point = 1 where uid = 3", "1"),
        (2, "update pts set point = 2 where uid = 2", "1"),
        (2, "update pts set point = 2 where uid = 1", "waits"),
        (1, "update pts set point = 1 where uid = 2", "waits"),
    ];
    let mut postgres = Stage::new(Rules::PostgresReadCommitted);
    postgres.play(&until);
    postgres.play(&[(1, "?", "40P01"), (2, "?", "1"), (2, "commit", "ok"), (3, "select point from pts order by uid", "2 2 30")]);
    let mut innodb = Stage::new(Rules::InnodbRepeatableRead);
    innodb.play(&until);
    innodb.play(&[(2, "?", "40P01"), (1, "?", "1"), (1, "commit", "ok"), (3, "select point from pts order by uid", "1 1 1")]);
}

/// Two doctors on call: each sees the other, and both leave.
#[test]
fn write_skew_is_seen_by_serializable_alone() {
    let until = [
        (1, "begin", "ok"),
        (2, "begin", "ok"),
        (1, "select sum(point)::bigint from pts", "60"),
        (2, "select sum(point)::bigint from pts", "60"),
        (1, "update pts set point = 0 where uid = 1", "1"),
        (1, "commit", "ok"),
    ];
    for (rules, then) in [(Rules::PostgresRepeatableRead, "1"), (Rules::PostgresSerializable, "40001")] {
        let mut stage = Stage::new(rules);
        stage.play(&until);
        stage.play(&[(2, "update pts set point = 0 where uid = 2", then)]);
    }
}

/// `FOR UPDATE` waits for writers and makes writers wait; plain reads pass.
#[test]
fn locking_reads_lock() {
    for rules in [Rules::PostgresReadCommitted, Rules::InnodbRepeatableRead] {
        Stage::new(rules).play(&[
            (1, "begin", "ok"),
            (1, "select point from pts where uid = 1 for update", "10"),
            (2, "select point from pts where uid = 1", "10"),
            (2, "update pts set point = point + 7 where uid = 1", "waits"),
            (1, "update pts set point = 0 where uid = 1", "1"),
            (1, "commit", "ok"),
            (2, "?", "1"),
            (3, "select point from pts where uid = 1", "7"),
        ]);
    }
}

/// A session that is gone, politely or not, leaves nothing that anybody would wait for.
#[test]
fn who_leaves_is_undone() {
    let mut stage = Stage::new(Rules::PostgresReadCommitted);
    stage.play(&[(1, "begin", "ok"), (1, "update pts set point = 0", "3"), (2, "update pts set point = 5 where uid = 1", "waits")]);
    stage.0.left(SessionId(1));
    stage.play(&[(2, "?", "1"), (3, "select point from pts order by uid", "5 20 30"), (2, "begin", "ok"), (2, "delete from pts", "3")]);
    stage.0.dropped(SessionId(2));
    stage.play(&[(3, "update pts set point = 6 where uid = 1", "1"), (3, "select point from pts order by uid", "6 20 30")]);
}
