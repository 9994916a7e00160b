//! How a script is played, on any server: one turn after the other, and after each turn one
//! waits until everybody has an answer or provably waits for somebody else.
//!
//! A turn of a session that still waits is skipped. So a server that lets a session wait where
//! another one answers shows it in every line that follows.

use super::answer::Answer;
use super::script::{Script, Turn, letter};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use tokio::sync::mpsc;

/// Looks at a server that neither answers nor is blocked, until the test fails.
const PATIENCE: u32 = 10_000;

/// Whose words a server understands. The simulated one takes PostgreSQL's under all rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Words {
    PostgreSql,
    MySql,
}

/// A session's connection.
pub trait Ask {
    async fn ask(&mut self, sql: &str) -> Answer;
}

/// Knows when nothing moves any more.
pub trait Watch {
    /// So many looks in a row must show that all are blocked.
    const LOOKS: u32;

    /// The pause before a look. May be given up.
    async fn moment(&self);

    /// Whether all of `waiting` wait for other sessions, in the same way as at the last look.
    async fn look(&mut self, waiting: &BTreeSet<usize>) -> bool;

    /// Lets a part of the time pass for which a statement may wait.
    async fn pass_time(&mut self);
}

/// The sessions of a script, each in a task of its own.
pub struct Sessions {
    say: Vec<mpsc::UnboundedSender<String>>,
    answers: mpsc::UnboundedReceiver<(usize, Answer)>,
    answering: mpsc::UnboundedSender<(usize, Answer)>,
}

impl Sessions {
    pub fn new() -> Sessions {
        let (answering, answers) = mpsc::unbounded_channel();
        Sessions { say: Vec::new(), answers, answering }
    }

    /// Another session. What is returned is its task: it runs until the sessions are dropped.
    pub fn join<A: Ask + 'static>(&mut self, mut connection: A) -> impl Future<Output = ()> + use<A> {
        let (say, mut said) = mpsc::unbounded_channel::<String>();
        let (session, answers) = (self.say.len(), self.answering.clone());
        self.say.push(say);
        async move {
            while let Some(sql) = said.recv().await {
                let answer = connection.ask(&sql).await;
                // Whoever asked may have given up.
                let _ = answers.send((session, answer));
            }
        }
    }
}

/// What has been played so far.
struct Stage<'a, W> {
    sessions: Sessions,
    watch: &'a mut W,
    waiting: BTreeSet<usize>,
    /// Answers that have come since the last look.
    heard: BTreeMap<usize, Answer>,
}

impl<W: Watch> Stage<'_, W> {
    /// What becomes of a statement at first.
    async fn say(&mut self, session: usize, sql: &str) -> String {
        if !self.waiting.insert(session) {
            return "skipped".to_owned();
        }
        self.sessions.say[session].send(sql.to_owned()).expect("a session lives as long as its script");
        self.settle().await;
        self.heard.remove(&session).map_or_else(|| "blocked".to_owned(), |answer| answer.to_string())
    }

    /// Waits until nobody waits any more, or for longer than anybody does.
    async fn wait(&mut self) {
        for _ in 0..30 {
            if self.waiting.is_empty() {
                return;
            }
            self.watch.pass_time().await;
            self.settle().await;
        }
    }

    /// Waits until nothing moves.
    async fn settle(&mut self) {
        let (mut quiet, mut patience) = (0, PATIENCE);
        while !self.waiting.is_empty() && quiet < W::LOOKS {
            tokio::select! {
                biased;
                Some((session, answer)) = self.sessions.answers.recv() => {
                    self.waiting.remove(&session);
                    self.heard.insert(session, answer);
                    quiet = 0;
                }
                () = self.watch.moment() => {
                    quiet = if self.watch.look(&self.waiting).await { quiet + 1 } else { 0 };
                    patience -= 1;
                    assert!(patience > 0, "sessions {:?} neither answer nor wait for anybody", self.waiting);
                }
            }
        }
    }
}

/// Plays the turns of a script. The transcript has a line a turn, and a line for each answer that came late.
pub async fn play(script: &Script, words: Words, sessions: Sessions, watch: &mut impl Watch) -> String {
    let mut stage = Stage { sessions, watch, waiting: BTreeSet::new(), heard: BTreeMap::new() };
    let mut out = String::new();
    for turn in &script.turns {
        let line = match turn {
            Turn::Says { session, postgres, innodb } => {
                let sql = innodb.as_ref().filter(|_| words == Words::MySql).unwrap_or(postgres);
                let answer = stage.say(*session, sql).await;
                format!("{}: {postgres} => {answer}", letter(*session))
            }
            Turn::Wait => {
                stage.wait().await;
                "wait".to_owned()
            }
        };
        let _ = writeln!(out, "{line}");
        for (session, answer) in std::mem::take(&mut stage.heard) {
            let _ = writeln!(out, "   {} => {answer}", letter(session));
        }
    }
    if !stage.waiting.is_empty() {
        let names: String = stage.waiting.iter().map(|session| letter(*session)).collect();
        let _ = writeln!(out, "still blocked: {names}");
    }
    out
}

/// What is committed in the end, a line a table.
pub async fn committed(script: &Script, observer: &mut impl Ask) -> String {
    let mut out = String::new();
    for name in script.tables() {
        let rows = observer.ask(&format!("SELECT * FROM {name}")).await;
        let _ = writeln!(out, "{name}: {rows}");
    }
    out
}
