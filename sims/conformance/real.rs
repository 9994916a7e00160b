//! What the real servers have in common: scripts are played on them in a schema of the test's own,
//! which is gone when the test ends, however it ends.

use super::script::Script;
use onceproof::Rules;
use std::process;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::runtime::Runtime;
use tokio::task::LocalSet;

/// One kind of server.
pub trait Server: Sized {
    /// Connects to the server at `url`, to use the schema or database `name` there; tells what server it is.
    async fn open(url: &str, name: &str) -> (Self, String);

    /// Whether the server, as it is set up, prepares transactions.
    fn prepares(&self) -> bool {
        false
    }

    /// Plays a script on fresh tables.
    async fn play(&mut self, script: &Script, rules: Rules) -> String;

    /// Leaves nothing behind.
    async fn close(&mut self);
}

/// A server with the runtime that talks to it.
pub struct Real<S: Server> {
    // Before the runtime, on which its connections live.
    server: S,
    local: LocalSet,
    runtime: Runtime,
    /// Name and version.
    pub version: String,
    _alone: MutexGuard<'static, ()>,
}

/// Tests of this process play on real servers one after the other: what one holds open, another one's locks feel.
static ALONE: Mutex<()> = Mutex::new(());

impl<S: Server> Real<S> {
    /// `test` becomes a part of the schema's name.
    pub fn open(url: &str, test: &str) -> Real<S> {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let local = LocalSet::new();
        let name = format!("onceproof_{test}_{}", process::id());
        let (server, version) = local.block_on(&runtime, S::open(url, &name));
        Real { server, local, runtime, version, _alone: alone }
    }

    /// Whether it prepares transactions.
    pub fn prepares(&self) -> bool {
        self.server.prepares()
    }

    pub fn play(&mut self, script: &Script, rules: Rules) -> String {
        self.local.block_on(&self.runtime, self.server.play(script, rules))
    }
}

impl<S: Server> Drop for Real<S> {
    fn drop(&mut self) {
        self.local.block_on(&self.runtime, self.server.close());
    }
}
