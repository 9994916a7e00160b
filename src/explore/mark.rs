//! What a cell of the table can show: the letters of the invariants, and two things that no
//! invariant speaks of because the run itself went wrong.

use crate::id::Letter;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::fmt;

/// One kind of damage, as one character.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mark {
    /// An invariant broke.
    Letter(Letter),
    /// The strategy's code panicked.
    Panicked,
    /// The run had to be cut: something in the strategy spins.
    NeverEnded,
}

impl Mark {
    /// All marks, in the order in which a cell shows them.
    pub const ALL: [Mark; 9] = [
        Mark::Letter(Letter::D),
        Mark::Letter(Letter::Two),
        Mark::Letter(Letter::L),
        Mark::Letter(Letter::K),
        Mark::Letter(Letter::C),
        Mark::Letter(Letter::E),
        Mark::Letter(Letter::S),
        Mark::Panicked,
        Mark::NeverEnded,
    ];

    /// What it means, in a few words for a legend.
    pub fn meaning(self) -> &'static str {
        match self {
            Mark::Letter(Letter::D) => "settled twice",
            Mark::Letter(Letter::Two) => "paid twice",
            Mark::Letter(Letter::L) => "lost: not settled or not paid",
            Mark::Letter(Letter::K) => "stuck",
            Mark::Letter(Letter::C) => "ranking or points wrong",
            Mark::Letter(Letter::E) => "too early",
            Mark::Letter(Letter::S) => "stale commit",
            Mark::Panicked => "panicked",
            Mark::NeverEnded => "never ended",
        }
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mark::Letter(letter) => letter.fmt(f),
            Mark::Panicked => f.write_str("!"),
            Mark::NeverEnded => f.write_str("…"),
        }
    }
}

impl Serialize for Mark {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Mark {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Mark, D::Error> {
        let text = String::deserialize(d)?;
        Mark::ALL
            .into_iter()
            .find(|mark| mark.to_string() == text)
            .ok_or_else(|| D::Error::custom(format!("`{text}` is no mark of the table")))
    }
}
