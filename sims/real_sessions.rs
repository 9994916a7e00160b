//! One connection to a real database, on both dialects: what is counted, what an error means,
//! whether a transaction is open, and what is left when somebody gives up or a connection dies.

use crate::corner::{MARIADB, POSTGRES, Server, TIMEOUT, client, in_a_corner};
use futures_util::FutureExt;
use onceproof::host::{Database, Dialect, Host};
use onceproof::id::HostId;
use onceproof::real::Network;
use onceproof::seed::Seed;
use onceproof::store::sql::{Returning, Text, aggregate, column, int, text};
use onceproof::store::{ErrorKind, Sql, StoreError};
use onceproof::time::Span;
use std::rc::Rc;

/// `n` clients of one database, which holds a table of numbered words: 1 is `one`, 2 is `two`.
async fn clients<const N: usize>(database: Database) -> Result<(Rc<dyn Host>, [Sql; N]), StoreError> {
    let network = Rc::new(Network::new(Seed(1), database).expect("a URL with a host"));
    let host: Rc<dyn Host> = network.host(HostId::Traffic);
    let clients = std::array::from_fn(|_| client(Rc::clone(&host)));
    let make = Text::new(
        "CREATE TABLE words (id bigint PRIMARY KEY, word text NOT NULL)",
        "CREATE TABLE words (id bigint PRIMARY KEY, word varchar(64) NOT NULL) ENGINE=InnoDB",
    );
    clients[0].execute(make, &[]).await?;
    clients[0]
        .execute("INSERT INTO words (id, word) VALUES ($1, $2), ($3, $4)".into(), &[int(&1), text("one"), int(&2), text("two")])
        .await?;
    Ok((host, clients))
}

async fn word(sql: &Sql, id: i64) -> Result<String, StoreError> {
    let rows = sql.query("SELECT word FROM words WHERE id = $1".into(), &[int(&id)]).await?;
    column(&rows[0], 0)
}

const SET: Text<'_> = Text::same("UPDATE words SET word = $2 WHERE id = $1");
const INSERT: Text<'_> = Text::same("INSERT INTO words (id, word) VALUES ($1, $2)");

fn on(server: Server, test: &str, story: impl AsyncFnOnce(Database) -> Result<(), StoreError>) {
    if let Some(url) = server.address(test) {
        in_a_corner(server, &url, story);
    }
}

fn kind<T: std::fmt::Debug>(outcome: Result<T, StoreError>) -> ErrorKind {
    outcome.expect_err("an error").kind
}

/// Parameters go by their numbers, a row that holds the new value already counts, and what is no
/// such statement, no such value or a second row of one key is told apart.
async fn counts_and_errors(database: Database) -> Result<(), StoreError> {
    let (_, [sql]) = clients(database).await?;
    let params = [int(&1), text("one")];
    assert_eq!(sql.execute(SET, &params).await?, 1, "found, although nothing changed");
    assert_eq!(sql.execute(SET, &[int(&3), text("three")]).await?, 0);
    assert_eq!(aggregate(&sql.query("SELECT count(*) FROM words WHERE id = $1 OR id = $1 + 1 OR word = $2".into(), &params).await?)?, 2);
    assert_eq!(kind(sql.execute(INSERT, &params).await), ErrorKind::UniqueViolation);
    assert_eq!(kind(sql.query("SELECT missing FROM words".into(), &[]).await), ErrorKind::Rejected);
    // Whether the server or the client library finds out is a matter of the protocol.
    let too_few = kind(sql.query("SELECT word FROM words WHERE id = $1 AND word = $3".into(), &params[..1]).await);
    assert!(matches!(too_few, ErrorKind::Unusable | ErrorKind::Rejected), "{too_few:?}");
    let rows = sql.query("SELECT id, word FROM words ORDER BY id".into(), &[]).await?;
    assert_eq!((column::<i64>(&rows[1], 0)?, column::<String>(&rows[1], 1)?), (2, "two".to_owned()));
    assert_eq!(kind(column::<i64>(&rows[1], 1)), ErrorKind::Rejected);
    assert!(!sql.in_transaction());
    Ok(())
}

/// The server says whether a transaction is open, and nobody else sees it before its commit. Two
/// statements in one flight are applied both or not at all.
async fn transactions(database: Database) -> Result<(), StoreError> {
    let (_, [a, b]) = clients(database).await?;
    a.begin().await?;
    assert_eq!((a.in_transaction(), b.in_transaction()), (true, false));
    a.execute(SET, &[int(&1), text("eins")]).await?;
    assert_eq!((word(&a, 1).await?, word(&b, 1).await?), ("eins".to_owned(), "one".to_owned()));
    a.rollback().await?;
    assert_eq!((a.in_transaction(), word(&a, 1).await?), (false, "one".to_owned()));
    a.begin().await?;
    a.execute(SET, &[int(&1), text("eins")]).await?;
    a.commit().await?;
    assert_eq!((a.in_transaction(), word(&b, 1).await?), (false, "eins".to_owned()));

    let (set, insert) = ("UPDATE words SET word = $2 WHERE id = $1", "INSERT INTO words (id, word) VALUES ($1, $2)");
    a.both((insert, &[int(&3), text("drei")]), (set, &[int(&1), text("uno")])).await?;
    assert_eq!((word(&b, 1).await?, word(&b, 3).await?), ("uno".to_owned(), "drei".to_owned()));
    let twice = a.both((set, &[int(&1), text("un")]), (insert, &[int(&3), text("trois")])).await;
    assert_eq!((kind(twice), word(&b, 1).await?, a.in_transaction()), (ErrorKind::UniqueViolation, "uno".to_owned(), false));
    Ok(())
}

/// Why the unique marker is inserted with IGNORE: the other way to pass over a duplicate looks like an insertion.
async fn duplicates(database: Database) -> Result<(), StoreError> {
    let (_, [sql]) = clients(database).await?;
    let (new, old) = ([int(&3), text("three")], [int(&1), text("one")]);
    let ignoring = Text::same("INSERT IGNORE INTO words (id, word) VALUES ($1, $2)");
    let updating = Text::same("INSERT INTO words (id, word) VALUES ($1, $2) ON DUPLICATE KEY UPDATE id = id");
    assert_eq!((sql.execute(ignoring, &new).await?, sql.execute(ignoring, &old).await?), (1, 0));
    assert_eq!(sql.execute(updating, &old).await?, 1, "nothing was inserted, and one row counts as found");
    Ok(())
}

const TAKE: Returning<'_> = Returning {
    postgres: "UPDATE words SET word = $1 WHERE word <> $1 RETURNING id",
    mysql_lock: "SELECT id FROM words WHERE word <> $1 FOR UPDATE",
    mysql_update: "UPDATE words SET word = $1 WHERE word <> $1",
};

/// An UPDATE tells its rows, in a transaction that is open or in its own; and two that come at
/// the same time never both tell of the same row.
async fn rows_are_told_once(database: Database) -> Result<(), StoreError> {
    let (_, [a, b]) = clients(database).await?;
    let ids = |rows: Vec<onceproof::store::sql::Row>| rows.iter().map(|row| column::<i64>(row, 0)).collect::<Result<Vec<_>, _>>();
    a.begin().await?;
    let mut told = ids(a.returning(&TAKE, &[text("taken")]).await?)?;
    told.sort_unstable();
    assert_eq!((told, a.in_transaction()), (vec![1, 2], true), "it stays in the open transaction");
    a.rollback().await?;
    assert_eq!(word(&b, 1).await?, "one");
    for round in 0..20 {
        let word = format!("taken {round}");
        let params = [text(&word)];
        let (first, second) = tokio::join!(a.returning(&TAKE, &params), b.returning(&TAKE, &params));
        let mut told = [ids(first?)?, ids(second?)?].concat();
        told.sort_unstable();
        assert_eq!((told, a.in_transaction(), b.in_transaction()), (vec![1, 2], false, false), "round {round}");
    }
    Ok(())
}

/// A row that comes to fit between the two statements of a dialect without RETURNING undoes both.
async fn nothing_is_changed_that_is_not_told(database: Database) -> Result<(), StoreError> {
    let (_, [sql]) = clients(database).await?;
    // What the other one would do in between, the UPDATE does itself: it finds a row more than was locked.
    let wide = Returning { mysql_lock: "SELECT id FROM words WHERE word <> $1 AND id < 2 FOR UPDATE", ..TAKE };
    assert_eq!(kind(sql.returning(&wide, &[text("taken")]).await), ErrorKind::Serialization);
    assert_eq!((word(&sql, 1).await?, word(&sql, 2).await?, sql.in_transaction()), ("one".to_owned(), "two".to_owned(), false));
    Ok(())
}

/// Two transactions that wait for each other, one that waits too long, and one that has failed.
async fn waiting(database: Database) -> Result<(), StoreError> {
    let dialect = database.dialect();
    let (host, [a, b]) = clients(database).await?;
    for sql in [&a, &b] {
        sql.begin().await?;
    }
    a.execute(SET, &[int(&1), text("a")]).await?;
    b.execute(SET, &[int(&2), text("b")]).await?;
    let (of_a, of_b) = ([int(&2), text("a")], [int(&1), text("b")]);
    let (first, second) = tokio::join!(a.execute(SET, &of_a), b.execute(SET, &of_b));
    let loser = match (&first, &second) {
        (Ok(1), Err(error)) | (Err(error), Ok(1)) => error.kind,
        other => panic!("one goes on and one is sacrificed: {other:?}"),
    };
    assert_eq!(loser, ErrorKind::Deadlock);
    for sql in [&a, &b] {
        sql.rollback().await?;
        assert!(!sql.in_transaction());
    }
    let shorter = Text::new("SET lock_timeout = 100", "SET innodb_lock_wait_timeout = 1");
    b.execute(shorter, &[]).await?;
    a.begin().await?;
    a.execute(SET, &[int(&1), text("a")]).await?;
    b.begin().await?;
    assert_eq!(kind(b.execute(SET, &[int(&1), text("b")]).await), ErrorKind::LockTimeout);
    // In InnoDB only the statement has failed, in PostgreSQL the transaction.
    let after = b.execute(SET, &[int(&2), text("b")]).await;
    match dialect {
        Dialect::PostgreSql => assert_eq!(kind(after), ErrorKind::TransactionAborted),
        Dialect::MySql => assert_eq!(after, Ok(1)),
    }
    b.rollback().await?;
    // A call that is given up does not leave its connection in the middle of an answer.
    let given_up = b.execute(SET, &[int(&1), text("b")]).now_or_never();
    assert!(given_up.is_none(), "it waits for a lock");
    host.sleep(10.ms()).await;
    a.commit().await?;
    assert_eq!((word(&b, 1).await?, b.in_transaction()), ("b".to_owned(), false), "the answer before this one was another's");
    Ok(())
}

/// Whose connection dies in a transaction hears of it before anything else is done for him, and then goes on anew.
async fn a_lost_connection(database: Database) -> Result<(), StoreError> {
    let (_, [a, b]) = clients(database).await?;
    let id = Text::new("SELECT pg_backend_pid()::bigint", "SELECT connection_id()");
    let id = aggregate(&a.query(id, &[]).await?)?;
    a.begin().await?;
    a.execute(SET, &[int(&1), text("a")]).await?;
    let (postgres, mysql) = (format!("SELECT pg_terminate_backend({id})"), format!("KILL {id}"));
    b.execute(Text::new(&postgres, &mysql), &[]).await?;
    // The server's last word, if it comes through, then the silence of a closed connection, then
    // that the transaction is lost. Nothing is answered in between.
    let mut told = Vec::new();
    while told.last() != Some(&ErrorKind::TransactionAborted) {
        told.push(kind(a.execute(SET, &[int(&2), text("a")]).await));
        assert!(told.len() <= 3, "{told:?}");
    }
    assert_eq!((word(&a, 1).await?, word(&a, 2).await?, a.in_transaction()), ("one".to_owned(), "two".to_owned(), false), "after {told:?}");
    Ok(())
}

/// The database's clock, as strategies ask for it, shows what this machine's clock shows, whatever the zone.
async fn clocks(database: Database) -> Result<(), StoreError> {
    let (host, [sql]) = clients(database).await?;
    let now =
        Text::new("SELECT (extract(epoch from clock_timestamp()) * 1000)::bigint", "SELECT CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)");
    let shown = aggregate(&sql.query(now, &[]).await?)?;
    assert!((shown - host.wall().0).abs() < TIMEOUT.as_millis() as i64, "{shown} and {:?}", host.wall());
    Ok(())
}

macro_rules! on_both {
    ($($story:ident: $postgres:ident, $mariadb:ident;)*) => {
        $(
            #[test]
            fn $postgres() {
                on(POSTGRES, stringify!($postgres), $story);
            }

            #[test]
            fn $mariadb() {
                on(MARIADB, stringify!($mariadb), $story);
            }
        )*
    };
}

on_both! {
    counts_and_errors: postgres_counts_found_rows_and_tells_errors_apart, mariadb_counts_found_rows_and_tells_errors_apart;
    transactions: postgres_says_whether_a_transaction_is_open, mariadb_says_whether_a_transaction_is_open;
    rows_are_told_once: postgres_tells_the_rows_of_an_update, mariadb_tells_the_rows_of_an_update;
    waiting: postgres_waits_for_locks_and_breaks_circles, mariadb_waits_for_locks_and_breaks_circles;
    a_lost_connection: postgres_loses_a_transaction_with_its_connection, mariadb_loses_a_transaction_with_its_connection;
    clocks: postgres_shows_the_time, mariadb_shows_the_time;
}

#[test]
fn mariadb_passes_over_duplicates() {
    on(MARIADB, "mariadb_passes_over_duplicates", duplicates);
}

#[test]
fn mariadb_undoes_what_it_cannot_tell() {
    on(MARIADB, "mariadb_undoes_what_it_cannot_tell", nothing_is_changed_that_is_not_told);
}
