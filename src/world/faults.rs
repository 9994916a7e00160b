//! Strikes the faults of a plan: at their time, or when a step sets them off; and heals them.
//!
//! A fault is *fired* when it struck and *felt* when some host noticed. A crash, a power cut or
//! a pause is felt when it interrupted an attempt or covered a boundary; a wrong clock when its
//! owner acted by it; a shutdown when a job went on without its guard, or its end is; another time zone when its owner acted by a boundary of it; a loss in the lease store when somebody held what was lost; what happens
//! to segments is reported by the engine.

mod lease;
mod shutdown;

use crate::host::JobError;
use crate::id::{AttemptId, FaultId, HostId};
use crate::plan::{Direction, Fault, FaultPlan, Harm, Target, Trigger};
use crate::time::{SimTime, millis};
use crate::trace::{Event, Phase, Proof, StepName};
use crate::world::state::{Doing, World};
use crate::world::{Felt, Receipt};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

/// The plan of a run, and how far it has come.
pub(super) struct Faults {
    plan: Vec<Fault>,
    /// How often each step trigger has been met.
    met: RefCell<Vec<u32>>,
    receipts: RefCell<Vec<Receipt>>,
    has_step_triggers: bool,
    changes_rates: bool,
    /// From then on, nothing strikes that has not struck before.
    over: Cell<Option<SimTime>>,
    /// Whose clocks have been struck, and by what.
    clocks: RefCell<Vec<(HostId, FaultId)>>,
}

/// The step that sets a fault off.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Whose step it is.
    pub host: HostId,
    /// The server that it talks to; `None` for work.
    pub peer: Option<HostId>,
    /// The attempt that it belongs to.
    pub attempt: AttemptId,
    /// Its name.
    pub step: StepName,
}

/// What a step has to do because a fault struck in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blow {
    /// Nothing.
    None,
    /// Give way: the process has just been stopped, for a while or for good.
    Yield,
    /// Take this much longer, on the node's clock.
    Slow(Duration),
    /// Fail.
    Fail(JobError),
}

impl Faults {
    pub(super) fn new(plan: &FaultPlan) -> Faults {
        let count = plan.faults.len();
        Faults {
            has_step_triggers: plan.faults.iter().any(|f| matches!(f.when, Trigger::Step { .. })),
            changes_rates: plan.faults.iter().any(|f| matches!(f.harm, Harm::ClockDrift { .. })),
            plan: plan.faults.clone(),
            over: Cell::new(None),
            clocks: RefCell::default(),
            met: RefCell::new(vec![0; count]),
            receipts: RefCell::new(vec![Receipt::default(); count]),
        }
    }

    /// What has not gone wrong by then never does.
    pub(super) fn end_at(&self, at: SimTime) {
        self.over.set(Some(at));
    }

    /// Whether a fault comes too late to strike. What strikes at the beginning, before any host boots, never does.
    fn is_over(&self, id: FaultId, now: SimTime) -> bool {
        let n = usize::from(id.0);
        let is_late = self.over.get().is_some_and(|over| over <= now) && self.plan[n].when != Trigger::start();
        is_late && self.receipts.borrow()[n].fired.is_none()
    }

    /// Whether some clock may change its rate while somebody sleeps by it.
    pub(super) fn change_rates(&self) -> bool {
        self.changes_rates
    }

    /// Whether the plan may make this host's clock wrong.
    pub(super) fn may_set_clock(&self, host: HostId) -> bool {
        let struck = |fault: &Fault| match fault.harm {
            Harm::ClockOffset { host: victim, .. } | Harm::ClockDrift { host: victim, .. } => victim == Target::Host(host),
            _ => false,
        };
        self.plan.iter().any(struck)
    }

    /// The time zone that the plan gives this node, if it does, and by which fault.
    pub(super) fn zone_of(&self, node: HostId) -> Option<(FaultId, &str)> {
        self.each().find_map(|(id, fault)| match &fault.harm {
            Harm::Zone { host, zone } if [Target::Host(node), Target::AllNodes].contains(host) => Some((id, zone.as_str())),
            _ => None,
        })
    }

    /// How far a replica of the lease store may be behind, if one is promoted at all.
    pub(super) fn most_behind(&self) -> Option<Duration> {
        let lag = |fault: &Fault| if let Harm::LeaseFailover { lag, .. } = fault.harm { Some(lag) } else { None };
        self.plan.iter().filter_map(lag).max()
    }

    pub(super) fn receipts(&self) -> Vec<Receipt> {
        self.receipts.borrow().clone()
    }

    /// Notes that a fault struck; true the first time.
    fn fired(&self, id: FaultId, at: SimTime) -> bool {
        let receipt = &mut self.receipts.borrow_mut()[usize::from(id.0)];
        let first = receipt.fired.is_none();
        receipt.fired.get_or_insert(at);
        first
    }

    /// Notes that a fault was noticed; true the first time.
    pub(super) fn felt(&self, id: FaultId, at: SimTime, proof: Proof) -> bool {
        let receipt = &mut self.receipts.borrow_mut()[usize::from(id.0)];
        let first = receipt.felt.is_none();
        receipt.felt.get_or_insert(Felt { at, proof });
        first
    }

    /// A clock fault has struck this host.
    fn clock_struck(&self, host: HostId, id: FaultId) {
        self.clocks.borrow_mut().push((host, id));
    }

    /// The clock faults that have struck `host`. What has not struck yet cannot be noticed.
    pub(super) fn of_clock(&self, host: HostId) -> Vec<FaultId> {
        self.clocks.borrow().iter().filter(|(struck, _)| *struck == host).map(|(_, id)| *id).collect()
    }

    fn each(&self) -> impl Iterator<Item = (FaultId, &Fault)> {
        (0..).map(FaultId).zip(&self.plan)
    }

    /// The faults that this phase of this step sets off now.
    fn set_off_by(&self, place: Place, phase: Phase) -> Vec<FaultId> {
        let mut met = self.met.borrow_mut();
        let mut due = Vec::new();
        for (id, fault) in self.each() {
            let Trigger::Step { step: wanted, phase: wanted_phase, nth, node } = &fault.when else { continue };
            if wanted != place.step || *wanted_phase != phase || node.is_some_and(|n| n != place.host) {
                continue;
            }
            let count = &mut met[usize::from(id.0)];
            *count += 1;
            let last = if let Harm::JobError { times } = fault.harm { nth.saturating_add(times.saturating_sub(1)) } else { *nth };
            if (*nth..=last).contains(count) {
                due.push(id);
            }
        }
        due
    }
}

impl World {
    /// Sets up everything that strikes at a time. What strikes at the beginning strikes before any host boots.
    pub(super) fn arm(self: &Rc<Self>) {
        for (id, fault) in self.faults.each() {
            let Trigger::At { at_ms } = fault.when else { continue };
            if at_ms == SimTime::ZERO {
                self.strike(id, None);
            } else {
                self.later(at_ms, move |world| {
                    world.strike(id, None);
                });
            }
        }
    }

    /// A host is in this phase of a step: the faults that this sets off.
    pub(super) fn set_off(&self, place: Place, phase: Phase) -> Vec<FaultId> {
        if self.faults.has_step_triggers { self.faults.set_off_by(place, phase) } else { Vec::new() }
    }

    /// Faults strike that a step has set off.
    pub(super) fn strike_at(self: &Rc<Self>, place: Place, due: Vec<FaultId>) -> Blow {
        due.into_iter().map(|id| self.strike(id, Some(place))).fold(Blow::None, |one, other| if other == Blow::None { one } else { other })
    }

    fn strike(self: &Rc<Self>, id: FaultId, by: Option<Place>) -> Blow {
        let now = self.now();
        if self.faults.is_over(id, now) {
            return Blow::None;
        }
        let harm = self.faults.plan[usize::from(id.0)].harm.clone();
        if self.faults.fired(id, now) {
            self.record(Event::Fired { fault: id });
        }
        match harm {
            Harm::Crash { host, back_after } => self.down(id, &self.hosts(host, by), back_after, false),
            Harm::Power { host, back_after } => self.down(id, &self.hosts(host, by), back_after, true),
            Harm::Pause { host, lasts } => self.pause(id, &self.hosts(host, by), lasts),
            Harm::Partition { host, from, direction, lasts } => self.cut(id, &self.links(host, from, direction, by), lasts),
            Harm::ReplyLost { host, from } => {
                for (from, to) in self.links(host, from, Direction::Inbound, by) {
                    self.engine().lose_next(from, to, id);
                }
                return Blow::None;
            }
            Harm::Late { host, from, extra, lasts } => self.delay(id, self.links(host, from, Direction::Both, by), extra, lasts),
            Harm::SlowStep { extra } => {
                if let Some(Place { attempt, step, .. }) = by {
                    self.feel(id, Proof::Slowed { attempt, step });
                }
                return Blow::Slow(extra);
            }
            Harm::JobError { .. } => {
                if let Some(Place { attempt, step, .. }) = by {
                    self.feel(id, Proof::Failed { attempt, step });
                }
                return Blow::Fail(JobError);
            }
            Harm::ClockOffset { host, by_ms } => {
                for h in self.hosts(host, by) {
                    self.faults.clock_struck(h, id);
                    self.clock(h).borrow_mut().step(now, by_ms);
                    self.clock_changed(h, Event::ClockSet { host: h, by: by_ms });
                }
            }
            Harm::ClockDrift { host, ppm, lasts } => {
                for h in self.hosts(host, by) {
                    self.faults.clock_struck(h, id);
                    self.drift(h, ppm, lasts);
                }
            }
            // What it changes was changed before its host booted.
            Harm::Zone { .. } => {}
            Harm::Shutdown { host, order, grace, back_after } => self.tell_to_stop(id, &self.hosts(host, by), order, grace, back_after),
            Harm::LeaseWipe { store, back_after } => self.wipe_leases(id, store, back_after),
            Harm::LeaseEvict { store } => self.evict_lease(id, store),
            Harm::LeaseFailover { store, lag, back_after } => self.fail_over_leases(id, store, lag, back_after),
            Harm::LeaseStall { store, lasts } => self.stall_leases(id, store, lasts),
            Harm::Redeliver => self.redeliver(id),
            Harm::CommitFails { host } => {
                for host in self.hosts(host, by) {
                    self.database.trouble().refuse_commit(host, id);
                }
            }
            Harm::SessionEnds { host } => {
                for host in self.hosts(host, by) {
                    self.database.trouble().end_sessions(host, id);
                }
            }
        }
        match by {
            Some(place) if !self.runs(place.host) => Blow::Yield,
            Some(_) | None => Blow::None,
        }
    }

    fn down(self: &Rc<Self>, id: FaultId, hosts: &[HostId], back_after: Duration, power: bool) {
        for &host in hosts {
            let Some(doing) = self.take_down(host) else { continue };
            self.record(if power { Event::PoweredOff { host } } else { Event::Crashed { host } });
            self.feel_absence(id, doing, host, back_after);
            if power {
                self.fall_silent(host);
                self.doubt(host);
                self.engine().power_off(host);
            } else {
                self.engine().crash(host);
            }
            self.later(self.now() + back_after, move |world| world.bring_up(host));
        }
    }

    fn pause(self: &Rc<Self>, id: FaultId, hosts: &[HostId], lasts: Duration) {
        for &host in hosts {
            let Some(doing) = self.take_off_cpu(host, id) else { continue };
            self.record(Event::Paused { host });
            self.feel_absence(id, doing, host, lasts);
            self.engine().pause(host);
            self.later(self.now() + lasts, move |world| {
                if world.put_on_cpu(host, id) {
                    world.record(Event::Resumed { host });
                    world.engine().resume(host);
                }
            });
        }
    }

    fn cut(self: &Rc<Self>, id: FaultId, links: &[(HostId, HostId)], lasts: Duration) {
        for &(from, to) in links {
            self.record(Event::Cut { from, to });
            self.link_is_cut(from, to, true);
            match (from, to) {
                (HostId::Database, client) | (client, HostId::Database) => self.doubt(client),
                _ => {}
            }
            self.engine().block(from, to, id);
            self.later(self.now() + lasts, move |world| {
                world.record(Event::Healed { from, to });
                world.link_is_cut(from, to, false);
                world.engine().unblock(from, to, id);
            });
        }
    }

    fn delay(self: &Rc<Self>, id: FaultId, links: Vec<(HostId, HostId)>, extra: Duration, lasts: Duration) {
        for &(from, to) in &links {
            self.record(Event::Lags { from, to });
            self.engine().delay(from, to, extra, id);
        }
        self.later(self.now() + lasts, move |world| {
            for &(from, to) in &links {
                world.record(Event::Prompt { from, to });
                world.engine().delay(from, to, Duration::ZERO, id);
            }
        });
    }

    fn drift(self: &Rc<Self>, host: HostId, ppm: i32, lasts: Option<Duration>) {
        let began = self.now();
        self.clock(host).borrow_mut().drift(began, ppm);
        self.clock_changed(host, Event::ClockDrifts { host, ppm });
        let Some(lasts) = lasts else { return };
        self.later(began + lasts, move |world| {
            // What a time service does: the right rate again, and what was gained meanwhile taken back.
            let gained = i64::from(ppm) * millis(world.now().since(began)).cast_signed() / 1_000_000;
            world.clock(host).borrow_mut().drift(world.now(), 0);
            world.clock(host).borrow_mut().step(world.now(), -gained);
            world.clock_changed(host, Event::ClockDrifts { host, ppm: 0 });
            world.clock_changed(host, Event::ClockSet { host, by: -gained });
        });
    }

    /// A fault was noticed.
    pub(super) fn feel(&self, id: FaultId, proof: Proof) {
        if self.faults.felt(id, self.now(), proof) {
            self.record(Event::Felt { fault: id, proof });
        }
    }

    /// What the database was told to do to somebody, it has done.
    pub(super) fn felt_the_database(&self, proof: Proof) {
        for fault in self.database.trouble().take_struck() {
            self.feel(fault, proof);
        }
    }

    /// Whoever is gone for so long is missed if it was doing something, or if a boundary passes meanwhile.
    fn feel_absence(&self, id: FaultId, doing: Doing, host: HostId, lasts: Duration) {
        let proof = match doing {
            Doing::Attempt(attempt) => Some(Proof::Interrupted { attempt }),
            Doing::Nothing => self.absent(host, lasts),
        };
        if let Some(proof) = proof {
            self.feel(id, proof);
        }
    }

    /// The boundary that a host misses which is gone for so long.
    fn absent(&self, host: HostId, lasts: Duration) -> Option<Proof> {
        let (from, to) = (self.now(), self.now() + lasts);
        let missed = self.calendar.periods.iter().find(|p| (from..=to).contains(&self.calendar.due(**p)))?;
        Some(Proof::Absent { host, period: missed.id })
    }

    fn hosts(&self, target: Target, by: Option<Place>) -> Vec<HostId> {
        resolve(target, by, &self.everyone)
    }

    /// The directed links between a victim and the other side.
    fn links(&self, host: Target, from: Target, direction: Direction, by: Option<Place>) -> Vec<(HostId, HostId)> {
        let victims = self.hosts(host, by);
        let others = self.hosts(from, by);
        let mut links = Vec::new();
        for &victim in &victims {
            for &other in others.iter().filter(|o| **o != victim && !(from == Target::Everyone && victims.contains(o))) {
                if direction != Direction::Inbound {
                    links.push((victim, other));
                }
                if direction != Direction::Outbound {
                    links.push((other, victim));
                }
            }
        }
        links
    }
}

fn resolve(target: Target, by: Option<Place>, everyone: &[HostId]) -> Vec<HostId> {
    match target {
        Target::Host(h) => vec![h],
        Target::Self_ => by.map(|place| place.host).into_iter().collect(),
        Target::Peer => by.and_then(|place| place.peer).into_iter().collect(),
        Target::AllNodes => everyone.iter().copied().filter(|host| host.as_node().is_some()).collect(),
        Target::Everyone => everyone.to_vec(),
    }
}
