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
    /// Gathers one, at the time at which it was over.
    pub fn add(&mut self, at: SimTime, kind: Kind) {
        *self.counts.entry(kind).or_default() += 1;
        self.span = Some((self.span.map_or(at, |(first, _)| first), at));
    }

    /// One line for all that was gathered, and when the last of it happened. Nothing is kept
    /// back for a later line: there it would stand behind what happened after it.
    pub fn flush(&mut self) -> Option<(SimTime, String)> {
        let polls: usize = self.counts.iter().filter(|(kind, _)| matches!(kind, Kind::Poll(_))).map(|(_, n)| n).sum();
        let (first, last) = self.span?;
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
