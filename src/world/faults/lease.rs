//! What goes wrong in a lease store itself. Felt is what becomes of leases, messages and
//! requests: a store that loses something while nobody holds a lease has disturbed nobody. A
//! message that is lost is missed by whoever would have got it, so its loss is felt at once.

use crate::id::{FaultId, HostId};
use crate::trace::{Event, Proof};
use crate::world::servers::lease::{LeaseStore, Loss};
use crate::world::sim_host::SimHost;
use crate::world::state::World;
use std::rc::Rc;
use std::time::Duration;

impl World {
    pub(super) fn wipe_leases(self: &Rc<Self>, id: FaultId, store: HostId, back_after: Duration) {
        let wall = self.clock(store).borrow().shows(self.now());
        self.replace_lease_process(id, store, back_after, |store| store.wipe(wall));
    }

    pub(super) fn fail_over_leases(self: &Rc<Self>, id: FaultId, store: HostId, lag: Duration, back_after: Duration) {
        let now = self.now();
        let wall = self.clock(store).borrow().shows(now);
        self.replace_lease_process(id, store, back_after, |store| store.fail_over(lag, now, wall));
    }

    /// A process hands out: one that is dead or stopped does not.
    pub(super) fn redeliver(self: &Rc<Self>, id: FaultId) {
        let store = HostId::Lease;
        if self.runs(store) {
            let host = SimHost { id: store, world: Rc::clone(self), engine: self.engine() };
            self.lease_store(store).borrow_mut().redeliver(&host, id);
        }
    }

    /// A process evicts: one that is dead or stopped does not.
    pub(super) fn evict_lease(&self, id: FaultId, store: HostId) {
        if self.runs(store) {
            let now = self.now();
            let wall = self.clock(store).borrow().shows(now);
            let loss = self.lease_store(store).borrow_mut().evict(now, wall);
            self.tell_loss(id, store, &loss);
        }
    }

    pub(super) fn stall_leases(self: &Rc<Self>, id: FaultId, host: HostId, lasts: Duration) {
        if !self.runs(host) {
            return;
        }
        self.record(Event::Blocked { host });
        self.lease_store(host).borrow().busy().begin(id);
        self.later(self.now() + lasts, move |world| {
            let busy = world.lease_store(host).borrow().busy();
            if busy.end(id) {
                world.record(Event::Unblocked { host });
            }
        });
    }

    /// The process dies with its connections; what is there for the next one is what `change` leaves.
    fn replace_lease_process(
        self: &Rc<Self>,
        id: FaultId,
        host: HostId,
        back_after: Duration,
        change: impl FnOnce(&mut LeaseStore) -> Loss,
    ) {
        if self.take_down(host).is_none() {
            return;
        }
        self.record(Event::Crashed { host });
        let loss = change(&mut self.lease_store(host).borrow_mut());
        self.tell_loss(id, host, &loss);
        self.engine().crash(host);
        self.later(self.now() + back_after, move |world| world.bring_up(host));
    }

    fn tell_loss(&self, id: FaultId, store: HostId, loss: &Loss) {
        for &holder in &loss.lost {
            self.told_by(store, Event::LeaseLost { holder });
            self.feel(id, Proof::LeaseLost { holder });
        }
        for &holder in &loss.returned {
            self.told_by(store, Event::LeaseReturned { holder });
            self.feel(id, Proof::LeaseReturned { holder });
        }
        for &message in &loss.messages_lost {
            self.told_by(store, Event::MessageLost { message });
            self.feel(id, Proof::MessageLost { message });
        }
        for &message in &loss.messages_returned {
            self.told_by(store, Event::MessageReturned { message });
            self.feel(id, Proof::MessageReturned { message });
        }
    }

    /// A request waits for a lease store: whatever keeps it busy is noticed.
    pub(in crate::world) fn waits_for_a_lease_store(&self, store: HostId, by: HostId) {
        let busy = self.lease_store(store).borrow().busy();
        for fault in busy.with() {
            self.feel(fault, Proof::Waited { by });
        }
    }
}
