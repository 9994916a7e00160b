//! One scheduler node: wait for the boundary by its own clock, attempt, retry, catch up.

use crate::host::Host;
use crate::id::{AttemptId, NodeId};
use crate::scenario::Scenario;
use crate::settlement::Calendar;
use crate::strategy::Strategy;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

/// What every node of a deployment shares: never state, only what was deployed.
pub struct Setup {
    /// The guard.
    pub strategy: &'static dyn Strategy,
    /// The deployment.
    pub scenario: Arc<Scenario>,
    /// The boundaries.
    pub calendar: Arc<Calendar>,
    /// Attempts made so far, by node: numbering goes on over restarts.
    pub attempts: Vec<Cell<u32>>,
}

impl Setup {
    /// The next attempt of a node.
    pub fn next_attempt(&self, node: NodeId) -> AttemptId {
        let counter = &self.attempts[usize::from(node.0)];
        counter.set(counter.get() + 1);
        AttemptId { node, number: counter.get() }
    }
}

/// The life of one node process, from boot to the end of the run.
pub async fn run(host: Rc<dyn Host>, setup: Rc<Setup>) {
    let _ = (host, setup);
}
