//! The lease store against a model, as a state machine: requests of three clients, time that
//! passes up to, onto and past the millisecond in which a key runs out, a clock that is set
//! back, restarts with and without its data, an eviction, a replica that is behind. After each of them the answer, what the history was told, and everything
//! that can be known about the keys have to be what the model says.
//!
//! `transition` says what can happen, `model` what should come of it, `system` lets it happen
//! to the store through redis-rs; `command` and `host` are what these speak with.

mod command;
mod host;
mod model;
mod system;
mod transition;

use model::{Flaw, Model, ORIGIN};
use proptest::prelude::*;
use proptest::test_runner::{Config, FileFailurePersistence, RngAlgorithm, TestError, TestRng, TestRunner};
use proptest_state_machine::strategy::Sequential;
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest, prop_state_machine};
use system::System;
use transition::{KEYS, Transition};

/// The longest story.
const LENGTH: usize = 40;

/// The model as proptest drives it.
struct Machine;

impl ReferenceStateMachine for Machine {
    type State = Model;
    type Transition = Transition;

    fn init_state() -> BoxedStrategy<Model> {
        Just(Model::new(None)).boxed()
    }

    fn transitions(state: &Model) -> BoxedStrategy<Transition> {
        transition::transition(state)
    }

    fn apply(state: Model, transition: &Transition) -> Model {
        state.after(transition)
    }
}

/// The store beside it.
struct Agreement;

impl StateMachineTest for Agreement {
    type SystemUnderTest = System;
    type Reference = Machine;

    fn init_test(_: &Model) -> System {
        System::start(ORIGIN)
    }

    fn apply(mut system: System, model: &Model, transition: Transition) -> System {
        assert_eq!(system.perform(&transition), model.told, "store, model: what {transition:?} comes to");
        system
    }

    fn check_invariants(system: &System, model: &Model) {
        assert_eq!(system.leases(), model.leases(), "store, model: the leases that are kept");
        for (request, reply) in model.audit(&KEYS) {
            assert_eq!(system.audit(&request), (reply, Vec::new()), "store, model: {request:?}");
        }
    }
}

fn config() -> Config {
    Config { cases: 512, failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))), ..Config::default() }
}

prop_state_machine! {
    #![proptest_config(config())]

    /// Whatever clients ask and whenever they do, the store answers, tells and keeps what the model says.
    #[test]
    fn the_store_does_what_the_model_says(sequential 1..LENGTH => Agreement);
}

/// The shortest story in which the store disagrees with a model that is wrong in one respect.
fn disagreement(flaw: Flaw) -> Vec<Transition> {
    let stories = Sequential::new(
        (1..LENGTH).into(),
        move || Just(Model::new(Some(flaw))).boxed(),
        Machine::preconditions,
        Machine::transitions,
        Machine::apply,
    );
    let config = Config { cases: 2_000, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config.clone(), TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let found = runner.run(&stories, |(model, transitions, seen)| {
        Agreement::test_sequential(config.clone(), model, transitions, seen);
        Ok(())
    });
    match found {
        Err(TestError::Fail(_, (_, transitions, _))) => transitions,
        Err(TestError::Abort(why)) => panic!("{flaw:?}: {why}"),
        Ok(()) => panic!("{flaw:?} was not noticed"),
    }
}

/// The control: a model that is wrong in one respect is caught, whichever it is, and the story that shows it shrinks to a few lines.
#[test]
fn a_wrong_model_is_caught_in_a_short_story() {
    for flaw in Flaw::ALL {
        let story = disagreement(flaw);
        assert!(story.len() <= 3, "{flaw:?} takes {} transitions to show: {story:#?}", story.len());
    }
}
