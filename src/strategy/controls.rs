//! Controls: guards that guard nothing. They have to break, or the harness is blind.

use crate::class::FaultClass;
use crate::id::Letter;
use crate::scenario::Rules;
use crate::settlement::{Decides, Period};
use crate::step::Step;
use crate::strategy::body::{self, JOB_STEPS};
use crate::strategy::{Context, Error, Expectation, Policy, SETTLES_BY_ITS_OWN_ZONE, Strategy, pinned};
use crate::trace::Belief;
use async_trait::async_trait;

/// Every node settles.
pub struct NoGuard;

#[async_trait(?Send)]
impl Strategy for NoGuard {
    fn name(&self) -> &'static str {
        "no-guard"
    }

    fn about(&self) -> &'static str {
        "no guard: every node settles"
    }

    fn policy(&self) -> Policy {
        Policy::Skip
    }

    fn decides(&self) -> Decides {
        Decides::Nothing
    }

    fn steps(&self) -> &'static [Step] {
        &JOB_STEPS
    }

    fn expectations(&self, _: Rules) -> Vec<Expectation> {
        vec![
            Expectation::Must {
                class: FaultClass::Calm,
                letters: &[Letter::D],
                because: "nothing keeps the second node from settling what the first has settled",
                plan: pinned::calm,
            },
            SETTLES_BY_ITS_OWN_ZONE,
        ]
    }

    async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error> {
        body::job(context, period).await
    }
}

/// A mutex inside the process, as code has it that was written for one server.
pub struct LocalMutex;

#[async_trait(?Send)]
impl Strategy for LocalMutex {
    fn name(&self) -> &'static str {
        "local-mutex"
    }

    fn about(&self) -> &'static str {
        "a mutex inside the process: every node has its own"
    }

    fn policy(&self) -> Policy {
        Policy::Skip
    }

    fn decides(&self) -> Decides {
        Decides::Nothing
    }

    fn steps(&self) -> &'static [Step] {
        &JOB_STEPS
    }

    fn expectations(&self, _: Rules) -> Vec<Expectation> {
        vec![
            Expectation::Must {
                class: FaultClass::Calm,
                letters: &[Letter::D],
                because: "each process locks a mutex of its own, and nobody else's",
                plan: pinned::calm,
            },
            SETTLES_BY_ITS_OWN_ZONE,
        ]
    }

    async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error> {
        let _locked = context.process().lock().await;
        body::job(context, period).await
    }
}
