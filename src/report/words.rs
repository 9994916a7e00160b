//! Small pieces of text that several reports share.

use crate::class::FaultClass;
use crate::id::HostId;
use crate::plan::{Direction, Fault, FaultPlan, Harm, Target, Trigger, duration};
use crate::strategy::Policy;
use crate::trace::Phase;
use crate::world::EngineKind;
use std::time::Duration;

/// `49,500`.
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A share as a percentage with two significant digits: `0.60 %`, `12 %`.
pub fn percent(share: f64) -> String {
    let p = share * 100.0;
    if p >= 10.0 {
        format!("{p:.0} %")
    } else if p >= 1.0 {
        format!("{p:.1} %")
    } else if p >= 0.1 {
        format!("{p:.2} %")
    } else {
        format!("{p:.4} %")
    }
}

/// `1 cell`, `2 cells`, `2 classes`.
pub fn count(n: usize, noun: &str) -> String {
    let ending = match n {
        1 => "",
        _ if noun.ends_with('s') => "es",
        _ => "s",
    };
    format!("{} {noun}{ending}", thousands(n as u64))
}

/// An engine, and whether the runs on it are those of a scaled deployment.
pub fn engine(engine: EngineKind, time_scale: u32) -> String {
    match time_scale {
        0 | 1 => format!("{} engine", engine.name()),
        scale => format!("{} engine, durations divided by {scale}", engine.name()),
    }
}

/// What a plan of a class says about itself that has no fault of the kind any more: made small, faults become milder ones.
pub fn milder(class: FaultClass, plan: &FaultPlan) -> Option<String> {
    let is_own: fn(&Harm) -> bool = match class {
        FaultClass::Power => |harm| matches!(harm, Harm::Power { .. }),
        FaultClass::Crash => |harm| matches!(harm, Harm::Crash { .. }),
        FaultClass::Pause => |harm| matches!(harm, Harm::Pause { .. }),
        FaultClass::Shutdown => |harm| matches!(harm, Harm::Shutdown { .. }),
        FaultClass::Partition | FaultClass::LeaseCut | FaultClass::DbCut => |harm| matches!(harm, Harm::Partition { .. }),
        _ => return None,
    };
    let told = !plan.faults.is_empty() && !plan.faults.iter().any(|fault| is_own(&fault.harm));
    told.then(|| format!("What strikes here is milder than {class}: the same rule breaks already by this."))
}

/// A policy's name.
pub fn policy(policy: Policy) -> &'static str {
    match policy {
        Policy::Skip => "skip",
        Policy::Retry => "retry",
        Policy::RetryChecked => "retry-checked",
    }
}

/// Text cut into lines of at most `width` columns, between words.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A path as a shell takes it: quoted, if it has to be.
pub fn quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+=:,@%".contains(c);
    if !path.is_empty() && path.chars().all(is_plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

/// Text whose lines, if it has several, stand behind each other.
pub fn one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
}

/// Text of at most `width` columns; `…` stands for what was cut off.
pub fn fit(text: &str, width: usize) -> String {
    if text.chars().count() <= width { text.to_owned() } else { text.chars().take(width.saturating_sub(1)).chain(['…']).collect() }
}

/// A clock's error with its sign: `+4m 12s`, `−1s 500ms`, `±0`.
pub fn signed(ms: i64) -> String {
    let length = || duration::text(Duration::from_millis(ms.unsigned_abs()));
    match ms {
        0 => "±0".to_owned(),
        1.. => format!("+{}", length()),
        _ => format!("−{}", length()),
    }
}

/// A fault in one sentence: what, whom, how long, when.
pub fn fault(fault: &Fault) -> String {
    format!("{}, {}", harm(&fault.harm), trigger(&fault.when))
}

/// What a fault does, to whom, for how long.
pub fn harm(harm: &Harm) -> String {
    let d = |d: &Duration| duration::text(*d);
    match harm {
        Harm::Crash { host, back_after } => format!("{} crashes, back after {}", whom(*host), d(back_after)),
        Harm::Power { host, back_after } => format!("{} loses power, back after {}", whom(*host), d(back_after)),
        Harm::Pause { host, lasts } => format!("{} stops for {}", whom(*host), d(lasts)),
        Harm::Partition { host, from, direction, lasts } => {
            let way = match direction {
                Direction::Both => "cut from",
                Direction::Outbound => "not heard by",
                Direction::Inbound => "deaf to",
            };
            format!("{} {way} {} for {}", whom(*host), whom(*from), d(lasts))
        }
        Harm::ReplyLost { host, from } => format!("the next reply to {} from {} is lost", whom(*host), whom(*from)),
        Harm::Late { host, from, extra, lasts } => {
            format!("everything between {} and {} takes {} longer for {}", whom(*host), whom(*from), d(extra), d(lasts))
        }
        Harm::SlowStep { extra } => format!("the step takes {} longer", d(extra)),
        Harm::JobError { times } => match times {
            1 => "the job fails once".to_owned(),
            n => format!("the job fails {n} times in a row"),
        },
        Harm::ClockOffset { host, by_ms } => format!("the clock of {} is wrong by {}", whom(*host), signed(*by_ms)),
        Harm::ClockDrift { host, ppm, lasts } => {
            let lasts = lasts.map_or(String::new(), |lasts| format!(" for {}", d(&lasts)));
            format!("the clock of {} runs {ppm:+} ppm{lasts}", whom(*host))
        }
        Harm::LeaseWipe { store, back_after } => format!("{} crashes, back empty after {}", which(*store), d(back_after)),
        Harm::LeaseEvict { store } => format!("{} evicts the lease granted last", which(*store)),
        Harm::LeaseFailover { store, lag, back_after } => {
            format!("{} fails over to a replica that is {} behind, back after {}", which(*store), d(lag), d(back_after))
        }
        Harm::CommitFails { host } => format!("the database refuses the next commit of {}", whom(*host)),
        Harm::SessionEnds { host } => format!("the database ends the sessions of {}", whom(*host)),
        Harm::Zone { host, zone } => format!("{} takes boundaries for those of the zone {zone}", whom(*host)),
        Harm::Shutdown { host, order, grace, back_after } => {
            format!("{} is told to stop, {order}, and exits after {}, back {} later", whom(*host), d(grace), d(back_after))
        }
        Harm::Redeliver => "the lease store hands out once more what was taken last".to_owned(),
        Harm::LeaseStall { store, lasts } => format!("a slow command keeps {} busy for {}", which(*store), d(lasts)),
    }
}

fn which(store: HostId) -> String {
    if store == HostId::Lease { "the lease store".to_owned() } else { format!("lease store `{store}`") }
}

fn whom(target: Target) -> String {
    match target {
        Target::Host(host) => host.to_string(),
        Target::Self_ => "the node".to_owned(),
        Target::AllNodes => "every node".to_owned(),
        Target::Everyone => "everyone".to_owned(),
        Target::Peer => "the server that it talks to".to_owned(),
    }
}

fn trigger(when: &Trigger) -> String {
    match when {
        Trigger::At { at_ms } if at_ms.0 == 0 => "from the beginning".to_owned(),
        Trigger::At { at_ms } => format!("{at_ms} into the run"),
        Trigger::Step { step, phase, nth, node } => {
            let phase = match phase {
                Phase::Before => "is about to do",
                Phase::Sent => "has just sent",
                Phase::After => "has just done",
            };
            let node = node.map_or("a node".to_owned(), |n| n.to_string());
            let time = match nth {
                1 => String::new(),
                n => format!(" for time {n}"),
            };
            format!("when {node} {phase} `{step}`{time}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_people_write_them() {
        assert_eq!([0, 999, 1_000, 49_500, 1_234_567].map(thousands), ["0", "999", "1,000", "49,500", "1,234,567"]);
        assert_eq!([0.5, 0.0951, 0.005_973, 0.000_03].map(percent), ["50 %", "9.5 %", "0.60 %", "0.0030 %"]);
        assert_eq!([1, 2].map(|n| count(n, "cell")), ["1 cell", "2 cells"]);
        assert_eq!([1, 2].map(|n| count(n, "fault class")), ["1 fault class", "2 fault classes"]);
        assert_eq!(engine(EngineKind::Event, 1), "event engine");
        assert_eq!(engine(EngineKind::Turmoil, 120), "turmoil engine, durations divided by 120");
        assert_eq!([252_000, 0, -1_500].map(signed), ["+4m 12s", "±0", "−1s 500ms"]);
    }

    #[test]
    fn a_plan_without_a_fault_of_its_class_says_that_it_is_milder() {
        let start = Trigger::start();
        let (pause, power) = (
            Harm::Pause { host: Target::AllNodes, lasts: Duration::from_mins(1) }.when(start.clone()),
            Harm::Power { host: Target::AllNodes, back_after: Duration::from_mins(1) }.when(start),
        );
        let said = |class, faults: &[&Fault]| milder(class, &FaultPlan::of(faults.iter().map(|fault| (*fault).clone())));
        assert!(said(FaultClass::Power, &[&pause]).is_some_and(|said| said.contains("milder than power")));
        assert!(said(FaultClass::Crash, &[&pause]).is_some_and(|said| said.contains("milder than crash")));
        assert_eq!(said(FaultClass::Power, &[&power, &pause]), None);
        assert_eq!(said(FaultClass::Pause, &[&pause]), None);
        assert_eq!(said(FaultClass::Power, &[]), None);
        assert_eq!(said(FaultClass::Swarm, &[&pause]), None);
    }

    #[test]
    fn what_a_shell_would_take_apart_is_quoted() {
        let paths = ["reports/a--b.toml", "two words.toml", "it's.toml", "$HOME", ""];
        assert_eq!(paths.map(quoted), ["reports/a--b.toml", "'two words.toml'", r"'it'\''s.toml'", "'$HOME'", "''"]);
    }

    #[test]
    fn long_text_is_cut_at_its_width() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(fit("settles", 7), "settles");
        assert_eq!(fit("settlements", 7), "settle…");
    }
}
