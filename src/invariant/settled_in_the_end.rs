//! L: every due period is settled, and every ranked winner among the first three paid, within
//! the liveness bound, counted from when the period ended or from when the last fault that struck
//! before that was healed. Faults first stop, then liveness is judged.
//!
//! A period is judged only if its own bound was over when watching ended. If a late healing
//! moves the deadline beyond the end of watching, the end of watching is the deadline: the
//! excuse then says whether anybody had the time.

use crate::id::{AttemptId, HostId, Letter, PeriodId, PlayerId};
use crate::invariant::ability::{Work, excuse};
use crate::invariant::settlements::{Settlement, settlements};
use crate::invariant::{History, Invariant, Verdict, Violation};
use crate::settlement::{Period, REWARDS};
use crate::time::SimTime;
use crate::trace::{Event, Proof, StepName, Trace};

/// The judge of *settled-in-the-end*.
pub struct SettledInTheEnd;

impl Invariant for SettledInTheEnd {
    fn name(&self) -> &'static str {
        "settled-in-the-end"
    }

    fn letter(&self) -> Letter {
        Letter::L
    }

    fn about(&self) -> &'static str {
        "every due period is settled and its winners paid within the bound, unless nothing could have done it"
    }

    fn judge(&self, history: &History<'_>) -> Verdict {
        let settlements = settlements(history.trace);
        let paid = payments(history.trace);
        let mut verdict = Verdict::Holds;
        for &period in &history.calendar.periods {
            let due = history.calendar.due(period);
            if due + history.liveness_bound > history.ended {
                continue;
            }
            let deadline = deadline(history, due).min(history.ended);
            let first = settlements.iter().find(|s| s.period == period.id);
            let found = match first {
                Some(settlement) if settlement.tx.at <= deadline => unpaid(history, settlement, &paid, deadline),
                late => Some(unsettled(history, period, late, deadline)),
            };
            match found {
                Some(broken @ Verdict::Broken(_)) => return broken,
                Some(other) if verdict == Verdict::Holds => verdict = other,
                Some(_) | None => {}
            }
        }
        verdict
    }
}

/// The bound after a period was due, or after the last disturbance that concerns it had ended.
/// A disturbance concerns a period if it began before its deadline: what strikes later excuses nothing.
fn deadline(history: &History<'_>, due: SimTime) -> SimTime {
    let mut deadline = due + history.liveness_bound;
    let mut disturbed: Vec<Disturbed> = Vec::new();
    for record in history.trace.records() {
        let ended = match change(&record.event) {
            Some(Change::Begins(what)) => {
                disturbed.extend((record.at <= deadline).then_some(what));
                false
            }
            Some(Change::Ends(what)) => ends(&mut disturbed, what),
            Some(Change::Strikes) => record.at <= deadline,
            None => false,
        };
        if ended {
            deadline = deadline.max(record.at + history.liveness_bound);
        }
    }
    deadline
}

/// What a disturbance holds up.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Disturbed {
    Host(HostId),
    Link(HostId, HostId),
    Late(HostId, HostId),
    Step(AttemptId, StepName),
    Busy(HostId),
    Clock(HostId),
}

/// What an event is to a disturbance.
enum Change {
    /// It begins.
    Begins(Disturbed),
    /// It is over.
    Ends(Disturbed),
    /// It is over as it strikes, such as a failing job.
    Strikes,
}

fn change(event: &Event) -> Option<Change> {
    Some(match *event {
        Event::Crashed { host } | Event::PoweredOff { host } | Event::Paused { host } => Change::Begins(Disturbed::Host(host)),
        Event::Booted { host, incarnation: 1.. } | Event::Resumed { host } => Change::Ends(Disturbed::Host(host)),
        Event::Cut { from, to } => Change::Begins(Disturbed::Link(from, to)),
        Event::Healed { from, to } => Change::Ends(Disturbed::Link(from, to)),
        Event::Lags { from, to } => Change::Begins(Disturbed::Late(from, to)),
        Event::Prompt { from, to } => Change::Ends(Disturbed::Late(from, to)),
        Event::Felt { proof: Proof::Slowed { attempt, step }, .. } => Change::Begins(Disturbed::Step(attempt, step)),
        Event::GoesOn { attempt, step } => Change::Ends(Disturbed::Step(attempt, step)),
        Event::Blocked { host } => Change::Begins(Disturbed::Busy(host)),
        Event::Unblocked { host } => Change::Ends(Disturbed::Busy(host)),
        Event::ClockDrifts { host, ppm: 0 } => Change::Ends(Disturbed::Clock(host)),
        Event::ClockDrifts { host, .. } => Change::Begins(Disturbed::Clock(host)),
        Event::ReplyLost { .. } | Event::Felt { .. } | Event::ClockSet { .. } => Change::Strikes,
        _ => return None,
    })
}

/// Takes one disturbance of `what` away, if there is one.
fn ends(disturbed: &mut Vec<Disturbed>, what: Disturbed) -> bool {
    disturbed.iter().position(|d| *d == what).map(|found| disturbed.swap_remove(found)).is_some()
}

fn payments(trace: &Trace) -> Vec<(PeriodId, PlayerId, SimTime)> {
    let paid = |r: &crate::trace::Record| match r.event {
        Event::Paid { period, player, .. } => Some((period, player, r.at)),
        _ => None,
    };
    trace.records().iter().filter_map(paid).collect()
}

fn unsettled(history: &History<'_>, period: Period, late: Option<&Settlement<'_>>, deadline: SimTime) -> Verdict {
    let due = history.calendar.due(period);
    if let Some(reason) = excuse(history, due, deadline, Work::Settle) {
        return Verdict::Excused(format!("{} was not settled in time, but {reason}", period.id));
    }
    let but = match late {
        Some(s) => format!("settled only at {} by {}", history.calendar.shows(s.tx.at), s.tx.by),
        None => "never settled".to_owned(),
    };
    let (due, by) = (history.calendar.shows(due), history.calendar.shows(deadline));
    let what = format!("{} ended at {due} and had to be settled by {by}: {but}", period.id);
    Verdict::Broken(Violation { at: deadline, period: Some(period.id), what })
}

/// The first winner of a settlement who was not paid in time.
fn unpaid(
    history: &History<'_>,
    settlement: &Settlement<'_>,
    paid: &[(PeriodId, PlayerId, SimTime)],
    deadline: SimTime,
) -> Option<Verdict> {
    let period = settlement.period;
    let in_time = |player: PlayerId| paid.iter().any(|&(p, who, at)| p == period && who == player && at <= deadline);
    let wins = |rank: i64| usize::try_from(rank).is_ok_and(|rank| rank <= REWARDS.len());
    let loser = settlement.ranked().find(|s| wins(s.rank) && !in_time(s.player))?;
    let (by, at) = (settlement.tx.by, settlement.tx.at);
    if let Some(reason) = excuse(history, at, deadline, Work::Pay) {
        return Some(Verdict::Excused(format!("{}, rank {} of {period}, was not paid in time, but {reason}", loser.player, loser.rank)));
    }
    let (at, until) = (history.calendar.shows(at), history.calendar.shows(deadline));
    let what = format!("{period} settled by {by} at {at}, but {}, rank {}, was not paid by {until}", loser.player, loser.rank);
    Some(Verdict::Broken(Violation { at: deadline, period: Some(period), what }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{FaultId, HostId, NodeId};
    use crate::invariant::script::{N0, N1, N2, P1, Script, Settles};
    use crate::time::Span;

    fn winners() -> Settles<'static> {
        Settles { ranks: &[(7, 40), (8, 30), (9, 20), (10, 10)], ..Settles::default() }
    }

    /// Rank 4 gets nothing, and need not.
    #[test]
    fn settled_and_paid_in_time_holds() {
        let mut told = Script::new();
        told.watched_until(P1, 3.hours());
        told.after(P1, 2.minutes()).settle(N0, P1, &winners()).pay(P1, 1, 7).pay(P1, 2, 8).pay(P1, 3, 9);
        told.holds(&SettledInTheEnd);
    }

    /// Control: nobody settles.
    #[test]
    fn a_lost_period_is_caught() {
        let mut told = Script::new();
        told.watched_until(P1, 3.hours());
        let expected = "2026-01-10 ended at 2026-01-10 00:00:00.000 and had to be settled by 2026-01-10 02:00:00.000: never settled";
        assert_eq!(told.breaks(&SettledInTheEnd), expected);
    }

    /// Control: settled, but after the bound.
    #[test]
    fn too_late_is_caught() {
        let mut told = Script::new();
        told.watched_until(P1, 3.hours());
        told.after(P1, 150.minutes()).settle(N0, P1, &Settles::default());
        assert!(told.breaks(&SettledInTheEnd).ends_with("settled only at 2026-01-10 02:30:00.000 by n0"));
    }

    /// Control: the committer dies between COMMIT and the second payment.
    #[test]
    fn an_unpaid_winner_is_caught() {
        let mut told = Script::new();
        told.watched_until(P1, 3.hours());
        told.after(P1, 2.minutes()).settle(N0, P1, &winners()).pay(P1, 1, 7);
        let expected = "2026-01-10 settled by n0 at 2026-01-10 00:02:00.000, but player 8, rank 2, was not paid by 2026-01-10 02:00:00.000";
        assert_eq!(told.breaks(&SettledInTheEnd), expected);
    }

    /// A period whose bound is not over yet is not judged.
    #[test]
    fn an_open_bound_is_not_judged() {
        let mut told = Script::new();
        told.watched_until(P1, 119.minutes());
        told.holds(&SettledInTheEnd);
    }

    /// The bound starts anew at the last healing.
    #[test]
    fn healing_moves_the_deadline() {
        let mut told = Script::new();
        told.watched_until(P1, 5.hours());
        told.after(P1, 1.minutes()).event(Event::Fired { fault: FaultId(0) }).event(Event::Paused { host: N0 });
        told.after(P1, 90.minutes()).event(Event::Resumed { host: N0 });
        told.after(P1, 180.minutes()).settle(N0, P1, &Settles::default());
        told.holds(&SettledInTheEnd);
    }

    /// A step that is slow, links that are late, a server that is busy, and a clock that runs wrong are disturbances
    /// for as long as they last, not only when they are felt first.
    #[test]
    fn what_lasts_moves_the_deadline_to_when_it_is_over() {
        let attempt = AttemptId { node: NodeId(0), number: 1 };
        let slowed = Event::Felt { fault: FaultId(0), proof: Proof::Slowed { attempt, step: "work.1" } };
        let (from, to, host) = (N0, HostId::Database, HostId::Lease);
        for (begins, ends) in [
            (slowed, Event::GoesOn { attempt, step: "work.1" }),
            (Event::Lags { from, to }, Event::Prompt { from, to }),
            (Event::Blocked { host }, Event::Unblocked { host }),
            (Event::ClockDrifts { host: N0, ppm: 20_000 }, Event::ClockDrifts { host: N0, ppm: 0 }),
        ] {
            let told = |over: Option<Event>| {
                let mut told = Script::new();
                told.watched_until(P1, 5.hours());
                told.after(P1, 1.minutes()).event(begins);
                if let Some(over) = over {
                    told.after(P1, 150.minutes()).event(over);
                }
                told.after(P1, 200.minutes()).settle(N0, P1, &winners()).pay(P1, 1, 7).pay(P1, 2, 8).pay(P1, 3, 9);
                told
            };
            told(Some(ends)).holds(&SettledInTheEnd);
            // The control: what never ends moves nothing.
            assert_ne!(told(None).judged_by(&SettledInTheEnd), Verdict::Holds, "{begins:?}");
        }
    }

    /// What strikes when the bound is over excuses nothing, however soon it is healed: here in the next period.
    #[test]
    fn a_later_disturbance_does_not_move_the_deadline() {
        let mut told = Script::new();
        told.watched_until(P1, 8.hours());
        told.after(P1, 3.hours()).event(Event::Paused { host: N0 });
        told.after(P1, 4.hours()).event(Event::Resumed { host: N0 });
        told.after(P1, 5.hours()).settle(N0, P1, &Settles::default());
        let what = told.breaks(&SettledInTheEnd);
        assert!(what.contains("had to be settled by 2026-01-10 02:00:00.000: settled only at 2026-01-10 05:00:00.000"), "{what}");
    }

    /// n0 and n1 are dead for good, n2 is cut from the database until five minutes before watching ends.
    #[test]
    fn who_could_not_is_excused() {
        let mut told = Script::new();
        told.watched_until(P1, 3.hours());
        told.before(P1, 5.minutes()).event(Event::Crashed { host: N0 }).event(Event::PoweredOff { host: N1 });
        told.event(Event::Cut { from: N2, to: HostId::Database });
        told.after(P1, 175.minutes()).event(Event::Healed { from: N2, to: HostId::Database });
        let verdict = told.judged_by(&SettledInTheEnd);
        let Verdict::Excused(reason) = verdict else { panic!("not excused: {verdict:?}") };
        assert!(reason.ends_with("no node was up and connected for 10m on end, which the work may take (at most 5m)"), "{reason}");
    }

    /// The control of the excuse: the same history with twenty minutes instead of five.
    #[test]
    fn who_could_have_is_not_excused() {
        let mut told = Script::new();
        told.watched_until(P1, 3.hours());
        told.before(P1, 5.minutes()).event(Event::Crashed { host: N0 }).event(Event::PoweredOff { host: N1 });
        told.event(Event::Cut { from: N2, to: HostId::Database });
        told.after(P1, 160.minutes()).event(Event::Healed { from: N2, to: HostId::Database });
        told.breaks(&SettledInTheEnd);
    }
}
