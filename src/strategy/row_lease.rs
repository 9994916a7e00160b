//! A lease in a row of the database: taken by an UPDATE that finds it over, inserted if there is
//! none. It is one statement, so the database decides between two who ask at once. Which clock it
//! runs by is a knob, and so is who may extend it or give it back.

use crate::scenario::{Over, RowClock};
use crate::store::sql::{Text, int, text};
use crate::strategy::claim::now;
use crate::strategy::{Context, Error};
use crate::time::{WallTime, millis};
use crate::trace::StepName;
use std::time::Duration;

/// What time it is.
macro_rules! clock {
    (application, $dialect:ident) => {
        "$4"
    };
    (database, $dialect:ident) => {
        now!($dialect)
    };
}

/// Until when: the node works it out by its own clock, or the database by its.
macro_rules! until {
    (application, $dialect:ident) => {
        "$2"
    };
    (database, $dialect:ident) => {
        concat!(now!($dialect), " + $2")
    };
}

macro_rules! take {
    ($clock:ident, $over:literal) => {
        Text::new(take!($clock, $over, postgres), take!($clock, $over, mysql))
    };
    ($clock:ident, $over:literal, $dialect:ident) => {
        concat!(
            "UPDATE lease SET lock_until = ",
            until!($clock, $dialect),
            ", locked_at = ",
            clock!($clock, $dialect),
            ", locked_by = $3 WHERE name = $1 AND lock_until ",
            $over,
            " ",
            clock!($clock, $dialect)
        )
    };
}

macro_rules! insert {
    ($clock:ident) => {
        Text::new(
            concat!("INSERT ", insert!($clock, postgres), " ON CONFLICT (name) DO NOTHING"),
            concat!("INSERT IGNORE ", insert!($clock, mysql)),
        )
    };
    ($clock:ident, $dialect:ident) => {
        concat!(
            "INTO lease (name, lock_until, locked_at, locked_by) VALUES ($1, ",
            until!($clock, $dialect),
            ", ",
            clock!($clock, $dialect),
            ", $3)"
        )
    };
}

macro_rules! extend {
    ($clock:ident) => {
        Text::new(extend!($clock, postgres), extend!($clock, mysql))
    };
    ($clock:ident, $dialect:ident) => {
        concat!(
            "UPDATE lease SET lock_until = ",
            until!($clock, $dialect),
            " WHERE name = $1 AND locked_by = $3 AND lock_until > ",
            clock!($clock, $dialect)
        )
    };
}

macro_rules! give_back {
    ($dialect:ident) => {
        concat!(
            "UPDATE lease SET lock_until = CASE WHEN locked_at + $2 > ",
            now!($dialect),
            " THEN locked_at + $2 ELSE ",
            now!($dialect),
            " END WHERE name = $1 AND locked_by = $3"
        )
    };
}

const EXTEND_ANYBODYS: Text = Text::new(
    concat!("UPDATE lease SET lock_until = ", now!(postgres), " + $2 WHERE name = $1"),
    concat!("UPDATE lease SET lock_until = ", now!(mysql), " + $2 WHERE name = $1"),
);
/// By the node's clock the row is given back whosever it is: so does `ShedLock`'s JDBC provider
/// (`SqlStatementsSource`), whose statements with the database's clock name the owner
/// (`PostgresSqlServerTimeStatementsSource`).
const GIVE_BACK_UNOWNED: &str = "UPDATE lease SET lock_until = $2 WHERE name = $1";
const GIVE_BACK: Text = Text::new(give_back!(postgres), give_back!(mysql));

/// A lease row, held or not.
#[derive(Clone, Debug)]
pub struct RowLease {
    /// The row's name.
    pub key: String,
    /// How long it lasts when it is taken or extended.
    pub lasts: Duration,
    /// Whose clock it runs by.
    pub clock: RowClock,
    /// When it counts as over.
    pub over: Over,
}

impl RowLease {
    /// Asks for the lease: the node's own time just before it asked, if it was granted.
    ///
    /// # Errors
    /// As every step.
    pub async fn take(&self, context: &Context) -> Result<Option<WallTime>, Error> {
        let asked = context.wall();
        let update = match (self.clock, self.over) {
            (RowClock::Application, Over::At) => take!(application, "<="),
            (RowClock::Application, Over::After) => take!(application, "<"),
            (RowClock::Database, Over::At) => take!(database, "<="),
            (RowClock::Database, Over::After) => take!(database, "<"),
        };
        let insert = match self.clock {
            RowClock::Application => insert!(application),
            RowClock::Database => insert!(database),
        };
        let granted = self.run(context, "row.update", update, asked).await? || self.run(context, "row.insert", insert, asked).await?;
        Ok(granted.then_some(asked))
    }

    /// Extends the lease if it is this node's and not over: whether it was.
    ///
    /// # Errors
    /// As every step.
    pub async fn extend(&self, context: &Context) -> Result<bool, Error> {
        let extend = match self.clock {
            RowClock::Application => extend!(application),
            RowClock::Database => extend!(database),
        };
        self.run(context, "row.extend", extend, context.wall()).await
    }

    /// Extends the lease whosever it is: whether there is one.
    ///
    /// # Errors
    /// As every step.
    pub async fn extend_anybodys(&self, context: &Context) -> Result<bool, Error> {
        let lasts = millis(self.lasts).cast_signed();
        Ok(context.sql().execute("row.extend", EXTEND_ANYBODYS, &[text(&self.key), int(&lasts)]).await? == 1)
    }

    /// Gives the lease back that was taken when the node's clock showed `since`, and keeps it for at least `at_least` from then.
    ///
    /// # Errors
    /// As every step.
    pub async fn give_back(&self, context: &Context, since: WallTime, at_least: Duration) -> Result<(), Error> {
        let by = i64::from(context.attempt().node.0);
        match self.clock {
            RowClock::Application => {
                let until = context.wall().max(since + at_least);
                context.sql().execute("row.release", GIVE_BACK_UNOWNED, &[text(&self.key), int(&until.0)]).await?;
            }
            RowClock::Database => {
                let at_least = millis(at_least).cast_signed();
                context.sql().execute("row.release", GIVE_BACK, &[text(&self.key), int(&at_least), int(&by)]).await?;
            }
        }
        Ok(())
    }

    /// One statement that grants or extends: whether it found its row.
    async fn run(&self, context: &Context, step: StepName, statement: Text<'_>, now: WallTime) -> Result<bool, Error> {
        let by = i64::from(context.attempt().node.0);
        let lasts = millis(self.lasts).cast_signed();
        let changed = match self.clock {
            RowClock::Application => {
                let until = (now + self.lasts).0;
                context.sql().execute(step, statement, &[text(&self.key), int(&until), int(&by), int(&now.0)]).await?
            }
            RowClock::Database => context.sql().execute(step, statement, &[text(&self.key), int(&lasts), int(&by)]).await?,
        };
        Ok(changed == 1)
    }
}
