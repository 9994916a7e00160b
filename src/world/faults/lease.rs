//! What goes wrong in the lease store itself. Felt is what becomes of leases, messages and
//! requests: a store that loses something while nobody holds a lease has disturbed nobody. A
//! message that is lost is missed by whoever would have got it, so its loss is felt at once.

use crate::id::{FaultId, HostId};
use crate::trace::{Event, Proof};
use crate::world::servers::lease::{LeaseStore, Loss};
use crate::world::state::World;
use std::rc::Rc;
use std::time::Duration;

impl World {
    pub(super) fn wipe_leases(self: &Rc<Self>, id: FaultId, back_after: Duration) {
        let wall = self.clock(HostId::Lease).borrow().shows(self.now());
        self.replace_lease_process(id, back_after, |store| store.wipe(wall));
    }

    pub(super) fn fail_over_leases(self: &Rc<Self>, id: FaultId, lag: Duration, back_after: Duration) {
        let now = self.now();
        let wall = self.clock(HostId::Lease).borrow().shows(now);
        self.replace_lease_process(id, back_after, |store| store.fail_over(lag, now, wall));
    }

    /// A process evicts: one that is dead or stopped does not.
    pub(super) fn evict_lease(&self, id: FaultId) {
        if self.runs(HostId::Lease) {
            let now = self.now();
            let wall = self.clock(HostId::Lease).borrow().shows(now);
            let loss = self.lease.borrow_mut().evict(now, wall);
            self.tell_loss(id, &loss);
        }
    }

    pub(super) fn stall_leases(self: &Rc<Self>, id: FaultId, lasts: Duration) {
        if !self.runs(HostId::Lease) {
            return;
        }
        let host = HostId::Lease;
        self.record(Event::Blocked { host });
        self.lease.borrow().busy().begin(id);
        self.later(self.now() + lasts, move |world| {
            let busy = world.lease.borrow().busy();
            if busy.end(id) {
                world.record(Event::Unblocked { host });
            }
        });
    }

    /// The process dies with its connections; what is there for the next one is what `change` leaves.
    fn replace_lease_process(self: &Rc<Self>, id: FaultId, back_after: Duration, change: impl FnOnce(&mut LeaseStore) -> Loss) {
        let host = HostId::Lease;
        if self.take_down(host).is_none() {
            return;
        }
        self.record(Event::Crashed { host });
        let loss = change(&mut self.lease.borrow_mut());
        self.tell_loss(id, &loss);
        self.engine().crash(host);
        self.later(self.now() + back_after, move |world| world.bring_up(host));
    }

    fn tell_loss(&self, id: FaultId, loss: &Loss) {
        for &holder in &loss.lost {
            self.record(Event::LeaseLost { holder });
            self.feel(id, Proof::LeaseLost { holder });
        }
        for &holder in &loss.returned {
            self.record(Event::LeaseReturned { holder });
            self.feel(id, Proof::LeaseReturned { holder });
        }
        for &message in &loss.messages_lost {
            self.record(Event::MessageLost { message });
            self.feel(id, Proof::MessageLost { message });
        }
        for &message in &loss.messages_returned {
            self.record(Event::MessageReturned { message });
            self.feel(id, Proof::MessageReturned { message });
        }
    }

    /// A request waits for the lease store: whatever keeps it busy is noticed.
    pub(in crate::world) fn waits_for_the_lease_store(&self, by: HostId) {
        for fault in self.lease.borrow().busy().with() {
            self.feel(fault, Proof::Waited { by });
        }
    }
}
