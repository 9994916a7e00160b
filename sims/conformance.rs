//! The simulated database says what real ones say.
//!
//! The same scripts of two and three sessions are played on the simulated server, on PostgreSQL
//! and on MariaDB, under each of their rules: who waits, who fails and why, what is returned,
//! and what is committed in the end.
//!
//! * The fixed scripts (`conformance/corpus`) were recorded on real servers
//!   (`conformance/recorded`). The simulated server must say the same, or the script names the
//!   known difference that makes it say otherwise. Where the addresses of real servers are set,
//!   the recordings are compared with them again; `ONCEPROOF_RECORD=1` writes them
//!   anew, and a part of a name those that have it.
//! * Random scripts need the real servers: 80 a mode, or `ONCEPROOF_SCRIPTS`, from
//!   `ONCEPROOF_SEED` on.

mod answer;
mod corpus;
mod generate;
mod mariadb;
mod play;
mod postgres;
mod real;
mod script;
mod simulated;

use crate::real::address;
use corpus::Recording;
use mariadb::MariaDb;
use onceproof::Rules;
use onceproof::seed::Seed;
use onceproof::world::servers::differences::DIFFERENCES;
use postgres::Postgres;
use real::{Real, Server};
use script::{Script, side_by_side};
use simulated::simulate;
use std::collections::BTreeSet;
use std::env;
use std::fmt::Write;

/// So often a real server is asked before what it says counts as different.
const TAKES: usize = 3;
/// How many of a hundred random scripts must be equal, at least.
const EQUAL: usize = 97;

fn number(variable: &str, default: u64) -> u64 {
    env::var(variable).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{variable} is a number")))
}

fn of_innodb(innodb: bool) -> impl Iterator<Item = Rules> {
    Rules::ALL.into_iter().filter(move |rules| rules.is_innodb() == innodb)
}

/// The known difference that a script shows under some rules.
fn known(script: &Script, rules: Rules) -> Option<&str> {
    script.differs.iter().find(|remark| remark.rules == rules).map(|remark| remark.text.as_str())
}

#[test]
fn fixed_scripts_are_answered_as_recorded() {
    let scripts = corpus::scripts();
    assert!(scripts.len() > 100, "a corpus");
    let (mut equal, mut differ, mut report) = (0, 0, String::new());
    for rules in Rules::ALL {
        let recording = Recording::load(rules);
        for script in scripts.iter().filter(|script| script.applies(rules)) {
            let (said, heard) = (simulate(script, rules), recording.of(script));
            match (heard.contains(&said), known(script, rules)) {
                (true, None) => equal += 1,
                (false, Some(_)) => differ += 1,
                (true, Some(known)) => {
                    let _ = writeln!(report, "{}: `{}` no longer shows the difference `{known}`", rules.name(), script.name);
                }
                (false, None) => {
                    let theirs = heard.first().expect("at least one take");
                    let both = side_by_side(theirs, &said, ["recorded", "simulated"]);
                    let _ = writeln!(report, "{}: `{}` differs\n{both}", rules.name(), script.name);
                }
            }
        }
    }
    println!("{equal} fixed scripts equal, {differ} show known differences");
    assert!(report.is_empty(), "{equal} are equal, {differ} show known differences, and:\n{report}");
}

/// What the scripts call a difference is in the list, and what is in the list is shown by a script.
#[test]
fn known_differences_are_listed_and_shown() {
    let ids: BTreeSet<&str> = DIFFERENCES.iter().filter(|d| d.server == "db").map(|d| d.id).collect();
    let scripts = corpus::scripts();
    let mut shown: BTreeSet<&str> = scripts.iter().flat_map(|script| &script.differs).map(|remark| remark.text.as_str()).collect();
    // It is how this comparison itself talks to the server.
    shown.insert("innodb-over-postgres-wire");
    assert_eq!(shown, ids);
}

/// The control: a comparison of different rules finds them different.
#[test]
fn recordings_tell_the_rules_apart() {
    let scripts = corpus::scripts();
    for rules in Rules::ALL {
        for other in Rules::ALL.into_iter().filter(|other| *other != rules) {
            let (ours, theirs) = (Recording::load(rules), Recording::load(other));
            let both = scripts.iter().filter(|script| script.applies(rules) && script.applies(other));
            let differ = both.filter(|script| ours.of(script).is_disjoint(theirs.of(script))).count();
            assert!(differ >= 5, "{} and {} differ in {differ} scripts", rules.name(), other.name());
        }
    }
}

fn recordings_are_true<S: Server>(variable: &str, test: &str, innodb: bool) {
    let Some(url) = address(variable, test) else { return };
    let mut server: Real<S> = Real::open(&url, "fixed");
    let version = server.version.clone();
    let prepares = server.prepares();
    let offered = |script: &Script| prepares || !script.prepares();
    for rules in of_innodb(innodb) {
        if let Ok(only) = env::var("ONCEPROOF_RECORD") {
            let only = if only == "1" { "" } else { only.as_str() };
            Recording::record(rules, &version, only, offered, |script| server.play(script, rules));
            continue;
        }
        let recording = Recording::load(rules);
        for script in corpus::scripts().iter().filter(|script| script.applies(rules) && offered(script)) {
            let heard = recording.of(script);
            // A machine that is busy elsewhere may let a server look too early. It is asked again.
            let said: Vec<String> = (0..TAKES).map(|_| server.play(script, rules)).take_while(|said| !heard.contains(said)).collect();
            if said.len() == TAKES {
                let both = side_by_side(heard.first().expect("at least one take"), &said[0], ["recorded", &version]);
                panic!("{}: {version} says otherwise to `{}` than was recorded\n{both}", rules.name(), script.name);
            }
        }
    }
}

#[test]
fn recordings_are_what_postgres_says() {
    recordings_are_true::<Postgres>("ONCEPROOF_POSTGRES", "recordings_are_what_postgres_says", false);
}

#[test]
fn recordings_are_what_mariadb_says() {
    recordings_are_true::<MariaDb>("ONCEPROOF_MARIADB", "recordings_are_what_mariadb_says", true);
}

fn random_scripts_agree<S: Server>(variable: &str, test: &str, innodb: bool) {
    let Some(url) = address(variable, test) else { return };
    let mut server: Real<S> = Real::open(&url, "random");
    let version = server.version.clone();
    let (count, first) = (number("ONCEPROOF_SCRIPTS", 80), number("ONCEPROOF_SEED", 1));
    let mut failed = false;
    for rules in of_innodb(innodb) {
        let mut differences = Vec::new();
        for seed in first..first + count {
            let script = generate::script(Seed(seed));
            // Real servers do not always say the same: who is woken first, what is purged already.
            let said = simulate(&script, rules);
            let takes: Vec<String> = (0..TAKES).map(|_| server.play(&script, rules)).take_while(|theirs| *theirs != said).collect();
            if takes.len() == TAKES {
                differences.push(format!("{}\n", script.name) + &side_by_side(&takes[0], &said, [&version, "simulated"]));
            }
        }
        let equal = count as usize - differences.len();
        println!("{}: {equal} of {count} random scripts are equal to {version}", rules.name());
        let shown = if env::var_os("ONCEPROOF_ALL").is_some() { differences.len() } else { 1 };
        for difference in differences.iter().take(shown) {
            println!("{difference}");
        }
        failed |= equal * 100 < EQUAL * count as usize;
    }
    assert!(!failed, "fewer than {EQUAL} of 100 are equal");
}

#[test]
fn random_scripts_agree_with_postgres() {
    random_scripts_agree::<Postgres>("ONCEPROOF_POSTGRES", "random_scripts_agree_with_postgres", false);
}

#[test]
fn random_scripts_agree_with_mariadb() {
    random_scripts_agree::<MariaDb>("ONCEPROOF_MARIADB", "random_scripts_agree_with_mariadb", true);
}

/// Needs no server: who hears the same says the same.
#[test]
fn a_script_is_answered_the_same_twice() {
    let (mut blocked, mut failed) = (0, 0);
    for rules in Rules::ALL {
        for seed in 1..=40 {
            let script = generate::script(Seed(seed));
            let said = simulate(&script, rules);
            assert_eq!(said, simulate(&script, rules), "{} under {}", script.name, rules.name());
            assert!(!said.contains("still blocked"), "{} under {}:\n{said}", script.name, rules.name());
            blocked += usize::from(said.contains("blocked"));
            failed += usize::from(said.contains("error"));
        }
    }
    assert!(blocked > 40 && failed > 40, "{blocked} scripts with a wait and {failed} with an error: nothing tested");
}
