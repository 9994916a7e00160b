//! Every strategy of the catalogue against real servers: three nodes make an attempt for one due
//! period at the same time, and the database's rows say what came of it.
//!
//! A guard that holds must settle once, with the right ranking, accounts and payments; the
//! controls must settle once for every node, or these tests see nothing. What needs faults is not
//! here: it is what simulations are for.

mod books;
mod job_error;
mod lease_store;
mod players;

use crate::corner::{MARIADB, POSTGRES, Server, TIMEOUT, client, in_a_corner};
use crate::real;
use books::Books;
use futures_util::future::join_all;
use onceproof::host::{Database, Dialect, Host, Task};
use onceproof::id::{AttemptId, HostId, NodeId, PeriodId};
use onceproof::real::Network;
use onceproof::scenario::{GuardKnobs, LeaderKnobs, NodeKnobs, OnMisfire, Remembers, RowLockKnobs, Rules, Scenario};
use onceproof::seed::Seed;
use onceproof::settlement::{Calendar, Decides, Period, Schedule};
use onceproof::settlement::{Fold, Gap};
use onceproof::store::sql::aggregate;
use onceproof::store::{Sql, StoreError};
use onceproof::strategy::catalogue;
use onceproof::time::Span;
use onceproof::trace::{Event, Phase};
use onceproof::world::servers::payout;
use onceproof::{Belief, Context, Error, Strategy};
use std::rc::Rc;
use std::sync::Arc;

const NODES: u8 = 3;
/// Guards that guard nothing, or too late.
const CONTROLS: [&str; 4] = ["no-guard", "local-mutex", "table-key-marker-last-apart", "queue-marker"];

/// What one attempt came to.
type Outcome = Result<Belief, Error>;

/// What became of a period.
struct Seen {
    period: Period,
    /// What each node believed after the attempts that were made at the same time.
    together: Vec<Outcome>,
    /// And after those that were made one after the other, when all that was over.
    afterwards: Vec<Outcome>,
    books: Books,
    /// What is left to do, as far as the strategy lets a node know: before anything was tried, with
    /// every payment undelivered again, and in the end.
    left: [Option<Vec<PeriodId>>; 3],
    /// The steps that were answered.
    answered: Vec<&'static str>,
    /// Whom the payout service paid how much for which rank.
    paid: Vec<(i64, i64, i64)>,
}

fn scenario(strategy: &str) -> Scenario {
    let schedule = Schedule::Cron {
        cron: "0 0 10,25 * *".to_owned(),
        zone: "Asia/Shanghai".to_owned(),
        // Long over, by every clock.
        from: jiff::civil::date(2020, 1, 9).at(0, 0, 0, 0),
        periods: 1,
        gap: Gap::End,
        fold: Fold::First,
    };
    let node = NodeKnobs { work: 150.ms(), timeout: TIMEOUT, ..NodeKnobs::default() };
    // A heart beats while the job is at work, and who fails need not wait long.
    let guard = GuardKnobs { heartbeat: 30.ms(), dual_renew_every: 40.ms(), backoff: 1.ms(), ..GuardKnobs::default() };
    // A schedule that fires nothing late would fire nothing here.
    let leader = LeaderKnobs { remembers: Remembers::Slot, ..LeaderKnobs::default() };
    let row_lock = RowLockKnobs { on_misfire: OnMisfire::Fire, ..RowLockKnobs::default() };
    Scenario { nodes: NODES, schedule, node, guard, leader, row_lock, ..Scenario::calm(strategy) }
}

/// Whether it makes this step.
fn makes(strategy: &dyn Strategy, name: &str) -> bool {
    strategy.steps().iter().any(|step| step.name == name)
}

fn uses_leases(strategy: &dyn Strategy) -> bool {
    strategy.steps().iter().any(|step| step.peer == Some(HostId::Lease))
}

/// Whether a period that is settled stays so when somebody comes back: a lease excludes overlap, not repetition.
fn remembers(strategy: &dyn Strategy) -> bool {
    strategy.unique_marker() || matches!(strategy.decides(), Decides::TaskRow | Decides::FenceRow)
}

/// What there is before any node begins.
struct Opened {
    scenario: Arc<Scenario>,
    calendar: Arc<Calendar>,
    period: Period,
    /// Whoever looks at the tables.
    sql: Sql,
    paying: Task,
}

/// Tables with players in them, and the payout service.
async fn open(network: &Rc<Network>, strategy: &dyn Strategy) -> Result<Opened, StoreError> {
    let scenario = Arc::new(scenario(strategy.name()));
    let calendar = Arc::new(scenario.schedule.calendar().expect("a schedule"));
    let period = calendar.periods[0];
    let sql = client(network.host(HostId::Traffic));
    players::move_in(&sql, strategy.unique_marker(), period).await?;
    let service = network.host(HostId::Payout);
    let paying = service.spawn("payout", Box::pin(payout::serve(service.clone(), Rc::default())));
    Ok(Opened { scenario, calendar, period, sql, paying })
}

async fn play(network: Rc<Network>, strategy: &'static dyn Strategy) -> Result<Seen, StoreError> {
    let Opened { scenario, calendar, period, sql, paying } = open(&network, strategy).await?;

    let start = (0..NODES).map(|n| node_on(network.host(HostId::node(n)), n, &scenario, &calendar, strategy));
    let mut nodes: Vec<Context> = join_all(start).await.into_iter().collect::<Result<_, _>>()?;
    let left_at_first = left(strategy, &mut nodes[0]).await?;
    let together = join_all(nodes.iter_mut().map(|context| strategy.attempt(context, period))).await;
    sql.execute("UPDATE outbox SET sent = 0".into(), &[]).await?;
    let left_undelivered = left(strategy, &mut nodes[0]).await?;
    let mut afterwards = Vec::new();
    if remembers(strategy) {
        for context in &mut nodes {
            context.begin(AttemptId { number: 2, ..context.attempt() });
            afterwards.push(strategy.attempt(context, period).await);
        }
    }
    let left = [left_at_first, left_undelivered, left(strategy, &mut nodes[0]).await?];
    let books = Books::read(&sql).await?;
    paying.abort();
    let (mut paid, mut answered) = (Vec::new(), Vec::new());
    for (_, event) in network.records() {
        match event {
            Event::Paid { rank, player, amount, .. } => paid.push((rank, player.0, amount)),
            Event::Step { step, phase: Phase::After, .. } => answered.push(step),
            _ => {}
        }
    }
    Ok(Seen { period, together, afterwards, books, left, answered, paid })
}

async fn left(strategy: &dyn Strategy, context: &mut Context) -> Result<Option<Vec<PeriodId>>, StoreError> {
    strategy.unsettled(context).await.map_err(StoreError::rejected)
}

/// A process that has just started, with its connections open: nobody is late because he connects.
async fn node_on(
    host: Rc<dyn Host>,
    number: u8,
    scenario: &Arc<Scenario>,
    calendar: &Arc<Calendar>,
    strategy: &dyn Strategy,
) -> Result<Context, StoreError> {
    let attempt = AttemptId { node: NodeId(number), number: 1 };
    let mut context = Context::new(host, Arc::clone(scenario), Arc::clone(calendar), attempt);
    let ready = async {
        strategy.started(&mut context).await?;
        context.sql().query("connect", "SELECT 1", &[]).await?;
        if uses_leases(strategy) {
            context.lease().get("connect", "nothing").await?;
        }
        Ok::<(), Error>(())
    };
    ready.await.map_err(StoreError::rejected)?;
    Ok(context)
}

fn judge(server: Server, strategy: &dyn Strategy, seen: &Seen) {
    match strategy.name() {
        "table-key-ignores-error" => judge_ignored_error(server, seen),
        "table-key-check-only" => assert_eq!(seen.books.settlements.len(), usize::from(NODES), "nobody is stopped: {:?}", seen.together),
        _ => judge_guard(server, strategy, seen),
    }
}

/// All three believe that they have settled, whatever the server made of their COMMIT: PostgreSQL
/// a rollback, MariaDB a commit of everything but the marker.
fn judge_ignored_error(server: Server, seen: &Seen) {
    let Seen { period, together, books, .. } = seen;
    assert_eq!(books.settlements, [period.id.0], "{together:?}");
    assert!(together.iter().all(|outcome| *outcome == Ok(Belief::Settled)), "{together:?}");
    let once = players::after_the_published_body(*period).ranking;
    match server.dialect {
        Dialect::PostgreSql => assert_eq!(books.ranking, once),
        Dialect::MySql => {
            let times = books.ranking.len() / once.len();
            assert!(times > 1 && books.ranking.len() == times * once.len(), "nobody met anybody: {:?}", books.ranking);
        }
    }
}

fn judge_guard(server: Server, strategy: &dyn Strategy, seen: &Seen) {
    let Seen { period, together, afterwards, books, left, answered, paid } = seen;
    let name = format!("{} on {:?}", strategy.name(), server.dialect);
    let control = CONTROLS.contains(&strategy.name());
    let settled = if control { usize::from(NODES) } else { 1 };
    let believe = |outcomes: &[Outcome]| outcomes.iter().filter(|outcome| matches!(outcome, Ok(Belief::Settled))).count();
    assert_eq!(books.settlements, vec![period.id.0; settled], "{name}: settlements; {together:?}");
    assert_eq!((believe(together), believe(afterwards)), (settled, 0), "{name}: {together:?}, then {afterwards:?}");
    let published = strategy.name() == "table-key-published";
    if !published {
        // What a loser is told is "no", not an error.
        assert!(together.iter().chain(afterwards).all(Result::is_ok), "{name}: {together:?}, then {afterwards:?}");
    }
    let expected = if published { players::after_the_published_body(*period) } else { players::after_the_good_body(*period) };
    assert_eq!(books.ranking, expected.ranking, "{name}: ranking");
    assert_eq!(books.points, expected.points, "{name}: points");
    assert_eq!(books.marked, expected.marked, "{name}: earnings of the period");
    assert_eq!(*paid, expected.paid, "{name}: payments");
    if let [Some(at_first), Some(undelivered), Some(in_the_end)] = left {
        let (this, nothing) = (vec![period.id], vec![]);
        let undelivered_counts = if makes(strategy, "outbox.find") { &this } else { &nothing };
        assert_eq!((at_first, undelivered, in_the_end), (&this, undelivered_counts, &nothing), "{name}: what is left to do");
    }
    if makes(strategy, "task.heartbeat") {
        assert!(answered.contains(&"task.heartbeat"), "{name}: its heart has never been heard");
    }
    assert_eq!(books.unsent, 0, "{name}: outbox");
    if strategy.decides() == Decides::TaskRow {
        assert_eq!(books.task_status, 2, "{name}: the task row is completed");
    }
}

/// Whether a server of this kind can run it, as it is set up: PostgreSQL prepares nothing unless it is told how much.
fn runs_on(server: Server, url: &str, strategy: &dyn Strategy) -> bool {
    if server.dialect == Dialect::MySql && !strategy.runs_under(Rules::InnodbRepeatableRead) {
        return false;
    }
    if makes(strategy, "queue.pop") {
        println!("{} is not played: it listens for messages longer than a test lasts", strategy.name());
        return false;
    }
    let asked = |server: &HostId| strategy.steps().iter().any(|step| step.peer == Some(*server));
    if let Some(nobody) = HostId::ON_DEMAND.into_iter().find(asked) {
        println!("{} is not played: it asks {nobody}, and there is no real one here", strategy.name());
        return false;
    }
    if !makes(strategy, "tx.prepare") {
        return true;
    }
    let limit = in_a_corner(server, url, async |database: Database| {
        let sql = client(Network::new(Seed(1), database).map(Rc::new).expect("a URL with a host").host(HostId::Traffic));
        aggregate(&sql.query("SELECT current_setting('max_prepared_transactions')::bigint".into(), &[]).await?)
    });
    if limit == 0 {
        println!("{} is not played: the server's max_prepared_transactions is 0", strategy.name());
    }
    limit > 0
}

fn every_strategy_without_leases(server: Server, test: &str) {
    let Some(url) = server.address(test) else { return };
    for strategy in catalogue().iter().copied().filter(|strategy| !uses_leases(*strategy) && runs_on(server, &url, *strategy)) {
        let seen = in_a_corner(server, &url, async |database: Database| {
            play(Rc::new(Network::new(Seed(1), database).expect("a URL with a host")), strategy).await
        });
        judge(server, strategy, &seen);
    }
}

fn every_strategy_with_leases(server: Server, test: &str) {
    let Some(url) = server.address(test) else { return };
    let Some(lease_store) = real::address("ONCEPROOF_REDIS", test) else { return };
    for strategy in catalogue().iter().copied().filter(|strategy| uses_leases(*strategy) && runs_on(server, &url, *strategy)) {
        let seen = in_a_corner(server, &url, async |database: Database| {
            lease_store::in_a_database_of_its_own(&lease_store, async |number| {
                let network = Network::new(Seed(1), database).expect("a URL with a host");
                let network = network.with_lease_store(&lease_store, number).expect("a URL with a host");
                play(Rc::new(network), strategy).await
            })
            .await
        });
        judge(server, strategy, &seen);
    }
}

#[test]
fn strategies_hold_on_postgres() {
    every_strategy_without_leases(POSTGRES, "strategies_hold_on_postgres");
}

#[test]
fn strategies_hold_on_mariadb() {
    every_strategy_without_leases(MARIADB, "strategies_hold_on_mariadb");
}

#[test]
fn lease_strategies_hold_on_postgres() {
    every_strategy_with_leases(POSTGRES, "lease_strategies_hold_on_postgres");
}

#[test]
fn lease_strategies_hold_on_mariadb() {
    every_strategy_with_leases(MARIADB, "lease_strategies_hold_on_mariadb");
}
