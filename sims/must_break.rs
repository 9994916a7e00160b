//! The second opinion on the table: what each strategy declares must break under a fault class
//! breaks in its pinned plan, whatever network carries it and at whatever scale.

use onceproof::class::FaultClass;
use onceproof::explore::{Mark, Observed, Subject, observe, seeds_of_a_claim};
use onceproof::id::Letter;
use onceproof::scenario::{Rules, Scenario};
use onceproof::seed::Seed;
use onceproof::strategy::{self, Expectation};
use onceproof::world::{Deployment, EngineKind};

#[test]
fn what_must_break_breaks_on_both_engines() {
    let mut claims = 0;
    for strategy in strategy::catalogue() {
        let rules = std::iter::once(Rules::default()).chain(strategy.also_under().iter().copied());
        for (engine, rules) in EngineKind::ALL.into_iter().flat_map(|engine| rules.clone().map(move |rules| (engine, rules))) {
            let mut scenario = Scenario::calm(strategy.name());
            scenario.database.rules = rules;
            let deployment = Deployment::new(&scenario, engine).expect("the default can be run");
            for claim in strategy.expectations(rules) {
                let Expectation::Must { class, letters, because, plan } = claim else { continue };
                let plan = plan(Subject::scenario(&deployment), Subject::calendar(&deployment));
                let runs = seeds_of_a_claim(&deployment, class, Seed(1))
                    .map(|seed| observe(&deployment, class, seed, &plan).expect("it can be simulated"));
                let broke = |seen: &Observed, letter: Letter| seen.findings.iter().any(|f| f.mark == Mark::Letter(letter));
                let shown = |seen: &Observed| letters.iter().all(|letter| broke(seen, *letter));
                let mut last = None;
                for seen in runs {
                    let done = shown(&seen);
                    last = Some(seen);
                    if done {
                        break;
                    }
                }
                let seen = last.expect("a claim has a seed");
                let place = format!("{} under {class} on {}", rules.label(strategy.name()), engine.name());
                assert!(seen.felt || class == FaultClass::Calm, "{place}: nobody noticed");
                for letter in letters {
                    assert!(broke(&seen, *letter), "{place}: {letter} held, although {because}; broken: {:#?}", seen.findings);
                }
                claims += 1;
            }
        }
    }
    assert!(claims > 30, "only {claims} claims: the test reads the wrong list");
}
