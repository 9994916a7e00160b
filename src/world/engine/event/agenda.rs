//! True time, and everything that is going to happen in it: one heap for segments, timers and calls.
//!
//! What is due first comes first. Within a millisecond, timers and calls come before segments,
//! and segments in the order of ties drawn from the seed: the order in which hosts registered,
//! or sent, never decides a race.

use super::conn::EndId;
use super::timers::{TimerKey, Timers};
use crate::time::SimTime;
use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Something that happens at a known time.
#[derive(Clone, Copy, Debug)]
pub(super) enum Due {
    /// The oldest segment under way from this end reaches the other side's door.
    Arrive(EndId),
    /// The kernel of this end sends again what was held back, if this stall still lasts.
    Retransmit { from: EndId, stall: u32 },
    /// The kernel of this end stops trying, if this stall still lasts.
    GiveUp { from: EndId, stall: u32 },
    /// A timer fires.
    Timer(TimerKey),
    /// The call with this number is made.
    Call(u32),
}

/// Where something stands among all that is due in the same millisecond.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tie(u32);

impl Tie {
    /// Before every segment: timers and calls.
    pub(super) const FIRST: Tie = Tie(0);

    /// A place among segments.
    pub(super) fn drawn(random: u32) -> Tie {
        Tie(random | 1)
    }
}

/// Ordered by one number: time, tie, and, for what is left, the order of entry.
struct Entry {
    key: u128,
    what: Due,
}

impl Entry {
    fn due(&self) -> SimTime {
        SimTime((self.key >> 64) as u64)
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.key == other.key
    }
}
impl Eq for Entry {}
impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
/// Reversed, because the standard heap gives the largest first.
impl Ord for Entry {
    fn cmp(&self, other: &Entry) -> Ordering {
        other.key.cmp(&self.key)
    }
}

/// The clock and the heap.
pub(super) struct Agenda {
    now: Cell<SimTime>,
    entered: Cell<u32>,
    heap: RefCell<BinaryHeap<Entry>>,
}

impl Agenda {
    pub(super) fn new() -> Agenda {
        Agenda { now: Cell::new(SimTime::ZERO), entered: Cell::new(0), heap: RefCell::new(BinaryHeap::with_capacity(64)) }
    }

    /// True time: the authority that every other clock of the engine follows.
    pub(super) fn now(&self) -> SimTime {
        self.now.get()
    }

    /// Moves true time; only the main loop does, and only to what is due next.
    pub(super) fn jump(&self, to: SimTime) {
        debug_assert!(to >= self.now.get(), "true time never goes back");
        self.now.set(to);
    }

    /// Enters something. What is due in the past happens now.
    pub(super) fn enter(&self, due: SimTime, tie: Tie, what: Due) {
        let due = due.max(self.now.get());
        // The count wraps after four thousand million entries. That can only reorder two that share both a millisecond and a tie.
        let order = self.entered.get();
        self.entered.set(order.wrapping_add(1));
        let key = u128::from(due.0) << 64 | u128::from(tie.0) << 32 | u128::from(order);
        self.heap.borrow_mut().push(Entry { key, what });
    }

    /// When the next thing happens. Timers that nobody waits for any more are dropped on the way: they cause no jump.
    pub(super) fn next(&self, timers: &Timers) -> Option<SimTime> {
        let mut heap = self.heap.borrow_mut();
        loop {
            let top = heap.peek()?;
            match top.what {
                Due::Timer(key) if !timers.is_awaited(key) => heap.pop(),
                Due::Timer(_) | Due::Arrive(_) | Due::Retransmit { .. } | Due::GiveUp { .. } | Due::Call(_) => return Some(top.due()),
            };
        }
    }

    /// Takes the next thing that is due by now.
    pub(super) fn take_due(&self) -> Option<Due> {
        let mut heap = self.heap.borrow_mut();
        if heap.peek()?.due() > self.now.get() {
            return None;
        }
        heap.pop().map(|entry| entry.what)
    }

    /// Forgets everything to come.
    pub(super) fn clear(&self) {
        self.heap.borrow_mut().clear();
    }
}

/// Calls that are still to be made, by number.
#[derive(Default)]
pub(super) struct Calls {
    waiting: Vec<Option<Box<dyn FnOnce()>>>,
    free: Vec<u32>,
}

impl Calls {
    pub(super) fn add(&mut self, call: Box<dyn FnOnce()>) -> u32 {
        if let Some(number) = self.free.pop() {
            self.waiting[number as usize] = Some(call);
            return number;
        }
        self.waiting.push(Some(call));
        (self.waiting.len() - 1) as u32
    }

    pub(super) fn take(&mut self, number: u32) -> Option<Box<dyn FnOnce()>> {
        let call = self.waiting.get_mut(number as usize)?.take()?;
        self.free.push(number);
        Some(call)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Enters out of order; takes by time, then tie, then entry.
    #[test]
    fn time_then_tie_then_entry() {
        let agenda = Agenda::new();
        agenda.enter(SimTime(5), Tie::drawn(9), Due::Call(3));
        agenda.enter(SimTime(5), Tie::FIRST, Due::Call(1));
        agenda.enter(SimTime(5), Tie::FIRST, Due::Call(2));
        agenda.enter(SimTime(2), Tie::drawn(u32::MAX), Due::Call(0));
        agenda.jump(SimTime(4));
        assert!(matches!(agenda.take_due(), Some(Due::Call(0))));
        assert!(agenda.take_due().is_none(), "nothing more is due by 4 ms");
        agenda.jump(SimTime(5));
        let rest: Vec<u32> = std::iter::from_fn(|| agenda.take_due())
            .map(|due| match due {
                Due::Call(n) => n,
                Due::Arrive(_) | Due::Retransmit { .. } | Due::GiveUp { .. } | Due::Timer(_) => unreachable!("only calls were entered"),
            })
            .collect();
        assert_eq!(rest, [1, 2, 3]);
    }

    #[test]
    fn calls_reuse_their_numbers() {
        let mut calls = Calls::default();
        let first = calls.add(Box::new(|| ()));
        assert!(calls.take(first).is_some());
        assert!(calls.take(first).is_none(), "a call is made once");
        assert_eq!(calls.add(Box::new(|| ())), first);
    }
}
