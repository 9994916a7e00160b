//! A script: tables, and what two or three sessions say in turn.
//!
//! In a file it reads so:
//!
//! ```text
//! CREATE TABLE pts (uid BIGINT PRIMARY KEY, point BIGINT NOT NULL)   before the first script: of all scripts of the file
//! INSERT INTO pts VALUES (1, 10), (2, 20)
//!
//! == the name of a script
//! # What it shows.
//! only innodb-repeatable-read                  the rules that it is about; else all
//! varies postgres: why                         real servers do not always answer the same
//! differs all: which                           the known difference that the simulated server shows
//! a: BEGIN
//! b: INSERT INTO pts VALUES (1, 1) ON CONFLICT DO NOTHING
//! innodb: INSERT IGNORE INTO pts VALUES (1, 1)  the same statement in MySQL's words
//! wait                                         until who waits has waited for too long
//! ```

use onceproof::Rules;
use std::fmt::{self, Write};

/// One turn of a script.
#[derive(Clone, Debug)]
pub enum Turn {
    /// Session number `session` says `postgres`, or `innodb` if there are two ways to say it.
    Says { session: usize, postgres: String, innodb: Option<String> },
    /// Time passes until nobody waits any more: waits have a limit of a second in such a script.
    Wait,
}

/// A remark about a script under some rules.
#[derive(Clone, Debug)]
pub struct Remark {
    pub rules: Rules,
    pub text: String,
}

#[derive(Clone, Debug, Default)]
pub struct Script {
    pub name: String,
    /// Statements that make the tables and fill them.
    pub setup: Vec<String>,
    pub turns: Vec<Turn>,
    /// What it is played under; empty = all.
    pub only: Vec<Rules>,
    /// Where a real server has more than one answer, and why.
    pub varies: Vec<Remark>,
    /// Where the simulated server is known to differ, and by which difference.
    pub differs: Vec<Remark>,
}

/// The letter of a session.
pub fn letter(session: usize) -> char {
    char::from(b'a' + u8::try_from(session).expect("few sessions"))
}

impl Script {
    /// How many sessions take part.
    pub fn sessions(&self) -> usize {
        let last = self.turns.iter().filter_map(|turn| if let Turn::Says { session, .. } = turn { Some(session + 1) } else { None });
        last.max().unwrap_or(0)
    }

    /// Whether it is about waiting for too long.
    pub fn waits(&self) -> bool {
        self.turns.iter().any(|turn| matches!(turn, Turn::Wait))
    }

    /// Whether it prepares transactions, which a PostgreSQL offers only if it is told how many.
    pub fn prepares(&self) -> bool {
        self.turns.iter().any(|turn| matches!(turn, Turn::Says { postgres, .. } if postgres.starts_with("PREPARE TRANSACTION")))
    }

    pub fn applies(&self, rules: Rules) -> bool {
        self.only.is_empty() || self.only.contains(&rules)
    }

    /// The tables in the order in which they are made.
    pub fn tables(&self) -> Vec<&str> {
        self.setup.iter().filter_map(|sql| sql.strip_prefix("CREATE TABLE ")?.split([' ', '(']).next()).collect()
    }

    /// The scripts of a file.
    ///
    /// # Panics
    /// A line is none of a script, and which.
    pub fn parse(text: &str) -> Vec<Script> {
        let mut common = Vec::new();
        let mut scripts: Vec<Script> = Vec::new();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if let Some(name) = line.strip_prefix("== ") {
                scripts.push(Script { name: name.to_owned(), setup: common.clone(), ..Script::default() });
            } else if line.starts_with("CREATE ") || line.starts_with("INSERT ") {
                scripts.last_mut().map_or(&mut common, |script| &mut script.setup).push(line.to_owned());
            } else {
                let script = scripts.last_mut().unwrap_or_else(|| panic!("`{line}` stands before the first script"));
                script.line(line);
            }
        }
        scripts
    }

    fn line(&mut self, line: &str) {
        if let Some(rest) = line.strip_prefix("only ") {
            self.only.extend(all_named(rest));
        } else if let Some(rest) = line.strip_prefix("varies ") {
            self.varies.extend(remarks(rest));
        } else if let Some(rest) = line.strip_prefix("differs ") {
            self.differs.extend(remarks(rest));
        } else if line == "wait" {
            self.turns.push(Turn::Wait);
        } else if let Some(sql) = line.strip_prefix("innodb: ") {
            let Some(Turn::Says { innodb, .. }) = self.turns.last_mut() else { panic!("{}: `{line}` follows no statement", self.name) };
            *innodb = Some(sql.to_owned());
        } else {
            let session = ["a: ", "b: ", "c: "].iter().position(|who| line.starts_with(who));
            let session = session.unwrap_or_else(|| panic!("{}: `{line}` is no line of a script", self.name));
            self.turns.push(Turn::Says { session, postgres: line[3..].to_owned(), innodb: None });
        }
    }
}

/// As in a file.
impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "== {}", self.name)?;
        for sql in &self.setup {
            writeln!(f, "{sql}")?;
        }
        for turn in &self.turns {
            match turn {
                Turn::Says { session, postgres, innodb } => {
                    writeln!(f, "{}: {postgres}", letter(*session))?;
                    if let Some(innodb) = innodb {
                        writeln!(f, "innodb: {innodb}")?;
                    }
                }
                Turn::Wait => writeln!(f, "wait")?,
            }
        }
        Ok(())
    }
}

/// `RULES …: text`, a remark for each of the rules.
fn remarks(line: &str) -> Vec<Remark> {
    let (rules, text) = line.split_once(": ").unwrap_or_else(|| panic!("`{line}` gives no reason"));
    all_named(rules).into_iter().map(|rules| Remark { rules, text: text.to_owned() }).collect()
}

/// The rules of these names: of one level each, or of a server (`postgres`, `innodb`), or `all`.
fn all_named(names: &str) -> Vec<Rules> {
    let of = |name: &str, rules: Rules| match name {
        "all" => true,
        "postgres" => !rules.is_innodb(),
        "innodb" => rules.is_innodb(),
        name => rules.name() == name,
    };
    let named = |name: &str| {
        let found: Vec<Rules> = Rules::ALL.into_iter().filter(|rules| of(name, *rules)).collect();
        assert!(!found.is_empty(), "`{name}` are no rules");
        found
    };
    names.split(' ').flat_map(named).collect()
}

/// Two transcripts, the first line in which they differ marked.
pub fn side_by_side(ours: &str, theirs: &str, names: [&str; 2]) -> String {
    let (ours, theirs): (Vec<&str>, Vec<&str>) = (ours.lines().collect(), theirs.lines().collect());
    let first = ours.iter().zip(&theirs).position(|(a, b)| a != b).unwrap_or(ours.len().min(theirs.len()));
    let mut out = String::new();
    for (name, lines) in names.iter().zip([&ours, &theirs]) {
        let _ = writeln!(out, "  {name}:");
        for (n, line) in lines.iter().enumerate() {
            let _ = writeln!(out, "  {} {line}", if n == first { '>' } else { ' ' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_written_as_it_is_read() {
        let text = "== two ways\nCREATE TABLE k (k BIGINT PRIMARY KEY)\na: BEGIN\nb: INSERT INTO k VALUES (1) ON CONFLICT DO NOTHING\n\
                    innodb: INSERT IGNORE INTO k VALUES (1)\nwait\n";
        let scripts = Script::parse(text);
        assert_eq!((scripts[0].to_string().as_str(), scripts[0].sessions(), scripts[0].tables()), (text, 2, vec!["k"]));
        assert!(scripts[0].waits());
    }
}
