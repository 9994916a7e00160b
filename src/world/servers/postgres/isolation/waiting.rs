//! Statements that wait, what wakes them, and who has to give way in a deadlock.

use super::advising::is_advisory;
use super::attempt::{Block, Stop};
use super::{Execution, Isolation, SessionId, SqlError, Transaction};
use crate::world::servers::postgres::locks::Hold;
use crate::world::servers::postgres::statement::Statement;
use crate::world::servers::postgres::tables::Key;
use rusqlite::types::Value;
use std::collections::BTreeSet;
use std::rc::Rc;

/// The result of a statement that had to wait.
#[derive(Debug)]
pub(in crate::world::servers::postgres) struct Answer {
    /// How many rows it returned or changed.
    pub count: u64,
    /// The rows that it returned.
    pub rows: Vec<Vec<Value>>,
}

/// A statement that waits for the end of other transactions.
#[derive(Debug)]
pub(super) struct Waiting {
    statement: Rc<Statement>,
    values: Vec<Value>,
    block: Block,
    /// Its place in the order of arrival.
    order: u64,
}

impl super::Client {
    /// Whoever waits for one session's transaction waits for that of another, which has taken it over.
    pub(super) fn waits_for_another(&mut self, from: SessionId, to: SessionId) {
        let on = self.waiting.iter_mut().flat_map(|waiting| &mut waiting.block.on);
        on.filter(|session| **session == from).for_each(|session| *session = to);
    }
}

impl Isolation {
    /// The answer to a statement that has waited, once it is there.
    pub(in crate::world::servers::postgres) fn answer(&mut self, session: SessionId) -> Option<Result<Answer, SqlError>> {
        self.clients.get_mut(&session).and_then(|client| client.answer.take())
    }

    /// A session has waited for too long: its answer, if that has come just now.
    ///
    /// # Errors
    /// That it has waited for too long, or what became of its statement.
    pub(in crate::world::servers::postgres) fn give_up(&mut self, session: SessionId) -> Result<Answer, SqlError> {
        if let Some(answer) = self.answer(session) {
            return answer;
        }
        let error = if self.rules.is_innodb() {
            SqlError::new("55P03", "lock wait timeout exceeded; try restarting transaction (MySQL 1205)")
        } else {
            SqlError::new("55P03", "canceling statement due to lock timeout")
        };
        if let Some(client) = self.clients.get_mut(&session) {
            client.waiting = None;
            if let Some(transaction) = client.transaction.take() {
                self.failed(session, transaction, &error);
            }
        }
        Err(error)
    }

    /// A statement ran.
    pub(super) fn ran(&mut self, session: SessionId, mut transaction: Transaction) {
        transaction.recheck = None;
        let upgraded = std::mem::take(&mut transaction.upgraded);
        if transaction.alone {
            self.finish(session, transaction, true);
        } else if let Some(client) = self.clients.get_mut(&session) {
            client.transaction = Some(transaction);
        }
        for key in upgraded {
            self.give_way(session, &key);
        }
    }

    /// A statement failed: PostgreSQL's transaction is over; InnoDB's only after a deadlock.
    pub(super) fn failed(&mut self, session: SessionId, mut transaction: Transaction, error: &SqlError) {
        transaction.recheck = None;
        transaction.upgraded.clear();
        let goes_on = transaction.rules.is_innodb() && !transaction.alone && error.code != "40P01";
        let goes_back = !transaction.rules.is_innodb() && !transaction.savepoints.is_empty();
        match self.clients.get_mut(&session) {
            Some(client) if goes_on => client.transaction = Some(transaction),
            Some(client) if goes_back => {
                client.transaction = Some(transaction);
                self.abort(session);
            }
            _ => self.finish(session, transaction, false),
        }
    }

    /// A statement cannot run yet.
    pub(super) fn wait(&mut self, session: SessionId, transaction: Transaction, execution: Execution<'_>, block: Block) {
        self.arrivals += 1;
        let waiting = Waiting { statement: execution.statement.clone(), values: execution.values.to_vec(), block, order: self.arrivals };
        self.enqueue(session, transaction, waiting);
    }

    fn enqueue(&mut self, session: SessionId, transaction: Transaction, waiting: Waiting) {
        let Some(client) = self.clients.get_mut(&session) else { return };
        client.transaction = Some(transaction);
        client.waiting = Some(waiting);
        while let Some(victim) = self.victim(session) {
            self.kill(victim);
        }
    }

    /// Whoever has to give way so that this session does not wait for itself.
    fn victim(&self, session: SessionId) -> Option<SessionId> {
        let on = |id: SessionId| self.clients.get(&id).and_then(|client| client.waiting.as_ref()).map(|waiting| &waiting.block.on);
        let (mut stack, mut seen) = (on(session)?.clone(), BTreeSet::new());
        let mut circle = false;
        while let Some(next) = stack.pop() {
            circle |= next == session;
            if next != session && seen.insert(next) {
                stack.extend(on(next).into_iter().flatten());
            }
        }
        if !circle {
            return None;
        }
        // PostgreSQL: whoever closes the circle. InnoDB: whoever has the fewest undo records and lock
        // structures, at a tie whoever closes it.
        let weight = |id: SessionId| {
            let Some(client) = self.clients.get(&id) else { return 0 };
            let done = client.transaction.as_ref().map_or(0, |t| t.overlay.changes.len() + t.held.structures());
            done + client.waiting.as_ref().map_or(0, |waiting| waiting.block.undo + 1)
        };
        let lighter = seen.into_iter().filter(|id| self.rules.is_innodb() && on(*id).is_some() && weight(*id) < weight(session));
        Some(lighter.min_by_key(|id| weight(*id)).unwrap_or(session))
    }

    /// Whoever waits for a key that somebody has just gone from sharing to excluding waits in a circle.
    fn give_way(&mut self, session: SessionId, key: &Key) {
        let waits = |id: &SessionId, this: &Isolation| {
            let waiting = this.clients.get(id).and_then(|client| client.waiting.as_ref());
            *id != session && waiting.is_some_and(|waiting| waiting.block.key == *key)
        };
        for id in self.clients.keys().copied().collect::<Vec<_>>() {
            if waits(&id, self) {
                self.kill(id);
            }
        }
    }

    fn kill(&mut self, session: SessionId) {
        let error = if self.rules.is_innodb() {
            SqlError::new("40P01", "deadlock found when trying to get lock; try restarting transaction (MySQL 1213)")
        } else {
            SqlError::new("40P01", "deadlock detected")
        };
        let Some(client) = self.clients.get_mut(&session) else { return };
        client.waiting = None;
        if let Some(transaction) = client.transaction.take() {
            self.failed(session, transaction, &error);
        }
        self.tell(session, Err(error));
    }

    fn tell(&mut self, session: SessionId, answer: Result<Answer, SqlError>) {
        if let Some(client) = self.clients.get_mut(&session) {
            client.answer = Some(answer);
            client.turn.notify_one();
        }
    }

    /// A transaction is over: whoever waited for it tries again, in order of arrival.
    pub(super) fn wake(&mut self, ended: SessionId, committed: bool) {
        let waits = |(id, client): (&SessionId, &super::Client)| {
            let waiting = client.waiting.as_ref().filter(|waiting| waiting.block.on.contains(&ended))?;
            Some((waiting.order, *id, waiting.block.hold == Hold::Insert))
        };
        let mut waiting: Vec<(u64, SessionId, bool)> = self.clients.iter().filter_map(waits).collect();
        waiting.sort_unstable();
        let duplicates = waiting.iter().filter(|(.., duplicate)| *duplicate).count();
        if !self.rules.is_innodb() {
            // All who wait for the fate of a key are woken at once, and race.
            self.shuffle(&mut waiting);
        }
        self.grant(&waiting);
        let mut seen = 0;
        for (_, session, duplicate) in waiting {
            seen += usize::from(duplicate);
            // InnoDB gives the key to all of them shared, and then none of them can exclude the others.
            if self.rules.is_innodb() && !committed && duplicate && seen < duplicates {
                self.kill(session);
            } else {
                self.retry(session);
            }
        }
    }

    /// Each row goes to whoever has waited longest for it, before any of them goes on.
    fn grant(&mut self, waiting: &[(u64, SessionId, bool)]) {
        for (_, session, _) in waiting.iter().filter(|(.., duplicate)| !duplicate) {
            let Some(client) = self.clients.get_mut(session) else { continue };
            if let (Some(Waiting { block, .. }), Some(transaction)) = (&client.waiting, &mut client.transaction)
                && !is_advisory(&block.key)
            {
                // If somebody else still has it, or has been given it just now, the retry will wait again.
                let _ = self.locks.take(*session, &mut transaction.held, &block.key, block.hold);
            }
        }
    }

    fn shuffle(&mut self, waiting: &mut [(u64, SessionId, bool)]) {
        let places: Vec<usize> = waiting.iter().enumerate().filter(|(_, (.., duplicate))| *duplicate).map(|(place, _)| place).collect();
        for left in (1..places.len()).rev() {
            self.dice = self.dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let chosen = usize::try_from(self.dice >> 33).unwrap_or(0) % (left + 1);
            waiting.swap(places[left], places[chosen]);
        }
    }

    fn retry(&mut self, session: SessionId) {
        let Some(client) = self.clients.get_mut(&session) else { return };
        let (Some(waiting), Some(mut transaction)) = (client.waiting.take(), client.transaction.take()) else { return };
        let Waiting { statement, values, order, .. } = waiting;
        let mut rows = Vec::new();
        let mut keep = |row: &rusqlite::Row<'_>| {
            let values = (0..statement.columns.len()).map(|i| row.get(i)).collect::<Result<Vec<Value>, _>>()?;
            rows.push(values);
            Ok(())
        };
        let execution = Execution { statement: &statement, values: &values, origin: transaction.origin };
        match self.attempt(session, &mut transaction, execution, &mut keep) {
            Ok(count) => {
                self.ran(session, transaction);
                self.tell(session, Ok(Answer { count, rows }));
            }
            Err(Stop::Failed(error)) => {
                self.failed(session, transaction, &error);
                self.tell(session, Err(error));
            }
            Err(Stop::Blocked(block)) => self.enqueue(session, transaction, Waiting { statement, values, block, order }),
        }
    }
}
