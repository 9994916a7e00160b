//! What a deployment can need, as a question that a row of the table answers.

use crate::class::FaultClass;
use crate::page::front::letters::Letters;
use crate::page::front::order::Order;
use crate::page::front::row::{CALM, Row};
use crate::page::front::say::list;
use crate::page::front::verdict::Verdict;
use crate::page::source::exhaust::{Kind, Strategy};
use crate::page::source::verdicts::Cell;
use crate::page::source::{Exhaust, Throughput};
use Order::{Contended, Late, Waste};

/// Columns that tell whether a strategy needs a server besides its database.
const OTHER_SERVERS: [&str; 4] = ["lease-cut", "lease-loss", "log-fault", "redelivery"];

/// Who is to be named for any fault class was struck by so many besides calm, at least.
pub const ENOUGH: usize = 3;

/// A need.
#[derive(Clone, Copy, Debug)]
pub struct Need {
    /// `Scale`, `Reliability` or `Consistency`.
    pub about: &'static str,
    /// The need in words.
    pub what: &'static str,
    /// Letters that must not appear; none means that nothing may break.
    pub letters: &'static [&'static str],
    /// Under these fault classes; none means all that were tried.
    pub faults: &'static [&'static str],
    /// No server but the database may be needed.
    pub alone: bool,
    /// Which of several is better.
    pub order: Order,
}

const NEED: Need = Need { about: "", what: "", letters: &[], faults: &[], alone: false, order: Waste };
const SCALE: Need = Need { about: "Scale", ..NEED };
const RELIABILITY: Need = Need { about: "Reliability", ..NEED };
const CONSISTENCY: Need = Need { about: "Consistency", ..NEED };

/// A run that panics or never ends is wrong whatever is needed.
const WRONG: [&str; 2] = ["!", "…"];

/// All needs, in the order of the table.
pub const NEEDS: [Need; 13] = [
    Need { what: "Servers do not fail, but clocks are wrong", faults: &["calm", "skew", "drift", "step"], ..SCALE },
    Need { what: "Nodes compete for each period, and some of them die", faults: &["calm", "crash", "power"], order: Contended, ..SCALE },
    Need { what: "Long jobs, slow requests", faults: &["calm", "slow", "job-error"], ..SCALE },
    Need { what: "Nothing to operate besides the database: no lease store, queue or log", alone: true, ..SCALE },
    Need { what: "A node may die at any moment", faults: &["calm", "crash", "power", "single"], ..RELIABILITY },
    Need { what: "A process may stop for longer than any timeout", faults: &["calm", "pause", "single"], ..RELIABILITY },
    Need {
        what: "Nodes may be cut from servers, answers may be lost",
        faults: &["calm", "partition", "lease-cut", "db-cut", "reply-lost"],
        ..RELIABILITY
    },
    Need {
        what: "Servers may restart, forget or refuse",
        faults: &["calm", "db-error", "db-restart", "lease-loss", "log-fault", "redelivery"],
        ..RELIABILITY
    },
    Need {
        what: "Deployments: nodes are told to stop, or all are away when a period ends",
        faults: &["calm", "shutdown", "outage"],
        ..RELIABILITY
    },
    Need { what: "A second settlement or payment would cost money", letters: &["D", "2"], ..CONSISTENCY },
    Need { what: "A period that is late or lost is worse than one settled twice", letters: &["L", "K"], order: Late, ..CONSISTENCY },
    Need {
        what: "Nothing may be settled before its period is over, or from what is no longer true",
        letters: &["E", "S", "C"],
        ..CONSISTENCY
    },
    Need { what: "All of this at once", ..CONSISTENCY },
];

impl Need {
    /// The need in words: of many nodes only if that was measured.
    pub fn told(&self, throughput: Option<&Throughput>) -> String {
        match self.most_nodes(throughput) {
            Some(n) => format!("Many nodes, up to {n}, compete for each period, and some of them die"),
            None => self.what.to_owned(),
        }
    }

    /// How many nodes were measured at most, if that decides.
    pub fn most_nodes(&self, throughput: Option<&Throughput>) -> Option<u32> {
        let throughput = throughput.filter(|_| self.order == Contended)?;
        throughput.strategies.iter().flat_map(|strategy| &strategy.points).map(|point| point.nodes).max()
    }

    /// What it asks of the table, in words.
    pub fn asks(&self, letters: Letters) -> String {
        let told = |letter: &&'static str| letters.told(letter);
        let what = match self.letters {
            [] => "nothing may break".to_owned(),
            some => format!("none of: {};", some.iter().map(told).collect::<Vec<_>>().join(", ")),
        };
        let under = if self.faults.is_empty() { "under any fault class".to_owned() } else { format!("under {}", list(self.faults)) };
        let alone = if self.alone { ", and no fault of another server may strike it" } else { "" };
        format!("{what} {under}{alone}")
    }

    /// The fault classes that it speaks of, of those that were tried.
    pub fn classes<'a>(&self, tried: &[&'a str]) -> Vec<&'a str> {
        tried.iter().copied().filter(|class| self.faults.is_empty() || self.faults.contains(class)).collect()
    }

    /// Whether enough was tried to say anything: more than the calm of which every need speaks.
    pub fn was_tried(&self, tried: &[&str]) -> bool {
        self.classes(tried).iter().any(|class| self.faults.is_empty() || *class != CALM)
    }

    /// The fault classes that it speaks of and nobody tried.
    pub fn untried(&self, tried: &[&str]) -> Vec<&'static str> {
        let all = FaultClass::ALL.map(FaultClass::name);
        let spoken_of = if self.faults.is_empty() { &all[..] } else { self.faults };
        spoken_of.iter().copied().filter(|class| !tried.contains(class)).collect()
    }

    /// Whether a row fulfils it: enough was seen of every class, no letter that must not appear, and none when every
    /// single fault was tried either.
    pub fn fulfilled_by(&self, row: &Row, tried: &[&str], exhaust: Option<&Exhaust>) -> bool {
        let single = exhaust.is_none_or(|exhaust| exhaust.faults != "pairs");
        let enumerated = exhaust.into_iter().flat_map(|exhaust| &exhaust.strategies).filter(|s| s.label() == row.label);
        self.met_by(row, tried) && enumerated.into_iter().all(|strategy| self.met_by_enumerated(strategy, single))
    }

    fn met_by(&self, row: &Row, tried: &[&str]) -> bool {
        let cells: Option<Vec<&Cell>> = self.classes(tried).into_iter().map(|class| row.cell(class)).collect();
        let Some(cells) = cells else { return false };
        let struck = cells.iter().any(|cell| Verdict::of(cell) != Verdict::Misses);
        let broad = !self.faults.is_empty() || cells.iter().filter(|cell| cell.faults != CALM && was_felt(cell)).count() >= ENOUGH;
        struck && broad && cells.iter().all(|cell| self.met_in(cell)) && (!self.alone || stands_alone(row))
    }

    /// The same of single faults of the classes that it speaks of. Of a pair only the first has a class.
    fn met_by_enumerated(&self, strategy: &Strategy, single: bool) -> bool {
        let spoken_of = |kind: &&Kind| self.faults.is_empty() || single && self.faults.contains(&kind.class.as_str());
        let broken = strategy.kinds.iter().filter(spoken_of).flat_map(|kind| &kind.broken).map(|broken| &broken.letter);
        broken.chain(&strategy.calm).all(|letter| self.allows(letter))
    }

    fn met_in(&self, cell: &Cell) -> bool {
        let enough = cell.felt >= cell.felt_needed || cell.apart.felt > 0;
        match Verdict::of(cell) {
            Verdict::Misses | Verdict::Holds => true,
            Verdict::Undecided => false,
            Verdict::Breaks => enough && !cell.broken.is_empty() && cell.broken.iter().all(|b| self.allows(&b.letter)),
        }
    }

    fn allows(&self, letter: &str) -> bool {
        !self.letters.is_empty() && !self.letters.contains(&letter) && !WRONG.contains(&letter)
    }
}

fn was_felt(cell: &Cell) -> bool {
    cell.felt > 0 || cell.apart.felt > 0
}

/// Whether the table says that it asks no server but its database. A column that was not tried says nothing.
fn stands_alone(row: &Row) -> bool {
    OTHER_SERVERS.iter().all(|faults| row.cell(faults).is_some_and(|cell| Verdict::of(cell) == Verdict::Misses))
}
