//! Whether a slow command keeps the store busy.

use crate::host::Host;
use crate::id::{FaultId, HostId};
use crate::trace::Event;
use std::cell::RefCell;
use tokio::sync::Notify;

/// The slow commands that are being carried out. The store has one thread: while there are any,
/// every other request waits, and it is carried out, with whatever it finds, when they are over.
#[derive(Debug, Default)]
pub struct Busy {
    with: RefCell<Vec<FaultId>>,
    over: Notify,
}

impl Busy {
    /// A slow command begins.
    pub fn begin(&self, with: FaultId) {
        self.with.borrow_mut().push(with);
    }

    /// It is over; false if its process has died meanwhile, and it with it.
    pub fn end(&self, with: FaultId) -> bool {
        let mut all = self.with.borrow_mut();
        let before = all.len();
        all.retain(|command| *command != with);
        if all.is_empty() {
            self.over.notify_waiters();
        }
        all.len() < before
    }

    /// A new process has no commands yet.
    pub(super) fn clear(&self) {
        self.with.borrow_mut().clear();
    }

    /// The faults that keep the store busy.
    pub fn with(&self) -> Vec<FaultId> {
        self.with.borrow().clone()
    }

    /// Lets a request of `by` wait until the store has time for it.
    pub(super) async fn wait(&self, host: &dyn Host, by: HostId) {
        if self.with.borrow().is_empty() {
            return;
        }
        host.record(Event::Waited { by });
        while !self.with.borrow().is_empty() {
            self.over.notified().await;
        }
    }
}
