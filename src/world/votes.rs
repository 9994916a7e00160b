//! Who has the votes of most lease stores. One store's grant is not the lease: the lease is
//! granted with the vote that makes a majority, and over with the one that unmakes it.

use crate::id::HostId;
use crate::settlement::LeaseKey;
use crate::trace::{Event, Vote};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// The votes of several stores, as they told them.
#[derive(Debug)]
pub(super) struct Votes {
    /// More than half of the stores.
    majority: usize,
    /// For whom each of them votes.
    cast: RefCell<BTreeMap<HostId, HostId>>,
    /// The stores that have extended a host's vote, in its present round of renewals.
    extended: RefCell<BTreeMap<HostId, BTreeSet<HostId>>>,
}

impl Votes {
    /// Of so many stores.
    pub(super) fn new(stores: usize) -> Votes {
        Votes { majority: stores / 2 + 1, cast: RefCell::default(), extended: RefCell::default() }
    }

    fn count(&self, holder: HostId) -> usize {
        self.cast.borrow().values().filter(|voted| **voted == holder).count()
    }

    /// Counts what a store told; tells what that decides.
    pub(super) fn count_in(&self, store: HostId, vote: Vote) -> Option<Event> {
        let decides = match vote {
            Vote::Granted { to: holder, .. } | Vote::Returned { holder } => {
                let before = self.cast.borrow_mut().insert(store, holder);
                before != Some(holder) && self.count(holder) == self.majority
            }
            Vote::Released { holder, .. } | Vote::Expired { holder } | Vote::Lost { holder } => {
                let had = self.cast.borrow().get(&store) == Some(&holder);
                if had {
                    self.cast.borrow_mut().remove(&store);
                }
                had && self.count(holder) + 1 == self.majority
            }
            Vote::Extended { holder, .. } => {
                let mut all = self.extended.borrow_mut();
                let round = all.entry(holder).or_default();
                if !round.insert(store) {
                    *round = BTreeSet::from([store]);
                }
                round.len() == self.majority && self.count(holder) >= self.majority
            }
            Vote::Refused { .. } => false,
        };
        decides.then(|| vote.decides())
    }
}

/// The leases that most of these stores hold in the end; one that most of them hold without an expiry has none.
pub(super) fn held_by_most(stores: &[Vec<LeaseKey>]) -> Vec<LeaseKey> {
    let majority = stores.len() / 2 + 1;
    let holders: BTreeSet<HostId> = stores.iter().flatten().map(|key| key.holder).collect();
    let count = |is: &dyn Fn(&LeaseKey) -> bool| stores.iter().filter(|keys| keys.iter().any(is)).count();
    let lease = |holder: HostId| {
        let held = count(&|key| key.holder == holder) >= majority;
        held.then(|| LeaseKey { holder, expires: count(&|key| key.holder == holder && !key.expires) < majority })
    };
    holders.into_iter().filter_map(lease).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STORES: [HostId; 5] =
        [HostId::Lease, HostId::FurtherLease(1), HostId::FurtherLease(2), HostId::FurtherLease(3), HostId::FurtherLease(4)];

    fn told(votes: &Votes, stores: &[usize], vote: Vote) -> Vec<Option<Event>> {
        stores.iter().map(|n| votes.count_in(STORES[*n], vote)).collect()
    }

    /// The third vote is the lease, the fourth nothing more; the third that is lost ends it.
    #[test]
    fn the_lease_comes_and_goes_with_the_third_vote() {
        let (n0, n1) = (HostId::node(0), HostId::node(1));
        let votes = Votes::new(5);
        let granted = Vote::Granted { to: n0, ttl_ms: 9 };
        assert_eq!(told(&votes, &[0, 1, 2, 3], granted), [None, None, Some(granted.decides()), None]);
        assert_eq!(told(&votes, &[4], Vote::Granted { to: n1, ttl_ms: 9 }), [None]);
        let lost = Vote::Lost { holder: n0 };
        assert_eq!(told(&votes, &[0, 0, 1, 2], lost), [None, None, Some(lost.decides()), None]);
        let won = Vote::Granted { to: n1, ttl_ms: 9 };
        assert_eq!(told(&votes, &[0, 1], won), [None, Some(won.decides())]);
    }

    /// A round of renewals is one renewal, whichever stores answer.
    #[test]
    fn a_round_of_renewals_counts_once() {
        let n0 = HostId::node(0);
        let votes = Votes::new(5);
        told(&votes, &[0, 1, 2, 3, 4], Vote::Granted { to: n0, ttl_ms: 9 });
        let kept = Vote::Extended { by: n0, holder: n0, ttl_ms: 9 };
        let once = [None, None, Some(kept.decides()), None, None];
        assert_eq!(told(&votes, &[4, 1, 0, 3, 2], kept), once);
        assert_eq!(told(&votes, &[1, 0, 2, 3, 4], kept), once);
    }

    #[test]
    fn a_lease_of_the_minority_is_none() {
        let key = |node, expires| LeaseKey { holder: HostId::node(node), expires };
        let stores = [vec![key(0, false)], vec![key(0, true)], vec![key(0, true)], vec![key(1, false)], vec![key(1, false)]];
        assert_eq!(held_by_most(&stores), [key(0, true)]);
    }
}
