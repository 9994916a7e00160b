//! The one connection, moved between what different transactions see.
//!
//! A view is what was committed at one time, with one transaction's own changes on it. The
//! connection holds what is committed now; any other view is made inside a savepoint, by undoing
//! what was committed since and by doing the transaction's changes again, image by image. Going
//! back is a rollback. A transaction that is shown on top of what is committed now commits by
//! releasing the savepoint, without any copying.

use super::error::SqlError;
use super::footprint;
use super::image::{Change, Image};
use super::isolation::SessionId;
use super::sqlite::{Pooled, Sqlite};

/// How many transactions that changed something have committed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment(u64);

/// A transaction's own changes.
#[derive(Debug, Default)]
pub(super) struct Overlay {
    /// In the order in which they were made.
    pub changes: Vec<Change>,
    /// The tables that they are in, as bits.
    tables: u64,
    /// Counts what happened to `changes`: a view that shows an older generation is out of date.
    generation: u64,
}

impl Overlay {
    /// Adds what a statement has just changed on the shown view.
    pub(super) fn extend(&mut self, changes: Vec<Change>) {
        if !changes.is_empty() {
            self.tables |= changes.iter().fold(0, |tables, change| tables | footprint::bit(change.table));
            self.changes.extend(changes);
            self.generation += 1;
        }
    }

    /// Forgets all but the first `length` changes.
    pub(super) fn truncate(&mut self, length: usize) {
        self.changes.truncate(length);
        self.generation += 1;
    }

    /// Whether a row is among what was changed.
    pub(super) fn touches(&self, table: usize, rowid: i64) -> bool {
        let is = |image: &Option<Image>| image.as_ref().is_some_and(|image| image.rowid == rowid);
        self.changes.iter().any(|change| change.table == table && (is(&change.old) || is(&change.new)))
    }

    /// A row of a table that this transaction inserted and still has.
    pub(super) fn first_inserted(&self, table: usize) -> Option<&Image> {
        let of_table = || self.changes.iter().filter(|change| change.table == table);
        let removed = |rowid: i64| of_table().any(|c| c.new.is_none() && c.old.as_ref().is_some_and(|old| old.rowid == rowid));
        of_table().filter(|change| change.old.is_none()).filter_map(|change| change.new.as_ref()).find(|new| !removed(new.rowid))
    }

    /// Whether a row was inserted by this transaction.
    pub(super) fn inserted(&self, table: usize, rowid: i64) -> bool {
        let is = |image: &Option<Image>| image.as_ref().is_some_and(|image| image.rowid == rowid);
        self.changes.iter().any(|change| change.table == table && change.old.is_none() && is(&change.new))
    }

    /// A row that this transaction inserted has another rowid now; so it has in all later changes.
    fn moved(&mut self, at: usize, to: i64) {
        let rename = |image: &mut Image| image.rowid = to;
        let table = self.changes[at].table;
        let Some(from) = self.changes[at].new.as_ref().map(|new| new.rowid) else { return };
        self.changes[at].new.iter_mut().for_each(rename);
        for change in self.changes[at + 1..].iter_mut().filter(|change| change.table == table) {
            let Some(old) = change.old.as_mut().filter(|old| old.rowid == from) else { continue };
            rename(old);
            match &mut change.new {
                Some(new) => new.rowid = to,
                None => break,
            }
        }
        self.generation += 1;
    }
}

/// Whose changes are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Owner {
    session: SessionId,
    generation: u64,
    tables: u64,
}

impl Owner {
    /// `None` if nothing was changed.
    fn of(session: SessionId, overlay: &Overlay) -> Option<Owner> {
        let Overlay { changes, tables, generation } = overlay;
        (!changes.is_empty()).then_some(Owner { session, generation: *generation, tables: *tables })
    }
}

pub(super) struct Views {
    sqlite: Pooled,
    now: Moment,
    /// What was committed, oldest first, as far back as a snapshot may need it.
    committed: Vec<(Moment, Vec<Change>)>,
    /// Which view the connection shows.
    base: Moment,
    owner: Option<Owner>,
    /// `SAVEPOINT view` is open.
    open: bool,
}

impl Views {
    pub(super) fn new(sqlite: Pooled) -> Views {
        Views { sqlite, now: Moment::default(), committed: Vec::new(), base: Moment::default(), owner: None, open: false }
    }

    pub(super) fn sqlite(&self) -> &Sqlite {
        &self.sqlite
    }

    /// What is committed now.
    pub(super) fn now(&self) -> Moment {
        self.now
    }

    /// Shows what was committed at `base`, with a session's changes on it.
    pub(super) fn show(&mut self, base: Moment, session: SessionId, overlay: &mut Overlay) {
        let wanted = Owner::of(session, overlay);
        if self.base == base && self.owner == wanted {
            return;
        }
        if self.owner.is_some() || self.base != base {
            self.hide();
        }
        if base < self.now {
            self.open();
            let later = self.committed.iter().rev().take_while(|(moment, _)| *moment > base);
            for change in later.flat_map(|(_, changes)| changes.iter().rev()) {
                let table = &self.sqlite.tables()[change.table];
                table.put(&self.sqlite, change.new.as_ref(), change.old.as_ref(), false);
            }
            self.base = base;
        }
        if wanted.is_some() {
            self.open();
            self.redo(overlay, base < self.now);
            self.owner = Owner::of(session, overlay);
        }
    }

    /// Whether a plain read of these tables by somebody who changed nothing would see the same without moving.
    pub(super) fn shows_as_much(&self, base: Moment, overlay: &Overlay, tables: u64) -> bool {
        self.base == base && overlay.changes.is_empty() && self.owner.is_none_or(|owner| owner.tables & tables == 0)
    }

    /// A session's transaction is over without a trace.
    pub(super) fn leave(&mut self, session: SessionId) {
        if self.owner.is_some_and(|owner| owner.session == session) {
            self.hide();
        }
    }

    /// What one session has changed belongs to another from now on.
    pub(super) fn hand_over(&mut self, from: SessionId, to: SessionId) {
        if let Some(owner) = self.owner.as_mut().filter(|owner| owner.session == from) {
            owner.session = to;
        }
    }

    fn redo(&self, overlay: &mut Overlay, force: bool) {
        for at in 0..overlay.changes.len() {
            let change = &overlay.changes[at];
            let table = &self.sqlite.tables()[change.table];
            if let Some(rowid) = table.put(&self.sqlite, change.old.as_ref(), change.new.as_ref(), force) {
                overlay.moved(at, rowid);
            }
        }
    }

    /// Shows what is committed now and nothing else.
    pub(super) fn hide(&mut self) {
        if self.open {
            self.sqlite.control("ROLLBACK TO view");
            self.sqlite.control("RELEASE view");
            self.open = false;
        }
        self.base = self.now;
        self.owner = None;
    }

    /// What is done from here on can be taken back by [`Views::hide`].
    pub(super) fn open(&mut self) {
        if !self.open {
            self.sqlite.control("SAVEPOINT view");
            self.open = true;
        }
    }

    /// The shown view has just been changed by its session, whose changes these are now.
    pub(super) fn shows(&mut self, session: SessionId, overlay: &Overlay) {
        self.owner = Owner::of(session, overlay);
    }

    /// Makes a session's changes part of what is committed; `keep` them for older snapshots.
    /// Returns them, as they are now.
    pub(super) fn commit(&mut self, session: SessionId, mut overlay: Overlay, keep: bool) -> Vec<Change> {
        if overlay.changes.is_empty() {
            return Vec::new();
        }
        if self.open && self.base == self.now && self.owner == Owner::of(session, &overlay) {
            self.sqlite.control("RELEASE view");
            self.open = false;
        } else {
            self.hide();
            self.redo(&mut overlay, false);
        }
        self.committed(overlay.changes, keep)
    }

    /// Changes were made on what is committed now, outside of any view.
    pub(super) fn committed(&mut self, changes: Vec<Change>, keep: bool) -> Vec<Change> {
        self.now.0 += 1;
        self.base = self.now;
        self.owner = None;
        if keep {
            self.committed.push((self.now, changes.clone()));
        }
        changes
    }

    /// What was committed after a moment, oldest first, as far as it was kept.
    pub(super) fn committed_since(&self, since: Moment) -> impl Iterator<Item = &Change> {
        self.committed.iter().filter(move |(moment, _)| *moment > since).flat_map(|(_, changes)| changes)
    }

    /// A row as the shown view has it.
    pub(super) fn image(&self, table: usize, rowid: i64) -> Option<Image> {
        self.sqlite.images(table, "?1", &[rusqlite::types::Value::Integer(rowid)]).ok()?.pop()
    }

    /// Puts images in the place of others on the shown view, until it is hidden.
    pub(super) fn replace(&mut self, changes: &[Change]) {
        self.open();
        for change in changes {
            let table = &self.sqlite.tables()[change.table];
            table.put(&self.sqlite, change.old.as_ref(), change.new.as_ref(), true);
        }
        if !changes.is_empty() {
            // Nobody's view: whatever is wanted next is made anew.
            self.owner = Some(Owner { session: SessionId(0), generation: u64::MAX, tables: u64::MAX });
        }
    }

    /// Makes changes on the shown view.
    ///
    /// # Errors
    /// A unique key is in the way.
    pub(super) fn apply(&mut self, changes: &[Change]) -> Result<(), SqlError> {
        for change in changes {
            let table = &self.sqlite.tables()[change.table];
            table.try_put(&self.sqlite, change.old.as_ref(), change.new.as_ref())?;
        }
        Ok(())
    }

    /// Nobody has a snapshot older than this any more.
    pub(super) fn forget_until(&mut self, moment: Moment) {
        if self.base < moment {
            self.hide();
        }
        self.committed.retain(|(committed, _)| *committed > moment);
    }

    /// Nobody has a snapshot any more.
    pub(super) fn forget(&mut self) {
        if !self.committed.is_empty() {
            if self.base != self.now {
                self.hide();
            }
            self.committed.clear();
        }
    }
}
