//! What can happen to the store, drawn from the state in which it is.

use super::command::{Call, Command, End, Lifetime, OnlyIf, Script, Unit};
use super::model::Model;
use onceproof::id::HostId;
use proptest::prelude::*;
use proptest::sample::select;

/// One thing that happens.
#[derive(Clone, Debug)]
pub enum Transition {
    /// The store's clock goes on.
    Wait { ms: u64 },
    /// A client on host `by` asks for something.
    Ask { by: HostId, command: Command },
    /// The store's process dies, and a new one starts.
    Restart,
    /// The store's clock is set back.
    SetBack { ms: u64 },
    /// The store's process dies, and a new one starts with nothing.
    Wipe,
    /// The store evicts a lease.
    Evict,
    /// The store's process dies, and a replica takes over that is so far behind.
    FailOver { lag: u64 },
}

/// No replica is further behind.
pub const MOST_BEHIND: u64 = 2_000;

/// The keys that clients use: few, so that they meet.
pub const KEYS: [&str; 3] = ["a", "b", "c"];

/// How many clients there are.
pub const CLIENTS: u8 = 3;

/// Owners' tokens, numbers, and what only looks like a number.
const VALUES: [&str; 8] = ["n0", "n1", "7", "-3", "9223372036854775807", "007", "+5", "-0"];

/// Lengths at the ends of what is allowed, and beyond.
const EXTREMES: [i64; 8] = [0, -1, i64::MIN, i64::MAX, i64::MAX / 1000, i64::MAX / 1000 + 1, i64::MIN / 1000, i64::MIN / 1000 - 1];

/// What may happen next.
pub fn transition(state: &Model) -> BoxedStrategy<Transition> {
    prop_oneof![
        12 => ask(state),
        4 => wait(state),
        1 => Just(Transition::Restart),
        1 => (1..3_000_u64).prop_map(|ms| Transition::SetBack { ms }),
        1 => Just(Transition::Wipe),
        1 => Just(Transition::Evict),
        2 => prop_oneof![Just(1), 1..=MOST_BEHIND].prop_map(|lag| Transition::FailOver { lag }),
    ]
    .boxed()
}

/// Up to just before a key runs out, to that very millisecond, just past it, or any time.
fn wait(state: &Model) -> BoxedStrategy<Transition> {
    let near = state.expiries().into_iter().flat_map(|at| [at - 1, at, at.saturating_add(1)]);
    let near: Vec<u64> = near.filter_map(|at| u64::try_from(at - state.now()).ok()).filter(|ms| *ms < 1 << 40).collect();
    let any = (1..5_000_u64).boxed();
    let ms = if near.is_empty() { any } else { prop_oneof![1 => any, 3 => select(near)].boxed() };
    ms.prop_map(|ms| Transition::Wait { ms }).boxed()
}

fn ask(state: &Model) -> impl Strategy<Value = Transition> + use<> {
    ((0..CLIENTS).prop_map(HostId::node), command(state)).prop_map(|(by, command)| Transition::Ask { by, command })
}

fn command(state: &Model) -> impl Strategy<Value = Command> + use<> {
    prop_oneof![
        3 => key().prop_map(|key| Command::Get { key }),
        6 => (key(), value(), only_if(), lifetime()).prop_map(|(key, value, only_if, lifetime)| Command::Set { key, value, only_if, lifetime }),
        2 => (key(), value()).prop_map(|(key, value)| Command::SetNx { key, value }),
        2 => keys().prop_map(|keys| Command::Delete { keys }),
        1 => keys().prop_map(|keys| Command::Exists { keys }),
        3 => (key(), unit(), length()).prop_map(|(key, unit, time)| Command::Expire { key, unit, time }),
        2 => (key(), unit()).prop_map(|(key, unit)| Command::Remaining { key, unit }),
        2 => key().prop_map(|key| Command::Increment { key }),
        2 => (key(), by()).prop_map(|(key, by)| Command::IncrementBy { key, by }),
        3 => (key(), end(), prop::collection::vec(value(), 1..4)).prop_map(|(key, end, items)| Command::Push { key, end, items }),
        3 => (key(), end(), prop::option::of(-1..4_i64)).prop_map(|(key, end, limit)| Command::Pop { key, end, limit }),
        1 => key().prop_map(|key| Command::Length { key }),
        5 => run(state),
    ]
}

/// A script about a key, more often than not with the token that the key holds.
fn run(state: &Model) -> impl Strategy<Value = Command> + use<> {
    let held: Vec<(String, String)> =
        KEYS.iter().filter_map(|key| state.text_of(key).map(|text| ((*key).to_owned(), text.to_owned()))).collect();
    let any = (key(), value()).boxed();
    let about = if held.is_empty() { any } else { prop_oneof![1 => any, 3 => select(held)].boxed() };
    let script = prop_oneof![Just(Script::Release), Just(Script::Renew)];
    let call = prop_oneof![Just(Call::Text), Just(Call::Hash)];
    (script, call, about, length()).prop_map(|(script, call, (key, token), ms)| Command::Run { script, call, key, token, ms })
}

fn key() -> impl Strategy<Value = String> {
    select(&KEYS[..]).prop_map(str::to_owned)
}

fn keys() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(key(), 1..4)
}

fn value() -> impl Strategy<Value = String> {
    select(&VALUES[..]).prop_map(str::to_owned)
}

fn only_if() -> impl Strategy<Value = Option<OnlyIf>> {
    prop_oneof![2 => Just(None), 2 => Just(Some(OnlyIf::Absent)), 1 => Just(Some(OnlyIf::Present))]
}

fn lifetime() -> impl Strategy<Value = Lifetime> {
    prop_oneof![
        2 => Just(Lifetime::Endless),
        4 => length().prop_map(Lifetime::Milliseconds),
        1 => length().prop_map(Lifetime::Seconds),
        2 => Just(Lifetime::Kept),
    ]
}

fn unit() -> impl Strategy<Value = Unit> {
    prop_oneof![Just(Unit::Milliseconds), Just(Unit::Seconds)]
}

fn end() -> impl Strategy<Value = End> {
    prop_oneof![Just(End::Left), Just(End::Right)]
}

/// Lengths of time: so short that the next millisecond counts, ordinary ones, and extremes.
fn length() -> impl Strategy<Value = i64> {
    prop_oneof![4 => 1..4_i64, 4 => 1..5_000_i64, 1 => select(&EXTREMES[..])]
}

fn by() -> impl Strategy<Value = i64> {
    prop_oneof![4 => -5..=5_i64, 1 => Just(i64::MAX), 1 => Just(i64::MIN)]
}
