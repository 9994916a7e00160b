//! The simulated server, asked over its wire by tokio-postgres, on virtual time.

use super::answer::{Answer, Class};
use super::play::{Ask, Sessions, Watch, Words, committed, play};
use super::script::Script;
use crate::pipes::PipeHost;
use onceproof::Rules;
use onceproof::id::HostId;
use onceproof::scenario::DatabaseKnobs;
use onceproof::world::servers::postgres::{Database, DatabaseSetup, serve};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;
use tokio_postgres::config::SslMode;
use tokio_postgres::{Client, Config, NoTls, SimpleQueryMessage};

/// Longer than a message is under way, and much shorter than anybody's patience.
const QUIET: Duration = Duration::from_millis(100);

impl Ask for Client {
    async fn ask(&mut self, sql: &str) -> Answer {
        let messages = match self.simple_query(sql).await {
            Ok(messages) => messages,
            Err(error) => {
                let state = error.code().unwrap_or_else(|| panic!("`{sql}` lost its connection: {error}"));
                return Answer::Failed(Class::of_sqlstate(state.code()));
            }
        };
        let (mut rows, mut columns, mut count) = (Vec::new(), false, 0);
        for message in messages {
            match message {
                SimpleQueryMessage::RowDescription(_) => columns = true,
                SimpleQueryMessage::Row(row) => rows.push((0..row.len()).map(|i| row.get(i).map(str::to_owned)).collect()),
                SimpleQueryMessage::CommandComplete(changed) => count = changed,
                _ => {}
            }
        }
        if columns { Answer::Rows(rows) } else { Answer::counted(sql, count) }
    }
}

/// Nothing happens in virtual time unless it is due: whoever has no answer after a while waits for somebody.
struct Virtual;

#[expect(clippy::disallowed_methods, reason = "virtual time: the server runs on a paused clock")]
impl Watch for Virtual {
    const LOOKS: u32 = 1;

    async fn moment(&self) {
        tokio::time::sleep(QUIET).await;
    }

    async fn look(&mut self, _: &BTreeSet<usize>) -> bool {
        true
    }

    async fn pass_time(&mut self) {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// A session over `stream`, and the task that drives it.
pub async fn connect(stream: impl AsyncRead + AsyncWrite + Unpin + 'static, config: &mut Config) -> (Client, JoinHandle<()>) {
    let (client, driver) = config.ssl_mode(SslMode::Disable).connect_raw(stream, NoTls).await.expect("a session");
    (client, tokio::task::spawn_local(async { drop(driver.await) }))
}

/// Plays a script on the simulated server.
pub fn simulate(script: &Script, rules: Rules) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime");
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let ever = Duration::from_hours(1);
        let lock_timeout = if script.waits() { Duration::from_secs(1) } else { ever };
        let knobs = DatabaseKnobs { rules, lock_timeout, idle_in_transaction_timeout: ever, ..DatabaseKnobs::default() };
        let tables: Vec<&'static str> = script.setup.iter().map(|sql| &*sql.clone().leak()).collect();
        let setup = DatabaseSetup { players: 0, unique_marker: true, tasks: Vec::new(), knobs, tables: tables.leak() };
        let (host, door) = PipeHost::new(HostId::Database);
        tokio::task::spawn_local(serve(Rc::new(host), Database::new(&setup)));
        let enter = async |node| {
            let (client, _) = connect(door.connect(HostId::node(node)), Config::new().user("onceproof")).await;
            client
        };
        let mut sessions = Sessions::new();
        for node in 0..script.sessions() {
            let session = sessions.join(enter(u8::try_from(node).expect("few sessions")).await);
            tokio::task::spawn_local(session);
        }
        let said = play(script, Words::PostgreSql, sessions, &mut Virtual).await;
        said + &committed(script, &mut enter(u8::MAX).await).await
    })
}
