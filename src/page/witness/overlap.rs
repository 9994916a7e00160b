//! When two held the same lease, by what they believed or by what its store knew.

use crate::report::twin::{Belief, Lease, LeaseEnd, Role, Twin};

/// The lane of what most of several lease stores came to.
const MAJORITY: &str = "majority";

/// A part of a belief that is contradicted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// Who believes to hold the lease.
    pub node: String,
    /// Who believes so too, or holds it; nobody, if it has only ended.
    pub other: Option<String>,
    /// From when.
    pub from_ms: u64,
    /// Until when.
    pub to_ms: u64,
}

/// Whether the leases of a host are only votes, of which the lane `majority` shows the outcome.
pub fn votes(twin: &Twin, store: &str) -> bool {
    let several = twin.hosts.iter().any(|host| host.name == MAJORITY);
    several && store != MAJORITY && twin.hosts.iter().any(|host| host.name == store && host.role == Role::Store)
}

/// Leases that decide, in order of time.
fn deciding(twin: &Twin) -> Vec<&Lease> {
    let mut leases: Vec<&Lease> = twin.leases.iter().filter(|lease| !votes(twin, &lease.store)).collect();
    leases.sort_by_key(|lease| lease.from_ms);
    leases
}

/// Times in which two nodes believed to hold a lease; each pair once.
pub fn both(twin: &Twin) -> Vec<Overlap> {
    let mut found = Vec::new();
    let mut beliefs: Vec<&Belief> = twin.beliefs.iter().filter(|belief| belief.overlaps).collect();
    beliefs.sort_by_key(|belief| belief.from_ms);
    for (i, a) in beliefs.iter().enumerate() {
        let later = beliefs[i + 1..].iter().take_while(|b| b.from_ms < a.to_ms);
        for b in later.filter(|b| b.node != a.node) {
            found.extend(shared((a.from_ms, a.to_ms), (b.from_ms, b.to_ms)).map(|(from_ms, to_ms)| Overlap {
                node: a.node.clone(),
                other: Some(b.node.clone()),
                from_ms,
                to_ms,
            }));
        }
    }
    found
}

/// Parts of beliefs that are wrong, in order of time.
pub fn wrong(twin: &Twin) -> Vec<Overlap> {
    let mut all = [lapsed(twin), stale(twin)].concat();
    all.sort_by_key(|overlap| (overlap.from_ms, overlap.to_ms));
    all
}

/// Times in which a node believed to hold a lease that its store had given to another.
fn stale(twin: &Twin) -> Vec<Overlap> {
    let mut found = Vec::new();
    let leases = deciding(twin);
    for belief in twin.beliefs.iter().filter(|belief| belief.overlaps) {
        let earlier = leases.iter().take_while(|lease| lease.from_ms < belief.to_ms);
        for lease in earlier.filter(|lease| lease.holder != belief.node) {
            found.extend(shared((belief.from_ms, belief.to_ms), (lease.from_ms, lease.to_ms)).map(|(from_ms, to_ms)| Overlap {
                node: belief.node.clone(),
                other: Some(lease.holder.clone()),
                from_ms,
                to_ms,
            }));
        }
    }
    found.sort_by_key(|overlap| (overlap.from_ms, overlap.to_ms));
    found.dedup();
    found
}

/// Times in which a node still believed to hold a lease that had been taken from it, and nobody held.
fn lapsed(twin: &Twin) -> Vec<Overlap> {
    let leases = deciding(twin);
    twin.beliefs.iter().flat_map(|belief| uncovered(belief, &leases)).collect()
}

/// Parts of a belief in which there is no lease at all, after the believer's own was taken.
fn uncovered(belief: &Belief, leases: &[&Lease]) -> Vec<Overlap> {
    let during = || leases.iter().take_while(|lease| lease.from_ms < belief.to_ms).filter(|lease| lease.to_ms > belief.from_ms);
    let taken = during().filter(|lease| lease.holder == belief.node && is_taken(lease.ended));
    let Some(mut at) = taken.map(|lease| lease.to_ms).min() else { return Vec::new() };
    let gap = |from_ms: u64, to_ms: u64| {
        let to_ms = to_ms.min(belief.to_ms);
        (from_ms < to_ms).then(|| Overlap { node: belief.node.clone(), other: None, from_ms, to_ms })
    };
    let mut found = Vec::new();
    for lease in during() {
        found.extend(gap(at, lease.from_ms));
        at = at.max(lease.to_ms);
    }
    found.extend(gap(at, belief.to_ms));
    found
}

/// Whether a lease ended without its holder.
fn is_taken(end: LeaseEnd) -> bool {
    match end {
        LeaseEnd::Expired | LeaseEnd::Deleted | LeaseEnd::Lost | LeaseEnd::Replaced | LeaseEnd::TakenAway => true,
        LeaseEnd::Released | LeaseEnd::Held | LeaseEnd::Failed | LeaseEnd::Completed | LeaseEnd::Over => false,
    }
}

fn shared(a: (u64, u64), b: (u64, u64)) -> Option<(u64, u64)> {
    let (from, to) = (a.0.max(b.0), a.1.min(b.1));
    (from < to).then_some((from, to))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::witness::samples;
    use crate::report::twin::Host;

    #[test]
    fn who_believes_while_another_believes() {
        let both = both(&samples::pause());
        let [overlap] = both.as_slice() else { panic!("{both:?}") };
        assert_eq!((overlap.node.as_str(), overlap.other.as_deref()), ("n1", Some("n2")));
        assert_eq!(overlap.to_ms - overlap.from_ms, 530);
    }

    #[test]
    fn who_believes_what_the_store_denies() {
        let stale = stale(&samples::pause());
        let [overlap] = stale.as_slice() else { panic!("{stale:?}") };
        assert_eq!((overlap.node.as_str(), overlap.other.as_deref()), ("n1", Some("n2")));
    }

    #[test]
    fn who_believes_what_has_run_out() {
        let twin = samples::pause();
        let lapsed = lapsed(&twin);
        let times: Vec<_> = lapsed.iter().map(|overlap| (overlap.from_ms, overlap.to_ms)).collect();
        let [first, second] = [&twin.leases[0], &twin.leases[1]];
        assert_eq!(times, [(first.to_ms, second.from_ms), (second.to_ms, twin.beliefs[0].to_ms)]);
        assert!(lapsed.iter().all(|overlap| overlap.node == "n1"));
    }

    #[test]
    fn who_gave_his_lease_back_is_not_wrong_until_he_hears_of_it() {
        let mut twin = samples::pause();
        twin.leases.truncate(1);
        twin.leases[0].ended = LeaseEnd::Released;
        assert_eq!(lapsed(&twin), []);
    }

    #[test]
    fn a_single_vote_contradicts_nobody() {
        let mut twin = samples::pause();
        twin.hosts.push(Host { name: "majority".to_owned(), role: Role::Store });
        assert!(votes(&twin, "lease") && !votes(&twin, "majority") && !votes(&twin, "db"));
        assert_eq!(stale(&twin), []);
    }

    #[test]
    fn one_after_the_other_is_no_overlap() {
        let mut twin = samples::pause();
        twin.beliefs[0].to_ms = twin.beliefs[1].from_ms;
        assert_eq!(both(&twin), []);
    }
}
