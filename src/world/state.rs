//! The truth about a run while it runs: history, clocks, and which process is up.

use crate::id::{AttemptId, FaultId, HostId, NodeId};
use crate::node;
use crate::plan::StopOrder;
use crate::seed::{Rng, Seed};
use crate::settlement::Calendar;
use crate::step::Step;
use crate::time::{SimTime, WallTime};
use crate::trace::{Event, Proof, Trace, Vote};
use crate::world::clock::Clock;
use crate::world::engine::{Engine, Observer, Refused, Reseed};
use crate::world::faults::Faults;
use crate::world::servers::lease::LeaseStore;
use crate::world::servers::postgres::Database;
use crate::world::votes::Votes;
use rand::RngExt;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

/// What the world knows of one host.
#[derive(Clone, Copy, Debug, Default)]
struct HostState {
    down: bool,
    /// It is down, and so is its kernel.
    silent: bool,
    paused_by: Option<FaultId>,
    incarnation: u32,
    attempt: Option<AttemptId>,
    /// In which order its process stops, if it was told to, and by which fault.
    stopping: Option<(StopOrder, FaultId)>,
}

/// What a process is doing for the deployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    /// It waits.
    Nothing,
    /// This attempt is being made, by it or with its help.
    Attempt(AttemptId),
}

/// The world of one run. Everything that happens is written into its trace.
pub(super) struct World {
    pub(super) calendar: Arc<Calendar>,
    /// All hosts, in index order.
    pub(super) everyone: Vec<HostId>,
    pub(super) faults: Faults,
    /// The lease store, and those beside it.
    leases: Vec<Rc<RefCell<LeaseStore>>>,
    /// Where there are several: who has the votes of most of them.
    votes: Option<Votes>,
    pub(super) database: Rc<Database>,
    trace: RefCell<Trace>,
    clocks: Vec<RefCell<Clock>>,
    /// Rung when a clock is set or changes its rate, and when a process is told to stop.
    bells: Vec<Rc<Notify>>,
    randoms: Vec<RefCell<Rng>>,
    hosts: RefCell<Vec<HostState>>,
    panics: RefCell<Vec<(HostId, String)>>,
    complaints: RefCell<Vec<(AttemptId, String)>>,
    /// The steps that the strategy declares.
    steps: &'static [Step],
    /// Those that it makes and does not declare as what they are, in the order of their first time.
    undeclared: RefCell<Vec<Step>>,
    /// The nodes to which the plan gives another time zone: by which fault, and when boundaries come there.
    zones: RefCell<BTreeMap<NodeId, (FaultId, Arc<Calendar>)>>,
    /// The nodes of another environment.
    elsewhere: RefCell<Vec<NodeId>>,
    /// What a server was asked for first that it does not simulate.
    not_offered: RefCell<Option<(HostId, String)>>,
    /// The directed links that are cut now, and how often.
    cut: RefCell<BTreeMap<(HostId, HostId), u32>>,
    /// By how much lengths are shortened that no knob names.
    time_scale: Cell<u32>,
    /// Weak, for the engine owns the hosts, and they own the world.
    engine: OnceCell<Weak<dyn Engine>>,
}

/// What a host draws from.
fn stream(seed: Seed, host: usize) -> Rng {
    seed.fork("host").nth(host as u64).rng()
}

impl World {
    pub(super) fn new(
        seed: Seed,
        hosts: &[HostId],
        calendar: Arc<Calendar>,
        faults: Faults,
        leases: Vec<Rc<RefCell<LeaseStore>>>,
        database: Rc<Database>,
        steps: &'static [Step],
    ) -> Rc<World> {
        let count = hosts.iter().map(|host| host.index() + 1).max().unwrap_or(0);
        let clock = Clock::perfect(calendar.origin);
        let stores = hosts.iter().filter(|host| matches!(host, HostId::Lease | HostId::FurtherLease(_))).count();
        Rc::new(World {
            everyone: hosts.to_vec(),
            faults,
            votes: (stores > 1).then(|| Votes::new(stores)),
            leases,
            database,
            trace: RefCell::default(),
            clocks: (0..count).map(|_| RefCell::new(clock)).collect(),
            bells: (0..count).map(|_| Rc::default()).collect(),
            randoms: (0..count).map(|index| RefCell::new(stream(seed, index))).collect(),
            hosts: RefCell::new(vec![HostState::default(); count]),
            panics: RefCell::default(),
            complaints: RefCell::default(),
            steps,
            undeclared: RefCell::default(),
            zones: RefCell::default(),
            elsewhere: RefCell::default(),
            not_offered: RefCell::default(),
            cut: RefCell::default(),
            time_scale: Cell::new(1),
            engine: OnceCell::new(),
            calendar,
        })
    }

    /// Ties the world to the engine that carries it.
    pub(super) fn carried_by(&self, engine: &Rc<dyn Engine>) {
        assert!(self.engine.set(Rc::downgrade(engine)).is_ok(), "a world is carried by one engine");
    }

    pub(super) fn engine(&self) -> Rc<dyn Engine> {
        self.engine.get().and_then(Weak::upgrade).expect("the engine outlives whatever asks for it")
    }

    pub(super) fn now(&self) -> SimTime {
        self.engine().now()
    }

    pub(super) fn clock(&self, host: HostId) -> &RefCell<Clock> {
        &self.clocks[host.index()]
    }

    /// Says that a clock was set or changes its rate, and wakes whoever sleeps by it.
    pub(super) fn clock_changed(&self, host: HostId, event: Event) {
        self.record(event);
        self.ring(host);
    }

    /// Wakes whoever waits for news of a host: that its clock changes, or that it is told to stop.
    pub(super) fn ring(&self, host: HostId) {
        self.bells[host.index()].notify_waiters();
    }

    /// Whoever sleeps by a host's clock hears from it when that clock changes.
    pub(super) fn bell(&self, host: HostId) -> Rc<Notify> {
        Rc::clone(&self.bells[host.index()])
    }

    /// From a time on, hosts draw from other streams, and so does the database where it decides who goes first. What has not gone wrong by then does not.
    pub(super) fn reseed(self: &Rc<Self>, reseed: Reseed) {
        self.faults.end_at(reseed.at);
        let anew = move |world: &Rc<World>| {
            for (index, random) in world.randoms.iter().enumerate() {
                *random.borrow_mut() = stream(reseed.seed, index);
            }
            world.database.reseed(reseed.seed.fork("database").0);
        };
        if reseed.at == SimTime::ZERO { anew(self) } else { self.later(reseed.at, anew) }
    }

    pub(super) fn random(&self, host: HostId) -> u64 {
        self.randoms[host.index()].borrow_mut().random()
    }

    /// Calls back at a true time.
    pub(super) fn later(self: &Rc<Self>, at: SimTime, call: impl FnOnce(&Rc<World>) + 'static) {
        let world = Rc::clone(self);
        self.engine().call_at(at, Box::new(move || call(&world)));
    }

    /// Writes an event into the history, and draws the world's own conclusions from it.
    pub(super) fn record(&self, event: Event) {
        let now = self.now();
        self.trace.borrow_mut().push(now, event);
        match event {
            Event::AttemptBegan { attempt, wall, .. } => {
                let host = HostId::Node(attempt.node);
                self.hosts.borrow_mut()[host.index()].attempt = Some(attempt);
                self.acted_by_its_clock(host);
                self.acted_by_its_zone(attempt.node, wall);
            }
            Event::Looked { node, wall } => {
                self.acted_by_its_clock(HostId::Node(node));
                self.acted_by_its_zone(node, wall);
            }
            Event::AttemptEnded { attempt, .. } => self.hosts.borrow_mut()[HostId::Node(attempt.node).index()].attempt = None,
            Event::LeaseGranted { ttl_ms: 1.., .. } | Event::LeaseExtended { ttl_ms: 1.., .. } | Event::LeaseExpired { .. } => {
                self.acted_by_its_clock(HostId::Lease);
            }
            Event::LogGranted { through, .. } => self.acted_by_its_clock(through),
            Event::Dispatched { .. } => self.acted_by_its_clock(HostId::Centre),
            Event::Redelivered { to, message, fault } => self.feel(fault, Proof::Redelivered { to, message }),
            Event::Voted { store, vote } => {
                if matches!(vote, Vote::Granted { ttl_ms: 1.., .. } | Vote::Extended { ttl_ms: 1.., .. } | Vote::Expired { .. }) {
                    self.acted_by_its_clock(store);
                }
                // The first store's clock is nothing to what they come to together: no conclusions from that.
                if let Some(decided) = self.votes.as_ref().and_then(|votes| votes.count_in(store, vote)) {
                    self.trace.borrow_mut().push(now, decided);
                }
            }
            Event::CommitRefused { by } => self.felt_the_database(Proof::Refused { by }),
            Event::SessionEnded { by } => self.felt_the_database(Proof::Ended { by }),
            _ => {}
        }
    }

    /// Writes down what a host tells. Of a lease, one of several stores can tell its vote only.
    pub(super) fn told_by(&self, host: HostId, event: Event) {
        let vote = self.votes.as_ref().and_then(|_| Vote::of(&event));
        self.record(vote.map_or(event, |vote| Event::Voted { store: host, vote }));
        if let Event::Waited { by } = event {
            self.waits_for_a_lease_store(host, by);
        }
    }

    /// One of the lease stores.
    pub(super) fn lease_store(&self, host: HostId) -> &RefCell<LeaseStore> {
        let n = if let HostId::FurtherLease(n) = host { usize::from(n) } else { 0 };
        &self.leases[n]
    }

    fn acted_by_its_clock(&self, host: HostId) {
        let now = self.now();
        let by_ms = self.clock(host).borrow().shows(now).0 - self.calendar.origin.wall(now).0;
        if by_ms == 0 {
            return;
        }
        for fault in self.faults.of_clock(host) {
            self.feel(fault, Proof::WrongClock { host, by_ms });
        }
    }

    /// Some nodes belong to another environment.
    pub(super) fn part(&self, elsewhere: Vec<NodeId>) {
        *self.elsewhere.borrow_mut() = elsewhere;
    }

    /// Whom a host reaches under a name: an environment has a database of its own.
    pub(super) fn reached(&self, by: HostId, to: HostId) -> HostId {
        let is_elsewhere = by.as_node().is_some_and(|node| self.elsewhere.borrow().contains(&node));
        if to == HostId::Database && is_elsewhere { HostId::DatabaseElsewhere } else { to }
    }

    /// The plan gives a node another time zone.
    pub(super) fn moved(&self, node: NodeId, by: FaultId, there: Arc<Calendar>) {
        self.zones.borrow_mut().insert(node, (by, there));
    }

    /// A node that acts when its own zone says that a period has ended, and not when it truly did, shows that its zone is another.
    fn acted_by_its_zone(&self, node: NodeId, wall: WallTime) {
        let zones = self.zones.borrow();
        let Some((fault, there)) = zones.get(&node) else { return };
        let Some(own) = there.due_at(wall).last() else { return };
        let Some(truth) = self.calendar.period(own.id).filter(|truth| truth.due != own.due) else { return };
        let by_ms = own.due.0 - truth.due.0;
        self.feel(*fault, Proof::OtherZone { host: HostId::Node(node), period: own.id, by_ms });
    }

    /// Whether the present process of a host is being scheduled.
    pub(super) fn runs(&self, host: HostId) -> bool {
        let state = self.hosts.borrow()[host.index()];
        !state.down && state.paused_by.is_none()
    }

    /// Whether a host has no process.
    pub(super) fn is_down(&self, host: HostId) -> bool {
        self.hosts.borrow()[host.index()].down
    }

    /// A host that is down has no kernel that would answer.
    pub(super) fn fall_silent(&self, host: HostId) {
        self.hosts.borrow_mut()[host.index()].silent = true;
    }

    /// A link is cut, or a cut of it heals.
    pub(super) fn link_is_cut(&self, from: HostId, to: HostId, cut: bool) {
        let mut links = self.cut.borrow_mut();
        let times = links.entry((from, to)).or_default();
        *times = if cut { *times + 1 } else { times.saturating_sub(1) };
    }

    /// Whether the kernel of `to` gets what `from` sends, and `from` its answer.
    pub(super) fn reaches(&self, from: HostId, to: HostId) -> bool {
        let links = self.cut.borrow();
        let open = |from, to| links.get(&(from, to)).is_none_or(|times| *times == 0);
        open(from, to) && open(to, from) && !self.hosts.borrow()[to.index()].silent
    }

    /// Which of a host's processes is there, or was last.
    pub(super) fn incarnation(&self, host: HostId) -> u32 {
        self.hosts.borrow()[host.index()].incarnation
    }

    /// Lengths that are constants of the simulation are in the scenario's scale.
    pub(super) fn scaled(&self, time_scale: u32) {
        self.time_scale.set(time_scale.max(1));
    }

    /// A real length in the scenario's scale.
    pub(super) fn in_scale(&self, length: Duration) -> Duration {
        length / self.time_scale.get()
    }

    /// What a node is doing, or, for a server that all of them need, any node.
    fn doing(&self, host: HostId) -> Doing {
        let hosts = self.hosts.borrow();
        let attempt = match host {
            HostId::Node(_) => hosts[host.index()].attempt,
            HostId::Lease | HostId::Database | HostId::Payout | HostId::FurtherLease(_) | HostId::Log(_) | HostId::Centre => {
                hosts.iter().find_map(|state| state.attempt)
            }
            HostId::Traffic | HostId::DatabaseElsewhere => None,
        };
        attempt.map_or(Doing::Nothing, Doing::Attempt)
    }

    /// Marks a host as down; tells what that interrupted. `None` if it was down already.
    pub(super) fn take_down(&self, host: HostId) -> Option<Doing> {
        let doing = self.doing(host);
        let state = &mut self.hosts.borrow_mut()[host.index()];
        if std::mem::replace(&mut state.down, true) {
            return None;
        }
        state.paused_by = None;
        state.attempt = None;
        state.stopping = None;
        Some(doing)
    }

    /// Starts a new process on a host that is down.
    pub(super) fn bring_up(&self, host: HostId) {
        let incarnation = {
            let state = &mut self.hosts.borrow_mut()[host.index()];
            assert!(std::mem::replace(&mut state.down, false), "only a host that is down boots again");
            state.silent = false;
            state.incarnation += 1;
            state.incarnation
        };
        self.record(Event::Booted { host, incarnation });
        self.engine().restart(host);
    }

    /// Marks a process as told to stop; tells which of the host's it is. `None` if it does not run, or was told before.
    pub(super) fn stop(&self, host: HostId, order: StopOrder, by: FaultId) -> Option<u32> {
        let state = &mut self.hosts.borrow_mut()[host.index()];
        if state.down || state.stopping.is_some() {
            return None;
        }
        state.stopping = Some((order, by));
        Some(state.incarnation)
    }

    /// In which order the present process of a host stops, if it was told to, and by which fault.
    pub(super) fn stopping(&self, host: HostId) -> Option<(StopOrder, FaultId)> {
        self.hosts.borrow()[host.index()].stopping
    }

    /// Whether this process of a host is there.
    pub(super) fn is_still(&self, host: HostId, process: u32) -> bool {
        let state = self.hosts.borrow()[host.index()];
        !state.down && state.incarnation == process
    }

    /// Marks a process as paused; tells what that interrupted. `None` if it does not run.
    pub(super) fn take_off_cpu(&self, host: HostId, by: FaultId) -> Option<Doing> {
        let doing = self.doing(host);
        let state = &mut self.hosts.borrow_mut()[host.index()];
        if state.down || state.paused_by.is_some() {
            return None;
        }
        state.paused_by = Some(by);
        Some(doing)
    }

    /// Marks a process that `by` paused as running again; false if it has died meanwhile.
    pub(super) fn put_on_cpu(&self, host: HostId, by: FaultId) -> bool {
        let state = &mut self.hosts.borrow_mut()[host.index()];
        let ours = state.paused_by == Some(by);
        if ours {
            state.paused_by = None;
        }
        ours
    }

    /// A step is being made: fault plans can only aim at it if it is declared as what it is.
    pub(super) fn made(&self, step: Step) {
        let mut undeclared = self.undeclared.borrow_mut();
        if !self.steps.contains(&step) && step != node::CHECKS && !undeclared.contains(&step) {
            undeclared.push(step);
        }
    }

    /// A server was asked for something that it does not simulate.
    pub(super) fn not_offered(&self, host: HostId, what: String) {
        self.not_offered.borrow_mut().get_or_insert((host, what));
    }

    /// Why the run means nothing although it came to its end.
    pub(super) fn refusal(&self) -> Option<Refused> {
        if let Some((host, what)) = self.not_offered.take() {
            return Some(Refused::NotOffered { host, what });
        }
        let steps = self.undeclared.take();
        (!steps.is_empty()).then_some(Refused::Undeclared { steps })
    }

    /// An attempt came to nothing. A stuck run has hundreds that say the same: the first of each is kept.
    pub(super) fn complain(&self, attempt: AttemptId, why: String) {
        let mut complaints = self.complaints.borrow_mut();
        if complaints.iter().all(|(_, known)| *known != why) {
            complaints.push((attempt, why));
        }
    }

    /// Why attempts came to nothing.
    pub(super) fn complaints(&self) -> Vec<(AttemptId, String)> {
        self.complaints.take()
    }

    /// What is left when the run is over: the history and the panics.
    pub(super) fn finish(&self) -> (Trace, Vec<(HostId, String)>) {
        (self.trace.take(), self.panics.take())
    }
}

impl Observer for World {
    fn note(&self, at: SimTime, word: u64) {
        self.trace.borrow_mut().note(at, word);
    }

    fn felt(&self, fault: FaultId, proof: Proof) {
        self.feel(fault, proof);
    }

    fn reply_lost(&self, from: HostId, to: HostId) {
        self.record(Event::ReplyLost { from, to });
    }

    fn panicked(&self, host: HostId, message: String) {
        self.take_down(host);
        self.record(Event::Panicked { host });
        self.panics.borrow_mut().push((host, message));
    }
}
