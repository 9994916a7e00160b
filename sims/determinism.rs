//! The same seed, scenario and plan give the same history: twice in a process, on another
//! thread, after a thousand other seeds, and in another process.

use onceproof::class::FaultClass;
use onceproof::explore::Staged;
use onceproof::explore::certify::Difference;
use onceproof::scenario::Scenario;
use onceproof::seed::Seed;
use onceproof::strategy;
use onceproof::trace::{Digest, Trace};
use onceproof::world::{Deployment, EngineKind};
use std::process::Command;
use std::thread;

/// A run to be made more than once.
struct Sample {
    deployment: Deployment,
    class: FaultClass,
    seed: Seed,
}

impl Sample {
    fn trace(&self) -> Trace {
        let staged = Staged::of(&self.deployment, self.class, self.seed);
        staged.run(self.seed, &staged.plan(self.class, self.seed)).expect("the catalogue is well behaved").trace
    }

    fn name(&self) -> String {
        format!("{} under {}, seed {}", self.deployment.strategy().name(), self.class, self.seed)
    }
}

/// One run of every strategy under every fault class.
fn samples() -> Vec<Sample> {
    let mut samples = Vec::new();
    for (row, strategy) in strategy::catalogue().iter().enumerate() {
        let deployment = Deployment::new(&Scenario::calm(strategy.name()), EngineKind::Event).expect("the default scenario is good");
        for class in FaultClass::ALL {
            let seed = Seed(7).fork(class.name()).nth(row as u64);
            samples.push(Sample { deployment: deployment.clone(), class, seed });
        }
    }
    samples
}

fn traces(samples: &[Sample]) -> Vec<Trace> {
    samples.iter().map(Sample::trace).collect()
}

fn expect_equal(samples: &[Sample], first: &[Trace], again: &[Trace]) {
    assert_eq!(first.len(), again.len());
    for (sample, (a, b)) in samples.iter().zip(first.iter().zip(again)) {
        // A class that looks at one period has a third of the usual three.
        let few = if sample.class == FaultClass::Single { 33 } else { 100 };
        assert!(a.records().len() > few, "{}: hardly anything happened", sample.name());
        assert_eq!(Difference::between(a, b), None, "{}", sample.name());
        assert_eq!(a.digest(), b.digest(), "{}", sample.name());
    }
}

#[test]
fn twice_in_one_process() {
    let samples = samples();
    let first = traces(&samples);
    expect_equal(&samples, &first, &traces(&samples));

    // The control: another seed tells another history, so equal digests mean something.
    let Sample { deployment, class, seed } = &samples[0];
    let other = Sample { deployment: deployment.clone(), class: *class, seed: seed.nth(1) };
    assert!(Difference::between(&first[0], &other.trace()).is_some());
}

#[test]
fn on_two_other_threads_at_once() {
    let samples = samples();
    let first = traces(&samples);
    let others = thread::scope(|scope| {
        let started: Vec<_> = (0..2).map(|_| scope.spawn(|| traces(&samples))).collect();
        started.into_iter().map(|t| t.join().expect("no run panics")).collect::<Vec<_>>()
    });
    for again in others {
        expect_equal(&samples, &first, &again);
    }
}

/// What a run leaves behind in its thread — pooled connections, cached statements, reused slots — changes no later one.
#[test]
fn after_a_thousand_other_seeds() {
    let samples = samples();
    let first = traces(&samples);
    for n in 0..1_000 {
        let Sample { deployment, class, seed } = &samples[n % samples.len()];
        Sample { deployment: deployment.clone(), class: *class, seed: seed.nth(1 + n as u64) }.trace();
    }
    expect_equal(&samples, &first, &traces(&samples));
}

/// Nothing that differs from process to process — addresses, hash seeds, counters of a library — reaches a history.
#[test]
fn in_another_process() {
    let digest_of = |strategy: &str, class: FaultClass| {
        let told = Command::new(assert_cmd::cargo::cargo_bin!("onceproof"))
            .args(["replay", "--no-page", "--strategy", strategy, "--faults", class.name(), "--seed", "11"])
            .output()
            .expect("the program starts");
        let text = String::from_utf8(told.stdout).expect("stories are text");
        let line = text.lines().rev().find(|line| line.starts_with("digest ")).unwrap_or_else(|| panic!("no digest in:\n{text}"));
        let digits: String = line["digest ".len()..].chars().take_while(char::is_ascii_hexdigit).collect();
        Digest(u64::from_str_radix(&digits, 16).expect("a digest is hexadecimal"))
    };
    for (strategy, class) in
        [("dual-guard", FaultClass::Crash), ("lease-set-px-checked", FaultClass::Pause), ("table-key", FaultClass::Swarm)]
    {
        let deployment = Deployment::new(&Scenario::calm(strategy), EngineKind::Event).expect("the default scenario is good");
        let sample = Sample { deployment, class, seed: Seed(11) };
        assert_eq!(digest_of(strategy, class), sample.trace().digest(), "{}", sample.name());
    }
}
