//! What belongs to one process of a node. A strategy is shared by all nodes of all runs, so
//! nothing of this can live in it; and a process that is started again has it anew.

use crate::host::Host;
use std::cell::OnceCell;
use std::rc::Rc;
use tokio::sync::{Mutex, MutexGuard};

/// The memory of one process.
pub struct Process {
    host: Rc<dyn Host>,
    id: OnceCell<u64>,
    mutex: Mutex<()>,
}

impl Process {
    /// A process that has just started.
    pub(super) fn new(host: Rc<dyn Host>) -> Process {
        Process { host, id: OnceCell::new(), mutex: Mutex::default() }
    }

    /// A number of its own, drawn when it is first asked for: a process that never asks draws nothing.
    pub fn id(&self) -> u64 {
        *self.id.get_or_init(|| self.host.random())
    }

    /// Waits for the one mutex of this process. No other process knows of it.
    pub async fn lock(&self) -> MutexGuard<'_, ()> {
        self.mutex.lock().await
    }
}
