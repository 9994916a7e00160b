//! A corner of a real database server: a schema or a database that one test makes, uses and drops.

use crate::real;
use futures_util::FutureExt;
use onceproof::host::{Database, Dialect, Host, within};
use onceproof::id::HostId;
use onceproof::real::Network;
use onceproof::seed::Seed;
use onceproof::store::{Sql, StoreError};
use onceproof::time::Span;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::process;
use std::rc::Rc;
use std::time::Duration;

/// How long one story may take.
const LIMIT: Duration = Duration::from_secs(20);
/// How long a client waits for an answer.
pub const TIMEOUT: Duration = Duration::from_secs(5);

/// A kind of server.
#[derive(Clone, Copy, Debug)]
pub struct Server {
    pub dialect: Dialect,
    variable: &'static str,
}

pub const POSTGRES: Server = Server { dialect: Dialect::PostgreSql, variable: "ONCEPROOF_POSTGRES" };
pub const MARIADB: Server = Server { dialect: Dialect::MySql, variable: "ONCEPROOF_MARIADB" };

impl Server {
    /// Where it is, if it is anywhere.
    pub fn address(self, test: &str) -> Option<String> {
        real::address(self.variable, test)
    }

    fn database(self, url: &str) -> Database {
        match self.dialect {
            Dialect::PostgreSql => Database::PostgreSql { login: Some(url.into()) },
            Dialect::MySql => Database::MySql { url: url.into() },
        }
    }

    /// The same server, with the corner for a default.
    fn corner(self, url: &str, name: &str) -> String {
        match self.dialect {
            Dialect::PostgreSql => format!("{url}{}options=-c%20search_path%3D{name}", if url.contains('?') { '&' } else { '?' }),
            Dialect::MySql => {
                let (scheme, rest) = url.split_once("://").expect("a URL");
                format!("{scheme}://{}/{name}", rest.split('/').next().unwrap_or_default())
            }
        }
    }
}

/// A client for the tests themselves.
pub fn client(host: Rc<dyn Host>) -> Sql {
    Sql::new(host, TIMEOUT)
}

/// Runs `story` in a corner of its own, which is gone afterwards, and only then looks at what it came to.
///
/// # Panics
/// The server does not do as it is told, or the story takes too long.
pub fn in_a_corner<T>(server: Server, url: &str, story: impl AsyncFnOnce(Database) -> Result<T, StoreError>) -> T {
    thread_local!(static COUNT: Cell<u32> = const { Cell::new(0) });
    let number = COUNT.replace(COUNT.get() + 1);
    // Tests run on threads of one process, and other processes run them too.
    let thread: String = format!("{:?}", std::thread::current().id()).chars().filter(char::is_ascii_digit).collect();
    let name = format!("onceproof_{}_{thread}_{number}", process::id());
    in_real_time(async {
        let admin = Rc::new(Network::new(Seed(1), server.database(url)).expect("a URL with a host")).host(HostId::Traffic);
        let sql = client(admin.clone());
        let (make, drop) = match server.dialect {
            Dialect::PostgreSql => (format!("CREATE SCHEMA {name}"), format!("DROP SCHEMA {name} CASCADE")),
            Dialect::MySql => (format!("CREATE DATABASE {name}"), format!("DROP DATABASE {name}")),
        };
        sql.execute(make.as_str().into(), &[]).await.expect("a corner can be made");
        let story = AssertUnwindSafe(story(server.database(&server.corner(url, &name)))).catch_unwind();
        let told = within(&*admin, LIMIT, story).await;
        // Connections of the story may still be on their way out, with locks.
        let mut dropped = sql.execute(drop.as_str().into(), &[]).await;
        for _ in 0..3 {
            if dropped.is_ok() {
                break;
            }
            admin.sleep(100.ms()).await;
            dropped = sql.execute(drop.as_str().into(), &[]).await;
        }
        match told.expect("the story ends in time") {
            Ok(told) => {
                dropped.expect("the corner can be dropped");
                told.expect("the server does as it is told")
            }
            Err(panic) => resume_unwind(panic),
        }
    })
}

/// Runs `work` on real sockets and timers.
pub fn in_real_time<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    tokio::task::LocalSet::new().block_on(&runtime, work)
}
