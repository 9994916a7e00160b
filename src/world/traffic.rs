//! The players: they earn points through three channels at any time, through SQL, and close to
//! every boundary on both sides. An earning is one transaction; its id makes it safe to repeat
//! until the database is known to have it.

use crate::host::Host;
use crate::node::Setup;
use crate::scenario::{Rules, Scenario};
use crate::seed::{Rng, Seed};
use crate::settlement::Calendar;
use crate::store::sql::int;
use crate::store::sql::session::Call;
use crate::store::{ErrorKind, Sql};
use crate::time::{Span, WallTime};
use futures_util::future::join_all;
use rand::RngExt;
use std::rc::Rc;
use std::time::Duration;

/// How many ways there are to earn points; each has its own connection.
const CHANNELS: usize = 3;

/// The largest amount of one earning.
const LARGEST: i64 = 50;

/// How far from a boundary an earning still counts as close to it.
const CLOSE_MS: i64 = 60_000;

/// After so many tries, an hour and a half, an earning is tried once an hour.
const PATIENCE: u32 = 90;

const EARN: &str = "INSERT INTO earnings (id, player, amount, at, settled_in) VALUES ($1, $2, $3, $4, NULL)";
const ADD: &str = "UPDATE points SET points = points + $1, last_active = $2 WHERE player = $3";

/// Something that a player will earn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Earning {
    id: i64,
    /// When, on the clock of the traffic host.
    due: WallTime,
    player: i64,
    amount: i64,
    channel: usize,
}

/// Lets the players earn what `seed` decides, and from a time on what another seed does. Ends when everything was earned.
pub async fn run(host: Rc<dyn Host>, setup: Rc<Setup>, seed: Seed, anew: Option<(WallTime, Seed)>) {
    let mut plan = plan(seed, &setup.scenario, &setup.calendar);
    if let Some((since, other)) = anew {
        redraw(&mut plan, since, &self::plan(other, &setup.scenario, &setup.calendar));
    }
    // A host that starts again does not earn anew what it may have earned before.
    let now = host.wall();
    let channels = (0..CHANNELS).map(|channel| {
        let earnings = plan.iter().copied().filter(|e| e.channel == channel && now <= e.due).collect();
        let sql = Sql::new(Rc::clone(&host), setup.scenario.node.timeout);
        earn(Rc::clone(&host), sql, earnings, setup.scenario.database.rules)
    });
    join_all(channels).await;
}

/// One channel: its earnings, one after the other.
async fn earn(host: Rc<dyn Host>, sql: Sql, earnings: Vec<Earning>, rules: Rules) {
    for earning in earnings {
        loop {
            let left = earning.due.since(host.wall());
            if left.is_zero() {
                break;
            }
            host.sleep(left).await;
        }
        let at = host.wall().0;
        let (mut wait, mut tries) = (1.seconds(), 0);
        while !apply(&sql, &earning, at, rules).await {
            host.sleep(wait).await;
            tries += 1;
            // Somebody holds the player's row for ever, such as a transaction in doubt.
            wait = (wait * 2).min(if tries < PATIENCE { 1.minutes() } else { 1.hours() });
        }
    }
}

/// Whether the earning is known to be applied.
async fn apply(sql: &Sql, earning: &Earning, at: i64, rules: Rules) -> bool {
    let Earning { id, player, amount, .. } = earning;
    let earn: Call<'_> = (EARN, &[int(id), int(player), int(amount), int(&at)]);
    let add: Call<'_> = (ADD, &[int(amount), int(&at), int(player)]);
    let applied = if rules.is_innodb() { sql.one_by_one(earn, add).await } else { sql.both(earn, add).await };
    match applied {
        Ok(()) => true,
        // An earlier try was applied, only its answer was lost.
        Err(error) => error.kind == ErrorKind::UniqueViolation,
    }
}

/// Everything that will be earned, in time order. For each period: two thirds at any time of
/// it; of the last third one exactly at the boundary, the others before and after it in turn,
/// the first of those after it by a player who has earned in the period that has just ended.
fn plan(seed: Seed, scenario: &Scenario, calendar: &Calendar) -> Vec<Earning> {
    let mut rng = seed.rng();
    let mut plan = Vec::with_capacity(calendar.periods.len() * scenario.earnings as usize);
    let mut begin = calendar.origin.wall(crate::time::SimTime::ZERO);
    for period in &calendar.periods {
        let close = scenario.earnings / 3;
        let mut known = None;
        for n in 0..scenario.earnings {
            let due = match n.checked_sub(scenario.earnings - close) {
                None => between(&mut rng, begin, period.due),
                Some(0) => period.due,
                Some(n) => beside(&mut rng, period.due, n % 2 == 0, shortest(period.due.since(begin))),
            };
            let anybody = rng.random_range(1..=i64::from(scenario.players.max(1)));
            let player = if due <= period.due { anybody } else { known.take().unwrap_or(anybody) };
            if due < period.due {
                known = Some(player);
            }
            let id = plan.len() as i64 + 1;
            plan.push(Earning { id, due, player, amount: rng.random_range(1..=LARGEST), channel: plan.len() % CHANNELS });
        }
        begin = period.due;
    }
    plan.sort_by_key(|earning| (earning.due, earning.id));
    plan
}

/// What is close in a schedule of long periods would be everything in one of short ones.
fn shortest(period: Duration) -> i64 {
    CLOSE_MS.min(crate::time::millis(period / 8).cast_signed()).max(1)
}

/// What is due from `since` on becomes what another plan says, as far as that is due from then
/// on too. Ids and channels stay: which connections are still needed is known before `since`.
fn redraw(plan: &mut [Earning], since: WallTime, other: &[Earning]) {
    for earning in plan.iter_mut().filter(|earning| since <= earning.due) {
        let Some(new) = other.iter().find(|new| new.id == earning.id) else { continue };
        (earning.player, earning.amount) = (new.player, new.amount);
        earning.due = if since <= new.due { new.due } else { earning.due };
    }
    plan.sort_by_key(|earning| (earning.due, earning.id));
}

fn between(rng: &mut Rng, begin: WallTime, end: WallTime) -> WallTime {
    // A period that is over as it begins has no time in it.
    WallTime(rng.random_range(begin.0..end.0.max(begin.0 + 1)))
}

fn beside(rng: &mut Rng, boundary: WallTime, before: bool, close: i64) -> WallTime {
    let distance = rng.random_range(1..=close);
    WallTime(if before { boundary.0 - distance } else { boundary.0 + distance })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The default scenario over many seeds: its numbers add up, ids are unique, and every
    /// boundary has earnings before it, exactly at it, and after it.
    #[test]
    fn every_boundary_is_crowded_on_both_sides() {
        let scenario = Scenario::default();
        let calendar = scenario.schedule.calendar().unwrap();
        for n in 0..100 {
            let plan = plan(Seed(1).nth(n), &scenario, &calendar);
            assert_eq!(plan.len(), 3 * 12);
            assert_eq!(plan.iter().map(|e| e.id).collect::<BTreeSet<_>>().len(), plan.len());
            assert!(plan.is_sorted_by_key(|e| e.due));
            for period in &calendar.periods {
                let near = |low: i64, high: i64| plan.iter().filter(|e| (low..=high).contains(&(e.due.0 - period.due.0))).count();
                assert!(1 <= near(-CLOSE_MS, -1) && 1 <= near(0, 0) && 2 <= near(1, CLOSE_MS), "{plan:?}");
            }
        }
    }

    /// Who is active just after the boundary must have earned before it: a guard that leaves such a player
    /// out of the ranking is caught in every seed.
    #[test]
    fn a_player_of_the_period_is_active_right_after_it() {
        let scenario = Scenario::default();
        let calendar = scenario.schedule.calendar().unwrap();
        for n in 0..100 {
            let plan = plan(Seed(2).nth(n), &scenario, &calendar);
            let mut begin = i64::MIN;
            for period in &calendar.periods {
                let within = |e: &&Earning| begin <= e.due.0 && e.due < period.due;
                let players: BTreeSet<i64> = plan.iter().filter(within).map(|e| e.player).collect();
                let after = |e: &&Earning| 0 < e.due.0 - period.due.0 && e.due.0 - period.due.0 <= CLOSE_MS;
                assert!(plan.iter().filter(after).any(|e| players.contains(&e.player)), "{period:?}");
                begin = period.due.0;
            }
        }
    }

    #[test]
    fn a_deployment_without_earnings_is_quiet() {
        let scenario = Scenario { earnings: 0, ..Scenario::default() };
        assert_eq!(plan(Seed(1), &scenario, &scenario.schedule.calendar().unwrap()), []);
    }
}
