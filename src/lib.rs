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
//! # Layers
//!
//! A module uses only its own row and those above it (ARCHITECTURE.md says why, a test says
//! whether).
//!
//! | layer | modules |
//! |---|---|
//! | words | [`id`], [`seed`], [`time`], [`trace`], [`step`], [`plan`] |
//! | domain | [`settlement`], [`scenario`], [`class`] |
//! | seam | [`host`]: all that the code of a host may do |
//! | store | [`store`]: the clients |
//! | strategy | [`strategy`]: the guards, and what each declares |
//! | node | [`node`]: wait, attempt, retry, catch up |
//! | simulation | [`world`]: engines, servers, clocks, faults |
//! | judgement | [`invariant`]: words and domain only |
//! | search | [`explore`]: sweep, certify, witness |
//! | report | [`report`]: results as text and files |
//! | command | [`cli`] |

pub mod id;
pub mod seed;
pub mod time;
pub mod trace;
pub mod step;
pub mod plan;
pub mod settlement;
pub mod scenario;
pub mod class;
pub mod host;
pub mod store;
pub mod strategy;
pub mod node;
pub mod world;
pub mod invariant;
pub mod explore;
pub mod report;
pub mod cli;
