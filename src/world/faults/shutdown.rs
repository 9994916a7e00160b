//! Processes that are told to stop, in one order or another, and exit after a grace time.

use crate::id::{AttemptId, FaultId, HostId};
use crate::plan::StopOrder;
use crate::trace::{Event, Proof};
use crate::world::state::World;
use std::rc::Rc;
use std::time::Duration;

impl World {
    /// Tells processes to stop. What is left of one after the grace time is killed, and felt as a crash is.
    pub(super) fn tell_to_stop(self: &Rc<Self>, id: FaultId, hosts: &[HostId], order: StopOrder, grace: Duration, back_after: Duration) {
        for &host in hosts {
            let Some(process) = self.stop(host, order, id) else { continue };
            self.record(Event::ToldToStop { host });
            self.ring(host);
            self.later(self.now() + grace, move |world| {
                // Something else may have ended it meanwhile.
                if world.is_still(host, process) {
                    world.down(id, &[host], back_after, false);
                }
            });
        }
    }

    /// The job of an attempt goes on, and its process has stopped to guard it.
    pub(in crate::world) fn works_unguarded(&self, attempt: AttemptId) {
        if let Some((_, fault)) = self.stopping(HostId::Node(attempt.node)) {
            self.feel(fault, Proof::Unguarded { attempt });
        }
    }
}
