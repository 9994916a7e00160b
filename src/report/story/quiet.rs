//! What happens all the time and means nothing, gathered until something happens that does.

use crate::report::words::count;
use crate::time::SimTime;
use std::collections::BTreeMap;

/// A kind of thing that is not worth a line of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// An attempt that came to nothing, and why.
    Poll(&'static str),
    /// A lease was extended by its holder.
    Renewal,
    /// A claim's heartbeat.
    Heartbeat,
    /// A player earned points.
    Earning,
}

/// What has been gathered.
#[derive(Debug, Default)]
pub struct Quiet {
    counts: BTreeMap<Kind, usize>,
    span: Option<(SimTime, SimTime)>,
}

impl Quiet {
    /// Gathers one.
    pub fn add(&mut self, at: SimTime, kind: Kind) {
        *self.counts.entry(kind).or_default() += 1;
        self.span = Some((self.span.map_or(at, |(first, _)| first), at));
    }

    /// One line for all that was gathered, and when the last of it happened. Little things that
    /// are few are kept back for the next line: a line for each single renewal would drown the story.
    pub fn flush(&mut self, at_last: bool) -> Option<(SimTime, String)> {
        let polls: usize = self.counts.iter().filter(|(kind, _)| matches!(kind, Kind::Poll(_))).map(|(_, n)| n).sum();
        let all: usize = self.counts.values().sum();
        let (first, last) = self.span?;
        if polls == 0 && all < 4 && !at_last {
            return None;
        }
        let mut said = Vec::new();
        if polls > 0 {
            let reason = |(kind, n): (&Kind, &usize)| match kind {
                Kind::Poll(why) if *n == polls => Some((*why).to_owned()),
                Kind::Poll(why) => Some(format!("{why} {n}")),
                Kind::Renewal | Kind::Heartbeat | Kind::Earning => None,
            };
            let reasons: Vec<String> = self.counts.iter().filter_map(reason).collect();
            said.push(format!("{}: {}", count(polls, "poll"), reasons.join(", ")));
        }
        for (kind, noun) in [(Kind::Renewal, "renewal"), (Kind::Heartbeat, "heartbeat"), (Kind::Earning, "earning")] {
            if let Some(n) = self.counts.get(&kind) {
                said.push(count(*n, noun));
            }
        }
        let length = last.since(first);
        let within = if length.as_secs() == 0 { String::new() } else { format!(", within {}", rounded(length.as_secs())) };
        *self = Quiet::default();
        Some((last, format!("… {}{within} …", said.join(" · "))))
    }
}

/// A length to the second, minute or hour.
fn rounded(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}
