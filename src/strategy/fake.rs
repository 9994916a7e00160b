//! TEMPORARY STAND-IN for the catalogue. To be dropped.
use crate::id::Letter;
use crate::plan::{FaultClass, FaultPlan};
use crate::settlement::{Decides, Period};
use crate::strategy::{Context, Error, Expectation, Policy, Scope, Strategy};
use crate::trace::{Belief, StepName};
use async_trait::async_trait;

pub struct Fake(pub &'static str, pub &'static str, pub Policy);

#[async_trait(?Send)]
impl Strategy for Fake {
    fn name(&self) -> &'static str {
        self.0
    }
    fn about(&self) -> &'static str {
        self.1
    }
    fn policy(&self) -> Policy {
        self.2
    }
    fn decides(&self) -> Decides {
        Decides::Nothing
    }
    fn steps(&self) -> &'static [StepName] {
        &["job.work"]
    }
    fn expectations(&self) -> Vec<Expectation> {
        match self.0 {
            "no-guard" => vec![Expectation::Must {
                class: FaultClass::Calm,
                letters: &[Letter::D],
                because: "every node settles by itself",
                plan: |_, _| FaultPlan::none(),
            }],
            "table-key" | "dual-guard" => {
                vec![Expectation::Never { scope: Scope::Every, letters: &Letter::ALL, because: "one transaction decides" }]
            }
            _ => vec![],
        }
    }
    async fn attempt(&self, _: &mut Context, _: Period) -> Result<Belief, Error> {
        unimplemented!()
    }
}

pub static ALL: [&dyn Strategy; 9] = [
    &Fake("no-guard", "every node settles at the boundary", Policy::Skip),
    &Fake("table-key-published", "count, then insert the marker last", Policy::Skip),
    &Fake("table-key", "unique marker first", Policy::Retry),
    &Fake("lease-set-px", "SET NX PX, job, DEL", Policy::Skip),
    &Fake("lease-set-px-retry", "SET NX PX, job, DEL", Policy::Retry),
    &Fake("lease-set-px-checked", "SET NX PX, job, DEL", Policy::RetryChecked),
    &Fake("version-published", "claim by version", Policy::Retry),
    &Fake("dual-published", "lease and version", Policy::Retry),
    &Fake("dual-guard", "lease, version with fence, outbox", Policy::Retry),
];
