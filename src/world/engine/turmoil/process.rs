//! A process of a host: its tasks, each behind a gate that it passes only while the process may run.

use super::Turmoil;
use crate::id::HostId;
use crate::world::contain;
use futures_util::future::LocalBoxFuture;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// Whose code a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The process's own: it stops when the process is paused.
    Application,
    /// What a kernel does for a process: it goes on while the process is paused.
    Kernel,
}

/// One incarnation of the software of a host.
pub(super) struct Process {
    pub(super) host: HostId,
    pub(super) dead: Cell<bool>,
    pub(super) paused: Cell<bool>,
    tasks: RefCell<BTreeMap<u64, Rc<TaskCell>>>,
    started: Cell<u64>,
}

/// The place of a task's future. Only its gate polls it, only its host's kernel, or the gate, drops it.
pub(super) struct TaskCell {
    number: u64,
    kind: Kind,
    future: RefCell<Option<LocalBoxFuture<'static, ()>>>,
    waker: RefCell<Option<Waker>>,
    aborted: Cell<bool>,
}

impl Process {
    pub(super) fn new(host: HostId) -> Process {
        Process { host, dead: Cell::default(), paused: Cell::default(), tasks: RefCell::default(), started: Cell::default() }
    }

    pub(super) fn add(&self, kind: Kind, future: LocalBoxFuture<'static, ()>) -> Rc<TaskCell> {
        let number = self.started.replace(self.started.get() + 1);
        let future = RefCell::new(Some(future));
        let task = Rc::new(TaskCell { number, kind, future, waker: RefCell::default(), aborted: Cell::default() });
        self.tasks.borrow_mut().insert(number, task.clone());
        task
    }

    /// Drops all tasks. Called inside the host, where what they drop can still be said to the network.
    pub(super) fn end(&self) {
        for task in self.tasks.take().into_values() {
            task.end();
        }
    }

    /// Drops one task, inside the host.
    pub(super) fn end_task(&self, task: &TaskCell) {
        self.tasks.borrow_mut().remove(&task.number);
        task.end();
    }

    /// Schedules all tasks again, those first that started first.
    pub(super) fn wake_all(&self) {
        for task in self.tasks.borrow().values() {
            task.wake();
        }
    }
}

impl TaskCell {
    /// From now on the task is not polled any more.
    pub(super) fn abort(&self) {
        self.aborted.set(true);
    }

    fn end(&self) {
        let future = self.future.take();
        // A destructor that panics while its process is killed has nobody left to tell.
        let _ = contain(|| drop(future));
        self.wake();
    }

    fn wake(&self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

/// What turmoil's runtime polls in place of a task.
pub(super) struct Gate {
    pub(super) engine: Rc<Turmoil>,
    pub(super) process: Rc<Process>,
    pub(super) task: Rc<TaskCell>,
}

impl Future for Gate {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Gate { engine, process, task } = &*self;
        // Whoever opens the gate, or ends the task, wakes it.
        *task.waker.borrow_mut() = Some(cx.waker().clone());
        let parked = process.paused.get() && task.kind == Kind::Application;
        if process.dead.get() || parked || task.aborted.get() {
            return if task.future.borrow().is_none() { Poll::Ready(()) } else { Poll::Pending };
        }
        if !engine.admit_poll() {
            return Poll::Pending;
        }
        let Some(mut future) = task.future.take() else { return Poll::Ready(()) };
        let polled = engine.inside(process.host, || {
            contain(|| {
                let pending = future.as_mut().poll(cx).is_pending();
                // A finished or aborted future is dropped here, so that a destructor that panics is caught too.
                (pending && !task.aborted.get()).then_some(future)
            })
        });
        let next = match polled {
            Ok(Some(future)) => {
                *task.future.borrow_mut() = Some(future);
                Poll::Pending
            }
            Ok(None) => {
                process.end_task(task);
                Poll::Ready(())
            }
            Err(message) => {
                process.end_task(task);
                engine.panicked(process.host, message);
                Poll::Ready(())
            }
        };
        engine.after_poll(process.host);
        next
    }
}
