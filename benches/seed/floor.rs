//! The floor: what a calm dual-guard seed asks of its stores, asked directly. The same SQL on
//! rusqlite, the leases in a map, the payments in a list; no network, no clients, no runtime.
//!
//! Where the simulated database runs more than the clients ask for, the floor does not: it reads
//! nothing back for the history.

use onceproof::settlement::SCHEMA;
use rusqlite::{Connection, ToSql, params, params_from_iter};
use std::collections::BTreeMap;
use std::fmt::Write;

const PLAYERS: i64 = 100;
/// Earnings of a period; as many players are ranked, which is a little more than in most seeds.
const EARNINGS: i64 = 12;
/// What the nodes look up around one boundary: each looks every minute while the job takes two.
const LOOKS: i64 = 9;
/// How often the losers ask for the lease, and how often the winner renews it.
const REFUSED: i64 = 4;
const RENEWED: i64 = 4;
const BEATS: i64 = 3;

const EARN: &str = "INSERT INTO earnings (id, player, amount, at, settled_in) VALUES (?1, ?2, ?3, ?4, NULL)";
const ADD: &str = "UPDATE points SET points = points + ?1, last_active = ?2 WHERE player = ?3";
const FIND: &str = "SELECT period FROM task WHERE due <= ?1 AND (status < 2 OR status = 3 OR EXISTS (SELECT 1 FROM outbox WHERE sent = 0 AND id / 10 = task.period)) ORDER BY period";
const CLAIM: &str = "UPDATE task SET status = 1, version = version + 1, attempt = attempt + 1, owner = ?2, heartbeat = ?3 WHERE period = ?1 AND due <= ?3 AND (status = 0 OR (status = 3 AND heartbeat <= ?3) OR (status = 1 AND heartbeat < ?3 - ?4)) RETURNING attempt, failures";
const BEAT: &str = "UPDATE task SET heartbeat = ?3 WHERE period = ?1 AND attempt = ?2 AND status = 1";
const MARK: &str = "UPDATE earnings SET settled_in = ?1 WHERE at < ?2 AND settled_in IS NULL RETURNING player, amount";
const SETTLE: &str = "INSERT INTO settlement (period, node, attempt, at) VALUES (?1, ?2, ?3, ?4)";
const QUEUE: &str = "INSERT INTO outbox (id, key, payload, sent) VALUES (?1, ?2, ?3, 0), (?4, ?5, ?6, 0), (?7, ?8, ?9, 0)";
const DONE: &str = "UPDATE task SET status = 2 WHERE period = ?1 AND attempt = ?2 AND status = 1";
const SENT: &str = "UPDATE outbox SET sent = 1 WHERE id = ?1";

/// A database as a run finds it, and the two statements whose length depends on the ranking.
pub struct Floor {
    connection: Connection,
    ranking: String,
    taking: String,
}

impl Floor {
    /// Tables, players and three periods.
    pub fn new() -> Floor {
        let connection = Connection::open_in_memory().expect("memory is enough");
        connection.set_prepared_statement_cache_capacity(64);
        for table in SCHEMA {
            connection.execute_batch(table).expect("SQLite takes the schema");
        }
        for player in 1..=PLAYERS {
            connection.execute("INSERT INTO points VALUES (?1, 0, 0)", [player]).expect("a new player");
        }
        for period in 1..=3 {
            connection
                .execute("INSERT INTO task (period, due, status, version, attempt) VALUES (?1, ?1, 0, 0, 0)", [period])
                .expect("a task");
        }
        let mut ranking = "INSERT INTO ranking (period, rank, player, points) VALUES ".to_owned();
        let mut taking = "UPDATE points SET points = points - taken.column2 FROM (VALUES ".to_owned();
        for row in 0..EARNINGS {
            let comma = if row == 0 { "" } else { ", " };
            write!(ranking, "{comma}(?1, ?{}, ?{}, ?{})", 2 + 3 * row, 3 + 3 * row, 4 + 3 * row).expect("a string grows");
            write!(taking, "{comma}(?{}, ?{})", 1 + 2 * row, 2 + 2 * row).expect("a string grows");
        }
        taking.push_str(") AS taken WHERE points.player = taken.column1");
        Floor { connection, ranking, taking }
    }

    /// One seed, inside a savepoint that is rolled back; how many payments were made.
    pub fn seed(&self) -> usize {
        let (mut leases, mut paid) = (BTreeMap::new(), Vec::new());
        self.control("SAVEPOINT seed");
        for period in 1..=3 {
            self.earn(period);
            self.settle(period, &mut leases, &mut paid);
        }
        self.control("ROLLBACK TO seed");
        self.control("RELEASE seed");
        paid.len()
    }

    fn earn(&self, period: i64) {
        for n in 0..EARNINGS {
            let (id, player) = (period * EARNINGS + n, (period * 31 + n * 7) % PLAYERS + 1);
            self.control("SAVEPOINT tx");
            self.execute(EARN, params![id, player, 10 + n, period - 1]);
            self.execute(ADD, params![10 + n, period - 1, player]);
            self.control("RELEASE tx");
        }
    }

    fn settle(&self, period: i64, leases: &mut BTreeMap<String, String>, paid: &mut Vec<String>) {
        let key = format!("settle:{period}");
        for _ in 0..LOOKS {
            self.query(FIND, params![period]);
        }
        leases.insert(key.clone(), format!("{period:016x}"));
        for _ in 0..REFUSED + RENEWED {
            assert!(leases.contains_key(&key));
        }
        let claimed = self.query(CLAIM, params![period, 0, period, 1]);
        assert_eq!(claimed, [(1, 0)]);
        for _ in 0..BEATS {
            self.execute(BEAT, params![period, 1, period]);
        }
        self.control("SAVEPOINT tx");
        let marked = self.query(MARK, params![period, period]);
        assert_eq!(marked.len() as i64, EARNINGS);
        let places = (1..).zip(&marked).flat_map(|(rank, (player, amount))| [rank, *player, *amount]);
        self.execute(&self.ranking, params_from_iter([period].into_iter().chain(places)));
        self.execute(&self.taking, params_from_iter(marked.iter().flat_map(|(player, amount)| [*player, *amount])));
        self.execute(SETTLE, params![period, 0, 1, period]);
        let rows: Vec<(i64, String, String)> =
            (1..=3).map(|rank| (period * 10 + rank, format!("{period}-{rank}"), format!("pay {rank}"))).collect();
        let columns = rows.iter().flat_map(|(id, key, payload)| [id as &dyn ToSql, key, payload]);
        self.execute(QUEUE, params_from_iter(columns));
        self.execute(DONE, params![period, 1]);
        self.control("RELEASE tx");
        for (id, key, _) in rows {
            paid.push(key);
            self.execute(SENT, params![id]);
        }
        leases.remove(&key);
    }

    fn control(&self, sql: &str) {
        self.connection.prepare_cached(sql).and_then(|mut s| s.execute([])).expect("savepoints nest");
    }

    fn execute(&self, sql: &str, params: impl rusqlite::Params) {
        self.connection.prepare_cached(sql).and_then(|mut s| s.execute(params)).expect("the statement fits the schema");
    }

    /// The first two columns of each row; a single column counts twice.
    fn query(&self, sql: &str, params: impl rusqlite::Params) -> Vec<(i64, i64)> {
        let mut statement = self.connection.prepare_cached(sql).expect("the statement fits the schema");
        let last = statement.column_count() - 1;
        let rows = statement.query_map(params, |row| Ok((row.get(0)?, row.get(last)?))).expect("the parameters fit");
        rows.collect::<Result<_, _>>().expect("two integers")
    }
}
