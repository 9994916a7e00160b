//! Read splitting: a replica serves what is read outside of transactions, and is behind.
//!
//! It shows what was committed `lag` ago. Statements inside a transaction, writes and locking
//! reads go to the primary, as middleware that splits reads sends them. The time is true time:
//! a replica is behind by what a network did, whatever the clocks show.

use super::{Execution, Isolation, Moment, Overlay, SessionId, SqlError};
use crate::time::SimTime;
use crate::world::servers::postgres::sqlite::Rows;
use std::collections::VecDeque;
use std::time::Duration;

/// How far the replica has come.
#[derive(Debug)]
pub(super) struct Replica {
    lag: Duration,
    applied: Moment,
    /// What it has yet to apply, and when that was committed.
    ahead: VecDeque<(SimTime, Moment)>,
}

impl Replica {
    /// `None`, if it would never be behind: then nothing is kept for it.
    pub(super) fn behind_by(lag: Duration) -> Option<Replica> {
        (!lag.is_zero()).then(|| Replica { lag, applied: Moment::default(), ahead: VecDeque::new() })
    }

    fn apply(&mut self, now: SimTime) -> Moment {
        while let Some((_, moment)) = self.ahead.pop_front_if(|(at, _)| *at + self.lag <= now) {
            self.applied = moment;
        }
        self.applied
    }
}

impl Isolation {
    /// Runs a plain read outside of any transaction on the replica. `None`: there is none, or it shows what the primary shows.
    pub(super) fn read_behind(&mut self, session: SessionId, execution: Execution<'_>, rows: Rows<'_>) -> Option<Result<u64, SqlError>> {
        let Execution { statement, values, .. } = execution;
        let now = self.now;
        let base = self.replica.as_mut()?.apply(now);
        let alone = self.clients.get(&session).is_some_and(|client| client.transaction.is_none());
        if statement.writes || statement.locks || statement.advisory.is_some() || !alone || base == self.views.now() {
            return None;
        }
        let mut nothing = Overlay::default();
        if !self.views.shows_as_much(base, &nothing, statement.footprint.tables) {
            self.views.show(base, session, &mut nothing);
        }
        Some(self.views.sqlite().run(statement, values, self.wall, rows))
    }

    /// Something has just been committed, which the replica will apply.
    pub(super) fn replicate(&mut self) {
        let (at, moment) = (self.now, self.views.now());
        if let Some(replica) = &mut self.replica {
            replica.ahead.push_back((at, moment));
        }
    }

    /// Nobody but the replica needs what was committed before.
    pub(super) fn forget_old(&mut self) {
        let now = self.now;
        match &mut self.replica {
            None => self.views.forget(),
            Some(replica) => self.views.forget_until(replica.apply(now)),
        }
    }

    /// The primary has just started again: meanwhile the replica has applied everything.
    pub(super) fn replica_caught_up(&mut self) {
        let moment = self.views.now();
        if let Some(replica) = &mut self.replica {
            replica.ahead.clear();
            replica.applied = moment;
        }
    }
}
