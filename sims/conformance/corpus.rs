//! The fixed scripts, and what the real servers said to them.
//!
//! A recording is a file for each of the rules, a section a script. A script that `varies` may
//! have several, one behind the other.

use super::script::Script;
use onceproof::Rules;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// So often a script is played to be recorded: it must always say the same, or be marked.
const TAKES: usize = 3;
/// So often one that is marked as varying.
const VARYING_TAKES: usize = 40;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("sims/conformance").join(name)
}

/// All fixed scripts.
pub fn scripts() -> Vec<Script> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder("corpus")).expect("the corpus is there").map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    let scripts: Vec<Script> = files.iter().flat_map(|file| Script::parse(&fs::read_to_string(file).expect("a text"))).collect();
    let names: BTreeSet<&str> = scripts.iter().map(|script| script.name.as_str()).collect();
    assert_eq!(names.len(), scripts.len(), "two scripts have the same name");
    scripts
}

/// What a real server said, by script.
pub struct Recording {
    takes: BTreeMap<String, BTreeSet<String>>,
}

impl Recording {
    pub fn load(rules: Rules) -> Recording {
        let text = fs::read_to_string(folder("recorded").join(format!("{}.txt", rules.name()))).unwrap_or_default();
        let mut takes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for section in text.split("\n== ").skip(1) {
            let (name, said) = section.split_once('\n').unwrap_or_default();
            takes.entry(name.to_owned()).or_default().insert(said.trim_end().to_owned() + "\n");
        }
        Recording { takes }
    }

    /// What the server said to a script: once, or in each way in which it was heard.
    ///
    /// # Panics
    /// It was never asked.
    pub fn of(&self, script: &Script) -> &BTreeSet<String> {
        self.takes.get(&script.name).unwrap_or_else(|| {
            panic!("`{}` is not recorded: run the tests with ONCEPROOF_RECORD='{}' and both servers", script.name, script.name)
        })
    }

    /// Plays scripts on a real server and writes down what it says: those with `only` in their names that it offers, for
    /// the others the recording stays as it is.
    pub fn record(rules: Rules, version: &str, only: &str, offered: impl Fn(&Script) -> bool, mut play: impl FnMut(&Script) -> String) {
        let old = Recording::load(rules);
        let mut out = format!("# {}, as {version} keeps them. Written by the tests with ONCEPROOF_RECORD.\n", rules.name());
        for script in scripts().iter().filter(|script| script.applies(rules)) {
            let varies = script.varies.iter().any(|remark| remark.rules == rules);
            let takes = if script.name.contains(only) && offered(script) {
                (0..if varies { VARYING_TAKES } else { TAKES }).map(|_| play(script)).collect()
            } else {
                old.of(script).clone()
            };
            assert!(varies || takes.len() == 1, "`{}` varies under {}: {takes:#?}", script.name, rules.name());
            for said in takes {
                let _ = write!(out, "\n== {}\n{said}", script.name);
            }
        }
        fs::write(folder("recorded").join(format!("{}.txt", rules.name())), out).expect("a recording can be written");
    }
}
