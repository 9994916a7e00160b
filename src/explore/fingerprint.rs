//! What a sweep is a sweep of, as one number: every deployment to the last knob, and one history of
//! each. Another scenario has another number, and so has another build that behaves otherwise.

use crate::class::FaultClass;
use crate::explore::observe::NoResult;
use crate::explore::{Staged, Subject, observe};
use crate::seed::Seed;
use crate::trace::Digest;
use std::hash::Hasher;

/// The number of these subjects. Each is run once, under swarm.
///
/// # Errors
/// A run has no result.
///
/// # Panics
/// Never: every scenario can be written as TOML.
pub fn fingerprint(subjects: &[&dyn Subject], base: Seed) -> Result<Digest, NoResult> {
    let mut all = Digest::EMPTY;
    for subject in subjects {
        let staged = Staged::of(*subject, FaultClass::Swarm, base);
        let plan = staged.plan(FaultClass::Swarm, base);
        all.write(toml::to_string(subject.scenario()).expect("a scenario has only values that TOML knows").as_bytes());
        all.mix(observe(&*staged, FaultClass::Swarm, base, &plan)?.run.trace.digest().0);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::made_up::{MadeUp, SAFE};
    use crate::scenario::Scenario;
    use crate::world::{Deployment, EngineKind};

    #[test]
    fn another_knob_or_another_history_is_another_number() {
        let of = |subject: &dyn Subject| fingerprint(&[subject], Seed(1)).unwrap();
        let given = Scenario::calm("table-key");
        let deployed = |scenario: &Scenario| Deployment::new(scenario, EngineKind::Event).unwrap();
        assert_eq!(of(&deployed(&given)), of(&deployed(&given)));
        assert_ne!(of(&deployed(&given)), of(&deployed(&Scenario { players: 99, ..given })));
        let shifty = MadeUp::of(&SAFE).shifty();
        assert_ne!(of(&shifty), of(&shifty));
    }
}
