//! A real MariaDB, its tables in InnoDB.

use super::answer::{Answer, Class};
use super::play::{Ask, Sessions, Watch, Words, committed, play};
use super::real::Server;
use super::script::Script;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Error, Opts, OptsBuilder, Row, Value};
use onceproof::Rules;
use std::collections::BTreeSet;
use std::time::Duration;

/// Between two looks at who waits.
const LOOK: Duration = Duration::from_millis(3);

impl Ask for Conn {
    async fn ask(&mut self, sql: &str) -> Answer {
        let answer = async {
            let mut result = self.query_iter(sql).await?;
            let columns = !result.columns_ref().is_empty();
            let count = result.affected_rows();
            let rows: Vec<Row> = result.collect().await?;
            result.drop_result().await?;
            Ok(if columns { Answer::Rows(rows.into_iter().map(texts).collect()) } else { Answer::counted(sql, count) })
        };
        match answer.await {
            Ok(answer) => answer,
            Err(Error::Server(error)) => Answer::Failed(Class::of_errno(error.code)),
            Err(error) => panic!("`{sql}` lost its connection: {error}"),
        }
    }
}

fn texts(row: Row) -> Vec<Option<String>> {
    let text = |value| match value {
        Value::NULL => None,
        Value::Bytes(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        other => Some(other.as_sql(true)),
    };
    row.unwrap().into_iter().map(text).collect()
}

/// A server, and a database on it that nobody else uses.
pub struct MariaDb {
    opts: Opts,
    monitor: Conn,
    database: String,
    /// The server has snapshot isolation, which classic InnoDB has not.
    snapshot_isolation: bool,
}

impl MariaDb {
    async fn session(&self, rules: Rules, waits: bool) -> Conn {
        let level = match rules {
            Rules::InnodbReadCommitted => "READ COMMITTED",
            Rules::InnodbRepeatableRead => "REPEATABLE READ",
            Rules::PostgresReadCommitted | Rules::PostgresRepeatableRead | Rules::PostgresSerializable => {
                unreachable!("{} are not InnoDB's", rules.name())
            }
        };
        let mut settings = vec![
            format!("USE {}", self.database),
            format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}"),
            format!("SET SESSION innodb_lock_wait_timeout = {}", if waits { 1 } else { 50 }),
        ];
        if self.snapshot_isolation {
            settings.push("SET SESSION innodb_snapshot_isolation = OFF".to_owned());
        }
        let mut conn = Conn::new(self.opts.clone()).await.expect("a session");
        for sql in settings {
            conn.query_drop(sql).await.expect("a setting");
        }
        conn
    }
}

impl Server for MariaDb {
    async fn open(url: &str, name: &str) -> (MariaDb, String) {
        let opts = Opts::from_url(url).expect("ONCEPROOF_MARIADB is a URL: mysql://user@host:port/database");
        // As strategies ask for: an UPDATE counts the rows that it finds.
        let opts: Opts = OptsBuilder::from_opts(opts).client_found_rows(true).into();
        let mut monitor = Conn::new(opts.clone()).await.unwrap_or_else(|error| panic!("MariaDB: {error}"));
        monitor.query_drop("SET SESSION lock_wait_timeout = 20").await.expect("a setting");
        let version: String = monitor.query_first("SELECT version()").await.expect("an answer").expect("a server has a version");
        let snapshot: Option<Row> = monitor.query_first("SHOW VARIABLES LIKE 'innodb_snapshot_isolation'").await.expect("an answer");
        let server = MariaDb { opts, monitor, database: name.to_owned(), snapshot_isolation: snapshot.is_some() };
        (server, format!("MariaDB {}", version.split('-').next().unwrap_or_default()))
    }

    async fn play(&mut self, script: &Script, rules: Rules) -> String {
        let database = self.database.clone();
        for sql in [format!("DROP DATABASE IF EXISTS {database}"), format!("CREATE DATABASE {database}")] {
            self.monitor.query_drop(sql).await.expect("a fresh database");
        }
        let mut observer = self.session(Rules::InnodbRepeatableRead, false).await;
        for sql in &script.setup {
            observer.query_drop(sql).await.unwrap_or_else(|error| panic!("{}: `{sql}`: {error}", script.name));
        }
        let (mut sessions, mut threads, mut ends) = (Sessions::new(), Vec::new(), Vec::new());
        for _ in 0..script.sessions() {
            let conn = self.session(rules, script.waits()).await;
            threads.push(conn.id());
            ends.push(tokio::task::spawn_local(sessions.join(conn)));
        }
        let mut watch = Waiting { monitor: &mut self.monitor, threads, last: BTreeSet::new() };
        let mut said = play(script, Words::MySql, sessions, &mut watch).await;
        said += &committed(script, &mut observer).await;
        observer.disconnect().await.expect("a session ends");
        for end in ends {
            end.await.expect("a session ends with its script");
        }
        said
    }

    async fn close(&mut self) {
        self.monitor.query_drop(format!("DROP DATABASE IF EXISTS {}", self.database)).await.expect("the database is dropped");
    }
}

/// Asks the server who waits for a lock.
struct Waiting<'a> {
    monitor: &'a mut Conn,
    /// The sessions' numbers on the server.
    threads: Vec<u32>,
    /// Who waited at the last look.
    last: BTreeSet<u32>,
}

/// The threads that wait for a lock, in the status of InnoDB.
fn waiting(status: &str) -> BTreeSet<u32> {
    let transactions = status.split("---TRANSACTION ").skip(1).filter(|text| text.lines().any(|line| line.starts_with("LOCK WAIT ")));
    transactions.filter_map(|text| text.split_once(" thread id ")?.1.split(',').next()?.parse().ok()).collect()
}

#[expect(clippy::disallowed_methods, reason = "a real server runs on real time")]
impl Watch for Waiting<'_> {
    const LOOKS: u32 = 2;

    async fn moment(&self) {
        tokio::time::sleep(LOOK).await;
    }

    /// `information_schema.innodb_trx` tells the same, but only anew after nobody has looked for a tenth of a second.
    async fn look(&mut self, sessions: &BTreeSet<usize>) -> bool {
        let status: Option<Row> = self.monitor.query_first("SHOW ENGINE INNODB STATUS").await.expect("the server tells its status");
        let text: String = status.and_then(|row| row.get("Status")).expect("a status is a text");
        let mut now = waiting(&text);
        now.retain(|thread| self.threads.contains(thread));
        let stays = now == self.last && sessions.iter().all(|session| now.contains(&self.threads[*session]));
        self.last = now;
        stays
    }

    async fn pass_time(&mut self) {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_tells_who_waits() {
        let status = "LIST OF TRANSACTIONS FOR EACH SESSION:\n---TRANSACTION 22, ACTIVE 1 sec starting index read\n\
                      mysql tables in use 1, locked 1\nLOCK WAIT 2 lock struct(s), heap size 1128, 1 row lock(s)\n\
                      MariaDB thread id 12, OS thread handle 13, query id 27 127.0.0.1 root Updating\nupdate t set v=3\n\
                      ---TRANSACTION 21, ACTIVE 1 sec\n2 lock struct(s), heap size 1128, 2 row lock(s)\n\
                      MariaDB thread id 11, OS thread handle 14, query id 24 127.0.0.1 root User sleep\n";
        assert_eq!(waiting(status), BTreeSet::from([12]));
    }
}
