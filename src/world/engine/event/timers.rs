//! Sleeps. A timer is a slot with a generation and an entry in the agenda; dropping the sleep
//! moves the generation on, and the entry is dropped when it comes to the top, without a jump.

use super::agenda::{Due, Tie};
use super::current;
use super::waiting::Waiting;
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
    sleeper: Waiting,
}

/// All timers that somebody waits for.
#[derive(Default)]
pub(super) struct Timers {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

impl Timers {
    fn start(&mut self, waker: &Waker) -> TimerKey {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            (self.slots.len() - 1) as u32
        });
        let timer = &mut self.slots[slot as usize];
        timer.sleeper.wait(waker);
        TimerKey { slot, generation: timer.generation }
    }

    pub(super) fn is_awaited(&self, key: TimerKey) -> bool {
        self.slots.get(key.slot as usize).is_some_and(|slot| slot.generation == key.generation)
    }

    /// The time has come: wakes who waits for it.
    pub(super) fn fire(&mut self, key: TimerKey) {
        if self.is_awaited(key) {
            self.slots[key.slot as usize].sleeper.wake();
        }
    }

    fn wait(&mut self, key: TimerKey, waker: &Waker) {
        self.slots[key.slot as usize].sleeper.wait(waker);
    }

    fn stop(&mut self, key: TimerKey) {
        if self.is_awaited(key) {
            let slot = &mut self.slots[key.slot as usize];
            slot.generation = slot.generation.wrapping_add(1);
            slot.sleeper.forget();
            self.free.push(key.slot);
        }
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
                    let timer = machine.timers.borrow_mut().start(cx.waker());
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
        current::with(|machine| {
            if machine.run == run {
                machine.timers.borrow_mut().stop(timer);
            }
        });
    }
}
