//! One scheduler node: wait for the boundary by its own clock, attempt, retry, catch up.
//!
//! A node pays *attention* from a boundary, or from its start, until it knows that nothing is
//! left to do or [`crate::scenario::NodeKnobs::attention`] has passed; meanwhile it polls. In
//! between it sleeps until its own clock shows the next boundary.

use crate::host::Host;
use crate::id::{AttemptId, NodeId, PeriodId};
use crate::scenario::Scenario;
use crate::settlement::{Calendar, Period};
use crate::step::Step;
use crate::store::sql::{aggregate, int};
use crate::strategy::{Context, Error, Policy, Strategy};
use crate::time::{WallTime, millis};
use crate::trace::{Belief, Event};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::future::pending;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// What every node of a deployment shares: never state, only what was deployed.
pub struct Setup {
    /// The guard.
    pub strategy: &'static dyn Strategy,
    /// The deployment.
    pub scenario: Arc<Scenario>,
    /// The boundaries.
    pub calendar: Arc<Calendar>,
    /// What each node knows of both.
    pub known: Vec<Known>,
    /// Attempts made so far, by node: numbering goes on over restarts.
    pub attempts: Vec<Cell<u32>>,
}

/// The deployment as one node knows it: its own constants, and the boundaries that it works out.
#[derive(Clone)]
pub struct Known {
    /// The deployment.
    pub scenario: Arc<Scenario>,
    /// The boundaries.
    pub calendar: Arc<Calendar>,
}

impl Setup {
    /// The next attempt of a node.
    pub fn next_attempt(&self, node: NodeId) -> AttemptId {
        let next = self.coming_attempt(node);
        self.attempts[usize::from(node.0)].set(next.number);
        next
    }

    /// The attempt that a node will make next: what it does to find out whether to make one belongs to it.
    pub fn coming_attempt(&self, node: NodeId) -> AttemptId {
        AttemptId { node, number: self.attempts[usize::from(node.0)].get() + 1 }
    }
}

/// The life of one node process, from boot to the end of the run.
///
/// # Panics
/// The host is not a node: a bug of the world that boots it.
pub async fn run(host: Rc<dyn Host>, setup: Rc<Setup>) {
    let id = host.id().as_node().expect("only nodes run the node loop");
    let known = setup.known[usize::from(id.0)].clone();
    let context = Context::new(Rc::clone(&host), Arc::clone(&known.scenario), Arc::clone(&known.calendar), setup.coming_attempt(id));
    let behind = host.wall();
    let mut node =
        Node { id, host, setup, known, context, behind, finished: BTreeSet::new(), seen: BTreeSet::new(), left: BTreeSet::new() };
    // Whatever it could not do, a process that has started goes on.
    let _ = node.setup.strategy.started(&mut node.context).await;
    match node.policy() {
        Policy::Skip => {}
        Policy::Retry | Policy::RetryChecked => node.pay_attention(None).await,
    }
    while let Some(period) = node.next_boundary() {
        node.sleep_until_woken(period).await;
        node.behind = period.due;
        match node.policy() {
            Policy::Skip => {
                for period in node.made_up_for(vec![period]) {
                    node.attempt(period).await;
                }
            }
            Policy::Retry | Policy::RetryChecked => node.pay_attention(Some(period)).await,
        }
    }
    // A scheduler does not exit when there is nothing to schedule.
    pending::<()>().await;
}

/// A node process and what it remembers; a restart forgets it.
struct Node {
    id: NodeId,
    host: Rc<dyn Host>,
    setup: Rc<Setup>,
    known: Known,
    context: Context,
    /// Boundaries up to here are behind this process: it has woken for them, or they had passed when it started.
    behind: WallTime,
    /// Periods that this process believes to be finished.
    finished: BTreeSet<PeriodId>,
    /// Periods that this process has seen to be due.
    seen: BTreeSet<PeriodId>,
    /// Those of them that it has missed, and leaves alone.
    left: BTreeSet<PeriodId>,
}

impl Node {
    /// What it does after an attempt.
    fn policy(&self) -> Policy {
        self.known.scenario.node.policy.unwrap_or(self.setup.strategy.policy())
    }

    /// Of what there is to do, that which it did not miss, or makes up for. What it has begun once goes on.
    fn made_up_for(&mut self, mut todo: Vec<Period>) -> Vec<Period> {
        let new: Vec<Period> = todo.iter().copied().filter(|period| self.seen.insert(period.id)).collect();
        let fires = self.known.scenario.node.misfire.fires(&new, self.host.wall());
        self.left.extend(new.iter().filter(|period| !fires.contains(period)).map(|period| period.id));
        todo.retain(|period| !self.left.contains(&period.id));
        todo
    }

    /// The first watched boundary that is not behind the process: a clock that is set back does
    /// not bring one back. One that passed while the node was at work is woken for at once, but
    /// not by a node that makes one attempt: it looks for the next one after its own now.
    fn next_boundary(&self) -> Option<Period> {
        let behind = match self.policy() {
            Policy::Skip => self.behind.max(self.host.wall()),
            Policy::Retry | Policy::RetryChecked => self.behind,
        };
        self.known.calendar.next_waking(behind)
    }

    async fn sleep_until_woken(&self, period: Period) {
        let late = if self.setup.strategy.wakes_late() { self.known.scenario.guard.wake_after } else { Duration::ZERO };
        let early = self.setup.strategy.wakes_early(&self.known.scenario);
        self.sleep_until(period.due + late - early).await;
        let jitter = self.host.random() % (millis(self.known.scenario.node.jitter) + 1);
        if jitter > 0 {
            self.host.sleep(Duration::from_millis(jitter)).await;
        }
    }

    /// Sleeps until the node's clock shows `then`, however often it is set meanwhile.
    async fn sleep_until(&self, then: WallTime) {
        loop {
            let left = then.since(self.host.wall());
            if left.is_zero() {
                return;
            }
            tokio::select! {
                biased;
                () = self.host.sleep(left) => {}
                () = self.host.clock_changed() => {}
            }
        }
    }

    /// Polls until nothing is left to do, attention has passed, or the next boundary is near.
    async fn pay_attention(&mut self, woken_for: Option<Period>) {
        let began = self.host.wall();
        let (poll, attention) = (self.known.scenario.node.poll, self.known.scenario.node.attention);
        let next = self.next_boundary();
        while !self.poll(woken_for).await {
            let then = self.host.wall() + poll;
            let too_late = attention < then.since(began) || next.is_some_and(|next| next.due <= then);
            if too_late {
                return;
            }
            self.host.sleep(poll).await;
        }
    }

    /// One look at what there is to do, and an attempt at each of it: whether everything is done.
    async fn poll(&mut self, woken_for: Option<Period>) -> bool {
        let before = self.host.wall();
        self.host.record(Event::Looked { node: self.id, wall: before });
        let todo = match self.look(woken_for).await {
            Ok(todo) => self.made_up_for(todo),
            Err(why) => {
                self.host.complain(self.setup.coming_attempt(self.id), why.to_string());
                return false;
            }
        };
        // After its clock was set back a node finds nothing due: it has to wait for the boundary once more.
        let looked = before.min(self.host.wall());
        let mut done = woken_for.is_none_or(|period| period.due <= looked);
        for period in todo {
            let belief = self.attempt(period).await;
            done &= matches!(belief, Belief::Settled | Belief::AlreadySettled);
        }
        done
    }

    /// The due periods that are not finished, as far as the node can know.
    async fn look(&mut self, woken_for: Option<Period>) -> Result<Vec<Period>, Error> {
        let setup = Rc::clone(&self.setup);
        let unknown = |period: &Period| !self.finished.contains(&period.id);
        if self.policy() == Policy::RetryChecked {
            // Each attempt begins with a look of its own.
            return Ok(self.known.calendar.due_at(self.host.wall()).filter(unknown).collect());
        }
        self.context.begin(setup.coming_attempt(self.id));
        Ok(match setup.strategy.unsettled(&mut self.context).await? {
            Some(periods) => periods.into_iter().filter_map(|id| self.known.calendar.period(id)).collect(),
            None => woken_for.into_iter().filter(unknown).collect(),
        })
    }

    /// One attempt, told to the story, and what the node believes after it.
    async fn attempt(&mut self, period: Period) -> Belief {
        if self.host.stopping().is_some() {
            // Nothing new is begun; after the grace time the process is gone.
            return pending().await;
        }
        let attempt = self.setup.next_attempt(self.id);
        self.host.record(Event::AttemptBegan { attempt, period: period.id, wall: self.host.wall() });
        self.context.begin(attempt);
        let belief = self.settle(period).await.unwrap_or_else(|why| {
            self.host.complain(attempt, why.to_string());
            Belief::Failed
        });
        match belief {
            Belief::Settled | Belief::AlreadySettled => {
                self.finished.insert(period.id);
            }
            Belief::Busy | Belief::Failed => {}
        }
        self.host.record(Event::AttemptEnded { attempt, period: period.id, belief });
        belief
    }

    async fn settle(&mut self, period: Period) -> Result<Belief, Error> {
        let setup = Rc::clone(&self.setup);
        if self.policy() == Policy::RetryChecked && self.check(period).await? {
            return Ok(Belief::AlreadySettled);
        }
        setup.strategy.attempt(&mut self.context, period).await
    }

    /// A plain read of the settlement table: check, then act.
    async fn check(&self, period: Period) -> Result<bool, Error> {
        let rows = self.context.sql().query(CHECKS.name, CHECK, &[int(&period.id.0)]).await?;
        Ok(aggregate(&rows)? > 0)
    }
}

/// The step of a policy that looks before each attempt, whether or not the strategy has it by itself.
pub const CHECKS: Step = Step::database("check.settled");

const CHECK: &str = "SELECT count(*) FROM settlement WHERE period = $1";
