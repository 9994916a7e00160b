//! What faults make the database do to its clients: refuse a commit, end a session, find a client gone.

use super::isolation::SessionId;
use crate::id::{FaultId, HostId};
use crate::time::SimTime;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};
use tokio::sync::Notify;

/// Trouble that is ordered, and trouble that was made.
#[derive(Debug, Default)]
pub struct Trouble {
    /// Whose next commit is refused.
    refusals: RefCell<Vec<(HostId, FaultId)>>,
    sessions: RefCell<BTreeMap<SessionId, Ending>>,
    /// The faults that somebody has just felt.
    struck: RefCell<Vec<FaultId>>,
}

/// How a session is told to end.
#[derive(Debug)]
struct Ending {
    by: HostId,
    told: Rc<Notify>,
    fault: Option<FaultId>,
    line: Rc<Line>,
}

/// What the server's kernel knows of a client's connection.
#[derive(Debug)]
pub struct Line {
    /// When something came from the client last.
    pub(in crate::world) heard: Cell<SimTime>,
    /// Somebody looks whether the client is still there.
    pub(in crate::world) doubted: Cell<bool>,
    /// Notified when the connection is given up.
    pub(in crate::world) gone: Notify,
}

impl Trouble {
    /// The next commit of a host that changes something is refused.
    pub(in crate::world) fn refuse_commit(&self, host: HostId, fault: FaultId) {
        self.refusals.borrow_mut().push((host, fault));
    }

    /// All sessions of a host end.
    pub(in crate::world) fn end_sessions(&self, host: HostId, fault: FaultId) {
        for ending in self.sessions.borrow_mut().values_mut().filter(|ending| ending.by == host) {
            ending.fault = Some(fault);
            ending.told.notify_one();
        }
    }

    /// The connections of a host.
    pub(in crate::world) fn lines_of(&self, host: HostId) -> Vec<Weak<Line>> {
        self.sessions.borrow().values().filter(|ending| ending.by == host).map(|ending| Rc::downgrade(&ending.line)).collect()
    }

    /// The faults whose trouble was made since this was last asked.
    pub(in crate::world) fn take_struck(&self) -> Vec<FaultId> {
        self.struck.take()
    }

    /// Whether a commit of a host is to be refused: once for each order.
    pub(super) fn refuses(&self, host: HostId) -> bool {
        let mut refusals = self.refusals.borrow_mut();
        let Some(at) = refusals.iter().position(|(whose, _)| *whose == host) else { return false };
        self.struck.borrow_mut().push(refusals.remove(at).1);
        true
    }

    /// A session begins; the first of what it gets back is notified when it has to end.
    pub(super) fn connected(&self, session: SessionId, by: HostId, now: SimTime) -> (Rc<Notify>, Rc<Line>) {
        let told = Rc::<Notify>::default();
        let line = Rc::new(Line { heard: Cell::new(now), doubted: Cell::new(false), gone: Notify::new() });
        let ending = Ending { by, told: Rc::clone(&told), fault: None, line: Rc::clone(&line) };
        self.sessions.borrow_mut().insert(session, ending);
        (told, line)
    }

    /// A session ends because it was told to, in the middle of something.
    pub(super) fn ended(&self, session: SessionId) {
        let fault = self.sessions.borrow().get(&session).and_then(|ending| ending.fault);
        self.struck.borrow_mut().extend(fault);
    }

    /// A session is over.
    pub(super) fn left(&self, session: SessionId) {
        self.sessions.borrow_mut().remove(&session);
    }
}
