//! Will a scheduled job run exactly once when several servers share it?
//!
//! onceproof runs guards — a unique key, a lease, an optimistic version, two of them at once —
//! on simulated servers with real client libraries, breaks clocks, processes, networks and
//! stores, and judges what the servers recorded.
//!
//! # Five nouns
//!
//! A [`Scenario`](scenario::Scenario) is deployed, a [`FaultPlan`](plan::FaultPlan) goes wrong,
//! and with a [`Seed`](seed::Seed) they decide a [`Run`](world::Run), whose
//! [`Trace`](trace::Trace) the judges turn into a [`Verdict`](invariant::Verdict) each.
//!
//! ```
//! use onceproof::invariant::Verdict;
//! use onceproof::plan::{FaultPlan, Harm, Target, Trigger};
//! use onceproof::scenario::Scenario;
//! use onceproof::seed::Seed;
//! use onceproof::time::Span;
//! use onceproof::trace::Phase;
//! use onceproof::world::{Deployment, EngineKind};
//!
//! // Whoever claims the period first dies right after its claim, and is back five minutes later.
//! let crash = Harm::Crash { host: Target::Self_, back_after: 5.minutes() };
//! let plan = FaultPlan::of([crash.when(Trigger::first("task.claim", Phase::After))]);
//!
//! let settles = |strategy: &str| {
//!     let deployment = Deployment::new(&Scenario::calm(strategy), EngineKind::Event)?;
//!     let run = deployment.run(Seed(1), &plan).expect("nothing to refuse");
//!     let verdicts = deployment.judge(&run);
//!     Ok::<_, onceproof::scenario::Misconfigured>(verdicts.iter().all(|(_, verdict)| *verdict == Verdict::Holds))
//! };
//! assert!(settles("dual-guard")?, "a dead claim is taken over");
//! assert!(!settles("version-published")?, "nobody may touch a claimed row");
//! # Ok::<(), onceproof::scenario::Misconfigured>(())
//! ```
//!
//! # A strategy of your own
//!
//! It gets its node's redis-rs and tokio-postgres connections, clock, random numbers and named
//! steps from its [`Context`], and [`check`] says what becomes of it. This one takes the period's
//! task row inside the settlement transaction, so whoever comes second finds it taken. It makes no
//! promise in words, and so promises everything: nothing breaks, in any class of faults.
//!
//! ```
//! use onceproof::strategy::body::{self, ATOMIC_STEPS};
//! use onceproof::{Belief, Check, Context, Error, FaultClass, Period, PeriodId, Step, Strategy, async_trait, steps};
//!
//! const TAKE: &str = "UPDATE task SET status = 2 WHERE period = $1 AND status = 0";
//!
//! struct TaskRow;
//!
//! #[async_trait(?Send)]
//! impl Strategy for TaskRow {
//!     fn name(&self) -> &'static str {
//!         "my-task-row"
//!     }
//!     fn steps(&self) -> &'static [Step] {
//!         steps![Step::database("take"), Step::database("tx.settlement"); ATOMIC_STEPS]
//!     }
//!     async fn unsettled(&self, context: &mut Context) -> Result<Option<Vec<PeriodId>>, Error> {
//!         body::unfinished(context).await.map(Some)
//!     }
//!     async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error> {
//!         let context = &*context;
//!         body::atomic_job(context, period, async |now| {
//!             let taken = context.postgres("take", async |db| db.execute(TAKE, &[&period.id.0]).await).await?;
//!             body::record(context, period, 1, now).await?;
//!             Ok(taken == 1)
//!         })
//!         .await
//!     }
//! }
//!
//! let few = Check { classes: vec![FaultClass::Pause, FaultClass::ReplyLost], seeds: 20, ..Check::of(&TaskRow) };
//! few.run()?.assert_as_expected();
//! # Ok::<(), onceproof::check::CheckError>(())
//! ```
//!
//! # Layers
//!
//! A module uses only its own row and those above it (ARCHITECTURE.md says why, a test says
//! whether).
//!
//! | layer | modules |
//! |---|---|
//! | words | [`id`], [`seed`], [`time`], [`trace`], [`step`], [`plan`], [`nearest`](nearest::nearest) |
//! | domain | [`settlement`], [`scenario`], [`class`], [`profile`] |
//! | seam | [`host`]: all that the code of a host may do |
//! | real world | [`real`]: hosts on real sockets |
//! | store | [`store`]: the clients |
//! | strategy | [`strategy`]: the guards, and what each declares |
//! | node | [`node`]: wait, attempt, retry, catch up |
//! | your deployment | [`deployment_file`]: a user's file, read and checked |
//! | simulation | [`world`]: engines, servers, clocks, faults |
//! | judgement | [`invariant`]: words and domain only |
//! | search | [`explore`]: sweep, certify, witness |
//! | incidents | [`incident`]: public reports, each as a run and its fix |
//! | report | [`report`]: results as text and files |
//! | test | [`check`]: one call for a strategy of your own |
//! | command | [`cli`] |

pub mod id;
pub mod nearest;
pub mod seed;
pub mod time;
pub mod trace;
pub mod step;
pub mod plan;
pub mod settlement;
pub mod scenario;
pub mod class;
pub mod profile;
pub mod host;
pub mod real;
pub mod store;
pub mod strategy;
pub mod node;
pub mod deployment_file;
pub mod world;
pub mod invariant;
pub mod explore;
pub mod incident;
pub mod report;
pub mod page;
pub mod check;
pub mod cli;

// What a strategy of your own needs, under one name. The client libraries are the very ones that
// its connections come from: a crate that names them itself has to name these versions.
pub use async_trait::async_trait;
pub use check::Check;
pub use class::FaultClass;
pub use id::{Letter, PeriodId};
pub use scenario::Rules;
pub use settlement::Period;
pub use step::Step;
pub use strategy::{Context, Error, Expectation, Policy, Strategy};
pub use trace::Belief;
pub use {redis, tokio_postgres};
