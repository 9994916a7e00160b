//! Tasks, and who may be polled next. A task is a boxed future in a slot; its waker puts its key
//! in the ready queue, from which the seed picks. Tasks of a paused host are parked instead.

use crate::id::HostId;
use crate::seed::Rng;
use futures_util::future::LocalBoxFuture;
use rand::RngExt;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use tokio::task::coop::{Unconstrained, unconstrained};

/// A task, safe against the reuse of its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TaskKey {
    slot: u32,
    generation: u32,
}

/// The ready queue of the run on this thread. Wakers must be `Send`, the queue need not be:
/// a wake from another thread, or after the run, finds another queue and does nothing.
struct Ready {
    run: u64,
    keys: VecDeque<TaskKey>,
}

thread_local! {
    static READY: RefCell<Ready> = const { RefCell::new(Ready { run: 0, keys: VecDeque::new() }) };
}

struct TaskWaker {
    run: u64,
    key: TaskKey,
    /// In the ready queue, or parked: further wakes change nothing. Only the run's thread touches it.
    queued: AtomicBool,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let _ = READY.try_with(|ready| {
            let mut ready = ready.borrow_mut();
            if ready.run == self.run && !self.queued.load(Ordering::Relaxed) {
                self.queued.store(true, Ordering::Relaxed);
                ready.keys.push_back(self.key);
            }
        });
    }
}

/// What is taken out of a slot while the task is polled.
pub(super) struct Body {
    // Without a budget: tokio's would make a busy task see `Pending` where there is data, and nobody would wake it.
    future: Unconstrained<LocalBoxFuture<'static, ()>>,
    waker: Waker,
    flag: Arc<TaskWaker>,
    host: HostId,
}

impl Body {
    /// The host on which the task runs.
    pub(super) fn host(&self) -> HostId {
        self.host
    }

    pub(super) fn poll(&mut self) -> Poll<()> {
        let future = std::pin::Pin::new(&mut self.future);
        future.poll(&mut Context::from_waker(&self.waker))
    }
}

struct Slot {
    generation: u32,
    host: HostId,
    state: State,
}

enum State {
    Free,
    Idle(Body),
    /// Its body is out to be polled.
    Running,
    /// Killed by itself: to be dropped as soon as its poll ends.
    Doomed,
}

/// Whether a host's tasks are polled.
#[derive(Default)]
struct Lane {
    paused: bool,
    parked: Vec<TaskKey>,
}

/// All tasks of a run.
pub(super) struct Executor {
    run: u64,
    pub(super) rng: Rng,
    slots: Vec<Slot>,
    free: Vec<u32>,
    lanes: Vec<Lane>,
}

impl Executor {
    /// Also makes the ready queue of this thread this run's.
    pub(super) fn new(run: u64, rng: Rng) -> Executor {
        READY.with(|ready| {
            let mut ready = ready.borrow_mut();
            ready.run = run;
            ready.keys.clear();
        });
        Executor { run, rng, slots: Vec::with_capacity(32), free: Vec::new(), lanes: Vec::new() }
    }

    fn lane(&mut self, host: HostId) -> &mut Lane {
        if self.lanes.len() <= host.index() {
            self.lanes.resize_with(host.index() + 1, Lane::default);
        }
        &mut self.lanes[host.index()]
    }

    pub(super) fn spawn(&mut self, host: HostId, task: LocalBoxFuture<'static, ()>) -> TaskKey {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { generation: 0, host, state: State::Free });
            (self.slots.len() - 1) as u32
        });
        let place = &mut self.slots[slot as usize];
        let key = TaskKey { slot, generation: place.generation };
        let flag = Arc::new(TaskWaker { run: self.run, key, queued: AtomicBool::new(false) });
        place.host = host;
        place.state = State::Idle(Body { future: unconstrained(task), waker: flag.clone().into(), flag: flag.clone(), host });
        flag.wake();
        key
    }

    /// Takes the task that is polled next out of its slot, and with it the right to be woken again.
    pub(super) fn take_ready(&mut self) -> Option<(TaskKey, Body)> {
        loop {
            let key = self.pop_ready()?;
            let Some(slot) = self.slots.get_mut(key.slot as usize).filter(|slot| slot.generation == key.generation) else { continue };
            let host = slot.host;
            if let Some(lane) = self.lanes.get_mut(host.index())
                && lane.paused
            {
                // It stays `queued`, so that later wakes do not park it twice.
                lane.parked.push(key);
                continue;
            }
            match std::mem::replace(&mut slot.state, State::Running) {
                State::Idle(body) => {
                    body.flag.queued.store(false, Ordering::Relaxed);
                    return Some((key, body));
                }
                State::Free | State::Running | State::Doomed => unreachable!("a slot of this generation is idle between polls"),
            }
        }
    }

    fn pop_ready(&mut self) -> Option<TaskKey> {
        READY.with(|ready| {
            let keys = &mut ready.borrow_mut().keys;
            if keys.len() > 1 {
                let picked = self.rng.random_range(0..keys.len() as u32);
                keys.swap(0, picked as usize);
            }
            keys.pop_front()
        })
    }

    /// Puts a task back that is not done. Gives it back, to be dropped outside, if it was killed meanwhile.
    pub(super) fn put_back(&mut self, key: TaskKey, body: Body) -> Option<Body> {
        let slot = &mut self.slots[key.slot as usize];
        match slot.state {
            State::Running => {
                slot.state = State::Idle(body);
                None
            }
            State::Doomed => {
                self.release(key);
                Some(body)
            }
            State::Free | State::Idle(_) => unreachable!("the slot of a task that is being polled is its own"),
        }
    }

    /// Frees the slot of a task that is done, or that panicked.
    pub(super) fn release(&mut self, key: TaskKey) {
        let slot = &mut self.slots[key.slot as usize];
        slot.state = State::Free;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(key.slot);
    }

    /// Ends a task. Its body, if it is not being polled right now, must be dropped outside: that runs the task's code.
    pub(super) fn kill(&mut self, key: TaskKey) -> Option<Body> {
        let slot = self.slots.get_mut(key.slot as usize).filter(|slot| slot.generation == key.generation)?;
        match std::mem::replace(&mut slot.state, State::Doomed) {
            State::Idle(body) => {
                self.release(key);
                Some(body)
            }
            State::Running | State::Doomed => None,
            State::Free => unreachable!("a free slot has moved to its next generation"),
        }
    }

    /// Ends all tasks of a host, as [`Executor::kill`] does. Nothing of the host is paused any more.
    pub(super) fn kill_host(&mut self, host: HostId) -> Vec<Body> {
        *self.lane(host) = Lane::default();
        let keys: Vec<TaskKey> = (0..self.slots.len())
            .map(|slot| TaskKey { slot: slot as u32, generation: self.slots[slot].generation })
            .filter(|key| {
                let slot = &self.slots[key.slot as usize];
                slot.host == host && !matches!(slot.state, State::Free)
            })
            .collect();
        keys.into_iter().filter_map(|key| self.kill(key)).collect()
    }

    /// From now on, tasks of the host that become ready are parked.
    pub(super) fn pause(&mut self, host: HostId) {
        self.lane(host).paused = true;
    }

    /// Makes what was parked ready, in the order in which it was woken.
    pub(super) fn resume(&mut self, host: HostId) {
        let lane = self.lane(host);
        lane.paused = false;
        let parked = std::mem::take(&mut lane.parked);
        READY.with(|ready| ready.borrow_mut().keys.extend(parked));
    }

    /// How many tasks there are.
    pub(super) fn alive(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

impl Drop for Executor {
    /// Wakers may outlive the run; their wakes must not reach the next one.
    fn drop(&mut self) {
        let _ = READY.try_with(|ready| {
            let mut ready = ready.borrow_mut();
            if ready.run == self.run {
                ready.run = 0;
                ready.keys.clear();
            }
        });
    }
}
