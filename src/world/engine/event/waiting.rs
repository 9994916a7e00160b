//! Somebody who waits for something. The waker is kept after it woke: who waits again is mostly
//! the same task, and comparing two wakers is cheaper than cloning one.

use std::task::Waker;

/// A place for one waiting task.
#[derive(Default)]
pub(super) struct Waiting {
    waker: Option<Waker>,
    /// The task waits now; if not, `waker` is only of old.
    now: bool,
}

impl Waiting {
    /// This task waits from now on, and nobody else.
    pub(super) fn wait(&mut self, waker: &Waker) {
        match &mut self.waker {
            Some(known) => known.clone_from(waker),
            None => self.waker = Some(waker.clone()),
        }
        self.now = true;
    }

    /// Wakes the task, if one waits.
    pub(super) fn wake(&mut self) {
        if std::mem::take(&mut self.now)
            && let Some(waker) = &self.waker
        {
            waker.wake_by_ref();
        }
    }

    /// Nobody waits any more.
    pub(super) fn forget(&mut self) {
        self.now = false;
    }
}
