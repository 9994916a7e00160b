//! The second opinion on the table: what each strategy declares must break under a fault class
//! breaks in its pinned plan, whatever network carries it and at whatever scale.

use onceproof::class::FaultClass;
use onceproof::explore::{Mark, Subject, observe};
use onceproof::scenario::{Rules, Scenario};
use onceproof::seed::Seed;
use onceproof::strategy::{self, Expectation};
use onceproof::world::{Deployment, EngineKind};

#[test]
fn what_must_break_breaks_on_both_engines() {
    let mut claims = 0;
    for strategy in strategy::catalogue() {
        for engine in EngineKind::ALL {
            let deployment = Deployment::new(&Scenario::calm(strategy.name()), engine).expect("the default can be run");
            for claim in strategy.expectations(Rules::default()) {
                let Expectation::Must { class, letters, because, plan } = claim else { continue };
                let plan = plan(Subject::scenario(&deployment), Subject::calendar(&deployment));
                let seen = observe(&deployment, class, Seed(1), &plan).expect("it can be simulated");
                let place = format!("{} under {class} on {}", strategy.name(), engine.name());
                assert!(seen.felt || class == FaultClass::Calm, "{place}: nobody noticed");
                for letter in letters {
                    let broke = seen.findings.iter().any(|f| f.mark == Mark::Letter(*letter));
                    assert!(broke, "{place}: {letter} held, although {because}; broken: {:#?}", seen.findings);
                }
                claims += 1;
            }
        }
    }
    assert!(claims > 30, "only {claims} claims: the test reads the wrong list");
}
