//! Public reports of scheduled work that ran twice, never, or got stuck, reproduced: each is a
//! deployment, a fault plan, the rule that breaks, and the fix under which the same run holds.
//!
//! An incident is data, one file each in `src/incident`. What it says about the report is taken
//! from the report that it names; what it deploys is our model of it, and says what stands for what.

mod file;

pub use file::{Damage, Evidence, Incident, Unexpressed};

use crate::class::FaultClass;
use crate::explore::observe::NoResult;
use crate::explore::{Observed, observe};
use crate::plan::FaultPlan;
use crate::scenario::Misconfigured;
use crate::seed::Seed;
use crate::world::{Deployment, EngineKind};
use std::sync::OnceLock;

/// Reads the files with these names.
macro_rules! incidents {
    ($($id:literal)*) => {
        const FILES: &[(&str, &str)] = &[$(($id, include_str!(concat!("incident/", $id, ".toml")))),*];
    };
}

incidents! {
    "B01"
    "B02"
    "B04"
    "B07"
    "B11"
    "B13"
    "B16"
    "B17"
    "B19"
    "B22"
    "B23"
    "B25"
    "B26"
    "B28"
    "B29"
    "B31"
    "B32"
    "B34"
    "B35"
    "B37"
    "B38"
    "B40"
    "B41"
    "B44"
    "B46"
    "B49"
    "B50"
    "B52"
    "B55"
    "B56"
    "B58"
    "B59"
    "B61"
    "B62"
    "B64"
    "B65"
    "B67"
    "B68"
    "B70"
    "B71"
    "B73"
    "B74"
    "B76"
    "B77"
    "B79"
    "B80"
    "B82"
    "B83"
    "B85"
    "B86"
    "B88"
    "B89"
    "B91"
    "B92"
    "B94"
    "B95"
    "B98"
    "B100"
    "B101"
    "B104"
    "B106"
    "B107"
    "B109"
    "B110"
    "B118"
    "B119"
    "B121"
    "B122"
    "B124"
    "B125"
    "B128"
    "B130"
    "B131"
    "B133"
    "B134"
    "B136"
    "B137"
    "B139"
    "B140"
    "B142"
    "B143"
    "B145"
    "B146"
    "B149"
    "B151"
    "B154"
}

/// Every incident that is reproduced, in the order of their numbers.
///
/// # Panics
/// Never: the files are part of the program, and a test reads them all.
pub fn all() -> &'static [Incident] {
    static ALL: OnceLock<Vec<Incident>> = OnceLock::new();
    ALL.get_or_init(|| {
        FILES.iter().map(|(id, text)| Incident::read(id, text).unwrap_or_else(|what| panic!("src/incident/{id}.toml: {what}"))).collect()
    })
}

/// The incident with this number, in letters of any case.
pub fn find(id: &str) -> Option<&'static Incident> {
    all().iter().find(|incident| incident.id.eq_ignore_ascii_case(id))
}

/// The reports that are not reproduced, each with the reason.
///
/// # Panics
/// As [`all`].
pub fn unexpressed() -> &'static [Unexpressed] {
    static REST: OnceLock<Vec<Unexpressed>> = OnceLock::new();
    REST.get_or_init(|| {
        Unexpressed::read(include_str!("incident/unexpressed.toml")).unwrap_or_else(|what| panic!("src/incident/unexpressed.toml: {what}"))
    })
}

/// The report with this number, in letters of any case, if it is one of those.
pub fn unexpressed_one(id: &str) -> Option<&'static Unexpressed> {
    unexpressed().iter().find(|report| report.id.eq_ignore_ascii_case(id))
}

/// A run of an incident that can be made.
#[derive(Clone)]
pub struct Staged {
    /// What is deployed.
    pub deployment: Deployment,
    /// What goes wrong.
    pub plan: FaultPlan,
    /// The run's seed.
    pub seed: Seed,
}

impl Staged {
    /// Makes the run and judges it.
    ///
    /// # Errors
    /// It was refused, or the harness itself failed.
    pub fn observe(&self) -> Result<Observed, NoResult> {
        // Only a calm run counts as evidence without a fault.
        let class = if self.plan.faults.is_empty() { FaultClass::Calm } else { FaultClass::Swarm };
        observe(&self.deployment, class, self.seed, &self.plan)
    }
}

impl Incident {
    /// What was reported.
    ///
    /// # Errors
    /// Its deployment or its plan is no good.
    pub fn broken(&self) -> Result<Staged, Misconfigured> {
        self.staged(self.deployment(), &self.plan)
    }

    /// The same run with the fix.
    ///
    /// # Errors
    /// The fix's deployment is no good, or the plan cannot strike it.
    pub fn fixed(&self) -> Result<Staged, Misconfigured> {
        self.staged(self.fixed_deployment(), self.fix.plan.as_ref().unwrap_or(&self.plan))
    }

    fn staged(&self, scenario: Result<crate::scenario::Scenario, String>, plan: &FaultPlan) -> Result<Staged, Misconfigured> {
        let scenario = scenario.map_err(|what| Misconfigured::Unclear { name: self.id.clone(), what })?;
        let deployment = Deployment::new(&scenario, EngineKind::Event)?;
        deployment.check_plan(plan)?;
        Ok(Staged { deployment, plan: plan.clone(), seed: Seed(self.seed) })
    }
}
