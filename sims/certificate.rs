//! A certificate is only worth something if it is refused to a strategy whose runs do not depend on
//! their seed alone. This one reads the clock of the machine that it is tested on.

use onceproof::explore::Subject;
use onceproof::explore::certify::certificate::{Named, Parting};
use onceproof::explore::certify::{Difference, Distrust, Entry, Matrix, Uncertain, Way};
use onceproof::scenario::{Rules, Scenario};
use onceproof::seed::Seed;
use onceproof::strategy::body::{self, JOB_STEPS};
use onceproof::trace::Event;
use onceproof::world::{Deployment, EngineKind};
use onceproof::{Belief, Context, Error, FaultClass, Period, Step, Strategy, async_trait, steps};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

static NEVER: AtomicBool = AtomicBool::new(false);

/// No guard, and before its job a pause that is drawn from some clock.
struct Draws {
    from_the_host: bool,
}

#[async_trait(?Send)]
impl Strategy for Draws {
    fn name(&self) -> &'static str {
        "draws"
    }

    fn steps(&self) -> &'static [Step] {
        steps![Step::work("think"); JOB_STEPS]
    }

    async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error> {
        let drawn = match self.from_the_host {
            true => host_clock(),
            false => context.random(),
        };
        context.work_step("think", context.sleep(Duration::from_millis(drawn % 5_000))).await?;
        body::job(context, period).await
    }
}

#[expect(clippy::disallowed_methods, reason = "that this is noticed is what is tested")]
fn host_clock() -> u64 {
    u64::from(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |now| now.subsec_nanos() / 100))
}

fn deployed(strategy: &'static Draws) -> Deployment {
    Deployment::with_strategy(&Scenario::calm("draws"), strategy, EngineKind::Event).expect("the default scenario is good")
}

fn certified(strategy: &'static Draws) -> Result<usize, Uncertain> {
    let deployment = deployed(strategy);
    let subjects: [&dyn Subject; 1] = [&deployment];
    let runs = [(0, FaultClass::Calm, Seed(1)), (0, FaultClass::Crash, Seed(2))];
    Matrix { subjects: &subjects, runs: &runs, others: 20, threads: 2 }.run(&NEVER, &|| {}).map(|samples| samples.len())
}

/// It is caught as soon as a run is made twice, and the record in which it first differs is the
/// first that comes after a look at the clock.
#[test]
fn a_strategy_that_reads_the_host_clock_is_refused_with_the_first_record_that_differs() {
    let Err(Uncertain::Differs { way: Way::Twice, distrust }) = certified(&Draws { from_the_host: true }) else {
        panic!("it was believed")
    };
    let Distrust::Differs { strategy: "draws", class: FaultClass::Calm, difference, .. } = *distrust else { panic!("{distrust}") };
    let Difference::Record { number, first: Some(first), second: Some(second) } = difference else { panic!("{difference:?}") };
    assert!(number > 0 && first != second);

    // The control: the same strategy, drawing from its node, repeats in every way.
    assert_eq!(certified(&Draws { from_the_host: false }), Ok(2));
}

/// Two builds are told apart by the file alone: the entry of one run names the record in which another first differs.
#[test]
fn an_entry_names_the_same_record_as_the_two_histories_do() {
    let deployment = deployed(&Draws { from_the_host: true });
    let plan = Subject::plan(&deployment, FaultClass::Calm, Seed(1));
    let run = || Subject::run(&deployment, Seed(1), &plan).expect("nothing to refuse").trace;
    let (there, here) = (run(), run());
    let named = Named { strategy: "draws".to_owned(), rules: Rules::default(), faults: FaultClass::Calm, seed: Seed(1) };
    let entry = Entry::of(named, Subject::scenario(&deployment), &plan, &there, false);
    let Some(Difference::Record { number: expected, .. }) = Difference::between(&there, &here) else { panic!("the same twice") };
    let Some(Parting::Record { number, here: Some(record), .. }) = entry.parts_from(&plan, &here) else { panic!("the same twice") };
    assert_eq!((number, record), (expected, here.records()[expected]));
    // Somebody looked at the clock before.
    let looked = |e: &Event| matches!(e, Event::Step { step: "think", .. });
    assert!(here.records()[..number].iter().any(|r| looked(&r.event)), "{record:?}");
}
