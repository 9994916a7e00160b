//! When two held the same lease, by what they believed or by what its store knew.

use crate::report::twin::{Belief, Lease, Twin};

/// A part of a belief that somebody else contradicts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// Who believes to hold the lease.
    pub node: String,
    /// Who believes so too, or holds it.
    pub other: String,
    /// Whether `other` believes so; if not, only the store says it.
    pub both_believe: bool,
    /// From when.
    pub from_ms: u64,
    /// Until when.
    pub to_ms: u64,
}

/// Times in which two nodes believed to hold a lease; each pair once.
pub fn both(twin: &Twin) -> Vec<Overlap> {
    let mut found = Vec::new();
    let mut beliefs: Vec<&Belief> = twin.beliefs.iter().collect();
    beliefs.sort_by_key(|belief| belief.from_ms);
    for (i, a) in beliefs.iter().enumerate() {
        let later = beliefs[i + 1..].iter().take_while(|b| b.from_ms < a.to_ms);
        for b in later.filter(|b| b.node != a.node) {
            found.extend(shared((a.from_ms, a.to_ms), (b.from_ms, b.to_ms)).map(|(from_ms, to_ms)| Overlap {
                node: a.node.clone(),
                other: b.node.clone(),
                both_believe: true,
                from_ms,
                to_ms,
            }));
        }
    }
    found
}

/// Times in which a node believed to hold a lease that its store had given to another.
pub fn stale(twin: &Twin) -> Vec<Overlap> {
    let mut found = Vec::new();
    let mut leases: Vec<&Lease> = twin.leases.iter().collect();
    leases.sort_by_key(|lease| lease.from_ms);
    for belief in &twin.beliefs {
        let earlier = leases.iter().take_while(|lease| lease.from_ms < belief.to_ms);
        for lease in earlier.filter(|lease| lease.holder != belief.node) {
            found.extend(shared((belief.from_ms, belief.to_ms), (lease.from_ms, lease.to_ms)).map(|(from_ms, to_ms)| Overlap {
                node: belief.node.clone(),
                other: lease.holder.clone(),
                both_believe: false,
                from_ms,
                to_ms,
            }));
        }
    }
    found.sort_by_key(|overlap| (overlap.from_ms, overlap.to_ms));
    found.dedup();
    found
}

fn shared(a: (u64, u64), b: (u64, u64)) -> Option<(u64, u64)> {
    let (from, to) = (a.0.max(b.0), a.1.min(b.1));
    (from < to).then_some((from, to))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::witness::samples;

    #[test]
    fn who_believes_while_another_believes() {
        let both = both(&samples::pause());
        let [overlap] = both.as_slice() else { panic!("{both:?}") };
        assert_eq!((overlap.node.as_str(), overlap.other.as_str()), ("n1", "n2"));
        assert_eq!(overlap.to_ms - overlap.from_ms, 530);
    }

    #[test]
    fn who_believes_what_the_store_denies() {
        let stale = stale(&samples::pause());
        let [overlap] = stale.as_slice() else { panic!("{stale:?}") };
        assert_eq!((overlap.node.as_str(), overlap.both_believe), ("n1", false));
    }

    #[test]
    fn one_after_the_other_is_no_overlap() {
        let mut twin = samples::pause();
        twin.beliefs[0].to_ms = twin.beliefs[1].from_ms;
        assert_eq!(both(&twin), []);
    }
}
