//! The simulated deployment: hosts on an engine, their clocks, and the faults that strike them.

pub mod clock;
mod contain;
mod deployment;
mod operator;
pub mod engine;
mod faults;
mod keepalive;
pub mod servers;
mod sim_host;
mod state;
mod traffic;
mod votes;

pub use crate::scenario::Misconfigured;
pub use contain::contain;
pub use deployment::Deployment;
pub use engine::{Ended, INTERRUPTED, Refused};

use crate::id::{AttemptId, HostId};
use crate::seed::Seed;
use crate::settlement::FinalState;
use crate::time::SimTime;
use crate::trace::{Proof, Trace};

/// Which network simulator carries a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineKind {
    /// The event engine.
    #[default]
    Event,
    /// `turmoil::Sim`.
    Turmoil,
}

impl EngineKind {
    /// Both.
    pub const ALL: [EngineKind; 2] = [EngineKind::Event, EngineKind::Turmoil];

    /// The name in commands and files.
    pub fn name(self) -> &'static str {
        match self {
            EngineKind::Event => "event",
            EngineKind::Turmoil => "turmoil",
        }
    }
}

/// Whether a fault of the plan struck, and whether anybody noticed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Receipt {
    /// When it struck first.
    pub fired: Option<SimTime>,
    /// When it was first noticed, and what shows that.
    pub felt: Option<Felt>,
}

/// A fault was noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Felt {
    /// When.
    pub at: SimTime,
    /// What shows it: the event of the trace at that instant says the same.
    pub proof: Proof,
}

/// One finished run: `(Seed, Scenario, FaultPlan) -> Run`, the same to the byte every time.
#[derive(Clone, Debug)]
pub struct Run {
    /// What decided everything that the scenario and the plan leave open.
    pub seed: Seed,
    /// Everything that happened.
    pub trace: Trace,
    /// What the stores held in the end.
    pub end: FinalState,
    /// Why it ended.
    pub ended: Ended,
    /// When it ended.
    pub ended_at: SimTime,
    /// One receipt for each fault of the plan, in its order.
    pub receipts: Vec<Receipt>,
    /// What panicked, with its message.
    pub panics: Vec<(HostId, String)>,
    /// Why attempts came to nothing, the first of each reason. For people: it is no part of the history.
    pub complaints: Vec<(AttemptId, String)>,
}
