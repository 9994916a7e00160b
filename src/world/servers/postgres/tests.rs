//! The database as tokio-postgres sees it, and what it tells the history.

use super::*;
use crate::host::Task;
use crate::id::{HostId, NodeId, PeriodId, PlayerId, TxId};
use crate::scenario::{PoolKnobs, Rules};
use crate::settlement::{EarningRow, InDoubt, SettlementRow};
use crate::time::{SimTime, Span, WallTime};
use crate::trace::{Event, TaskStatus};
use crate::world::servers::test_host::{Network, ORIGIN, TestHost, simulate};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_postgres::config::SslMode;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Config, NoTls, SimpleQueryMessage};

const N0: HostId = HostId::Node(NodeId(0));
const N1: HostId = HostId::Node(NodeId(1));
const N2: HostId = HostId::Node(NodeId(2));
const JANUARY: PeriodId = PeriodId(20_260_110);

/// A network with a running database server.
struct Server {
    network: Rc<Network>,
    host: Rc<TestHost>,
    db: Rc<Database>,
    process: Task,
}

fn setup() -> DatabaseSetup {
    let tasks = vec![Period { id: JANUARY, due: WallTime(ORIGIN + 86_400_000) }];
    DatabaseSetup { players: 5, unique_marker: true, tasks, knobs: DatabaseKnobs::default(), tables: &[] }
}

impl Server {
    fn start(network: Rc<Network>) -> Server {
        let (host, db) = (network.host(HostId::Database), Database::new(&setup()));
        let process = host.spawn("database", Box::pin(serve(host.clone(), db.clone())));
        Server { network, host, db, process }
    }

    /// Kills the server's process and starts another on the same data.
    async fn restart(&mut self) {
        let process = self.host.spawn("database", Box::pin(serve(self.host.clone(), self.db.clone())));
        std::mem::replace(&mut self.process, process).abort();
        tokio::task::yield_now().await;
    }

    async fn client(&self, by: HostId) -> Client {
        tokio::task::yield_now().await;
        let host = self.network.host(by);
        let stream = host.connect(HostId::Database).await.expect("the database listens");
        let mut config = Config::new();
        config.user("onceproof").ssl_mode(SslMode::Disable);
        let (client, driver) = config.connect_raw(stream, NoTls).await.expect("a session");
        host.spawn("pg-driver", Box::pin(async { drop(driver.await) })).detach();
        client
    }
}

fn with_server<F: Future<Output = ()>>(test: impl FnOnce(Server) -> F) {
    simulate(|network| test(Server::start(network)));
}

/// One statement; its rows as text, or its SQLSTATE.
async fn ask(client: &Client, sql: &str) -> String {
    match client.simple_query(sql).await {
        Err(error) => error.code().map_or_else(|| "closed".to_owned(), |code| code.code().to_owned()),
        Ok(messages) => {
            let mut parts = Vec::new();
            for message in messages {
                match message {
                    SimpleQueryMessage::Row(row) => {
                        let columns: Vec<&str> = (0..row.len()).map(|i| row.get(i).unwrap_or("null")).collect();
                        parts.push(columns.join(","));
                    }
                    SimpleQueryMessage::CommandComplete(n) => parts.push(format!("({n})")),
                    _ => {}
                }
            }
            parts.join(" ")
        }
    }
}

async fn ask_all(client: &Client, script: &[(&str, &str)]) {
    for (sql, answer) in script {
        assert_eq!(ask(client, sql).await, *answer, "{sql}");
    }
}

/// A prepared transaction needs neither its session nor its server's process: it keeps its locks and its rows.
#[test]
fn what_is_prepared_outlives_its_session_and_its_server() {
    with_server(async |mut server| {
        let client = server.client(N0).await;
        let prepare = [
            ("begin", "(0)"),
            ("insert into settlement (period, node, attempt, at) values (20260110, 0, 1, 5)", "(1)"),
            ("prepare transaction 'settle'", "(0)"),
        ];
        ask_all(&client, &prepare).await;
        let tx = TxId(1);
        assert_eq!(server.network.events(), [Event::Prepared { tx, by: N0 }]);
        drop(client);
        server.restart().await;
        assert_eq!(server.db.state().in_doubt, [InDoubt::Database(tx)]);
        let other = server.client(N1).await;
        // Whoever wants the marker waits for its fate, and gives up in the end.
        let again = "insert into settlement (period, node, attempt, at) values (20260110, 1, 1, 6)";
        let names = "select gid from pg_prepared_xacts where gid = 'settle'";
        ask_all(&other, &[(names, "settle (1)"), ("select count(*) from settlement", "0 (1)"), (again, "55P03")]).await;
        ask_all(&other, &[("insert into pg_prepared_xacts (gid) values ('x')", "42601"), ("commit prepared 'settle'", "(0)")]).await;
        let settled = Event::Settled { tx, period: JANUARY, node: NodeId(0), attempt: 1 };
        let committed = Event::Committed { tx, by: N0, began: SimTime(0) };
        assert_eq!(server.network.events(), [committed, settled, Event::PreparedEnded { tx, by: N1, committed: true }]);
        ask_all(&other, &[(again, "23505"), ("select gid from pg_prepared_xacts", "(0)"), ("commit prepared 'settle'", "42704")]).await;
        assert_eq!(server.db.state().in_doubt, []);
        let long = format!("prepare transaction '{}'", "x".repeat(200));
        ask_all(&other, &[("begin", "(0)"), (&long, "22023"), ("commit", "(0)")]).await;
    });
}

fn pooled(knobs: PoolKnobs, test: impl AsyncFnOnce(Server)) {
    let knobs = DatabaseKnobs { pool: Some(knobs), ..DatabaseKnobs::default() };
    simulate(async |network| {
        let host = network.host(HostId::Database);
        let db = Database::new(&DatabaseSetup { knobs, ..setup() });
        let process = host.spawn("database", Box::pin(serve(host.clone(), db.clone())));
        test(Server { network, host, db, process }).await;
    });
}

const TAKE: &str = "select pg_try_advisory_lock(7)";
const GIVE_BACK: &str = "select pg_advisory_unlock(7)";

/// Whoever comes next has the session that was used last, with its lock: it is granted what somebody holds.
#[test]
fn a_pooled_session_brings_its_lock_to_the_next() {
    pooled(PoolKnobs { sessions: 3, round_robin: false }, async |server| {
        let (one, other) = (server.client(N0).await, server.client(N1).await);
        ask_all(&one, &[(TAKE, "t (1)")]).await;
        ask_all(&other, &[(TAKE, "t (1)"), (GIVE_BACK, "t (1)"), (GIVE_BACK, "t (1)")]).await;
        ask_all(&one, &[(GIVE_BACK, "f (1)")]).await;
    });
    // The control: without a pooler.
    with_server(async |server| {
        let (one, other) = (server.client(N0).await, server.client(N1).await);
        ask_all(&one, &[(TAKE, "t (1)")]).await;
        ask_all(&other, &[(TAKE, "f (1)"), (GIVE_BACK, "f (1)")]).await;
        drop(one);
        tokio::task::yield_now().await;
        ask_all(&other, &[(TAKE, "t (1)")]).await;
    });
}

/// Sessions go round: the lock is on another session when it is to be given back, and stays when its client is gone.
#[test]
fn a_pooled_lock_is_stranded() {
    pooled(PoolKnobs { sessions: 2, round_robin: true }, async |server| {
        let one = server.client(N0).await;
        ask_all(&one, &[(TAKE, "t (1)"), (GIVE_BACK, "f (1)")]).await;
        drop(one);
        let other = server.client(N1).await;
        ask_all(&other, &[("select 1", "1 (1)"), (TAKE, "f (1)")]).await;
        // A transaction has one session from its beginning to its end.
        ask_all(&other, &[("begin", "(0)"), (TAKE, "t (1)"), (GIVE_BACK, "t (1)"), (GIVE_BACK, "t (1)"), ("commit", "(0)")]).await;
    });
}

/// Whoever finds all sessions busy waits for one.
#[test]
fn a_pool_has_as_many_sessions_as_it_has() {
    pooled(PoolKnobs { sessions: 1, round_robin: false }, async |server| {
        let (one, other) = (server.client(N0).await, server.client(N1).await);
        ask_all(&one, &[("begin", "(0)"), ("update points set points = 1 where player = 1", "(1)")]).await;
        let (read, _) = tokio::join!(ask(&other, "select points from points where player = 1"), ask(&one, "commit"));
        assert_eq!(read, "1 (1)");
        // Who leaves in the middle of a transaction leaves no session behind.
        ask_all(&one, &[("begin", "(0)"), ("update points set points = 2 where player = 1", "(1)")]).await;
        drop(one);
        assert_eq!(ask(&other, "select points from points where player = 1").await, "1 (1)");
    });
}

/// InnoDB has other words for it, and this server has none.
#[test]
fn innodb_prepares_nothing() {
    let innodb = DatabaseKnobs { rules: Rules::InnodbRepeatableRead, ..DatabaseKnobs::default() };
    simulate(async |network| {
        let host = network.host(HostId::Database);
        let db = Database::new(&DatabaseSetup { knobs: innodb, ..setup() });
        let process = host.spawn("database", Box::pin(serve(host.clone(), db.clone())));
        let server = Server { network, host, db, process };
        let client = server.client(N0).await;
        ask_all(&client, &[("begin", "(0)"), ("prepare transaction 'a'", "0A000"), ("xa prepare 'a'", "0A000"), ("commit", "(0)")]).await;
    });
}

#[test]
fn statements_answer_as_postgresql_does() {
    with_server(async |server| {
        let client = server.client(N0).await;
        let script = [
            ("select player, points from points where player <= 2 order by player", "1,0 2,0 (2)"),
            ("select player from points where player = 99", "(0)"),
            ("update points set points = points + 5 where player in (1, 2)", "(2)"),
            ("insert into settlement (period, node, attempt, at) values (1, 2, 3, 4)", "(1)"),
            ("insert into settlement (period, node, attempt, at) values (1, 2, 3, 4)", "23505"),
            ("insert into settlement (period, node, attempt, at) values (1, 0, 0, 0) on conflict (period) do nothing", "(0)"),
            ("insert into fence (name, token) values ('settlement', 9) on conflict (name) do update set token = fence.token + 1", "(1)"),
            ("update fence set token = token + 1 where name = 'settlement' returning token", "2 (1)"),
            ("insert into outbox (id, key, payload, sent) values (1, 'k;''', 'p', 0) returning id, key", "1,k;' (1)"),
            ("insert into earnings (id, player, amount, at) values (1, null, 1, 1)", "23502"),
            ("insert into points (player, points, last_active) values (null, 1, 1)", "23502"),
            ("select settled_in from earnings", "(0)"),
            ("insert into ranking (period, rank, player, points) values (1, 1, 1, 1) on conflict (period) do nothing", "42P10"),
            ("select absent from points", "42703"),
            ("select 1 from nowhere", "42P01"),
            ("selec 1", "42601"),
            ("select 1 +", "42601"),
            ("select nofunction(1)", "42883"),
            ("select now()", "42883"),
            ("create table t (a bigint)", "0A000"),
            ("pragma user_version", "42601"),
            ("select random()", "0A000"),
            ("select current_timestamp", "0A000"),
            ("select sum(points) from points", "0A000"),
            ("select sum(points)::bigint, count(*) from points", "10,5 (1)"),
            ("select 7 / 2, 7::float8 / 2, 'a' || 1::text, 1 < 2, null", "3,3.5,a1,t,null (1)"),
            ("select (points / 2.0)::bigint, '12'::bigint + 1 from points where player = 1", "2,13 (1)"),
            ("select 'x'::bigint", "22P02"),
            (
                "with best as (select player from points order by points desc, player limit 1) delete from points where player in (select player from best)",
                "(1)",
            ),
            ("delete from outbox", "(1)"),
            ("select 'a' like 'A'", "f (1)"),
            ("update points set points = 'abc'", "42804"),
            ("update points set points = 9223372036854775807 + 1", "42804"),
            ("select player from points where player = \"1\"", "42703"),
            ("select count(*) from fence for update", "0A000"),
            ("commit and chain", "0A000"),
            ("set transaction isolation level serializable", "0A000"),
            ("begin transaction isolation level read committed", "(0)"),
            ("rollback", "(0)"),
            ("set client_encoding to 'UTF8'", "(0)"),
            ("", "(0)"),
            ("; ;", "(0)"),
            ("select 1; select 2", "1 (1) 2 (1)"),
            ("select '", "42601"),
            ("select $1::bigint", "42P02"),
        ];
        ask_all(&client, &script).await;
    });
}

#[test]
fn several_statements_in_one_text_stand_or_fall_together() {
    with_server(async |server| {
        let client = server.client(N0).await;
        let script = [
            ("update points set points = 1 where player = 1; insert into fence (name, token) values ('settlement', 1)", "23505"),
            ("select points from points where player = 1", "0 (1)"),
            ("update points set points = 1 where player = 1; commit; insert into fence (name, token) values ('settlement', 1)", "23505"),
            ("select points from points where player = 1", "1 (1)"),
            (
                "begin; update points set points = 2 where player = 1; rollback; update points set points = 3 where player = 2",
                "(0) (1) (0) (1)",
            ),
            ("select points from points where player <= 2 order by player", "1 3 (2)"),
        ];
        ask_all(&client, &script).await;
    });
}

#[test]
fn an_error_aborts_the_transaction_and_commit_then_rolls_back() {
    with_server(async |server| {
        let client = server.client(N0).await;
        let script = [
            ("begin", "(0)"),
            ("update points set points = 9", "(5)"),
            ("insert into fence (name, token) values ('settlement', 1)", "23505"),
            ("select 1", "25P02"),
            ("begin", "25P02"),
            ("commit", "(0)"),
            ("select max(points) from points", "0 (1)"),
        ];
        ask_all(&client, &script).await;
        ask_all(&client, &[("begin", "(0)"), ("select 1 from nowhere", "42P01")]).await;
        let prepared = client.prepare("select points from points").await;
        assert_eq!(prepared.expect_err("PostgreSQL does not even parse it").code(), Some(&SqlState::IN_FAILED_SQL_TRANSACTION));
        ask_all(&client, &[("rollback", "(0)"), ("select 1", "1 (1)")]).await;
        assert_eq!(server.network.events(), []);
    });
}

#[test]
fn typed_parameters_and_results_cross_in_binary() {
    with_server(async |server| {
        let client = server.client(N0).await;
        let rows = client
            .query_typed(
                "select $1 + 1, $2, $3, $4, $5, $6, $7, upper($5) || $5",
                &[
                    (&41_i64, Type::INT8),
                    (&2_i32, Type::INT4),
                    (&true, Type::BOOL),
                    (&1.5_f64, Type::FLOAT8),
                    (&"é", Type::TEXT),
                    (&None::<i64>, Type::INT8),
                    (&7_i16, Type::INT2),
                ],
            )
            .await;
        let row = &rows.expect("types given by the client")[0];
        assert_eq!((row.get::<_, i64>(0), row.get::<_, i32>(1), row.get::<_, bool>(2)), (42, 2, true));
        assert_eq!((row.get::<_, &str>(4), row.get::<_, Option<i64>>(5), row.get::<_, i16>(6)), ("é", None, 7));
        assert_eq!(row.get::<_, &str>(7), "éé");
        // Nothing says the type of these expressions, so they count as bigint, which their values are not.
        for untyped in ["select nullif(1, 2) + 0.5", "select iif(true, 'a', 'b')"] {
            let misfit = client.query_typed(untyped, &[]).await;
            assert_eq!(misfit.expect_err("it needs a cast").code(), Some(&SqlState::DATATYPE_MISMATCH));
        }
        let row = client
            .query_one(
                "select $1::bigint + 1, $2::int4, $3::bool, $4::float8, $5::text, $6::bigint",
                &[&41_i64, &2_i32, &true, &1.5_f64, &"é", &None::<i64>],
            )
            .await
            .expect("a row");
        assert_eq!(row.get::<_, i64>(0), 42);
        assert_eq!(row.get::<_, i32>(1), 2);
        assert!(row.get::<_, bool>(2));
        assert!((row.get::<_, f64>(3) - 1.5).abs() < f64::EPSILON);
        assert_eq!(row.get::<_, &str>(4), "é");
        assert_eq!(row.get::<_, Option<i64>>(5), None);
        let changed =
            client.execute("insert into outbox (id, key, payload, sent) values ($1, $2, $3, $4)", &[&1_i64, &"k", &"p", &0_i64]).await;
        assert_eq!(changed.expect("types found by column"), 1);
        let row = client.query_one("select id, key from outbox where key = $1", &[&"k"]).await.expect("a row");
        assert_eq!((row.get::<_, i64>(0), row.get::<_, &str>(1)), (1, "k"));
        let changed =
            client.execute_typed("update points set points = $1 where player > $2", &[(&3_i64, Type::INT8), (&2_i64, Type::INT8)]).await;
        assert_eq!(changed.expect("an update"), 3);
        let many = client.query("select player from points where player <= $1 order by player", &[&3_i64]).await.expect("rows");
        assert_eq!(many.iter().map(|row| row.get::<_, i64>(0)).collect::<Vec<_>>(), [1, 2, 3]);
    });
}

#[test]
fn the_clock_is_the_servers_own() {
    with_server(async |server| {
        const CLOCK: &str = "(extract(epoch from clock_timestamp()) * 1000)::bigint";
        let client = server.client(N0).await;
        tokio::time::sleep(1.hours()).await;
        server.host.clock_error_ms.set(-250);
        let row = client.query_one(&format!("select {CLOCK}"), &[]).await.expect("a row");
        assert_eq!(row.get::<_, i64>(0), ORIGIN + 3_600_000 - 250);
        let due = format!("update task set heartbeat = {CLOCK} where due <= {CLOCK}");
        assert_eq!(ask(&client, &due).await, "(0)", "not due yet");
        server.host.clock_error_ms.set(86_400_000);
        assert_eq!(ask(&client, &due).await, "(1)", "due by a clock that is a day ahead");
    });
}

/// n0 writes in a transaction. n1, in a transaction too, sees what is committed, before and after.
#[test]
fn a_reader_sees_committed_data_only_and_never_waits() {
    with_server(async |server| {
        let (writer, reader) = (server.client(N0).await, server.client(N1).await);
        let read = "select points from points where player = 1";
        ask_all(&writer, &[("begin", "(0)"), ("update points set points = points + 5 where player = 1", "(1)"), (read, "5 (1)")]).await;
        ask_all(&reader, &[("begin", "(0)"), (read, "0 (1)")]).await;
        ask_all(&writer, &[("update points set points = points * 2 where player = 1", "(1)"), (read, "10 (1)")]).await;
        ask_all(&reader, &[(read, "0 (1)")]).await;
        ask_all(&writer, &[("commit", "(0)")]).await;
        ask_all(&reader, &[(read, "10 (1)"), ("commit", "(0)")]).await;
    });
}

/// The writer's statements run again after a foreign read, with the clock as it was and each event told once.
#[test]
fn what_runs_again_after_a_foreign_read_is_the_same() {
    with_server(async |server| {
        let (writer, reader) = (server.client(N0).await, server.client(N1).await);
        let insert =
            "insert into settlement (period, node, attempt, at) values (1, 0, 7, (extract(epoch from clock_timestamp()) * 1000)::bigint)";
        ask_all(&writer, &[("begin", "(0)"), (insert, "(1)")]).await;
        tokio::time::sleep(5.seconds()).await;
        ask_all(&reader, &[("select count(*) from settlement", "0 (1)")]).await;
        assert_eq!(server.db.state().settlements, []);
        ask_all(&writer, &[("commit", "(0)")]).await;
        let at = WallTime(ORIGIN);
        assert_eq!(server.db.state().settlements, [SettlementRow { period: PeriodId(1), node: 0, attempt: 7, at }]);
        let settled = server.network.events().iter().filter(|event| matches!(event, Event::Settled { .. })).count();
        assert_eq!(settled, 1);
    });
}

/// Two writers queue behind n0. They get the gate in the order in which they came, and build on what was committed.
#[test]
fn writers_wait_in_order_of_arrival() {
    with_server(async |server| {
        let clients = [server.client(N0).await, server.client(N1).await, server.client(N2).await];
        let append = |digit: i64| format!("update points set points = points * 10 + {digit} where player = 1");
        ask_all(&clients[0], &[("begin", "(0)"), (&append(1), "(1)")]).await;
        let (third, second, first) = tokio::join!(
            async {
                tokio::time::sleep(2.ms()).await;
                ask(&clients[1], &append(3)).await
            },
            async {
                tokio::time::sleep(1.ms()).await;
                let begin = ask(&clients[2], "begin").await;
                let update = ask(&clients[2], &append(2)).await;
                tokio::time::sleep(1.seconds()).await;
                [begin, update, ask(&clients[2], "commit").await]
            },
            async {
                tokio::time::sleep(2.seconds()).await;
                ask(&clients[0], "commit").await
            }
        );
        assert_eq!((first.as_str(), second, third.as_str()), ("(0)", ["(0)".to_owned(), "(1)".to_owned(), "(0)".to_owned()], "(1)"));
        assert_eq!(server.db.state().points, [(PlayerId(1), 123)]);
    });
}

/// A locking read takes the gate as a write does: the rival's update waits for it.
#[test]
fn select_for_update_makes_others_wait() {
    with_server(async |server| {
        let (a, b) = (server.client(N0).await, server.client(N1).await);
        ask_all(&a, &[("begin", "(0)"), ("select points from points where player = 1 for update", "0 (1)")]).await;
        assert_eq!(ask(&b, "update points set points = 1 where player = 1").await, "55P03");
        ask_all(&a, &[("update points set points = 2 where player = 1", "(1)"), ("commit", "(0)")]).await;
        ask_all(&b, &[("select points from points where player = 1", "2 (1)")]).await;
    });
}

#[test]
fn waiting_for_too_long_fails_and_leaves_the_queue() {
    with_server(async |server| {
        let (a, b, c) = (server.client(N0).await, server.client(N1).await, server.client(N2).await);
        ask_all(&a, &[("begin", "(0)"), ("update points set points = 1 where player = 1", "(1)")]).await;
        ask_all(&b, &[("begin", "(0)")]).await;
        let began = server.host.now();
        ask_all(&b, &[("update points set points = 2", "55P03"), ("select 1", "25P02"), ("rollback", "(0)")]).await;
        assert_eq!(server.host.now().since(began), DatabaseKnobs::default().lock_timeout);
        ask_all(&a, &[("commit", "(0)")]).await;
        ask_all(&c, &[("update points set points = points + 10 where player = 1 returning points", "11 (1)")]).await;
    });
}

#[test]
fn a_session_that_idles_in_a_transaction_is_ended() {
    with_server(async |server| {
        let (idle, other) = (server.client(N0).await, server.client(N1).await);
        ask_all(&idle, &[("begin", "(0)"), ("update points set points = 1", "(5)")]).await;
        assert_eq!(DatabaseKnobs::default().idle_in_transaction_timeout, 60.seconds());
        tokio::time::sleep(59_999.ms()).await;
        ask_all(&idle, &[("select 1", "1 (1)")]).await;
        tokio::time::sleep(60_001.ms()).await;
        assert_eq!(server.network.events(), [Event::IdleInTransaction { by: N0 }]);
        assert!(idle.is_closed());
        ask_all(&other, &[("update points set points = points + 1 where player = 1 returning points", "1 (1)")]).await;
        // Outside of a transaction a session may idle for as long as it likes.
        tokio::time::sleep(24.hours()).await;
        ask_all(&other, &[("select 1", "1 (1)")]).await;
    });
}

#[test]
fn a_client_that_goes_away_is_rolled_back() {
    with_server(async |server| {
        let (gone, other) = (server.client(N0).await, server.client(N1).await);
        ask_all(&gone, &[("begin", "(0)"), ("update points set points = 1", "(5)")]).await;
        drop(gone);
        tokio::time::sleep(1.ms()).await;
        ask_all(&other, &[("update points set points = points + 2 where player = 1 returning points", "2 (1)")]).await;
    });
}

/// The process dies in the middle of a transaction with another session waiting: commits stay, the rest is gone.
#[test]
fn a_crash_of_the_server_keeps_commits_only() {
    with_server(async |mut server| {
        let (a, b) = (server.client(N0).await, server.client(N1).await);
        ask_all(&a, &[("update points set points = 1 where player = 1", "(1)")]).await;
        ask_all(&a, &[("begin", "(0)"), ("update points set points = 2", "(5)")]).await;
        let waiting = async { ask(&b, "update points set points = 3").await };
        let crash = async {
            tokio::time::sleep(1.ms()).await;
            server.restart().await;
        };
        // The test's host does not kill the tasks of a dead process, so the old session's answer may come; it must change nothing.
        let _ = tokio::time::timeout(1.ms(), async { tokio::join!(waiting, crash) }).await;
        let c = server.client(N2).await;
        ask_all(&c, &[("select player, points from points where points <> 0", "1,1 (1)")]).await;
        ask_all(&c, &[("update points set points = 5 where player = 5", "(1)")]).await;
    });
}

/// A whole settlement in one transaction is told in the fixed order, between its traffic.
#[test]
fn events_follow_their_commit_in_order() {
    with_server(async |server| {
        let (traffic, node) = (server.client(HostId::Traffic).await, server.client(N1).await);
        for (id, player, amount) in [(1, 4, 7), (2, 2, 9)] {
            let earn = format!("insert into earnings (id, player, amount, at) values ({id}, {player}, {amount}, {ORIGIN})");
            let add = format!("update points set points = points + {amount} where player = {player}");
            ask_all(&traffic, &[("begin", "(0)"), (&earn, "(1)"), (&add, "(1)"), ("commit", "(0)")]).await;
        }
        tokio::time::sleep(3.ms()).await;
        let settle = [
            ("begin", "(0)"),
            ("select 1", "1 (1)"),
            ("insert into outbox (id, key, payload, sent) values (1, 'k', 'p', 0)", "(1)"),
            ("update task set status = 2, version = version + 1, attempt = 3 where period = 20260110", "(1)"),
            ("insert into settlement (period, node, attempt, at) values (20260110, 1, 3, 5) on conflict do nothing", "(1)"),
            ("insert into ranking (period, rank, player, points) values (20260110, 1, 2, 9), (20260110, 2, 4, 7)", "(2)"),
            ("update earnings set settled_in = 20260110 where settled_in is null", "(2)"),
            ("update points set points = 0", "(5)"),
            ("update fence set token = token + 1", "(1)"),
            ("commit", "(0)"),
            ("update outbox set sent = 1 where id = 1", "(1)"),
            ("update outbox set sent = 1 where id = 1", "(1)"),
            ("update points set points = 1 where player = 1", "(1)"),
        ];
        ask_all(&node, &settle).await;

        let (tx, at) = (TxId, WallTime(ORIGIN));
        let earned = |n, earning, player, amount| {
            [
                Event::Committed { tx: tx(n), by: HostId::Traffic, began: SimTime::ZERO },
                Event::Earned { tx: tx(n), earning, player: PlayerId(player), amount, at },
            ]
        };
        let settlement = |tx| {
            [
                Event::Committed { tx, by: N1, began: SimTime(3) },
                Event::Marked { tx, earning: 1, period: JANUARY },
                Event::Marked { tx, earning: 2, period: JANUARY },
                Event::Taken { tx, player: PlayerId(2), points: 9 },
                Event::Taken { tx, player: PlayerId(4), points: 7 },
                Event::Ranked { tx, period: JANUARY, rank: 1, player: PlayerId(2), points: 9 },
                Event::Ranked { tx, period: JANUARY, rank: 2, player: PlayerId(4), points: 7 },
                Event::Settled { tx, period: JANUARY, node: NodeId(1), attempt: 3 },
                Event::TaskSet { tx, period: JANUARY, status: TaskStatus::Completed, version: 1, attempt: 3 },
                Event::FenceSet { tx, token: 1 },
                Event::Queued { tx, row: 1 },
            ]
        };
        let mut expected = Vec::new();
        expected.extend(earned(1, 1, 4, 7));
        expected.extend(earned(2, 2, 2, 9));
        expected.extend(settlement(tx(3)));
        expected.extend([Event::Committed { tx: tx(4), by: N1, began: SimTime(3) }, Event::Delivered { tx: tx(4), row: 1 }]);
        assert_eq!(server.network.events(), expected);
        let state = server.db.state();
        let row = |id, player, amount| EarningRow { id, player: PlayerId(player), amount, at, settled_in: Some(JANUARY) };
        assert_eq!(state.earnings, [row(1, 4, 7), row(2, 2, 9)]);
        assert_eq!(state.points, [(PlayerId(1), 1)]);
        assert!(state.outbox[0].sent && state.tasks[0].status == TaskStatus::Completed && state.rankings.len() == 2);
    });
}

/// A row that no type of the history fits is told by nobody and panics nowhere.
#[test]
fn rows_that_cannot_be_typed_are_left_out() {
    with_server(async |server| {
        let client = server.client(N0).await;
        let script = [
            // What has another type than its column is not stored at all.
            ("insert into earnings (id, player, amount, at) values ('x', 1, 1, 1), (2, 1, 1, 1)", "42804"),
            ("insert into earnings (id, player, amount, at) values (2, 1, 1, 1)", "(1)"),
            ("update task set status = 17", "(1)"),
            ("insert into settlement (period, node, attempt, at) values (1, 4000, 0, 0)", "(1)"),
        ];
        ask_all(&client, &script).await;
        let told = server.network.events();
        assert_eq!(told.len(), 2, "one commit with the one good row: {told:?}");
        let state = server.db.state();
        assert_eq!((state.earnings.len(), state.tasks.len()), (1, 0));
    });
}

/// A run that is dropped in the middle of everything leaves its thread's connection as new.
#[test]
fn the_next_run_starts_clean() {
    let untouched = Database::new(&setup()).state();
    with_server(async |server| {
        let (a, b) = (server.client(N0).await, server.client(N1).await);
        ask_all(&b, &[("insert into fence (name, token) values ('other', 1)", "(1)")]).await;
        ask_all(&a, &[("begin", "(0)"), ("update points set points = 2", "(5)")]).await;
        ask_all(&b, &[("begin", "(0)"), ("select max(points) from points", "0 (1)")]).await;
        ask_all(&a, &[("insert into settlement (period, node, attempt, at) values (1, 1, 1, 1)", "(1)")]).await;
    });
    with_server(async |server| {
        assert_eq!(server.db.state(), untouched);
        let client = server.client(N0).await;
        ask_all(&client, &[("select count(*) from fence", "1 (1)"), ("update points set points = 1 where player = 1", "(1)")]).await;
        ask_all(&client, &[("insert into settlement (period, node, attempt, at) values (1, 1, 1, 1)", "(1)")]).await;
        let told = server.network.events();
        assert!(matches!(told[..], [Event::Committed { tx: TxId(2), .. }, Event::Settled { .. }]), "{told:?}");
    });
}

/// A valid conversation, broken in a thousand ways: the server answers or hangs up, and goes on serving others.
#[test]
fn no_bytes_from_the_wire_harm_the_server() {
    with_server(async |server| {
        tokio::task::yield_now().await;
        let startup = [&[0, 0, 0, 9, 0, 3, 0, 0][..], &[0]].concat();
        let query = "insert into points (player, points, last_active) values ($1, $2, 0)";
        let mut talk = startup.clone();
        let mut message = |kind: u8, body: &[u8]| {
            talk.push(kind);
            talk.extend((body.len() as u32 + 4).to_be_bytes());
            talk.extend(body);
        };
        message(b'Q', b"begin\0");
        message(b'P', &[b"a\0", query.as_bytes(), &[0, 0, 2, 0, 0, 0, 20, 0, 0, 0, 20]].concat());
        message(b'B', &[&b"\0a\0"[..], &[0, 1, 0, 1, 0, 2, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 9, 255, 255, 255, 255, 0, 0]].concat());
        message(b'D', b"Sa\0");
        message(b'D', b"P\0");
        message(b'E', &[0, 0, 0, 0, 0]);
        message(b'C', b"Sa\0");
        message(b'S', b"");

        let mut dice = 1_u64;
        let mut roll = |sides: usize| {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (dice >> 33) as usize % sides
        };
        for round in 0..3_000 {
            let mut bytes = talk.clone();
            for _ in 0..=roll(3) {
                let at = roll(bytes.len());
                match roll(4) {
                    0 => bytes.truncate(at.max(1)),
                    1 => bytes[at] = roll(256) as u8,
                    2 => drop(bytes.remove(at)),
                    _ => bytes.insert(at, [0, 1, 255, b'S', b'\''][roll(5)]),
                }
                if bytes.is_empty() {
                    break;
                }
            }
            let mut stream = server.network.host(N0).connect(HostId::Database).await.expect("the database listens");
            tokio::task::yield_now().await;
            let _ = stream.write_all(&bytes).await;
            let _ = stream.shutdown().await;
            let mut answer = Vec::new();
            let _ = tokio::time::timeout(Duration::from_secs(1), stream.read_to_end(&mut answer)).await;
            assert!(round > 0 || !answer.is_empty());
        }
        let client = server.client(N1).await;
        ask_all(
            &client,
            &[("select count(*) from points where player <= 5", "5 (1)"), ("update points set points = 1 where player = 1", "(1)")],
        )
        .await;
    });
}
