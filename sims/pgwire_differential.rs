//! The database server speaks the PostgreSQL wire by code of its own. Here the same scripts run
//! through the same client against it and against a second server, built on the crate `pgwire`,
//! which knows nothing of ours: rows, counts and SQLSTATEs must agree.

mod oracle;

use crate::pipes::PipeHost;
use onceproof::id::{HostId, PeriodId};
use onceproof::scenario::DatabaseKnobs;
use onceproof::settlement::Period;
use onceproof::time::WallTime;
use onceproof::world::servers::postgres::{Database, DatabaseSetup, serve};
use std::rc::Rc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_postgres::config::SslMode;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, Error, NoTls, Row, SimpleQueryMessage};

const PLAYERS: u32 = 7;

/// One request of a script.
enum Step {
    /// Over the simple protocol.
    Simple(&'static str),
    /// Over the extended protocol: unprepared, with typed parameters.
    Typed(&'static str, &'static [Parameter]),
    /// Over the extended protocol: prepared first, executed twice.
    Prepared(&'static str, &'static [Parameter]),
}

enum Parameter {
    Int8(Option<i64>),
    Text(&'static str),
    Float8(f64),
    Bool(bool),
}

use Parameter::{Bool, Float8, Int8, Text};
use Step::{Prepared, Simple, Typed};

impl Parameter {
    fn typed(&self) -> (&(dyn ToSql + Sync), Type) {
        match self {
            Int8(value) => (value, Type::INT8),
            Text(value) => (value, Type::TEXT),
            Float8(value) => (value, Type::FLOAT8),
            Bool(value) => (value, Type::BOOL),
        }
    }
}

/// What strategies say to the database, the ways in which it fails, and the corners of the protocol.
const SCRIPTS: &[(&str, &[Step])] = &[
    (
        "reads and writes of a settlement",
        &[
            Typed("SELECT status, version, attempt FROM task WHERE period = $1", &[Int8(Some(20_260_110))]),
            Typed(
                "UPDATE task SET status = 1, version = version + 1, attempt = attempt + 1 WHERE period = $1 AND version = $2",
                &[Int8(Some(20_260_110)), Int8(Some(0))],
            ),
            Typed("UPDATE task SET status = 1 WHERE period = $1 AND version = $2", &[Int8(Some(20_260_110)), Int8(Some(0))]),
            Typed(
                "INSERT INTO earnings (id, player, amount, at) VALUES ($1, $2, $3, $4), (2, 3, 4, 5)",
                &[Int8(Some(1)), Int8(Some(2)), Int8(Some(30)), Int8(Some(4))],
            ),
            Simple("BEGIN"),
            Prepared(
                "SELECT player, amount, settled_in FROM earnings WHERE at < $1 AND settled_in IS NULL ORDER BY amount DESC, player",
                &[Int8(Some(100))],
            ),
            Prepared(
                "INSERT INTO ranking (period, rank, player, points) VALUES ($1, $2, 2, 30), ($1, 2, 3, 4)",
                &[Int8(Some(1)), Int8(Some(1))],
            ),
            Typed("UPDATE earnings SET settled_in = $1 WHERE settled_in IS NULL", &[Int8(Some(1))]),
            Typed("INSERT INTO settlement (period, node, attempt, at) VALUES ($1, 0, 1, 0) ON CONFLICT DO NOTHING", &[Int8(Some(1))]),
            Typed("INSERT INTO settlement (period, node, attempt, at) VALUES ($1, 0, 1, 0) ON CONFLICT DO NOTHING", &[Int8(Some(1))]),
            Typed(
                "INSERT INTO outbox (id, key, payload, sent) VALUES ($1, $2, $3, 0)",
                &[Int8(Some(1)), Text("1-2"), Text("{\"a\": \"é\"}")],
            ),
            Simple("COMMIT"),
            Typed("SELECT id, key, payload, sent FROM outbox WHERE sent = $1 ORDER BY id", &[Int8(Some(0))]),
            Simple("SELECT period, rank, player, points FROM ranking"),
        ],
    ),
    (
        "errors outside of a transaction",
        &[
            Simple("INSERT INTO settlement (period, node, attempt, at) VALUES (1, 0, 1, 0)"),
            Simple("INSERT INTO settlement (period, node, attempt, at) VALUES (1, 0, 2, 0)"),
            Prepared("INSERT INTO settlement (period, node, attempt, at) VALUES ($1, 0, 1, 0)", &[Int8(Some(1))]),
            Typed("INSERT INTO points (player, points, last_active) VALUES ($1, 0, 0)", &[Int8(Some(3))]),
            Typed("INSERT INTO earnings (id, player, amount, at) VALUES ($1, $2, 1, 1)", &[Int8(Some(1)), Int8(None)]),
            Simple("SELECT absent FROM points"),
            Simple("SELECT 1 FROM nowhere"),
            Simple("UPDATE nowhere SET a = 1"),
            Typed("SELECT player FROM points WHERE", &[]),
            Simple("SELEKT 1"),
            Simple("SELECT player FROM points WHERE player = 1"),
        ],
    ),
    (
        "an aborted transaction",
        &[
            Simple("BEGIN"),
            Simple("UPDATE points SET points = 5 WHERE player = 1"),
            Simple("INSERT INTO points (player, points, last_active) VALUES (1, 0, 0)"),
            Simple("SELECT 1"),
            Typed("SELECT player FROM points WHERE player = $1", &[Int8(Some(1))]),
            // Not compared: a statement prepared in here, which PostgreSQL refuses and pgwire accepts.
            Simple("COMMIT"),
            Simple("SELECT points FROM points WHERE player = 1"),
            Simple("BEGIN"),
            Simple("SELECT 1 FROM nowhere"),
            Simple("ROLLBACK"),
            Simple("SELECT points FROM points WHERE player = 1"),
        ],
    ),
    (
        "transactions that commit and roll back",
        &[
            Simple("BEGIN"),
            Typed("UPDATE points SET points = points + $1 WHERE player <= $2", &[Int8(Some(4)), Int8(Some(3))]),
            Simple("SELECT player, points FROM points ORDER BY player"),
            Simple("ROLLBACK"),
            Simple("SELECT player, points FROM points ORDER BY player"),
            Simple("START TRANSACTION"),
            Simple("DELETE FROM points WHERE player > 5"),
            Simple("SELECT player FROM points ORDER BY player FOR UPDATE"),
            Simple("END"),
            Simple("SELECT player FROM points ORDER BY player DESC"),
            Simple("COMMIT"),
            Simple("ROLLBACK"),
        ],
    ),
    (
        "types, nulls and results of writes",
        &[
            Typed(
                "SELECT $1::bigint, $2::text, $3::float8, $4::bool",
                &[Int8(Some(-9_007_199_254_740_993)), Text("it's; $1"), Float8(0.1), Bool(true)],
            ),
            Typed("SELECT settled_in FROM earnings WHERE settled_in = $1", &[Int8(None)]),
            Typed("UPDATE fence SET token = token + 1 WHERE name = $1 RETURNING token", &[Text("settlement")]),
            Typed(
                "INSERT INTO fence (name, token) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET token = fence.token + 10 RETURNING name, token",
                &[Text("settlement"), Int8(Some(5))],
            ),
            Typed("UPDATE task SET owner = $1, heartbeat = $2", &[Int8(None), Int8(Some(77))]),
            Simple("SELECT owner, heartbeat, due FROM task"),
            Simple("SELECT count(*) FROM points"),
            Simple("SELECT player FROM points ORDER BY player LIMIT 2 OFFSET 3"),
            Simple("DELETE FROM fence"),
            Simple("SELECT token FROM fence"),
        ],
    ),
];

/// How a server answered a step.
type Answer = String;

fn code(error: &Error) -> Answer {
    error.code().map_or_else(|| format!("no SQLSTATE: {error}"), |code| format!("error {}", code.code()))
}

fn text(row: &Row) -> String {
    let columns = row.columns().iter().enumerate().map(|(i, column)| {
        let value = match *column.type_() {
            Type::INT8 => row.try_get::<_, Option<i64>>(i).map(|value| format!("{value:?}")),
            Type::FLOAT8 => row.try_get::<_, Option<f64>>(i).map(|value| format!("{value:?}")),
            Type::BOOL => row.try_get::<_, Option<bool>>(i).map(|value| format!("{value:?}")),
            Type::TEXT => row.try_get::<_, Option<&str>>(i).map(|value| format!("{value:?}")),
            ref other => Ok(format!("a column of type {other}")),
        };
        format!("{}: {}", column.name(), value.unwrap_or_else(|error| format!("unreadable as {}: {error}", column.type_())))
    });
    columns.collect::<Vec<_>>().join(", ")
}

fn rows(result: Result<Vec<Row>, Error>) -> Answer {
    match result {
        Ok(rows) => format!("{:?}", rows.iter().map(text).collect::<Vec<_>>()),
        Err(error) => code(&error),
    }
}

fn is_read(sql: &str) -> bool {
    sql.starts_with("SELECT") || sql.contains("RETURNING")
}

async fn answer(client: &Client, step: &Step) -> Answer {
    match step {
        Simple(sql) => match client.simple_query(sql).await {
            Err(error) => code(&error),
            Ok(messages) => {
                let parts = messages.iter().filter_map(|message| match message {
                    SimpleQueryMessage::Row(row) => Some(format!("{:?}", (0..row.len()).map(|i| row.get(i)).collect::<Vec<_>>())),
                    SimpleQueryMessage::CommandComplete(count) => Some(format!("({count})")),
                    _ => None,
                });
                parts.collect::<Vec<_>>().join(" ")
            }
        },
        Typed(sql, parameters) => {
            let parameters: Vec<_> = parameters.iter().map(Parameter::typed).collect();
            if is_read(sql) {
                return rows(client.query_typed(sql, &parameters).await);
            }
            client.execute_typed(sql, &parameters).await.map_or_else(|error| code(&error), |count| count.to_string())
        }
        Prepared(sql, parameters) => {
            let (values, types): (Vec<_>, Vec<_>) = parameters.iter().map(Parameter::typed).unzip();
            let statement = match client.prepare_typed(sql, &types).await {
                Ok(statement) => statement,
                Err(error) => return format!("prepare: {}", code(&error)),
            };
            let mut twice = Vec::new();
            for _ in 0..2 {
                twice.push(if is_read(sql) {
                    rows(client.query(&statement, &values).await)
                } else {
                    client.execute(&statement, &values).await.map_or_else(|error| code(&error), |count| count.to_string())
                });
            }
            format!("{twice:?}")
        }
    }
}

async fn connect(stream: impl AsyncRead + AsyncWrite + Unpin + 'static) -> Client {
    let mut config = Config::new();
    config.user("onceproof").ssl_mode(SslMode::Disable);
    let (client, driver) = config.connect_raw(stream, NoTls).await.expect("a session");
    tokio::task::spawn_local(async { drop(driver.await) });
    client
}

async fn replay(client: &Client, script: &[Step]) -> Vec<Answer> {
    let mut answers = Vec::new();
    for step in script {
        answers.push(answer(client, step).await);
    }
    answers
}

#[test]
fn both_servers_give_the_same_answers() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime");
    tokio::task::LocalSet::new().block_on(&runtime, async {
        for (name, script) in SCRIPTS {
            let due = Period { id: PeriodId(20_260_110), due: WallTime(1_000) };
            let setup =
                DatabaseSetup { players: PLAYERS, unique_marker: true, tasks: vec![due], knobs: DatabaseKnobs::default(), tables: &[] };
            let (host, door) = PipeHost::new(HostId::Database);
            tokio::task::spawn_local(serve(Rc::new(host), Database::new(&setup)));
            let ours = replay(&connect(door.connect(HostId::node(0))).await, script).await;

            let (stream, theirs) = tokio::io::duplex(1 << 16);
            tokio::task::spawn_local(oracle::serve(theirs, oracle::open(PLAYERS, &due)));
            let theirs = replay(&connect(stream).await, script).await;

            for ((step, ours), theirs) in script.iter().zip(&ours).zip(&theirs) {
                let (Simple(sql) | Typed(sql, _) | Prepared(sql, _)) = step;
                assert_eq!(ours, theirs, "{name}: {sql} (ours first)");
            }
            let failed = ours.iter().filter(|answer| answer.contains("error")).count();
            assert!(failed < ours.len(), "{name}: an oracle that only fails proves nothing");
        }
    });
}
