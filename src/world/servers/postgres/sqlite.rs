//! The SQLite database under the server: one connection in memory, its statement caches, and
//! the pool that hands it from run to run.
//!
//! Making a database costs more than a whole run on it. So a thread keeps the connections it
//! made: a run happens inside a savepoint, and dropping it rolls back to the template.

use super::advisory::{ANSWER, Said};
use super::changes;
use super::dialect::{CLOCK, TO_INTEGER};
use super::error::{OF_ITS_TYPE, SqlError};
use super::footprint::Footprint;
use super::image::{CAPTURE, Capture, Image};
use super::lexer;
use super::statement::{self, Column, Kind, Statement};
use super::tables::{self, Table};
use super::value::{self, Type};
use crate::settlement::{Period, SCHEMA, UNIQUE_MARKER};
use crate::time::WallTime;
use rusqlite::config::DbConfig;
use rusqlite::functions::FunctionFlags;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, Row, params_from_iter};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// Prepared statements that SQLite keeps.
const PREPARED: usize = 256;
/// Parsed statements kept by their text. Clients that write values into their text would fill any cache.
const PARSED: usize = 512;
/// The prepared transactions. They are in no view and on no list of tables, and nobody may write what he reads of them.
const PREPARED_TRANSACTIONS: &str = "CREATE TEMP TABLE prepared_transaction (gid text NOT NULL);
    CREATE TEMP VIEW pg_prepared_xacts AS SELECT gid FROM prepared_transaction";
/// Connections that a thread keeps.
const POOLED: usize = 8;

/// What the database holds when a run begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template {
    pub players: u32,
    pub unique_marker: bool,
    pub tasks: Vec<Period>,
    pub tables: &'static [&'static str],
}

/// What receives the rows of a result.
pub(super) type Rows<'a> = &'a mut dyn FnMut(&Row<'_>) -> Result<(), SqlError>;

/// A parsed text, with the parameter types that the client gave.
type Form = (Vec<u32>, Rc<Statement>);

/// One SQLite database.
pub(super) struct Sqlite {
    connection: Connection,
    parsed: RefCell<BTreeMap<String, Vec<Form>>>,
    /// What the server's clock shows while a statement runs.
    clock: Arc<AtomicI64>,
    /// What the next call of an advisory lock is answered.
    said: Arc<AtomicI64>,
    tables: Vec<Table>,
    capture: Capture,
}

impl Sqlite {
    fn open(template: &Template) -> Result<Sqlite, String> {
        let text = |error: rusqlite::Error| error.to_string();
        let mut connection = Sqlite::filled(template).map_err(text)?;
        let tables = tables::read(&connection)?;
        let capture = Capture::install(&connection, &tables).map_err(text)?;
        let clock = Arc::new(AtomicI64::new(0));
        let read = clock.clone();
        let said = Arc::new(AtomicI64::new(0));
        let answer = said.clone();
        let finish = || {
            connection.create_scalar_function(CLOCK, 0, FunctionFlags::SQLITE_UTF8, move |_| Ok(read.load(Ordering::Relaxed)))?;
            connection.create_scalar_function(ANSWER, 0, FunctionFlags::SQLITE_UTF8, move |_| {
                let said = answer.load(Ordering::Relaxed);
                Ok(if said == Said::Nothing as i64 { Value::Text(String::new()) } else { Value::Integer(said) })
            })?;
            let pure = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
            connection.create_scalar_function(TO_INTEGER, 1, pure, |arguments| {
                value::to_integer(arguments.get_raw(0)).map_err(|error| rusqlite::Error::UserFunctionError(error.message.into()))
            })?;
            connection.authorizer(Some(authorize))
        };
        finish().map_err(text)?;
        Ok(Sqlite { connection, parsed: RefCell::default(), clock, said, tables, capture })
    }

    /// A connection with the template's tables and rows.
    fn filled(template: &Template) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_in_memory_with_flags(flags)?;
        // SQLite would wait in real time.
        connection.busy_timeout(Duration::ZERO)?;
        connection.set_prepared_statement_cache_capacity(PREPARED);
        // As in PostgreSQL: a quoted name is a name, and LIKE minds the case.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
        connection.execute_batch("PRAGMA case_sensitive_like = ON")?;
        fill(&connection, template)?;
        connection.execute_batch(PREPARED_TRANSACTIONS)?;
        Ok(connection)
    }

    /// The tables, by the place that changes and keys name.
    pub(super) fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// What collects the images of changed rows.
    pub(super) fn capture(&self) -> &Capture {
        &self.capture
    }

    /// Runs a statement that manages savepoints.
    pub(super) fn control(&self, sql: &'static str) {
        let run = || self.connection.prepare_cached(sql)?.raw_execute();
        run().unwrap_or_else(|error| panic!("savepoints of the one connection nest as the server opens them; `{sql}`: {error}"));
    }

    /// The parsed form of a text.
    pub(super) fn statement(&self, text: &str, given: &[u32]) -> Result<Rc<Statement>, SqlError> {
        let mut cache = self.parsed.borrow_mut();
        if let Some((_, known)) = cache.get(text).and_then(|forms| forms.iter().find(|(types, _)| types == given)) {
            return Ok(known.clone());
        }
        let statement = Rc::new(self.parse(text, given)?);
        if cache.len() >= PARSED {
            cache.clear();
        }
        cache.entry(text.to_owned()).or_default().push((given.to_vec(), statement.clone()));
        Ok(statement)
    }

    fn parse(&self, text: &str, given: &[u32]) -> Result<Statement, SqlError> {
        let statement::Parsed { kind, tag, level, name, translation, parameters, results, advisory } = statement::parse(text, given)?;
        let mut statement = Statement {
            kind,
            sql: translation.sql,
            parameters,
            columns: Vec::new(),
            tag,
            level,
            name,
            writes: false,
            locks: translation.locks,
            footprint: Footprint::default(),
            advisory,
        };
        if kind == Kind::Query {
            let prepared = self.connection.prepare_cached(&statement.sql)?;
            statement.writes = !prepared.readonly();
            statement.footprint = Footprint::of(&lexer::tokens(text)?, &statement.sql, &self.tables)?;
            let columns = prepared.columns();
            let exact = results.len() == columns.len();
            let told = |i: usize| if exact { results[i] } else { None };
            statement.columns = columns
                .enumerate()
                .map(|(i, column)| {
                    let declared = column.decl_type().and_then(|name| Type::declared(name).ok());
                    Column { name: column.name().to_owned(), of: told(i).or(declared).unwrap_or(Type::Int8) }
                })
                .collect();
        }
        Ok(statement)
    }

    /// What the next call of an advisory lock is answered.
    pub(super) fn advise(&self, said: Said) {
        self.said.store(said as i64, Ordering::Relaxed);
    }

    /// Runs a statement while the server's clock shows `wall`; returns how many rows came, or were changed.
    pub(super) fn run(&self, statement: &Statement, values: &[Value], wall: WallTime, rows: Rows<'_>) -> Result<u64, SqlError> {
        self.clock.store(wall.0, Ordering::Relaxed);
        let mut prepared = self.connection.prepare_cached(&statement.sql)?;
        // A client may give a type to a parameter that the text does not use.
        let values = &values[..values.len().min(prepared.parameter_count())];
        if statement.columns.is_empty() {
            return Ok(prepared.execute(params_from_iter(values))? as u64);
        }
        let mut result = prepared.query(params_from_iter(values))?;
        let mut count = 0;
        while let Some(row) = result.next()? {
            rows(row)?;
            count += 1;
        }
        Ok(count)
    }

    /// Reads for the server itself. Rows that `typed` cannot make sense of are left out.
    pub(super) fn read<T>(&self, sql: &'static str, range: &[i64], mut typed: impl FnMut(&Row<'_>) -> rusqlite::Result<T>) -> Vec<T> {
        let mut run = || -> rusqlite::Result<Vec<T>> {
            let mut prepared = self.connection.prepare_cached(sql)?;
            let mut result = prepared.query(params_from_iter(range))?;
            let mut rows = Vec::new();
            while let Some(row) = result.next()? {
                rows.extend(typed(row).ok());
            }
            Ok(rows)
        };
        run().unwrap_or_else(|error| panic!("the server's own queries fit its schema; `{sql}`: {error}"))
    }

    /// What is prepared from now on, for whoever asks. No view is open.
    pub(super) fn list_prepared<'n>(&self, names: impl Iterator<Item = &'n String>) {
        let list = || -> rusqlite::Result<()> {
            self.connection.prepare_cached("DELETE FROM prepared_transaction")?.execute([])?;
            for name in names {
                self.connection.prepare_cached("INSERT INTO prepared_transaction (gid) VALUES (?1)")?.execute([name])?;
            }
            Ok(())
        };
        list().unwrap_or_else(|error| panic!("the server's own table takes names: {error}"));
    }

    /// Runs a statement that puts a row in place: the rowid first, then its values.
    pub(super) fn put(&self, sql: &str, rowid: i64, values: &[Value]) -> rusqlite::Result<usize> {
        let mut prepared = self.connection.prepare_cached(sql)?;
        let rowid = Value::Integer(rowid);
        prepared.execute(params_from_iter(std::iter::once(&rowid).chain(values)))
    }

    /// The rowid of the row that was inserted last.
    pub(super) fn last_rowid(&self) -> i64 {
        self.connection.last_insert_rowid()
    }

    /// Runs a text in SQLite's words for the rows that it changes, whether or not it succeeds.
    pub(super) fn probe(&self, sql: &str, values: &[Value]) {
        let _ = self.connection.prepare_cached(sql).and_then(|mut prepared| {
            let values = &values[..values.len().min(prepared.parameter_count())];
            let mut rows = prepared.query(params_from_iter(values))?;
            while rows.next()?.is_some() {}
            Ok(())
        });
    }

    /// The rows of a table whose rowids a text in SQLite's words selects.
    pub(super) fn images(&self, table: usize, rowids: &str, values: &[Value]) -> Result<Vec<Image>, SqlError> {
        let Table { name, columns, .. } = &self.tables[table];
        let mut prepared = self.connection.prepare_cached(&format!("SELECT rowid, * FROM \"{name}\" WHERE rowid IN ({rowids})"))?;
        let values = &values[..values.len().min(prepared.parameter_count())];
        let mut result = prepared.query(params_from_iter(values))?;
        let mut images = Vec::new();
        while let Some(row) = result.next()? {
            let values = (1..=columns.len()).map(|i| row.get(i)).collect::<Result<_, _>>()?;
            images.push(Image { rowid: row.get(0)?, values });
        }
        Ok(images)
    }
}

/// A table whose columns take nothing but values of their type, as SQLite's own do not.
fn typed(statement: &str) -> String {
    let is_table = statement.get(..12).is_some_and(|head| head.eq_ignore_ascii_case("CREATE TABLE"));
    let Some((head, columns)) = statement.split_once('(').filter(|_| is_table) else { return statement.to_owned() };
    let column = |definition: &str| {
        let mut words = definition.split_whitespace();
        let (Some(name), Some(of)) = (words.next(), words.next()) else { return definition.to_owned() };
        let stored = match Type::declared(of) {
            Ok(Type::Int2 | Type::Int4 | Type::Int8 | Type::Bool) => "integer",
            Ok(Type::Text) => "text",
            Ok(Type::Float8) | Err(_) => return definition.to_owned(),
        };
        let end = definition.trim_end().strip_suffix(')').filter(|rest| rest.matches('(').count() < definition.matches(')').count());
        let (definition, end) = end.map_or((definition, ""), |definition| (definition, ")"));
        format!("{definition} CONSTRAINT {OF_ITS_TYPE} CHECK (typeof({name}) IN ('{stored}', 'null')){end}")
    };
    let columns: Vec<String> = columns.split(',').map(column).collect();
    format!("{head}({}", columns.join(","))
}

/// Tables and first rows.
fn fill(connection: &Connection, template: &Template) -> rusqlite::Result<()> {
    for table in SCHEMA {
        // PostgreSQL's primary keys are never null; SQLite's may be.
        connection.execute_batch(&typed(&table.replace("PRIMARY KEY", "NOT NULL PRIMARY KEY")))?;
    }
    if template.unique_marker {
        connection.execute_batch(UNIQUE_MARKER)?;
    }
    connection.execute_batch("BEGIN")?;
    let mut player = connection.prepare("INSERT INTO points (player, points, last_active) VALUES (?1, 0, 0)")?;
    for id in 1..=template.players {
        player.execute([id])?;
    }
    let mut task = connection.prepare("INSERT INTO task (period, due, status, version, attempt) VALUES (?1, ?2, 0, 0, 0)")?;
    for period in &template.tasks {
        task.execute([period.id.0, period.due.0])?;
    }
    connection.execute_batch("INSERT INTO fence (name, token) VALUES ('settlement', 0)")?;
    if let Some(first) = template.tasks.first() {
        let row = "INSERT INTO schedule_row (name, next_fire, acquired) VALUES ('settlement', ?1, 0)";
        connection.execute(row, [first.due.0])?;
    }
    for statement in template.tables {
        connection.execute_batch(&typed(statement))?;
    }
    connection.execute_batch("COMMIT")
}

/// Refuses the functions that would show the clock or the dice of the machine that simulates, or what only SQLite has.
fn authorize(context: AuthContext<'_>) -> Authorization {
    const FORBIDDEN: [&str; 15] = [
        "changes",
        "total_changes",
        "last_insert_rowid",
        "random",
        "randomblob",
        "date",
        "time",
        "datetime",
        "julianday",
        "unixepoch",
        "strftime",
        "timediff",
        "current_timestamp",
        "current_date",
        "current_time",
    ];
    match context.action {
        // Only the triggers that report images may call it.
        AuthAction::Function { function_name: CAPTURE } if context.accessor.is_none() => Authorization::Deny,
        AuthAction::Function { function_name } if FORBIDDEN.iter().any(|f| function_name.eq_ignore_ascii_case(f)) => Authorization::Deny,
        _ => Authorization::Allow,
    }
}

thread_local! {
    static POOL: RefCell<Vec<(Template, Sqlite)>> = const { RefCell::new(Vec::new()) };
}

/// A database that is as its template says, until it goes back to the pool.
pub(super) struct Pooled(Option<(Template, Sqlite)>);

impl Pooled {
    pub(super) fn take(template: Template) -> Pooled {
        let kept = POOL.with_borrow_mut(|pool| pool.iter().position(|(kept, _)| *kept == template).map(|i| pool.remove(i)));
        let (template, sqlite) = kept.unwrap_or_else(|| {
            let sqlite = Sqlite::open(&template).unwrap_or_else(|error| panic!("SQLite takes the schema: {error}"));
            (template, sqlite)
        });
        sqlite.control("SAVEPOINT seed");
        Pooled(Some((template, sqlite)))
    }
}

impl Deref for Pooled {
    type Target = Sqlite;
    fn deref(&self) -> &Sqlite {
        &self.0.as_ref().expect("it goes back only when it is dropped").1
    }
}

impl Drop for Pooled {
    fn drop(&mut self) {
        let Some((template, sqlite)) = self.0.take() else { return };
        // A connection that cannot be cleaned is thrown away: dropping must not panic.
        let clean = || sqlite.connection.execute_batch("ROLLBACK TO seed; RELEASE seed");
        if clean().is_err() {
            return;
        }
        // The thread may be ending, its pool gone.
        let _ = POOL.try_with(|pool| {
            let mut pool = pool.borrow_mut();
            if pool.len() == POOLED {
                pool.remove(0);
            }
            pool.push((template, sqlite));
        });
    }
}

/// The tables whose changes the history knows are those of the schema.
const _: () = assert!(changes::TABLES == SCHEMA.len());

#[cfg(test)]
mod tests {
    use super::*;

    /// One run changes everything and stops in the middle of a transaction. The next gets the
    /// same connection, its parsed statements still there, its rows as the template says.
    #[test]
    fn a_pooled_database_comes_back_clean_and_warm() {
        let template = || Template { players: 3, unique_marker: false, tasks: Vec::new(), tables: &[] };
        let sum = |sqlite: &Sqlite| sqlite.read("SELECT sum(points) FROM points", &[], |row| row.get::<_, i64>(0));
        let first = Pooled::take(template());
        let update = first.statement("UPDATE points SET points = $1", &[20]).expect("it is SQL");
        first.control("SAVEPOINT view");
        let count = first.run(&update, &[Value::Integer(5)], WallTime(0), &mut |_| Ok(())).expect("an update");
        assert_eq!((count, sum(&first)), (3, vec![15]));
        let other = Pooled::take(template());
        assert_eq!(sum(&other), [0], "two runs at a time have two connections");
        drop(first);
        let next = Pooled::take(template());
        assert_eq!(sum(&next), [0]);
        let again = next.statement("UPDATE points SET points = $1", &[20]).expect("it is SQL");
        assert!(Rc::ptr_eq(&update, &again), "it is the first connection");
        assert_eq!(POOL.with_borrow(Vec::len), 0);
        drop((other, next));
        assert_eq!(POOL.with_borrow(Vec::len), 2);
    }

    #[test]
    fn clocks_and_dice_of_the_machine_are_out_of_reach() {
        let sqlite = Pooled::take(Template { players: 0, unique_marker: false, tasks: Vec::new(), tables: &[] });
        for text in ["select random()", "select RANDOM()", "select current_timestamp", "select datetime('now')", "select unixepoch()"] {
            assert_eq!(sqlite.statement(text, &[]).expect_err("refused").code, "0A000", "{text}");
        }
    }

    #[test]
    fn columns_take_their_type_only() {
        assert_eq!(
            typed("CREATE TABLE t (a bigint NOT NULL PRIMARY KEY, b varchar(8))"),
            "CREATE TABLE t (a bigint NOT NULL PRIMARY KEY CONSTRAINT of_its_type CHECK (typeof(a) IN ('integer', 'null')), \
             b varchar(8) CONSTRAINT of_its_type CHECK (typeof(b) IN ('text', 'null')))"
        );
        assert_eq!(typed("CREATE UNIQUE INDEX i ON t (a)"), "CREATE UNIQUE INDEX i ON t (a)");
    }

    /// Text written by clients must not fill the cache for ever.
    #[test]
    fn the_cache_of_texts_is_bounded() {
        let sqlite = Pooled::take(Template { players: 1, unique_marker: false, tasks: Vec::new(), tables: &[] });
        for n in 0..3 * PARSED {
            sqlite.statement(&format!("select {n}"), &[]).expect("it is SQL");
        }
        assert!(sqlite.parsed.borrow().len() <= PARSED);
    }
}
