//! Scripts, and how they are written down.
//!
//! ```text
//! == what it is about
//! a SET @lock me NX PX 100        client a asks; @ marks a key
//!   OK                            what Redis answered
//! wait 200                        milliseconds
//! a& BRPOP @queue 0               client a asks, and the script goes on
//! c RPUSH @queue x
//!   :1
//! a= BRPOP @queue 0               what a was answered to that
//!   ["queue", "x"]
//! b EVAL %release 1 @lock me      %release, %renew: the texts of the lease scripts
//!   :0
//! b SELECT 1
//!   OK
//!   | one-database: -ERR …        what the simulated store answers otherwise: a listed difference
//! ```

use super::answer;
use onceproof::store::{RELEASE_SCRIPT, RENEW_SCRIPT};
use std::collections::BTreeSet;
use std::fmt::{self, Write};

/// A list of requests and pauses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    pub name: String,
    pub turns: Vec<Turn>,
}

/// One line of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turn {
    /// So many milliseconds pass.
    Wait(u64),
    /// Somebody asks, and waits for the answer while others go on.
    Send(Request),
    /// Somebody asks, or has asked before, and was answered.
    Ask(Request, Option<Expected>),
}

/// A request of one of the three clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// 0, 1 or 2.
    pub client: usize,
    /// Whether it was sent before, and only its answer is waited for here.
    pub sent_before: bool,
    /// As they are written down.
    pub words: Vec<String>,
}

/// What was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    pub real: String,
    /// The difference by its id, and what the store answers.
    pub otherwise: Option<(String, String)>,
}

impl Script {
    pub fn requests(&self) -> impl Iterator<Item = &Request> {
        self.recorded().map(|(request, _)| request)
    }

    pub fn recorded(&self) -> impl Iterator<Item = (&Request, Option<&Expected>)> {
        self.turns.iter().filter_map(|turn| match turn {
            Turn::Ask(request, expected) => Some((request, expected.as_ref())),
            Turn::Wait(_) | Turn::Send(_) => None,
        })
    }

    /// The keys that it uses.
    pub fn keys(&self) -> BTreeSet<&str> {
        self.requests().flat_map(|r| &r.words).filter_map(|word| word.strip_prefix('@')).collect()
    }

    /// The commands that it uses.
    pub fn commands(&self) -> BTreeSet<String> {
        self.requests().map(|r| r.words[0].to_uppercase()).collect()
    }

    /// The same, with new answers of a real server. A listed difference stays listed.
    pub fn answered(mut self, answers: Vec<String>) -> Script {
        let mut answers = answers.into_iter();
        for turn in &mut self.turns {
            let Turn::Ask(_, expected) = turn else { continue };
            let otherwise = expected.take().and_then(|e| e.otherwise);
            *expected = answers.next().map(|real| Expected { real, otherwise });
        }
        self
    }
}

impl Request {
    /// The request as it is sent, its keys beginning with `prefix`.
    pub fn sent(&self, prefix: &str) -> Vec<String> {
        let word = |word: &String| match (word.strip_prefix('@'), word.as_str()) {
            (Some(key), _) => format!("{prefix}{key}"),
            (None, "%release") => RELEASE_SCRIPT.to_owned(),
            (None, "%renew") => RENEW_SCRIPT.to_owned(),
            (None, "%release-sha") => sha(RELEASE_SCRIPT),
            (None, "%renew-sha") => sha(RENEW_SCRIPT),
            (None, word) => word.to_owned(),
        };
        self.words.iter().map(word).collect()
    }

    /// Whether two answers to it are the same, to the letter.
    pub fn agrees(&self, one: &str, other: &str) -> bool {
        one == other || (self.is("PTTL") && answer::close(one, other))
    }

    /// Whether two answers to it are the same, but for the words of errors.
    pub fn agrees_in_class(&self, one: &str, other: &str) -> bool {
        self.agrees(answer::class(one), answer::class(other))
    }

    pub fn is(&self, command: &str) -> bool {
        self.words[0].eq_ignore_ascii_case(command)
    }
}

fn sha(script: &str) -> String {
    redis::Script::new(script).get_hash().to_owned()
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char(['a', 'b', 'c'][self.client])?;
        if self.sent_before {
            f.write_char('=')?;
        }
        for word in &self.words {
            if word.is_empty() || word.contains(' ') {
                write!(f, " \"{word}\"")?;
            } else {
                write!(f, " {word}")?;
            }
        }
        Ok(())
    }
}

/// Reads scripts.
///
/// # Panics
/// They are not written as they should be.
pub fn read(text: &str) -> Vec<Script> {
    let mut scripts: Vec<Script> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix("== ") {
            scripts.push(Script { name: name.to_owned(), turns: Vec::new() });
            continue;
        }
        let turns = &mut scripts.last_mut().expect("a script begins with `== name`").turns;
        if let Some(ms) = line.strip_prefix("wait ") {
            turns.push(Turn::Wait(ms.parse().expect("milliseconds")));
        } else if let Some((how, client, asked)) = said(line) {
            let request = Request { client, sent_before: how == "=", words: words(asked) };
            turns.push(if how == "&" { Turn::Send(request) } else { Turn::Ask(request, None) });
        } else {
            let answer = line.strip_prefix("  ").unwrap_or_else(|| panic!("no line of a script: {line}"));
            let Some(Turn::Ask(_, expected)) = turns.last_mut() else { panic!("an answer to nothing: {line}") };
            match (answer.strip_prefix("| "), expected) {
                (None, expected) => *expected = Some(Expected { real: answer.to_owned(), otherwise: None }),
                (Some(listed), expected) => {
                    let (id, listed) = listed.split_once(": ").expect("a difference is `id: answer`");
                    let expected = expected.get_or_insert(Expected { real: String::new(), otherwise: None });
                    expected.otherwise = Some((id.to_owned(), listed.to_owned()));
                }
            }
        }
    }
    scripts
}

/// `a& PING` as `&`, 0 and `PING`.
fn said(line: &str) -> Option<(&str, usize, &str)> {
    let (who, asked) = line.split_once(' ')?;
    let client = ["a", "b", "c"].iter().position(|name| who.starts_with(name))?;
    matches!(&who[1..], "" | "&" | "=").then_some((&who[1..], client, asked))
}

/// Words between spaces; one in quotes may be empty and hold spaces.
fn words(line: &str) -> Vec<String> {
    line.split('"')
        .enumerate()
        .flat_map(|(n, part)| match n % 2 {
            0 => part.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        })
        .collect()
}

/// Writes scripts.
pub fn write(scripts: &[Script]) -> String {
    let mut text = "# Scripts and the answers of Redis; script.rs says how they are written.\n".to_owned();
    for script in scripts {
        let _ = writeln!(text, "\n== {}", script.name);
        for turn in &script.turns {
            let _ = match turn {
                Turn::Wait(ms) => writeln!(text, "wait {ms}"),
                Turn::Send(request) => writeln!(text, "{}", request.to_string().replacen(' ', "& ", 1)),
                Turn::Ask(request, _) => writeln!(text, "{request}"),
            };
            let Turn::Ask(_, Some(expected)) = turn else { continue };
            let _ = writeln!(text, "  {}", expected.real);
            if let Some((id, listed)) = &expected.otherwise {
                let _ = writeln!(text, "  | {id}: {listed}");
            }
        }
    }
    text
}

#[test]
fn what_is_written_is_read() {
    let text = std::fs::read_to_string(super::corpus_file()).expect("the corpus is there");
    assert_eq!(write(&read(&text)), text);
}
