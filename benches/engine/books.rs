//! What stands behind the frames of the settlement: SQLite, and the statements by number.

use onceproof::settlement::{RANKED, SCHEMA};
use rusqlite::{Connection, params_from_iter};

/// Players whose points are settled.
pub const PLAYERS: i64 = 100;

/// What a request carries beside its statement; a statement takes as many of them as it has parameters.
pub type Arguments = [i64; 4];

/// A statement that can be asked for.
#[derive(Clone, Copy, Debug)]
pub enum Statement {
    Earn,
    Look,
    Claim,
    Begin,
    Mark,
    Top,
    Rank,
    Reset,
    Commit,
}

impl Statement {
    /// All of them; the place of one is its number in a frame.
    const ALL: [Statement; 9] = [
        Statement::Earn,
        Statement::Look,
        Statement::Claim,
        Statement::Begin,
        Statement::Mark,
        Statement::Top,
        Statement::Rank,
        Statement::Reset,
        Statement::Commit,
    ];

    /// The statement with this number.
    pub fn numbered(number: i64) -> Option<Statement> {
        usize::try_from(number).ok().and_then(|place| Statement::ALL.get(place)).copied()
    }

    /// The statement, and how many parameters it has.
    fn sql(self) -> (&'static str, usize) {
        match self {
            Statement::Earn => ("UPDATE points SET points = points + ?1 WHERE player = ?2", 2),
            Statement::Look => ("SELECT status, version FROM task WHERE period = ?1", 1),
            Statement::Claim => ("UPDATE task SET status = 1, version = version + 1 WHERE period = ?1 AND version = ?2", 2),
            Statement::Begin => ("SAVEPOINT tx", 0),
            Statement::Mark => ("INSERT INTO settlement (period, node, attempt, at) VALUES (?1, ?2, 1, ?1)", 2),
            Statement::Top => ("SELECT player, points FROM points ORDER BY points DESC, player LIMIT 30", 0),
            Statement::Rank => ("INSERT INTO ranking (period, rank, player, points) VALUES (?1, ?2, ?3, ?4)", 4),
            Statement::Reset => ("UPDATE points SET points = 0", 0),
            Statement::Commit => ("RELEASE tx", 0),
        }
    }
}

/// A database that every seed finds as it was.
pub struct Books(Connection);

impl Books {
    /// Tables, players and `periods` tasks.
    pub fn new(periods: i64) -> Books {
        let connection = Connection::open_in_memory().expect("memory is enough");
        connection.set_prepared_statement_cache_capacity(32);
        for table in SCHEMA {
            connection.execute_batch(table).expect("SQLite takes the schema");
        }
        for player in 1..=PLAYERS {
            connection.execute("INSERT INTO points VALUES (?1, 0, 0)", [player]).expect("a new player");
        }
        for period in 1..=periods {
            connection
                .execute("INSERT INTO task (period, due, status, version, attempt) VALUES (?1, 0, 0, 0, 0)", [period])
                .expect("a task");
        }
        Books(connection)
    }

    /// Runs a statement; its rows, which have two columns.
    pub fn execute(&self, statement: Statement, arguments: Arguments) -> Vec<(i64, i64)> {
        let (sql, parameters) = statement.sql();
        let mut prepared = self.0.prepare_cached(sql).expect("the statement fits the schema");
        let parameters = params_from_iter(&arguments[..parameters]);
        if prepared.column_count() == 0 {
            prepared.execute(parameters).expect("the parameters fit");
            return Vec::new();
        }
        let rows = prepared.query_map(parameters, |row| Ok((row.get(0)?, row.get(1)?))).expect("the parameters fit");
        rows.collect::<Result<_, _>>().expect("two integers")
    }

    /// Does something in a savepoint, looks how many periods were settled and how many players ranked, and undoes it.
    pub fn undone(&self, work: impl FnOnce()) -> (i64, i64) {
        let control = |sql: &str| self.0.prepare_cached(sql).and_then(|mut s| s.execute([])).map(drop).expect("savepoints nest");
        let count = |sql: &str| self.0.prepare_cached(sql).and_then(|mut s| s.query_row([], |row| row.get(0))).expect("a count");
        control("SAVEPOINT seed");
        work();
        let counts = (count("SELECT count(*) FROM settlement"), count("SELECT count(*) FROM ranking"));
        control("ROLLBACK TO seed");
        control("RELEASE seed");
        counts
    }
}

const _: () = assert!(RANKED == 30, "the statement says it in words");
