//! Random scripts: two or three sessions over three tables, as a settlement and its players use them.

use super::script::{Script, Turn};
use onceproof::seed::Seed;
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Turns before everybody commits.
const TURNS: usize = 14;

const SETUP: [&str; 5] = [
    "CREATE TABLE acc (id BIGINT PRIMARY KEY, v BIGINT NOT NULL)",
    "CREATE TABLE mark (k BIGINT PRIMARY KEY)",
    "CREATE TABLE award (id BIGINT NOT NULL, v BIGINT NOT NULL)",
    "INSERT INTO acc VALUES (1, 10), (2, 20), (3, 30)",
    "INSERT INTO award VALUES (1, 1)",
];

/// The script of a seed.
pub fn script(seed: Seed) -> Script {
    let mut dice = seed.fork("conformance").rng();
    let sessions = dice.random_range(2..=3);
    let mut open = vec![false; sessions];
    let mut turns = Vec::new();
    for _ in 0..TURNS {
        let session = dice.random_range(0..sessions);
        let sql = if !open[session] && dice.random_bool(0.7) {
            open[session] = true;
            "BEGIN".to_owned()
        } else if open[session] && dice.random_bool(0.22) {
            open[session] = false;
            if dice.random_bool(0.75) { "COMMIT" } else { "ROLLBACK" }.to_owned()
        } else {
            statement(&mut dice)
        };
        turns.push(Turn::Says { session, postgres: sql, innodb: None });
    }
    // Whoever waits has his turn left out; with each round somebody's locks are gone.
    for _ in 0..sessions {
        turns.extend((0..sessions).map(|session| Turn::Says { session, postgres: "COMMIT".to_owned(), innodb: None }));
    }
    Script { name: format!("seed {seed}"), setup: SETUP.map(str::to_owned).to_vec(), turns, ..Script::default() }
}

fn statement(dice: &mut Xoshiro256PlusPlus) -> String {
    let (id, key, v) = (dice.random_range(1..=4), dice.random_range(1..=2), dice.random_range(1..=9));
    match dice.random_range(0..100) {
        0..10 => format!("SELECT v FROM acc WHERE id = {id}"),
        10..17 => "SELECT id, v FROM acc".to_owned(),
        17..22 => "SELECT count(*) FROM mark".to_owned(),
        22..26 => "SELECT max(v) FROM acc".to_owned(),
        26..30 => "SELECT id, v FROM award".to_owned(),
        30..42 => format!("INSERT INTO mark VALUES ({key})"),
        42..47 => format!("INSERT INTO acc VALUES ({id}, {v})"),
        47..52 => format!("INSERT INTO award VALUES ({id}, {v})"),
        52..64 => format!("UPDATE acc SET v = v + {v} WHERE id = {id}"),
        64..69 => format!("UPDATE acc SET v = {v} WHERE id = {id}"),
        69..76 => "UPDATE acc SET v = 0".to_owned(),
        76..80 => format!("DELETE FROM mark WHERE k = {key}"),
        80..83 => format!("DELETE FROM acc WHERE id = {id}"),
        83..90 => format!("SELECT v FROM acc WHERE id = {id} FOR UPDATE"),
        90..95 => "SELECT id, v FROM acc FOR UPDATE".to_owned(),
        _ => format!("INSERT INTO award SELECT id, v FROM acc WHERE id <= {id}"),
    }
}
