//! What requests ask for beyond key and value.

use crate::time::WallTime;

/// What a `SET` asks for beyond key and value.
#[derive(Clone, Copy, Debug, Default)]
pub struct SetOptions {
    pub only_if: Option<Presence>,
    pub expires: Option<WallTime>,
    pub keep_ttl: bool,
}

/// A condition of `SET`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// `NX`
    Absent,
    /// `XX`
    Present,
}

/// The conditions of an `EXPIRE`: all of them have to hold.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "they are Redis's four flags, and combine")]
pub struct ExpireIf {
    /// `NX`: the key never runs out so far.
    pub none: bool,
    /// `XX`: it does.
    pub some: bool,
    /// `GT`: it runs out earlier; never is later than any time.
    pub later: bool,
    /// `LT`: it runs out later, or never.
    pub sooner: bool,
}

impl ExpireIf {
    /// Whether a key that runs out at `old` may run out at `new` instead.
    pub fn allows(self, old: Option<WallTime>, new: WallTime) -> bool {
        (!self.none || old.is_none())
            && (!self.some || old.is_some())
            && (!self.later || old.is_some_and(|old| old < new))
            && (!self.sooner || old.is_none_or(|old| new < old))
    }
}
