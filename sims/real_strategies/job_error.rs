//! A job that fails once, on a real database: what each strategy writes into the task row then,
//! and what becomes of the period. The fault comes from a host of our own around a real one.

use super::books::Books;
use super::{Opened, Outcome, node_on, open};
use crate::corner::{MARIADB, POSTGRES, Server, in_a_corner};
use futures_util::future::LocalBoxFuture;
use onceproof::host::{Database, Duplex, Host, JobError, Listen, Task};
use onceproof::id::{AttemptId, HostId};
use onceproof::real::{Network, RealHost};
use onceproof::seed::Seed;
use onceproof::store::StoreError;
use onceproof::strategy::find;
use onceproof::time::{SimTime, Span, WallTime};
use onceproof::trace::{Event, Phase, StepName};
use onceproof::{Belief, Error, Strategy};
use std::io;
use std::rc::Rc;
use std::time::Duration;

/// A real host on which the first attempt fails at its third slice of work.
struct FailsOnce(Rc<RealHost>);

impl Host for FailsOnce {
    fn id(&self) -> HostId {
        self.0.id()
    }
    fn connect(&self, to: HostId) -> LocalBoxFuture<'static, io::Result<Box<dyn Duplex>>> {
        self.0.connect(to)
    }
    fn database(&self) -> Database {
        self.0.database()
    }
    fn listen(&self) -> LocalBoxFuture<'static, io::Result<Box<dyn Listen>>> {
        self.0.listen()
    }
    fn spawn(&self, name: &'static str, task: LocalBoxFuture<'static, ()>) -> Task {
        self.0.spawn(name, task)
    }
    fn sleep(&self, d: Duration) -> LocalBoxFuture<'static, ()> {
        self.0.sleep(d)
    }
    fn wall(&self) -> WallTime {
        self.0.wall()
    }
    fn random(&self) -> u64 {
        self.0.random()
    }
    fn now(&self) -> SimTime {
        self.0.now()
    }
    fn record(&self, event: Event) {
        self.0.record(event);
    }
    fn complain(&self, attempt: AttemptId, why: String) {
        self.0.complain(attempt, why);
    }
    fn step(
        &self,
        attempt: AttemptId,
        step: StepName,
        phase: Phase,
        peer: Option<HostId>,
    ) -> Option<LocalBoxFuture<'static, Result<(), JobError>>> {
        let fails = attempt.number == 1 && step == "work.3" && phase == Phase::Before;
        if fails { Some(Box::pin(async { Err(JobError) })) } else { self.0.step(attempt, step, phase, peer) }
    }
    fn under_way(&self) -> LocalBoxFuture<'static, ()> {
        self.0.under_way()
    }
}

/// Two attempts of one node, the status of the task row after the first, and the rows in the end.
async fn play(database: Database, strategy: &dyn Strategy) -> Result<(Vec<Outcome>, i64, Books), StoreError> {
    let network = Rc::new(Network::new(Seed(1), database).expect("a URL with a host"));
    let Opened { scenario, calendar, period, sql, paying } = open(&network, strategy).await?;
    let host = Rc::new(FailsOnce(network.host(HostId::node(0))));
    let mut context = node_on(host, 0, &scenario, &calendar, strategy).await?;
    let first = strategy.attempt(&mut context, period).await;
    let status = Books::read(&sql).await?.task_status;
    context.sleep(50.ms()).await;
    context.begin(AttemptId { number: 2, ..context.attempt() });
    let second = strategy.attempt(&mut context, period).await;
    paying.abort();
    Ok((vec![first, second], status, Books::read(&sql).await?))
}

fn job_errors(server: Server, test: &str) {
    let Some(url) = server.address(test) else { return };
    // Failed and final, failed until the backoff has passed, pending again.
    for (name, status, again) in [
        ("version-published", 3, Belief::Busy),
        ("version-reclaim-unfenced", 3, Belief::Busy),
        ("version-reclaim", 3, Belief::Settled),
        ("version-timestamp", 0, Belief::Settled),
        ("table-key", 0, Belief::Settled),
    ] {
        let strategy = find(name).expect("a strategy");
        let (outcomes, after_error, books) = in_a_corner(server, &url, async |database: Database| play(database, strategy).await);
        assert_eq!(outcomes, [Err(Error::Job(JobError)), Ok(again)], "{name} on {:?}", server.dialect);
        assert_eq!(after_error, status, "{name} on {:?}: the task row after the error", server.dialect);
        assert_eq!(books.settlements.len(), usize::from(again == Belief::Settled), "{name} on {:?}", server.dialect);
    }
}

#[test]
fn a_job_that_fails_on_postgres() {
    job_errors(POSTGRES, "a_job_that_fails_on_postgres");
}

#[test]
fn a_job_that_fails_on_mariadb() {
    job_errors(MARIADB, "a_job_that_fails_on_mariadb");
}
