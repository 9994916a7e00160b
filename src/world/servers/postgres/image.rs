//! Images of rows: what a statement did, row by row, as SQLite's triggers report it.
//!
//! Images are what transactions are made of here. Done again, they move a transaction's changes
//! onto another view of the database; undone, they show an older one.

use super::tables::Table;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::Value;
use rusqlite::{Connection, Result};
use std::fmt::Write;
use std::sync::{Arc, Mutex};

/// The scalar function that the triggers call. Only they may.
pub(super) const CAPTURE: &str = "row_image";

/// A row at one time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Image {
    /// SQLite's own number of the row.
    pub rowid: i64,
    /// One value for each column.
    pub values: Vec<Value>,
}

impl Image {
    /// The number in a column.
    pub(super) fn int(&self, column: usize) -> Option<i64> {
        match self.values.get(column) {
            Some(Value::Integer(number)) => Some(*number),
            _ => None,
        }
    }
}

/// What happened to one row: without an old image it was inserted, without a new one deleted.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Change {
    /// Its table, by place in the list of tables.
    pub table: usize,
    pub old: Option<Image>,
    pub new: Option<Image>,
}

impl Change {
    /// It was written as it was: no difference to anybody.
    pub(super) fn is_idle(&self) -> bool {
        self.old.is_some() && self.old == self.new
    }
}

/// Collects changes while it is switched on.
#[derive(Clone, Debug, Default)]
pub(super) struct Capture(Arc<Mutex<Collected>>);

#[derive(Debug, Default)]
struct Collected {
    on: bool,
    changes: Vec<Change>,
}

/// What a trigger reports, as the number that it passes.
const INSERTED: i64 = 0;
const DELETED: i64 = 1;
const UPDATED: i64 = 2;

impl Capture {
    /// Installs the triggers on a connection that holds these tables.
    pub(super) fn install(connection: &Connection, tables: &[Table]) -> Result<Capture> {
        let capture = Capture::default();
        // Rows that a conflict clause removes are reported too.
        connection.execute_batch("PRAGMA recursive_triggers = ON")?;
        let collected = capture.0.clone();
        connection.create_scalar_function(CAPTURE, -1, FunctionFlags::SQLITE_UTF8, move |arguments| {
            let mut collected = collected.lock().expect("one thread uses a connection");
            if collected.on {
                collected.changes.push(change(arguments)?);
            }
            Ok(0)
        })?;
        for (number, table) in tables.iter().enumerate() {
            connection.execute_batch(&triggers(number, table))?;
        }
        Ok(capture)
    }

    /// Begins to collect.
    pub(super) fn start(&self) {
        let mut collected = self.0.lock().expect("one thread uses a connection");
        collected.on = true;
        collected.changes.clear();
    }

    /// Ends collecting: what was collected.
    pub(super) fn stop(&self) -> Vec<Change> {
        let mut collected = self.0.lock().expect("one thread uses a connection");
        collected.on = false;
        std::mem::take(&mut collected.changes)
    }
}

/// Arguments: table, what happened, then each image as its rowid and its values.
fn change(arguments: &Context<'_>) -> Result<Change> {
    const HEAD: usize = 2;
    let (table, what): (u32, i64) = (arguments.get(0)?, arguments.get(1)?);
    let table = table as usize;
    let length = if what == UPDATED { (arguments.len() - HEAD) / 2 } else { arguments.len() - HEAD };
    let image = |at: usize| -> Result<Image> {
        let values = (at + 1..at + length).map(|i| Ok(Value::try_from(arguments.get_raw(i))?)).collect::<Result<_>>()?;
        Ok(Image { rowid: arguments.get(at)?, values })
    };
    Ok(match what {
        INSERTED => Change { table, old: None, new: Some(image(HEAD)?) },
        DELETED => Change { table, old: Some(image(HEAD)?), new: None },
        _ => Change { table, old: Some(image(HEAD)?), new: Some(image(HEAD + length)?) },
    })
}

fn triggers(number: usize, table: &Table) -> String {
    let image = |which: &str| {
        let mut list = format!(", {which}.rowid");
        for column in &table.columns {
            let _ = write!(list, ", {which}.\"{column}\"");
        }
        list
    };
    let (old, new, name) = (image("OLD"), image("NEW"), &table.name);
    [("INSERT", INSERTED, new.clone()), ("DELETE", DELETED, old.clone()), ("UPDATE", UPDATED, old + &new)]
        .map(|(event, what, images)| {
            format!(
                "CREATE TEMP TRIGGER capture_{event}_{number} AFTER {event} ON main.\"{name}\" BEGIN SELECT {CAPTURE}({number}, {what}{images}); END;"
            )
        })
        .concat()
}
