//! The main loop.
//!
//! 1. Everything that is due happens: segments arrive, timers fire, calls are made.
//! 2. Tasks are polled until none is ready; after each poll, what it wrote leaves.
//! 3. True time jumps to what is due next, and tokio's clock jumps with it.
//!
//! Fifteen idle days are one jump. The loop runs inside the runtime's context and not inside its
//! `block_on`: there, tokio would keep the wakes of `yield_now` until it parks, which never happens.

use super::current;
use super::executor::{Body, TaskKey};
use super::machine::Machine;
use crate::time::SimTime;
use crate::world::contain;
use crate::world::engine::{Ended, Refused, Settings, interrupted};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::runtime::RuntimeMetrics;

/// What the main loop needs besides the machine.
pub(super) struct Rounds<'a> {
    machine: &'a Machine,
    tokio: RuntimeMetrics,
    until: SimTime,
    polls_left: u64,
}

impl<'a> Rounds<'a> {
    pub(super) fn new(machine: &'a Machine, settings: &Settings, tokio: RuntimeMetrics) -> Rounds<'a> {
        Rounds { machine, tokio, until: settings.until, polls_left: settings.poll_budget }
    }

    /// Goes round until the horizon.
    pub(super) fn run(mut self) -> Result<Ended, Refused> {
        loop {
            while let Some(due) = self.machine.agenda.take_due() {
                self.machine.happen(due);
            }
            if let Some(ended) = self.poll_ready()? {
                return Ok(ended);
            }
            let now = self.machine.agenda.now();
            let next = self.machine.agenda.next(&self.machine.timers.borrow());
            match next {
                Some(next) if next <= now => {}
                Some(next) if next <= self.until => self.jump(next),
                Some(_) | None => {
                    self.jump(self.until.max(now));
                    return Ok(Ended::Horizon);
                }
            }
        }
    }

    /// Polls tasks until none is ready.
    fn poll_ready(&mut self) -> Result<Option<Ended>, Refused> {
        loop {
            let ready = self.machine.executor.borrow_mut().take_ready();
            if ready.is_none() || self.polls_left == 0 {
                // Calls and arrivals can drop tasks, and code that is dropped can break the rules too.
                return match self.machine.refused.take() {
                    Some(refused) => Err(refused),
                    None => Ok(ready.map(|(key, body)| self.cut(key, body))),
                };
            }
            let Some((key, body)) = ready else { continue };
            self.polls_left -= 1;
            self.poll(key, body);
            if interrupted(self.polls_left) {
                return Err(Refused::Interrupted);
            }
            if let Some(refused) = self.machine.refused.take() {
                return Err(refused);
            }
        }
    }

    fn cut(&self, key: TaskKey, body: Body) -> Ended {
        let killed = self.machine.executor.borrow_mut().put_back(key, body);
        debug_assert!(killed.is_none(), "nothing ran that could kill it");
        Ended::StepBudget
    }

    fn poll(&self, key: TaskKey, mut body: Body) {
        let machine = self.machine;
        let host = body.host();
        let polled = contain(|| body.poll());
        machine.fabric.borrow_mut().flush_all();
        let finished = match polled {
            Ok(Poll::Pending) => machine.executor.borrow_mut().put_back(key, body),
            Ok(Poll::Ready(())) | Err(_) => {
                machine.executor.borrow_mut().release(key);
                Some(body)
            }
        };
        if let Some(body) = finished {
            machine.bury(body);
        }
        if let Err(message) = polled {
            machine.panicked(host, message);
        }
        if self.tokio.num_alive_tasks() > 0 || current::take_thread_started() {
            machine.refuse(Refused::TokioSpawn { host });
        }
    }

    fn jump(&self, to: SimTime) {
        let now = self.machine.agenda.now();
        self.machine.agenda.jump(to);
        // The first poll of tokio's `advance` moves its clock; what follows is only a yield.
        let advance = pin!(tokio::time::advance(Duration::from_millis(to.0 - now.0)));
        let _ = advance.poll(&mut Context::from_waker(Waker::noop()));
    }
}
