//! The steps of a strategy: the places in its protocol where a fault can strike, by name and
//! by the server that each talks to.

use crate::id::HostId;
use crate::trace::StepName;

/// A declared step: one client operation, or one slice of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// What fault plans and stories call it.
    pub name: StepName,
    /// The server that its request goes to; `None` for work, which talks to nobody.
    pub peer: Option<HostId>,
}

impl Step {
    /// A slice of the job itself: it talks to nobody, and it is where the job can fail.
    pub const fn work(name: StepName) -> Step {
        Step { name, peer: None }
    }

    /// A request to the lease store.
    pub const fn lease(name: StepName) -> Step {
        Step { name, peer: Some(HostId::Lease) }
    }

    /// A request to the database.
    pub const fn database(name: StepName) -> Step {
        Step { name, peer: Some(HostId::Database) }
    }

    /// A request to the payout service.
    pub const fn payout(name: StepName) -> Step {
        Step { name, peer: Some(HostId::Payout) }
    }

    /// A request to the replicated log, which goes to one member after the other until one leads.
    pub const fn log(name: StepName) -> Step {
        Step { name, peer: Some(HostId::Log(0)) }
    }

    /// A request to another server.
    pub const fn of(name: StepName, server: HostId) -> Step {
        Step { name, peer: Some(server) }
    }

    /// Whether it is a slice of the job, which talks to nobody.
    pub const fn is_work(self) -> bool {
        self.peer.is_none()
    }
}

/// All hosts of a deployment with `nodes` scheduler nodes whose strategy makes these steps, in index order.
pub fn hosts(nodes: u8, steps: &[Step]) -> Vec<HostId> {
    let further = HostId::ON_DEMAND.into_iter().filter(|host| steps.iter().any(|step| step.peer == Some(host.asked_as())));
    HostId::all(nodes).chain(further).collect()
}

/// Several lists of steps as one, at compile time: what a guard adds, around the steps of its body.
///
/// # Panics
/// `N` is not the number of steps in `lists`: the program does not compile.
pub const fn joined<const N: usize>(lists: &[&[Step]]) -> [Step; N] {
    let mut all = [Step::work(""); N];
    let (mut list, mut filled) = (0, 0);
    while list < lists.len() {
        let mut n = 0;
        while n < lists[list].len() {
            all[filled] = lists[list][n];
            filled += 1;
            n += 1;
        }
        list += 1;
    }
    assert!(filled == N, "the array is longer than its lists");
    all
}

/// The steps of a strategy of your own: those of its guard, and those of the body that it guards, if it is one of ours.
///
/// ```
/// use onceproof::strategy::body::JOB_STEPS;
/// use onceproof::{Step, steps};
///
/// let steps = steps![Step::lease("lock"), Step::lease("unlock"); JOB_STEPS];
/// assert_eq!((steps.len(), steps[1].name, steps[2].name), (2 + JOB_STEPS.len(), "unlock", "work.1"));
/// ```
#[macro_export]
macro_rules! steps {
    ($($own:expr),* $(,)?; $body:expr) => {{
        const OWN: &[$crate::step::Step] = &[$($own),*];
        const BODY: &[$crate::step::Step] = &$body;
        const ALL: [$crate::step::Step; OWN.len() + BODY.len()] = $crate::step::joined(&[OWN, BODY]);
        &ALL
    }};
    ($($own:expr),* $(,)?) => {
        $crate::steps![$($own),*; []]
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_on_demand_are_there_for_who_asks_them() {
        let asks = [Step::log("log.grant"), Step::of("ask", HostId::FurtherLease(2)), Step::database("tx.begin")];
        let further = [HostId::FurtherLease(2), HostId::Log(0), HostId::Log(1), HostId::Log(2)];
        assert_eq!(hosts(2, &asks)[4..], [[HostId::node(0), HostId::node(1)].as_slice(), &further].concat());
        for host in HostId::all(32).chain(HostId::ON_DEMAND) {
            assert_eq!((HostId::from_index(host.index()), host.to_string().parse()), (host, Ok(host)));
        }
    }

    #[test]
    fn lists_are_joined_in_order() {
        const ALL: [Step; 3] = joined(&[&[Step::lease("take")], &[Step::work("work.1"), Step::payout("pay")]]);
        assert_eq!(ALL.map(|s| s.name), ["take", "work.1", "pay"]);
        assert_eq!(ALL.map(Step::is_work), [false, true, false]);
    }
}
