//! A validated scenario, worked out once and run many times.

use crate::host::Host;
use crate::id::{FaultId, HostId, NodeId};
use crate::invariant::{self, History, InvariantId, Need, Verdict};
use crate::node;
use crate::plan::{FaultPlan, Misplanned, Trigger, duration};
use crate::scenario::{Misconfigured, Override, Scenario};
use crate::seed::Seed;
use crate::settlement::{Calendar, LeaseKey};
use crate::step::{self, Step};
use crate::strategy::{self, Strategy};
use crate::time::SimTime;
use crate::world::engine::{self, Boot, Engine, Observer, Reseed, Settings};
use crate::world::faults::Faults;
use crate::world::servers::centre;
use crate::world::servers::lease::{self, LeaseStore};
use crate::world::servers::log::{self, LogState};
use crate::world::servers::payout::{self, PayoutLedger};
use crate::world::servers::postgres::{self, Database, DatabaseSetup};
use crate::world::sim_host::SimHost;
use crate::world::state::World;
use crate::world::votes::held_by_most;
use crate::world::{EngineKind, Refused, Run, operator, traffic};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// Task polls after which a run is cut. The longest honest runs need a few hundred thousand.
const POLL_BUDGET: u64 = 5_000_000;

/// Ticks of turmoil that a run may take: about a second of CPU. A longer run is scaled down, or refused.
const TICKS: u64 = 50_000;

/// A deployment, ready to run.
#[derive(Clone)]
pub struct Deployment {
    scenario: Arc<Scenario>,
    calendar: Arc<Calendar>,
    /// What each node knows of both.
    known: Vec<node::Known>,
    strategy: &'static dyn Strategy,
    engine: EngineKind,
}

impl Deployment {
    /// Validates a scenario and works it out. What is too long for turmoil is scaled down for it
    /// first ([`Scenario::scaled_for_turmoil`]); [`Deployment::scenario`] is what will be run.
    ///
    /// # Errors
    /// Names the knob that is wrong and says what to write.
    pub fn new(scenario: &Scenario, engine: EngineKind) -> Result<Deployment, Misconfigured> {
        let strategy = strategy::find(&scenario.strategy).ok_or_else(|| Misconfigured::Strategy { name: scenario.strategy.clone() })?;
        Deployment::with_strategy(scenario, strategy, engine)
    }

    /// As [`Deployment::new`], for a strategy that is not in the catalogue; the scenario takes its name.
    ///
    /// # Errors
    /// Names the knob that is wrong and says what to write.
    pub fn with_strategy(scenario: &Scenario, strategy: &'static dyn Strategy, engine: EngineKind) -> Result<Deployment, Misconfigured> {
        let scenario = Scenario { strategy: strategy.name().to_owned(), ..scenario.clone() };
        let given = Deployment::worked_out(scenario.clone(), strategy, engine)?;
        match engine {
            EngineKind::Event => Ok(given),
            EngineKind::Turmoil if given.ticks() <= TICKS => Ok(given),
            EngineKind::Turmoil => Deployment::worked_out(scenario.scaled_for_turmoil(), strategy, engine)?.short_enough(),
        }
    }

    fn worked_out(scenario: Scenario, strategy: &'static dyn Strategy, engine: EngineKind) -> Result<Deployment, Misconfigured> {
        if let Some(what) = strategy::mistake(strategy) {
            return Err(Misconfigured::Unclear { name: strategy.name().to_owned(), what });
        }
        let rules = scenario.database.rules;
        if !strategy.runs_under(rules) {
            let what = format!("does not run under `database.rules = \"{}\"`; write \"postgresql\"", rules.name());
            return Err(Misconfigured::Unclear { name: strategy.name().to_owned(), what });
        }
        scenario.validate().map_err(|mut found| found.swap_remove(0))?;
        let calendar = Arc::new(scenario.schedule.calendar().map_err(Misconfigured::from)?);
        let scenario = Arc::new(scenario);
        let known = (0..scenario.nodes).map(|node| known(&scenario, &calendar, node)).collect::<Result<_, _>>()?;
        Ok(Deployment { scenario, calendar, known, strategy, engine })
    }

    fn short_enough(self) -> Result<Deployment, Misconfigured> {
        if self.ticks() <= TICKS {
            return Ok(self);
        }
        let tick = Duration::from_millis(engine::turmoil::tick_ms(self.scenario.network.latency_min));
        let length = self.horizon().since(SimTime::ZERO);
        Err(Misconfigured::TooLong { ticks: self.ticks(), most: TICKS, length: duration::text(length), tick: duration::text(tick) })
    }

    /// How many ticks a run would take on turmoil.
    fn ticks(&self) -> u64 {
        self.horizon().0 / engine::turmoil::tick_ms(self.scenario.network.latency_min)
    }

    /// When periods truly end.
    pub fn calendar(&self) -> &Calendar {
        &self.calendar
    }

    /// The guard.
    pub fn strategy(&self) -> &'static dyn Strategy {
        self.strategy
    }

    /// The steps that its nodes can make.
    pub fn steps(&self) -> Cow<'static, [Step]> {
        self.strategy.steps_in(&self.scenario)
    }

    /// The scenario.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The network simulator.
    pub fn engine(&self) -> EngineKind {
        self.engine
    }

    /// When a run ends: late enough for a fault around the last boundary to heal and the liveness bound to pass, and for
    /// whoever comes late by what is said about him alone, or by clocks that are more wrong than usual.
    ///
    /// # Panics
    /// The calendar has no period, which [`Deployment::new`] rules out.
    pub fn horizon(&self) -> SimTime {
        let last = self.calendar.periods.last().expect("a calendar is never empty");
        let (others, attention) = (self.scenario.overrides.iter()).filter_map(|other| self.known.get(usize::from(other.node))).fold(
            (self.calendar.due(*last), self.scenario.node.attention),
            |(due, attention), known| {
                let own = known.calendar.periods.iter().chain(&known.calendar.again).map(|period| self.calendar.due(*period));
                (own.fold(due, SimTime::max), attention.max(known.scenario.node.attention))
            },
        );
        let slow = self.scenario.clocks.beyond_usual() / self.scenario.time_scale.max(1);
        others + slow + attention + self.scenario.liveness_bound
    }

    /// Checks that a plan can strike this deployment.
    ///
    /// # Errors
    /// Names the fault, what in it is wrong, and what to write.
    pub fn check_plan(&self, plan: &FaultPlan) -> Result<(), Misconfigured> {
        plan.validate(self.scenario.nodes, self.strategy.steps()).map_err(|mut found| found.swap_remove(0))?;
        for (fault, at) in
            plan.faults.iter().enumerate().filter_map(|(n, f)| if let Trigger::At { at_ms } = f.when { Some((n, at_ms)) } else { None })
        {
            if at > self.horizon() {
                let what = format!("strikes at {} ms, after the end of the run; write `at_ms` up to {}", at.0, self.horizon().0);
                return Err(Misplanned { fault: FaultId(fault as u16), what }.into());
            }
        }
        Ok(())
    }

    /// Runs it once: the same seed and plan give the same run, to the byte.
    ///
    /// # Errors
    /// Code of a host did what cannot be simulated faithfully.
    pub fn run(&self, seed: Seed, plan: &FaultPlan) -> Result<Run, Refused> {
        self.run_from(seed, plan, None)
    }

    /// As [`Deployment::run`] until `at`, and what happens before `at` is the same to the byte. From
    /// then on everything that is left to luck is drawn from `other`: latencies, ties, the order of
    /// ready tasks, what hosts draw, and who earns what. What goes wrong is luck too: a fault that has
    /// not struck before `at` does not strike, unless it strikes at the beginning, before any host boots.
    ///
    /// # Errors
    /// As [`Deployment::run`], or the engine is turmoil.
    pub fn run_reseeded(&self, seed: Seed, plan: &FaultPlan, at: SimTime, other: Seed) -> Result<Run, Refused> {
        match self.engine {
            EngineKind::Event => self.run_from(seed, plan, Some(Reseed { at, seed: other })),
            EngineKind::Turmoil => Err(Refused::NotReseeded),
        }
    }

    fn run_from(&self, seed: Seed, plan: &FaultPlan, reseed: Option<Reseed>) -> Result<Run, Refused> {
        let faults = Faults::new(plan);
        let stores = Stores::new(self, seed, faults.most_behind());
        let (leases, database) = (stores.leases.clone(), Rc::clone(&stores.database));
        let calendar = Arc::clone(&self.calendar);
        let world = World::new(seed, &self.hosts(), calendar, faults, leases, database, self.strategy.steps());
        let settings = Settings {
            seed: seed.fork("engine"),
            latency_min: self.scenario.network.latency_min,
            latency_max: self.scenario.network.latency_max,
            until: self.horizon(),
            poll_budget: POLL_BUDGET,
        };
        let observer: Rc<dyn Observer> = Rc::<World>::clone(&world);
        let build = |engine: Rc<dyn Engine>| {
            world.carried_by(&engine);
            // Before the plan: what strikes at that very time meets what is new.
            if let Some(reseed) = reseed {
                world.reseed(reseed);
            }
            world.part(self.elsewhere());
            world.scaled(self.scenario.time_scale);
            world.arm();
            self.boots(seed, reseed, &world, &engine, &stores)
        };
        let ended = match self.engine {
            EngineKind::Event => {
                let reseed = reseed.map(|reseed| Reseed { seed: reseed.seed.fork("engine"), ..reseed });
                engine::event::run_reseeded(&settings, reseed, observer, build)?
            }
            EngineKind::Turmoil => engine::turmoil::run(&settings, observer, build)?,
        };
        if let Some(refused) = world.refusal() {
            return Err(refused);
        }
        let complaints = world.complaints();
        let (trace, panics) = world.finish();
        let mut end = stores.database.state();
        end.leases = stores.keys();
        end.in_doubt.extend(stores.payouts.borrow().in_doubt());
        Ok(Run { seed, trace, end, ended, ended_at: settings.until, receipts: world.faults.receipts(), panics, complaints })
    }

    /// The judgement of all invariants over a run of this deployment.
    pub fn judge(&self, run: &Run) -> Vec<(InvariantId, Verdict)> {
        invariant::judge(&History {
            calendar: &self.calendar,
            elsewhere: &self.elsewhere(),
            decides: self.strategy.decides(),
            nodes: self.scenario.nodes,
            needs: &self.needs(),
            liveness_bound: self.scenario.liveness_bound,
            effort: self.effort(),
            trace: &run.trace,
            ended: run.ended_at,
            end: &run.end,
        })
    }

    /// The nodes of another environment.
    fn elsewhere(&self) -> Vec<NodeId> {
        (0..self.scenario.nodes).filter(|node| self.scenario.is_elsewhere(*node)).map(NodeId).collect()
    }

    /// Every host there is, in index order.
    fn hosts(&self) -> Vec<HostId> {
        let elsewhere = !self.elsewhere().is_empty();
        let mut hosts = step::hosts(self.scenario.nodes, self.strategy.steps());
        hosts.extend(elsewhere.then_some(HostId::DatabaseElsewhere));
        hosts
    }

    /// The servers that the guard asks, but for the payout service: without them no node can settle.
    /// Of independent lease stores, and of the members of a log, it needs a majority.
    fn needs(&self) -> Vec<Need> {
        let steps = self.steps();
        let asked = |servers: &[HostId]| -> Vec<HostId> {
            servers.iter().copied().filter(|server| steps.iter().any(|step| step.peer == Some(server.asked_as()))).collect()
        };
        let [further @ .., _, _, _, _, _] = HostId::ON_DEMAND;
        let leases: Vec<HostId> = [HostId::Lease].into_iter().chain(further).collect();
        let log: Vec<HostId> = (0..HostId::LOG_MEMBERS).map(HostId::Log).collect();
        let groups = [leases.as_slice(), &log, &[HostId::Database], &[HostId::Centre]];
        groups.iter().map(|group| Need::majority(asked(group))).filter(|need| !need.of.is_empty()).collect()
    }

    /// How long a healthy node needs at most to find a period unsettled, do the job, and have it paid.
    fn effort(&self) -> Duration {
        self.scenario.node.poll * 3 + self.scenario.node.work * 2
    }

    /// What each node knows in a run: a plan may give it another time zone.
    fn known_in(&self, world: &World) -> Vec<node::Known> {
        let mut known = self.known.clone();
        for (node, known) in (0..).map(NodeId).zip(&mut known) {
            let Some((fault, zone)) = world.faults.zone_of(HostId::Node(node)) else { continue };
            let other = self.scenario.override_of(node.0).cloned().unwrap_or_default();
            let there = Override { zone: Some(zone.to_owned()), ..other };
            // `check_plan` refuses a zone that there is not.
            let Ok(calendar) = there.calendar(&self.scenario.schedule, &self.calendar) else { continue };
            known.calendar = Arc::new(calendar);
            world.moved(node, fault, Arc::clone(&known.calendar));
        }
        known
    }

    fn boots(
        &self,
        seed: Seed,
        reseed: Option<Reseed>,
        world: &Rc<World>,
        engine: &Rc<dyn Engine>,
        stores: &Stores,
    ) -> Vec<(HostId, Boot)> {
        let setup = Rc::new(node::Setup {
            strategy: self.strategy,
            scenario: Arc::clone(&self.scenario),
            calendar: Arc::clone(&self.calendar),
            known: self.known_in(world),
            attempts: (0..self.scenario.nodes).map(|_| Cell::new(0)).collect(),
        });
        // Where the players' clock is wrong, nobody knows what they earn before a true time: they earn what they did.
        let anew = reseed
            .filter(|_| !world.faults.may_set_clock(HostId::Traffic))
            .map(|r| (self.calendar.origin.wall(r.at), r.seed.fork("traffic")));
        let boot = |id: HostId| -> Boot {
            let (world, engine, setup) = (Rc::clone(world), Rc::clone(engine), Rc::clone(&setup));
            let (leases, database, payouts) = (stores.leases.clone(), Rc::clone(&stores.database), Rc::clone(&stores.payouts));
            let (members, elsewhere) = (stores.log.clone(), stores.elsewhere.clone());
            Rc::new(move || {
                let host = Rc::new(SimHost { id, world: Rc::clone(&world), engine: Rc::clone(&engine) });
                match id {
                    HostId::Lease => Box::pin(lease::serve(host, Rc::clone(&leases[0]))),
                    HostId::Database => Box::pin(postgres::serve(host, Rc::clone(&database))),
                    HostId::Payout => Box::pin(payout::serve(host, Rc::clone(&payouts))),
                    HostId::Traffic => {
                        let operator = operator::run(Rc::clone(&host) as Rc<dyn Host>, Rc::clone(&setup));
                        let players = traffic::run(host, Rc::clone(&setup), seed.fork("traffic"), anew);
                        Box::pin(async {
                            let ((), ()) = futures_util::join!(players, operator);
                        })
                    }
                    HostId::Node(_) => Box::pin(node::run(host, Rc::clone(&setup))),
                    HostId::FurtherLease(n) => Box::pin(lease::serve(host, Rc::clone(&leases[usize::from(n)]))),
                    HostId::Log(n) => Box::pin(log::serve(host, n, members[usize::from(n)].clone(), setup.scenario.log.clone())),
                    HostId::Centre => Box::pin(centre::serve(host, setup.scenario.centre.clone(), Arc::clone(&setup.calendar))),
                    HostId::DatabaseElsewhere => match &elsewhere {
                        Some(database) => Box::pin(postgres::serve(host, Rc::clone(database))),
                        None => Box::pin(std::future::pending()),
                    },
                }
            })
        };
        self.hosts().into_iter().map(|id| (id, boot(id))).collect()
    }
}

/// The deployment as a node knows it: the deployment itself, unless something is said about that node.
fn known(scenario: &Arc<Scenario>, calendar: &Arc<Calendar>, node: u8) -> Result<node::Known, Misconfigured> {
    let Some(other) = scenario.override_of(node) else {
        return Ok(node::Known { scenario: Arc::clone(scenario), calendar: Arc::clone(calendar) });
    };
    let calendar = other.calendar(&scenario.schedule, calendar)?;
    Ok(node::Known { scenario: Arc::new(scenario.known_to(node)), calendar: Arc::new(calendar) })
}

/// The state behind the servers: it survives their processes.
struct Stores {
    /// The lease store, and those beside it that the strategy asks.
    leases: Vec<Rc<RefCell<LeaseStore>>>,
    log: [LogState; HostId::LOG_MEMBERS as usize],
    database: Rc<Database>,
    payouts: Rc<RefCell<PayoutLedger>>,
    /// That of another environment, if some node belongs to one: players without earnings.
    elsewhere: Option<Rc<Database>>,
}

impl Stores {
    /// `most_behind` is how far a replica of a lease store may be behind, if the plan promotes one.
    fn new(deployment: &Deployment, seed: Seed, most_behind: Option<Duration>) -> Stores {
        let database = || {
            Database::new(&DatabaseSetup {
                players: deployment.scenario.players,
                unique_marker: deployment.strategy.unique_marker(),
                tasks: deployment.calendar.periods.clone(),
                knobs: deployment.scenario.database.clone(),
                tables: &[],
            })
        };
        let hosts = deployment.hosts();
        let further = hosts.iter().map(|host| if let HostId::FurtherLease(n) = host { *n } else { 0 }).max().unwrap_or(0);
        Stores {
            elsewhere: hosts.contains(&HostId::DatabaseElsewhere).then(database),
            leases: (0..=further).map(|_| Rc::new(RefCell::new(LeaseStore::replicated(most_behind)))).collect(),
            log: LogState::of_all(seed.fork("log").0),
            database: database(),
            payouts: Rc::new(RefCell::new(PayoutLedger::keeping(deployment.scenario.payout.key_retention))),
        }
    }

    /// What is held in the end: in the lease store, or in most of several.
    fn keys(&self) -> Vec<LeaseKey> {
        match &self.leases[..] {
            [only] => only.borrow().keys(),
            several => held_by_most(&several.iter().map(|store| store.borrow().keys()).collect::<Vec<_>>()),
        }
    }
}
