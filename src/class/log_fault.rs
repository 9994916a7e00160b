//! Log fault: what strikes the members of the replicated log, and the way to them.

use crate::class::partition::cut;
use crate::class::{Class, Draw};
use crate::id::HostId;
use crate::plan::{Fault, Harm, Target};
use crate::step::Step;
use crate::time::Span;
use rand::RngExt;

/// A member dies, stops or is cut off, or a node is cut from all members.
pub(super) struct LogFault;

impl Class for LogFault {
    fn name(&self) -> &'static str {
        "log-fault"
    }

    fn about(&self) -> &'static str {
        "a member of the log dies (back after 5 min), stops or is cut off for 40 min, or a node is cut from the log alone for 40 min"
    }

    fn draw(&self, draw: &mut Draw<'_>) -> Vec<Fault> {
        if self.misses(draw.steps).is_some() {
            return Vec::new();
        }
        let member = Target::Host(HostId::Log(draw.rng.random_range(0..HostId::LOG_MEMBERS)));
        match draw.rng.random_range(0..5) {
            0 => draw.on_a_node(|draw, _| Harm::Crash { host: member, back_after: draw.length(5.minutes()) }),
            1 => draw.on_a_node(|draw, _| Harm::Power { host: member, back_after: draw.length(5.minutes()) }),
            2 => draw.on_a_node(|draw, _| Harm::Pause { host: member, lasts: draw.length(40.minutes()) }),
            3 => draw.on_a_node(|draw, _| cut(draw, member, Target::Everyone)),
            _ => {
                let one = draw.on_a_node(|draw, host| cut(draw, host, Target::Host(HostId::Log(0))));
                one.iter().flat_map(|fault| (0..HostId::LOG_MEMBERS).map(|n| from_member(fault, n))).collect()
            }
        }
    }

    fn misses(&self, steps: &[Step]) -> Option<&'static str> {
        let asks = steps.iter().any(|s| s.peer == Some(HostId::Log(0)));
        (!asks).then_some("it never asks a replicated log anything")
    }
}

/// The same cut, from another member.
fn from_member(fault: &Fault, n: u8) -> Fault {
    let mut fault = fault.clone();
    if let Harm::Partition { from, .. } = &mut fault.harm {
        *from = Target::Host(HostId::Log(n));
    }
    fault
}
