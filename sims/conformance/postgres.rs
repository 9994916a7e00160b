//! A real PostgreSQL.

use super::answer::Answer;
use super::play::{Ask, Sessions, Watch, Words, committed, play};
use super::real::Server;
use super::script::Script;
use super::simulated::connect;
use onceproof::Rules;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_postgres::config::Host;
use tokio_postgres::{Client, Config};

/// The server looks for deadlocks after this long: soon, so that whoever closes a circle is the one who finds it.
const DEADLOCK_TIMEOUT: &str = "1ms";
/// Between two looks at who waits for whom.
const LOOK: Duration = Duration::from_millis(4);

/// A server, and a schema on it that nobody else uses.
pub struct Postgres {
    config: Config,
    address: String,
    monitor: Client,
    schema: String,
    /// Its `max_prepared_transactions` is above 0.
    prepares: bool,
}

impl Postgres {
    async fn session(&self, rules: Rules, patience: &str) -> (Client, i32, JoinHandle<()>) {
        let (client, driver) = enter(&self.config, &self.address).await;
        let level = match rules {
            Rules::PostgresReadCommitted => "read committed",
            Rules::PostgresRepeatableRead => "repeatable read",
            Rules::PostgresSerializable => "serializable",
            Rules::InnodbReadCommitted | Rules::InnodbRepeatableRead => unreachable!("{} are not PostgreSQL's", rules.name()),
        };
        let settings = format!(
            "SET search_path = {}; SET default_transaction_isolation = '{level}'; SET lock_timeout = '{patience}'; \
             SET deadlock_timeout = '{DEADLOCK_TIMEOUT}'",
            self.schema
        );
        client.batch_execute(&settings).await.expect("a superuser, for deadlock_timeout");
        let pid = client.query_one("SELECT pg_backend_pid()", &[]).await.expect("a backend").get(0);
        (client, pid, driver)
    }
}

async fn enter(config: &Config, address: &str) -> (Client, JoinHandle<()>) {
    let stream = TcpStream::connect(address).await.unwrap_or_else(|error| panic!("PostgreSQL at {address}: {error}"));
    // Statements are answered one by one: nothing may wait for more to send.
    stream.set_nodelay(true).expect("a socket");
    connect(stream, &mut config.clone()).await
}

impl Server for Postgres {
    async fn open(url: &str, name: &str) -> (Postgres, String) {
        let config: Config = url.parse().expect("ONCEPROOF_POSTGRES is a URL: postgres://user@host:port/database");
        let Some(Host::Tcp(host)) = config.get_hosts().first() else { panic!("ONCEPROOF_POSTGRES names a TCP host") };
        let address = format!("{host}:{}", config.get_ports().first().unwrap_or(&5432));
        let (mut monitor, _) = enter(&config, &address).await;
        monitor.batch_execute("SET lock_timeout = '20s'").await.expect("a setting");
        let Answer::Rows(version) = monitor.ask("SHOW server_version").await else { panic!("a server has a version") };
        let version = version[0][0].as_deref().and_then(|text| text.split(' ').next()).unwrap_or_default().to_owned();
        let Answer::Rows(limit) = monitor.ask("SHOW max_prepared_transactions").await else { panic!("a server has limits") };
        let prepares = limit[0][0].as_deref() != Some("0");
        if !prepares {
            println!("scripts of prepared transactions are not played: the server's max_prepared_transactions is 0");
        }
        (Postgres { prepares, config, address, monitor, schema: name.to_owned() }, format!("PostgreSQL {version}"))
    }

    fn prepares(&self) -> bool {
        self.prepares
    }

    async fn play(&mut self, script: &Script, rules: Rules) -> String {
        let schema = &self.schema;
        let fresh = format!("DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}");
        self.monitor.batch_execute(&fresh).await.expect("a fresh schema");
        let patience = if script.waits() { "1s" } else { "0" };
        let (mut observer, _, driver) = self.session(Rules::PostgresReadCommitted, patience).await;
        for sql in &script.setup {
            observer.batch_execute(sql).await.unwrap_or_else(|error| panic!("{}: `{sql}`: {error}", script.name));
        }
        let (mut sessions, mut pids, mut ends) = (Sessions::new(), Vec::new(), vec![driver]);
        for _ in 0..script.sessions() {
            let (client, pid, driver) = self.session(rules, patience).await;
            pids.push(pid);
            tokio::task::spawn_local(sessions.join(client));
            ends.push(driver);
        }
        let mut watch = Blocking { monitor: &self.monitor, pids, last: BTreeMap::new() };
        let mut said = play(script, Words::PostgreSql, sessions, &mut watch).await;
        said += &committed(script, &mut observer).await;
        drop(observer);
        for end in ends {
            end.await.expect("a driver ends with its client");
        }
        said
    }

    async fn close(&mut self) {
        let sql = format!("DROP SCHEMA IF EXISTS {} CASCADE", self.schema);
        self.monitor.batch_execute(&sql).await.expect("the schema is dropped");
    }
}

/// Asks the server who waits for whom.
struct Blocking<'a> {
    monitor: &'a Client,
    pids: Vec<i32>,
    /// Who waited for whom at the last look, by process.
    last: BTreeMap<i32, Vec<i32>>,
}

/// Whether somebody waits for himself: the server will see it and fail one of them.
fn circle(blocked: &BTreeMap<i32, Vec<i32>>) -> bool {
    let from = |start: i32| {
        let (mut seen, mut next) = (BTreeSet::new(), blocked[&start].clone());
        while let Some(pid) = next.pop() {
            if seen.insert(pid) {
                next.extend(blocked.get(&pid).into_iter().flatten());
            }
        }
        seen.contains(&start)
    };
    blocked.keys().any(|pid| from(*pid))
}

#[expect(clippy::disallowed_methods, reason = "a real server runs on real time")]
impl Watch for Blocking<'_> {
    // Longer than the deadlock timeout: who waits now has looked for a circle already, and will not look again.
    const LOOKS: u32 = 3;

    async fn moment(&self) {
        tokio::time::sleep(LOOK).await;
    }

    async fn look(&mut self, waiting: &BTreeSet<usize>) -> bool {
        const SQL: &str = "SELECT pid, pg_blocking_pids(pid) FROM unnest($1::int4[]) pid";
        let rows = self.monitor.query(SQL, &[&self.pids]).await.expect("the server tells who waits");
        let now: BTreeMap<i32, Vec<i32>> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
        let all = waiting.iter().all(|session| now.get(&self.pids[*session]).is_some_and(|by| !by.is_empty()));
        let stays = now == self.last && all && !circle(&now);
        self.last = now;
        stays
    }

    async fn pass_time(&mut self) {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
