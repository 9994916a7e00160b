//! A part of the work, for one of several machines: part `i` of `n`, counted from 1, as nextest
//! counts slices. Whatever is numbered is dealt round in turn, so the parts are about equal, have
//! nothing in common, and together are everything.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// More machines than anybody has.
const MOST: u32 = 100_000;

/// One part of so many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shard {
    number: u32,
    of: u32,
}

impl Shard {
    /// Everything.
    pub const WHOLE: Shard = Shard { number: 1, of: 1 };

    /// Which part, from 1.
    pub fn number(self) -> u32 {
        self.number
    }

    /// How many parts there are.
    pub fn of(self) -> u32 {
        self.of
    }

    /// Whether the `index`th piece of work, from 0, belongs to this part.
    pub fn has(self, index: u64) -> bool {
        index % u64::from(self.of) == u64::from(self.number - 1)
    }

    /// How many of these pieces belong to it.
    pub fn share(self, of: Range<u64>) -> u64 {
        let below = |end: u64| (end + u64::from(self.of) - u64::from(self.number)) / u64::from(self.of);
        below(of.end.max(of.start)) - below(of.start)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let number = |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse::<u32>().ok()).flatten();
        let parts = text.split_once('/').and_then(|(number_, of)| Some((number(number_)?, number(of)?)));
        match parts {
            Some((0, of)) if of > 0 => Err(format!("shards are counted from 1; write `1/{of}` to `{of}/{of}`")),
            Some((number, of)) if (1..=of).contains(&number) && of <= MOST => Ok(Shard { number, of }),
            Some((_, of)) if (1..=MOST).contains(&of) => Err(format!("there is no such shard; write `1/{of}` to `{of}/{of}`")),
            Some(_) | None => Err("write which shard of how many, counted from 1: `2/3`".to_owned()),
        }
    }
}

impl Serialize for Shard {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Shard {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Shard, D::Error> {
        let text = String::deserialize(d)?;
        text.parse().map_err(|_| D::Error::custom(format!("`{text}` is no shard")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every piece belongs to one shard, and their shares add up.
    #[test]
    fn shards_are_disjoint_and_complete() {
        for of in [1, 2, 3, 7, 40] {
            let shards: Vec<Shard> = (1..=of).map(|n| format!("{n}/{of}").parse().unwrap()).collect();
            assert!((0..200).all(|i| shards.iter().filter(|s| s.has(i)).count() == 1), "{of}");
            for range in [0..0, 0..1, 0..25, 25..50, 17..93] {
                let owned = |s: &Shard| range.clone().filter(|i| s.has(*i)).count() as u64;
                assert!(shards.iter().all(|s| s.share(range.clone()) == owned(s)), "{of} {range:?}");
            }
        }
    }

    #[test]
    fn what_is_no_shard_is_answered_with_one() {
        assert_eq!("2/3".parse::<Shard>().unwrap().to_string(), "2/3");
        for (text, says) in [
            ("0/3", "counted from 1; write `1/3` to `3/3`"),
            ("4/3", "no such shard; write `1/3` to `3/3`"),
            ("2", "`2/3`"),
            ("1/0", "`2/3`"),
            ("-1/3", "`2/3`"),
            ("+1/3", "`2/3`"),
            ("/", "`2/3`"),
            ("1/99999999999", "`2/3`"),
        ] {
            let told = text.parse::<Shard>().unwrap_err();
            assert!(told.contains(says), "{text}: {told}");
        }
    }
}
