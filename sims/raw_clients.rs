//! The client libraries themselves, as a strategy of your own uses them: every way to ask is
//! answered, an open transaction does not outlive its attempt, and the answer to a statement that
//! the library prepares first can be lost after the statement was applied.

use crate::stage::{one_period, reply_lost};
use onceproof::explore::{Observed, observe};
use onceproof::id::HostId;
use onceproof::plan::{FaultPlan, Trigger};
use onceproof::redis::{AsyncCommands, ExistenceCheck, SetExpiry, SetOptions};
use onceproof::seed::Seed;
use onceproof::store::ErrorKind;
use onceproof::tokio_postgres::types::{ToSql, Type};
use onceproof::tokio_postgres::{Client, SimpleQueryMessage};
use onceproof::trace::{Event, Phase, Trace};
use onceproof::world::{Deployment, EngineKind};
use onceproof::{Belief, Context, Error, FaultClass, Period, Step, Strategy, async_trait, redis, steps};
use std::thread;

fn play(strategy: &'static dyn Strategy, engine: EngineKind, plan: &FaultPlan) -> Observed {
    let deployment = Deployment::with_strategy(&one_period("any"), strategy, engine).expect("it is deployed well");
    deployment.check_plan(plan).expect("it can strike");
    let class = if plan.faults.is_empty() { FaultClass::Calm } else { FaultClass::ReplyLost };
    let seen = observe(&deployment, class, Seed(3), plan).expect("it can be simulated");
    assert!(seen.felt, "nobody noticed: nothing tested");
    assert_eq!(seen.run.panics, [], "on {}", engine.name());
    seen
}

/// Asks in every way that the libraries have, and checks each answer.
struct Asks;

#[async_trait(?Send)]
impl Strategy for Asks {
    fn name(&self) -> &'static str {
        "asks"
    }

    fn steps(&self) -> &'static [Step] {
        steps![Step::database("db"), Step::database("db.refused"), Step::lease("lease")]
    }

    async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error> {
        let id = period.id.0;
        let (due, changed, said) = context
            .postgres("db", async |db| {
                let read = db.prepare("SELECT due, version FROM task WHERE period = $1").await?;
                let due: i64 = db.query_one(&read, &[&id]).await?.try_get("due")?;
                assert_eq!(db.query(&read, &[&id]).await?.len(), 1);
                assert!(db.query_opt("SELECT due FROM task WHERE period = $1", &[&(id + 1)]).await?.is_none());
                let bumped = "UPDATE task SET version = version + $2 WHERE period = $1";
                let changed = db.execute(bumped, &[&id, &1_i64]).await?
                    + db.execute_typed(bumped, &[(&id, Type::INT8), (&1_i64, Type::INT8)]).await?;
                // Two at a time go out behind each other, and are answered in turn.
                let (one, fence) = ([&id as &(dyn ToSql + Sync)], [(&"settlement" as &(dyn ToSql + Sync), Type::TEXT)]);
                let token = db.query_typed("SELECT token FROM fence WHERE name = $1", &fence);
                let (one, other) = tokio::join!(db.query_one(&read, &one), token);
                assert_eq!((one?.get::<_, i64>(1) >= 2, other?.len()), (true, 1));
                db.batch_execute("BEGIN; UPDATE task SET version = version + 1; ROLLBACK").await?;
                let said = db.simple_query("SELECT 40 + 2").await?;
                let sum = said.iter().find_map(|m| if let SimpleQueryMessage::Row(row) = m { row.get(0) } else { None });
                Ok((due, changed, sum.map(str::to_owned)))
            })
            .await?;
        assert_eq!((due, changed, said.as_deref()), (period.due.0, 2, Some("42")));
        let refused = context.postgres("db.refused", async |db| db.query("SELECT missing FROM nowhere", &[]).await).await;
        assert!(matches!(&refused, Err(Error::Store(why)) if why.text.contains("42P01") && !why.lost_connection()), "{refused:?}");
        // What the library cannot make use of says nothing about the connection.
        let misread = async |db: &Client| db.query_one("SELECT count(*) FROM task", &[]).await?.try_get::<_, String>(0);
        let unusable = context.postgres("db.refused", misread).await.expect_err("a count is no text");
        assert!(matches!(&unusable, Error::Store(why) if why.kind == ErrorKind::Unusable), "{unusable:?}");

        // Nodes overlap, and each has to find what it stored itself.
        let key = &format!("key of {}", context.attempt().node);
        let (value, after) = context
            .redis("lease", async |mut redis| {
                let lock = SetOptions::default().conditional_set(ExistenceCheck::NX).with_expiration(SetExpiry::EX(60));
                let _: Option<String> = redis.set_options(key, "a", lock).await?;
                let value: Option<String> = redis.get(key).await?;
                let after: (i64, i64) = redis::pipe().incr("count", 2).del(key).query_async(&mut redis).await?;
                Ok((value, after.1))
            })
            .await?;
        assert_eq!((value.as_deref(), after), (Some("a"), 1));
        Ok(Belief::Settled)
    }
}

#[test]
fn every_way_to_ask_is_answered() {
    for engine in EngineKind::ALL {
        let seen = play(&Asks, engine, &FaultPlan::none());
        let settled = seen.run.trace.events().filter(|e| matches!(e, Event::AttemptEnded { belief: Belief::Settled, .. })).count();
        assert_eq!(settled, 3, "on {}: every node gets through: {:?}", engine.name(), seen.run.complaints);
    }
}

/// The library numbers what it prepares over the whole process. No history shows it.
#[test]
fn numbers_of_prepared_statements_are_no_history() {
    let trace = || play(&Asks, EngineKind::Event, &FaultPlan::none()).run.trace;
    let first = trace();
    let others: Vec<Trace> = thread::scope(|scope| {
        let started: Vec<_> = (0..2).map(|_| scope.spawn(|| (0..5).map(|_| trace()).next_back().expect("five"))).collect();
        started.into_iter().map(|t| t.join().expect("no run panics")).collect()
    });
    assert!(others.iter().all(|other| other.digest() == first.digest()));
}

/// Begins by itself, writes, and forgets to end it (`true`), or commits (the control). The next attempt looks.
struct Forgets(bool);

#[async_trait(?Send)]
impl Strategy for Forgets {
    fn name(&self) -> &'static str {
        "forgets"
    }

    fn steps(&self) -> &'static [Step] {
        steps![Step::database("look"), Step::database("begin"), Step::database("write"), Step::database("commit")]
    }

    async fn attempt(&self, context: &mut Context, _: Period) -> Result<Belief, Error> {
        const WRITE: &str = "UPDATE task SET version = version + 1";
        let version: i64 = context.postgres("look", async |db| db.query_one("SELECT version FROM task", &[]).await?.try_get(0)).await?;
        if version > 0 {
            return Ok(Belief::AlreadySettled);
        }
        context.postgres("begin", async |db| db.batch_execute("BEGIN").await).await?;
        context.postgres("write", async |db| db.execute(WRITE, &[]).await).await?;
        if !self.0 {
            context.postgres("commit", async |db| db.batch_execute("COMMIT").await).await?;
        }
        Ok(Belief::Failed)
    }
}

#[test]
fn an_open_transaction_ends_with_its_attempt() {
    static FORGETS: [Forgets; 2] = [Forgets(true), Forgets(false)];
    for engine in EngineKind::ALL {
        let [open, committed] = FORGETS.each_ref().map(|strategy| play(strategy, engine, &FaultPlan::none()));
        let saw =
            |seen: &Observed| seen.run.trace.events().any(|e| matches!(e, Event::AttemptEnded { belief: Belief::AlreadySettled, .. }));
        let attempts = open.run.trace.events().filter(|e| matches!(e, Event::AttemptBegan { .. })).count();
        assert!(attempts > 9 && !saw(&open), "on {}: {attempts} attempts, and what was not committed was seen", engine.name());
        assert!(open.run.trace.events().all(|e| !matches!(e, Event::TaskSet { .. })), "nothing was committed");
        assert!(saw(&committed), "on {}: what was committed was not seen", engine.name());
    }
}

/// Takes no notice when a statement of its transaction fails, and goes on.
struct GoesOn;

#[async_trait(?Send)]
impl Strategy for GoesOn {
    fn name(&self) -> &'static str {
        "goes-on"
    }

    fn steps(&self) -> &'static [Step] {
        steps![Step::database("begin"), Step::database("first"), Step::database("second")]
    }

    async fn attempt(&self, context: &mut Context, _: Period) -> Result<Belief, Error> {
        const WRITE: &str = "UPDATE task SET version = version + 1";
        context.postgres("begin", async |db| db.batch_execute("BEGIN").await).await?;
        let _ = context.postgres("first", async |db| db.execute(WRITE, &[]).await).await;
        context.postgres("second", async |db| db.execute(WRITE, &[]).await).await?;
        Ok(Belief::Settled)
    }
}

/// The connection is lost in the middle of a transaction: what comes after must not be one by itself on another connection.
#[test]
fn a_lost_transaction_does_not_go_on() {
    for engine in EngineKind::ALL {
        let lost = reply_lost(HostId::Database).when(Trigger::first("first", Phase::Sent));
        let seen = play(&GoesOn, engine, &FaultPlan::of([lost]));
        let told = |part: &str| seen.run.complaints.iter().any(|(_, why)| why.contains(part));
        assert!(told("the connection was lost inside a transaction"), "on {}: {:?}", engine.name(), seen.run.complaints);
        assert!(seen.run.trace.events().all(|e| !matches!(e, Event::TaskSet { .. })), "on {}: a part was committed", engine.name());
    }
}

/// Claims by a statement text, which the library prepares before it executes it.
struct Claims;

#[async_trait(?Send)]
impl Strategy for Claims {
    fn name(&self) -> &'static str {
        "claims"
    }

    fn steps(&self) -> &'static [Step] {
        steps![Step::database("claim")]
    }

    async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error> {
        const CLAIM: &str = "UPDATE task SET status = 1, version = version + 1 WHERE period = $1 AND version = 0";
        context.postgres("claim", async |db| db.execute(CLAIM, &[&period.id.0]).await).await?;
        Ok(Belief::Settled)
    }
}

/// In the middle of a step the statement has left, not only its preparation: the claim is applied,
/// and nobody believes it. Struck before, the answer to the preparation is lost, and nothing is applied.
#[test]
fn the_answer_that_is_lost_is_the_one_that_counts() {
    for (phase, applied) in [(Phase::Sent, true), (Phase::Before, false)] {
        for engine in EngineKind::ALL {
            let losses = (0..3).map(|n| {
                let when = Trigger::Step { step: "claim".to_owned(), phase, nth: 1, node: Some(HostId::node(n)) };
                reply_lost(HostId::Database).when(when)
            });
            let seen = play(&Claims, engine, &FaultPlan::of(losses));
            let events: Vec<&Event> = seen.run.trace.events().collect();
            let claim = events.iter().position(|e| matches!(e, Event::TaskSet { .. })).expect("somebody claims in the end");
            let loss = events.iter().position(|e| matches!(e, Event::ReplyLost { .. })).expect("an answer is lost");
            assert_eq!(claim < loss, applied, "{phase} on {}", engine.name());
            assert!(seen.run.receipts[0].felt.is_some(), "the node did not notice");
        }
    }
}
