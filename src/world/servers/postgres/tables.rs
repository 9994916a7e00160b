//! The tables as SQLite has them: columns, unique keys, and the statements that put an image in place.

use super::error::SqlError;
use super::image::{Change, Image};
use super::sqlite::Sqlite;
use rusqlite::types::Value;
use rusqlite::{Connection, Error, ffi};
use std::fmt::Write;

/// One table.
#[derive(Debug)]
pub(super) struct Table {
    pub name: String,
    pub columns: Vec<String>,
    /// The columns of each unique key, the primary key first; it is empty if there is none.
    pub keys: Vec<Vec<usize>>,
    put: Put,
}

/// The statements that change a row by its rowid.
#[derive(Debug)]
struct Put {
    insert: String,
    /// With a rowid of SQLite's choice.
    insert_anew: String,
    update: String,
    delete: String,
}

/// What identifies something that can be locked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub table: usize,
    /// Which unique key; 0 = the row itself.
    pub index: usize,
    value: KeyValue,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum KeyValue {
    /// A row without a primary key, by its rowid.
    Row(i64),
    /// A key of one integer column, as nearly all are.
    Int(i64),
    Bytes(Box<[u8]>),
}

/// All tables of a connection, in the order in which they were made.
///
/// # Errors
/// Something about a table that is not offered, in words; or SQLite's own error.
pub(super) fn read(connection: &Connection) -> Result<Vec<Table>, String> {
    let text = |error: Error| error.to_string();
    let names = strings(connection, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid", &[]);
    names.map_err(text)?.into_iter().map(|name| Table::read(connection, name)).collect()
}

fn strings(connection: &Connection, sql: &str, values: &[&str]) -> Result<Vec<String>, Error> {
    connection.prepare(sql)?.query_map(rusqlite::params_from_iter(values), |row| row.get(0))?.collect()
}

/// What a table may not have, and why.
const REFUSED: [(&str, &str); 5] = [
    ("AUTOINCREMENT", "generated ids"),
    ("GENERATED", "generated columns"),
    ("SERIAL", "generated ids"),
    ("REFERENCES", "foreign keys"),
    ("WITHOUT ROWID", "WITHOUT ROWID"),
];

impl Table {
    fn read(connection: &Connection, name: String) -> Result<Table, String> {
        let text = |error: Error| error.to_string();
        let definition = strings(connection, "SELECT upper(sql) FROM sqlite_schema WHERE type = 'table' AND name = ?1", &[&name])
            .map_err(text)?
            .concat();
        if let Some((_, what)) = REFUSED.iter().find(|(word, _)| definition.contains(word)) {
            return Err(format!("table `{name}`: the simulated database does not offer {what}"));
        }
        let mut info = connection.prepare("SELECT name, type, pk FROM pragma_table_info(?1)").map_err(text)?;
        let columns: Vec<(String, String, u32)> =
            info.query_map([&name], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).and_then(Iterator::collect).map_err(text)?;
        let mut primary: Vec<(u32, usize)> = columns.iter().enumerate().filter(|(_, c)| c.2 > 0).map(|(i, c)| (c.2, i)).collect();
        primary.sort_unstable();
        if let [(_, only)] = primary[..]
            && columns[only].1.eq_ignore_ascii_case("integer")
        {
            // SQLite would take it for the rowid, which two transactions would be given twice.
            return Err(format!("table `{name}`: write `bigint PRIMARY KEY` instead of `integer PRIMARY KEY`; ids are not generated"));
        }
        let mut keys = vec![primary.into_iter().map(|(_, column)| column).collect::<Vec<_>>()];
        let unique = "SELECT name FROM pragma_index_list(?1) WHERE \"unique\" = 1 AND origin <> 'pk' AND partial = 0 ORDER BY seq DESC";
        for index in strings(connection, unique, &[&name]).map_err(text)? {
            let mut columns = connection.prepare("SELECT cid FROM pragma_index_info(?1) ORDER BY seqno").map_err(text)?;
            keys.push(
                columns
                    .query_map([&index], |row| row.get::<_, u32>(0).map(|column| column as usize))
                    .and_then(Iterator::collect)
                    .map_err(text)?,
            );
        }
        let columns: Vec<String> = columns.into_iter().map(|(name, ..)| name).collect();
        Ok(Table { put: Put::new(&name, &columns), name, columns, keys })
    }

    /// The key of a row itself.
    pub(super) fn row_key(&self, table: usize, image: &Image) -> Key {
        self.key(table, 0, image).unwrap_or(Key { table, index: 0, value: KeyValue::Row(image.rowid) })
    }

    /// A unique key of a row; `None` if there is no such key, or a column of it is null.
    pub(super) fn key(&self, table: usize, index: usize, image: &Image) -> Option<Key> {
        let columns = &self.keys[index];
        if columns.is_empty() {
            return None;
        }
        let values: Vec<&Value> = columns.iter().map(|column| &image.values[*column]).collect();
        Some(Key { table, index, value: key_value(&values)? })
    }

    /// The key of the row whose primary key is one column with this value; `None` if it is null.
    pub(super) fn point(table: usize, value: &Value) -> Option<Key> {
        Some(Key { table, index: 0, value: key_value(&[value])? })
    }

    /// Everything that a change has to lock, in order; `true` for a unique key that appears.
    pub(super) fn locks(&self, change: &Change) -> Vec<(Key, bool)> {
        let Change { table, old, new } = change;
        let row = old.as_ref().map(|old| self.row_key(*table, old));
        let mut locks: Vec<(Key, bool)> = row.iter().map(|key| (key.clone(), false)).collect();
        for index in 0..self.keys.len() {
            let before = if index == 0 { row.clone() } else { old.as_ref().and_then(|old| self.key(*table, index, old)) };
            let after = new.as_ref().and_then(|new| self.key(*table, index, new));
            if before == after {
                continue;
            }
            locks.extend(before.filter(|_| index > 0).map(|key| (key, false)));
            locks.extend(after.map(|key| (key, true)));
        }
        locks
    }

    /// As [`Table::put`], for rows that are in place already and for a view that may refuse.
    ///
    /// # Errors
    /// A unique key is in the way.
    pub(super) fn try_put(&self, sqlite: &Sqlite, from: Option<&Image>, to: Option<&Image>) -> Result<(), SqlError> {
        match (from, to) {
            (Some(from), Some(to)) if from.rowid == to.rowid => sqlite.put(&self.put.update, to.rowid, &to.values)?,
            (Some(from), None) => sqlite.put(&self.put.delete, from.rowid, &[])?,
            (Some(_) | None, Some(to)) => sqlite.put(&self.put.insert_anew, to.rowid, &to.values)?,
            (None, None) => 0,
        };
        Ok(())
    }

    /// Puts one image in the place of another. A row whose rowid somebody else has meanwhile moves
    /// to another one, which is returned.
    ///
    /// With `force`, whatever stands in the way is replaced: an own row that is newer than the snapshot it is shown on.
    ///
    /// # Panics
    /// The row cannot be put there: locks keep changes of different transactions apart.
    pub(super) fn put(&self, sqlite: &Sqlite, from: Option<&Image>, to: Option<&Image>, force: bool) -> Option<i64> {
        let Put { insert, insert_anew, update, delete } = &self.put;
        let forced = |text: &str, verb: &str| text.replacen(verb, &format!("{verb} OR REPLACE"), 1);
        let done = match (from, to) {
            (Some(from), Some(to)) if from.rowid == to.rowid => {
                let changed = if force {
                    sqlite.put(&forced(update, "UPDATE"), to.rowid, &to.values)
                } else {
                    sqlite.put(update, to.rowid, &to.values)
                };
                match changed {
                    // The row is newer than the snapshot.
                    Ok(0) if force => sqlite.put(&forced(insert, "INSERT"), to.rowid, &to.values),
                    other => other,
                }
            }
            _ => {
                let deleted = from.map_or(Ok(0), |from| sqlite.put(delete, from.rowid, &[]));
                match to {
                    Some(to) if force => deleted.and_then(|_| sqlite.put(&forced(insert, "INSERT"), to.rowid, &to.values)),
                    Some(to) => deleted.and_then(|_| sqlite.put(insert, to.rowid, &to.values)),
                    None => deleted,
                }
            }
        };
        match (done, to) {
            (Ok(_), _) => None,
            (Err(error), Some(to)) if error.sqlite_error().is_some_and(|e| e.extended_code == ffi::SQLITE_CONSTRAINT_ROWID) => {
                let moved = sqlite.put(insert_anew, to.rowid, &to.values);
                moved.unwrap_or_else(|error| panic!("a row moves to a free rowid of {}: {error}", self.name));
                Some(sqlite.last_rowid())
            }
            (Err(error), _) => panic!("locks keep transactions apart in {}: {from:?} to {to:?}: {error}", self.name),
        }
    }
}

impl Put {
    fn new(name: &str, columns: &[String]) -> Put {
        let mut sets = String::new();
        let (mut names, mut places) = (String::new(), String::new());
        for (place, column) in (2..).zip(columns) {
            let comma = if place == 2 { "" } else { ", " };
            let _ = write!(sets, "{comma}\"{column}\" = ?{place}");
            let _ = write!(names, "{comma}\"{column}\"");
            let _ = write!(places, "{comma}?{place}");
        }
        Put {
            insert: format!("INSERT INTO \"{name}\" (rowid, {names}) VALUES (?1, {places})"),
            insert_anew: format!("INSERT INTO \"{name}\" ({names}) SELECT {places} WHERE ?1 = ?1"),
            update: format!("UPDATE \"{name}\" SET {sets} WHERE rowid = ?1"),
            delete: format!("DELETE FROM \"{name}\" WHERE rowid = ?1"),
        }
    }
}

fn key_value(values: &[&Value]) -> Option<KeyValue> {
    if let [Value::Integer(number)] = values {
        return Some(KeyValue::Int(*number));
    }
    let mut bytes = Vec::with_capacity(16);
    for value in values {
        let (kind, value): (u8, &[u8]) = match value {
            Value::Null => return None,
            Value::Integer(number) => (1, &number.to_be_bytes()),
            Value::Real(number) => (2, &number.to_bits().to_be_bytes()),
            Value::Text(text) => (3, text.as_bytes()),
            Value::Blob(blob) => (4, blob),
        };
        bytes.push(kind);
        bytes.extend((value.len() as u32).to_be_bytes());
        bytes.extend(value);
    }
    Some(KeyValue::Bytes(bytes.into()))
}
