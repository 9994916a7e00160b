//! What a user writes: `right` and `wrong` are whole, each with its test. Here is what becomes of
//! strategies that cannot be judged, and of those that do not do what they say.

mod right;
mod wrong;

use onceproof::check::{self, CheckError, Checked};
use onceproof::scenario::Rules;
use onceproof::strategy::body::{self, JOB_STEPS};
use onceproof::time::Span;
use onceproof::world::EngineKind;
use onceproof::{Belief, Check, Context, Error, FaultClass, Letter, Period, Policy, Step, Strategy, async_trait, redis, steps};
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Most lines that a strategy and its test may take, without blank ones and comments.
const LINES: usize = 30;

#[test]
fn a_strategy_and_its_test_are_short() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("sims/own_strategy");
    for file in ["right.rs", "wrong.rs"] {
        let text = fs::read_to_string(folder.join(file)).expect("the example is there");
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count();
        assert!((20..=LINES).contains(&lines), "{file} has {lines} lines");
        assert!(text.contains("impl Strategy for") && text.contains("#[test]"), "{file} is no whole example");
    }
}

/// What the README shows is what is tested.
#[test]
fn the_readme_shows_the_right_one() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = fs::read_to_string(root.join("README.md")).expect("the README is there");
    assert!(readme.contains(&format!("```rust\n{}```\n", include_str!("own_strategy/right.rs"))), "the README's example is another");
}

/// What a strategy does beside settling without any guard.
#[derive(Clone, Copy)]
enum Habit {
    None,
    SleepOnTokio,
    SpawnOnTokio,
    /// It draws from the process's own dice.
    Dice,
    /// It draws from its node's.
    SeededDice,
    UndeclaredStep,
    /// It asks a server in what it declares as work.
    MisdeclaredStep,
    Promises,
    /// One of its statements is wrong.
    Typo,
    /// It asks for what the database does not offer, and does not look at the answer.
    AskMuch,
    /// The same of the lease store.
    AskMuchOfTheStore,
}

struct Habitual(Habit);

#[async_trait(?Send)]
impl Strategy for Habitual {
    fn name(&self) -> &'static str {
        "habitual"
    }

    fn steps(&self) -> &'static [Step] {
        match self.0 {
            Habit::UndeclaredStep => &JOB_STEPS,
            Habit::Typo | Habit::AskMuch => steps![Step::database("upload"); JOB_STEPS],
            Habit::AskMuchOfTheStore => steps![Step::lease("upload"); JOB_STEPS],
            _ => steps![Step::work("upload"); JOB_STEPS],
        }
    }

    fn policy(&self) -> Policy {
        Policy::Skip
    }

    fn expectations(&self, _: Rules) -> Vec<onceproof::Expectation> {
        match self.0 {
            Habit::Promises | Habit::Typo => vec![onceproof::Expectation::never(&[Letter::D, Letter::L], "it says so")],
            _ => Vec::new(),
        }
    }

    #[expect(clippy::disallowed_methods, reason = "that is what must be found")]
    async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error> {
        match self.0 {
            Habit::None | Habit::Promises => {}
            Habit::SleepOnTokio => tokio::time::sleep(Duration::from_secs(1)).await,
            Habit::SpawnOnTokio => drop(tokio::spawn(async {})),
            Habit::Dice => context.sleep(u64::from(rand::random::<u32>() % 60_000).ms()).await,
            Habit::SeededDice => context.sleep((context.random() % 60_000).ms()).await,
            Habit::UndeclaredStep => context.work_step("upload", context.sleep(1.seconds())).await?,
            Habit::Typo => drop(context.postgres("upload", async |db| db.query("SELECT 1 FROM setlement", &[]).await).await?),
            Habit::AskMuch => {
                let _ = context.postgres("upload", async |db| db.query("SELECT pg_notify('upload', '')", &[]).await).await;
            }
            Habit::AskMuchOfTheStore => {
                let _ = context.redis("upload", async |mut redis| redis::pipe().atomic().del("key").exec_async(&mut redis).await).await;
            }
            Habit::MisdeclaredStep => {
                context.redis("upload", async |mut redis| redis::Cmd::get("key").exec_async(&mut redis).await).await?;
            }
        }
        body::job(context, period).await
    }
}

fn check(strategy: &'static Habitual) -> Result<Checked, CheckError> {
    Check { classes: vec![FaultClass::Calm], seeds: 10, ..Check::of(strategy) }.run()
}

/// Whatever cannot be judged is an error that says what to write instead.
#[test]
fn what_cannot_be_simulated_is_refused_with_the_cure() {
    for (habit, cure) in [
        (&Habitual(Habit::SleepOnTokio), "use `Context::sleep`"),
        (&Habitual(Habit::SpawnOnTokio), "use `Context::spawn`"),
        (&Habitual(Habit::UndeclaredStep), "add `Step::work(\"upload\")`"),
        (&Habitual(Habit::MisdeclaredStep), "add `Step::lease(\"upload\")`"),
        (&Habitual(Habit::AskMuch), "the simulated db was asked for something that it does not offer"),
        (&Habitual(Habit::AskMuchOfTheStore), "the simulated lease was asked for something that it does not offer"),
    ] {
        let refused = check(habit).expect_err("there is no verdict");
        assert!(matches!(refused, CheckError::Stopped(_)) && refused.to_string().contains(cure), "{refused}");
    }
}

/// Dice of the process are found by making runs twice; the control draws from its node's, and repeats.
#[test]
fn dice_that_nobody_seeded_are_found() {
    let differs = check(&Habitual(Habit::Dice)).expect_err("no run repeats");
    let text = differs.to_string();
    assert!(matches!(differs, CheckError::Differs(_)), "{text}");
    assert!(text.contains("does not repeat: record ") && text.contains(" and is now "), "it names the first difference: {text}");
    assert!(text.contains("draws from `Context::random`"), "{text}");

    let checked = check(&Habitual(Habit::SeededDice)).expect("its runs repeat");
    assert!(checked.survey.certified > 0, "nothing was made twice");
}

/// The report says what broke that never may, with the story; the same strategy without the promise is as expected.
#[test]
fn a_broken_promise_is_told_with_its_story() {
    let checked = check(&Habitual(Habit::Promises)).expect("a verdict");
    assert!(!checked.as_expected());
    let text = checked.to_string();
    for part in
        ["✗D", "D (settled twice) broke although it never may, because it says so", "habitual under calm, seed ", "settled-once broke"]
    {
        assert!(text.contains(part), "no {part:?} in:\n{text}");
    }
    assert!(!text.contains('\u{1b}') && !text.contains("onceproof replay"), "{text}");
    let failed = std::panic::catch_unwind(|| checked.assert_as_expected()).expect_err("a test fails by it");
    assert_eq!(failed.downcast_ref::<String>(), Some(&text));

    let silent = check(&Habitual(Habit::None)).expect("a verdict");
    silent.assert_as_expected();
    assert!(silent.breaks(FaultClass::Calm, Letter::D) && !silent.breaks(FaultClass::Pause, Letter::D), "pause was not looked at");
}

/// What a client library said to an attempt that came to nothing is told, once.
#[test]
fn a_mistake_in_a_statement_is_told() {
    let text = check(&Habitual(Habit::Typo)).expect("a verdict").to_string();
    assert_eq!(text.matches("failed: no such table: setlement (42P01)").count(), 1, "{text}");
}

/// A witness is played again to the byte, on either engine; with another digest, or by another strategy, it is not.
#[test]
fn a_witness_can_be_kept_as_a_test() {
    static PROMISES: Habitual = Habitual(Habit::Promises);
    for (engine, seeds) in [(EngineKind::Event, 10), (EngineKind::Turmoil, 1)] {
        let checked = Check { classes: Vec::new(), seeds, engine, ..Check::of(&PROMISES) }.run().expect("a verdict");
        let witness = checked.witness(FaultClass::Calm).expect("D broke");
        let read = onceproof::explore::Witness::from_toml("kept.toml", &witness.to_toml()).expect("it is a witness");
        let seen = check::replay(&PROMISES, &read).expect("it is the same run");
        assert!(seen.findings.iter().any(|f| f.rule == "settled-once"), "{:?}", seen.findings);

        let mut other = read.clone();
        other.digest.0 ^= 1;
        assert!(matches!(check::replay(&PROMISES, &other), Err(CheckError::Changed { .. })));
        other.scenario.strategy = "another".to_owned();
        assert!(matches!(check::replay(&PROMISES, &other), Err(CheckError::Foreign { .. })));
    }
}

/// A class that cannot strike a strategy is no cell that must be felt.
#[test]
fn a_job_that_cannot_fail_is_not_asked_to() {
    struct NoWork;

    #[async_trait(?Send)]
    impl Strategy for NoWork {
        fn name(&self) -> &'static str {
            "no-work"
        }
        fn steps(&self) -> &'static [Step] {
            steps![Step::database("look")]
        }
        async fn attempt(&self, context: &mut Context, _: Period) -> Result<Belief, Error> {
            context.postgres("look", async |db| db.query("SELECT period FROM settlement", &[]).await).await?;
            Ok(Belief::Settled)
        }
    }

    let checked = Check { classes: vec![FaultClass::JobError], seeds: 5, ..Check::of(&NoWork) }.run().expect("a verdict");
    let missed = checked.cell(FaultClass::JobError).and_then(|cell| cell.misses).expect("no step of it is work");
    assert!(checked.cell(FaultClass::Calm).is_some_and(|cell| cell.misses.is_none()) && !missed.is_empty());
    assert!(checked.breaks(FaultClass::Calm, Letter::L), "it settles nothing");
}

/// What a strategy says about itself is read before anything is run.
#[test]
fn a_strategy_that_contradicts_itself_is_refused() {
    struct Says(&'static str, &'static [Step], fn() -> Vec<onceproof::Expectation>);

    #[async_trait(?Send)]
    impl Strategy for Says {
        fn name(&self) -> &'static str {
            self.0
        }
        fn steps(&self) -> &'static [Step] {
            self.1
        }
        fn expectations(&self, _: Rules) -> Vec<onceproof::Expectation> {
            (self.2)()
        }
        async fn attempt(&self, _: &mut Context, _: Period) -> Result<Belief, Error> {
            unreachable!("it is refused before")
        }
    }

    fn torn() -> Vec<onceproof::Expectation> {
        use onceproof::Expectation;
        vec![
            Expectation::must(FaultClass::Calm, &[Letter::D], "so it is", onceproof::strategy::pinned::calm),
            Expectation::never(&[Letter::D], "it never is"),
        ]
    }

    static CASES: [(Says, &str); 4] = [
        (Says("", &[], Vec::new), "needs a name"),
        (Says("two\nlines", &[], Vec::new), "needs a name"),
        (Says("twice", &[Step::lease("lock"), Step::lease("lock")], Vec::new), "declares the step `lock` twice"),
        (Says("torn", &[], torn), "declares that D must break under calm, and that it never does"),
    ];
    for (strategy, said) in &CASES {
        let refused = Check::of(strategy).run().expect_err("it makes no sense").to_string();
        assert!(refused.contains(said), "{refused}");
    }
    let nothing = Check { seeds: 0, ..Check::of(&Habitual(Habit::None)) }.run().expect_err("nothing would be run");
    assert!(nothing.to_string().contains("at least 1 seed"), "{nothing}");
}
