//! Sleeps. A timer is a slot with a generation and an entry in the agenda; dropping the sleep
//! moves the generation on, and the entry is dropped when it comes to the top, without a jump.

use super::agenda::{Due, Tie};
use super::current;
use crate::time::SimTime;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// A timer, safe against the reuse of its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TimerKey {
    slot: u32,
    generation: u32,
}

#[derive(Default)]
struct Slot {
    generation: u32,
    waker: Option<Waker>,
}

/// All timers that somebody waits for.
#[derive(Default)]
pub(super) struct Timers {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

impl Timers {
    fn start(&mut self, waker: Waker) -> TimerKey {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            (self.slots.len() - 1) as u32
        });
        let timer = &mut self.slots[slot as usize];
        timer.waker = Some(waker);
        TimerKey { slot, generation: timer.generation }
    }

    pub(super) fn is_awaited(&self, key: TimerKey) -> bool {
        self.slots.get(key.slot as usize).is_some_and(|slot| slot.generation == key.generation)
    }

    /// Whom to wake because this timer fires.
    pub(super) fn fire(&mut self, key: TimerKey) -> Option<Waker> {
        if self.is_awaited(key) { self.slots[key.slot as usize].waker.take() } else { None }
    }

    fn wait(&mut self, key: TimerKey, waker: &Waker) {
        remember(&mut self.slots[key.slot as usize].waker, waker);
    }

    fn stop(&mut self, key: TimerKey) -> Option<Waker> {
        if !self.is_awaited(key) {
            return None;
        }
        let slot = &mut self.slots[key.slot as usize];
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(key.slot);
        slot.waker.take()
    }
}

/// Keeps a waker, and the one that is there already if it wakes the same task.
pub(super) fn remember(place: &mut Option<Waker>, waker: &Waker) {
    match place {
        Some(known) if known.will_wake(waker) => {}
        Some(_) | None => *place = Some(waker.clone()),
    }
}

/// Waits until a true time.
///
/// Even a sleep of nothing waits once: a loop around it then costs task polls, which are
/// budgeted, instead of holding the run for ever.
pub(super) struct Sleep {
    due: SimTime,
    state: State,
}

enum State {
    New,
    Waiting { run: u64, timer: TimerKey },
}

impl Sleep {
    pub(super) fn until(due: SimTime) -> Sleep {
        Sleep { due, state: State::New }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let due = self.due;
        let polled = current::with(|machine| {
            match self.state {
                State::New => {
                    let timer = machine.timers.borrow_mut().start(cx.waker().clone());
                    machine.agenda.enter(due, Tie::FIRST, Due::Timer(timer));
                    self.state = State::Waiting { run: machine.run, timer };
                }
                State::Waiting { .. } if machine.agenda.now() >= due => return Poll::Ready(()),
                State::Waiting { run, timer } if run == machine.run => machine.timers.borrow_mut().wait(timer, cx.waker()),
                State::Waiting { .. } => {}
            }
            Poll::Pending
        });
        // Outside its run, a sleep has no time to wait for and never ends.
        polled.unwrap_or(Poll::Pending)
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        let State::Waiting { run, timer } = self.state else { return };
        let waker = current::with(|machine| if machine.run == run { machine.timers.borrow_mut().stop(timer) } else { None });
        drop(waker);
    }
}
