//! What there is to choose from: strategies, fault classes, invariants, knobs; and how the
//! simulated servers are known to differ from real ones. As text and as JSON.

use crate::class::{FaultClass, KINDS, Kind};
use crate::explore::Mark;
use crate::id::Letter;
use crate::invariant::InvariantId;
use crate::profile::{self, Documented, Profile};
use crate::report::knobs;
use crate::report::paint::{BROKEN, FAINT, Painted, STRONG, paint};
use crate::report::words::{harm, policy};
use crate::scenario::{Rules, Scenario};
use crate::strategy::{Expectation, Scope, Strategy};
use crate::trace::Phase;
use crate::world::servers::differences::{DIFFERENCES, Difference};
use anstyle::Style;
use serde::Serialize;
use std::fmt::Write;

/// As text of at most `width` columns, names never cut.
pub fn render(strategies: &[&dyn Strategy], width: usize) -> String {
    let mut out = heading("Strategies", "--strategy NAME");
    let mut rows: Vec<[Painted; 3]> = Vec::new();
    for s in strategies {
        rows.push([bold(s.name()), faint(policy(s.policy())), plain(s.about())]);
        let usual = claims(&s.expectations(Rules::default()));
        for line in &usual {
            rows.push([plain(""), plain(""), faint(line)]);
        }
        for rules in s.also_under() {
            for line in claims(&s.expectations(*rules)).iter().filter(|line| !usual.contains(line)) {
                rows.push([plain(""), plain(""), faint(&format!("@{}: {line}", rules.short()))]);
            }
        }
    }
    columns(&mut out, &rows, width);
    out.push_str(&heading("\nProfiles", "profile = \"NAME\" in a deployment; our models of documented mechanisms"));
    columns(&mut out, &profile::all().iter().flat_map(profiled).collect::<Vec<_>>(), width);
    out.push_str(&heading("\nFault classes", "--faults NAME"));
    columns(&mut out, &FaultClass::ALL.map(|c| [bold(c.name()), plain(""), plain(c.about())]), width);
    out.push_str(&heading("\nKinds of single faults", "exhaust --kinds NAME; * = of the table's column `single`"));
    let kind = |kind: &Kind| {
        let name = format!("{}{}", kind.name, if kind.core { " *" } else { "" });
        [bold(&name), faint(kind.class.name()), plain(&done_by(kind))]
    };
    columns(&mut out, &KINDS.each_ref().map(kind), width);
    out.push_str(&heading("\nInvariants", "the letter is what a cell of the table shows"));
    let invariant = |id: InvariantId| {
        let letter = Painted::default().and(BROKEN, &id.letter().to_string());
        [bold(id.name()), letter, plain(id.about())]
    };
    columns(&mut out, &InvariantId::ALL.map(invariant), width);
    out.push_str(&heading("\nKnobs of a scenario", "default (–: none), then meaning; durations are written 250ms, 30s, 40m, 1h 30m"));
    let knob =
        |k: &knobs::Knob| [bold(k.path), plain(k.default().as_deref().unwrap_or("–")), plain(&format!("{} ({})", k.about, k.bounds))];
    columns(&mut out, &knobs::ALL.iter().map(knob).collect::<Vec<_>>(), width);
    out.push_str(&heading("\nKnown differences", "of the simulated servers from real ones, and why they are left"));
    let difference = |d: &Difference| [bold(d.id), faint(d.server), plain(&format!("{} (why: {})", d.what, d.why))];
    columns(&mut out, &DIFFERENCES.each_ref().map(difference), width);
    out
}

/// A profile: what it is, its constants with their sources, and its limits.
fn profiled(profile: &Profile) -> Vec<[Painted; 3]> {
    let mut rows = vec![[bold(&profile.name), faint(profile.strategy()), plain(&profile.about)]];
    let mut line = |text: &str| rows.push([plain(""), plain(""), faint(text)]);
    for Documented { knob, says, url } in &profile.documented {
        line(&format!("{knob} {}: {says} ({url})", profile.sets(knob).unwrap_or_default().trim_matches('"')));
    }
    for limit in &profile.limits {
        line(&format!("not modelled: {limit}"));
    }
    rows
}

/// What a kind of fault does, with the constants of the default deployment, and where.
fn done_by(kind: &Kind) -> String {
    let place = match kind.phase {
        Phase::Before => "before a step",
        Phase::Sent => "when a request has been sent",
        Phase::After => "after a step",
    };
    format!("{place}: {}", harm(&kind.harm(&Scenario::default())))
}

fn heading(title: &str, hint: &str) -> String {
    format!("{}  {}\n", paint(STRONG, title), paint(FAINT, hint))
}

fn plain(text: &str) -> Painted {
    Painted::default().and(Style::new(), text)
}

fn bold(text: &str) -> Painted {
    Painted::default().and(STRONG, text)
}

fn faint(text: &str) -> Painted {
    Painted::default().and(FAINT, text)
}

/// Two columns as wide as they need to be, the third wrapped into what is left.
fn columns(out: &mut String, rows: &[[Painted; 3]], width: usize) {
    let widest = |n: usize| rows.iter().map(|row| row[n].width()).max().unwrap_or(0);
    let (first, second) = (widest(0), widest(1));
    let left = 2 + first + 2 + if second > 0 { second + 2 } else { 0 };
    let room = width.saturating_sub(left).max(24);
    for [a, b, c] in rows {
        let middle = if second > 0 { b.padded(second + 2) } else { String::new() };
        for (n, line) in c.wrapped(room).into_iter().enumerate() {
            let lead = if n == 0 { format!("  {}  {middle}", a.padded(first)) } else { " ".repeat(left) };
            let _ = writeln!(out, "{}", format!("{lead}{line}").trim_end());
        }
    }
}

/// What a strategy claims, a line a claim.
fn claims(claims: &[Expectation]) -> Vec<String> {
    claims
        .iter()
        .map(|claim| {
            let told = Claim::of(claim);
            let letters: Vec<String> = told.letters.iter().map(ToString::to_string).collect();
            format!("{} {} under {}: {}", told.kind, letters.join(" "), told.faults, told.because)
        })
        .collect()
}

/// What a strategy declares under some rules of its database.
#[derive(Serialize)]
struct ListedRules {
    rules: Rules,
    claims: Vec<Claim>,
}

fn claims_under(strategy: &dyn Strategy, rules: Rules) -> ListedRules {
    ListedRules { rules, claims: strategy.expectations(rules).iter().map(Claim::of).collect() }
}

#[derive(Serialize)]
struct Claim {
    kind: &'static str,
    faults: &'static str,
    letters: Vec<Mark>,
    because: &'static str,
}

impl Claim {
    fn of(claim: &Expectation) -> Claim {
        let marks = |letters: &[Letter]| letters.iter().map(|l| Mark::Letter(*l)).collect();
        match claim {
            Expectation::Must { class, letters, because, .. } => {
                Claim { kind: "must", faults: class.name(), letters: marks(letters), because }
            }
            Expectation::Never { scope, letters, because } => {
                let faults = match scope {
                    Scope::Every => "every class",
                    Scope::Class(class) => class.name(),
                };
                Claim { kind: "never", faults, letters: marks(letters), because }
            }
        }
    }
}

#[derive(Serialize)]
struct Listed {
    format: u32,
    strategies: Vec<ListedStrategy>,
    profiles: &'static [Profile],
    faults: Vec<ListedClass>,
    kinds: Vec<ListedKind>,
    invariants: Vec<ListedInvariant>,
    knobs: Vec<ListedKnob>,
    differences: &'static [Difference],
}

#[derive(Serialize)]
struct ListedStrategy {
    name: &'static str,
    policy: &'static str,
    about: &'static str,
    steps: Vec<&'static str>,
    rules: Vec<ListedRules>,
}

#[derive(Serialize)]
struct ListedClass {
    name: &'static str,
    about: &'static str,
}

#[derive(Serialize)]
struct ListedKind {
    name: &'static str,
    faults: &'static str,
    phase: Phase,
    core: bool,
    about: String,
}

#[derive(Serialize)]
struct ListedInvariant {
    name: &'static str,
    letter: Letter,
    meaning: &'static str,
}

#[derive(Serialize)]
struct ListedKnob {
    path: &'static str,
    default: Option<String>,
    bounds: &'static str,
    about: &'static str,
}

/// The same as JSON.
///
/// # Panics
/// Never: everything in a list can be written as JSON.
pub fn json(strategies: &[&dyn Strategy]) -> String {
    let strategy = |s: &&dyn Strategy| ListedStrategy {
        name: s.name(),
        policy: policy(s.policy()),
        about: s.about(),
        steps: s.steps().iter().map(|step| step.name).collect(),
        rules: std::iter::once(Rules::default()).chain(s.also_under().iter().copied()).map(|rules| claims_under(*s, rules)).collect(),
    };
    let listed = Listed {
        format: 1,
        strategies: strategies.iter().map(strategy).collect(),
        profiles: profile::all(),
        faults: FaultClass::ALL.map(|c| ListedClass { name: c.name(), about: c.about() }).into(),
        kinds: KINDS
            .iter()
            .map(|k| ListedKind { name: k.name, faults: k.class.name(), phase: k.phase, core: k.core, about: done_by(k) })
            .collect(),
        invariants: InvariantId::ALL.map(|i| ListedInvariant { name: i.name(), letter: i.letter(), meaning: i.about() }).into(),
        knobs: knobs::ALL.iter().map(|k| ListedKnob { path: k.path, default: k.default(), bounds: k.bounds, about: k.about }).collect(),
        differences: &DIFFERENCES,
    };
    serde_json::to_string_pretty(&listed).expect("a list has only values that JSON knows") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::made_up::{SAFE, WRONG};

    #[test]
    fn a_terminal_of_100_columns() {
        insta::assert_snapshot!(anstream::adapter::strip_str(&render(&[&SAFE, &WRONG], 100)).to_string());
    }

    #[test]
    fn programs_find_claims_and_defaults() {
        let listed: serde_json::Value = serde_json::from_str(&json(&[&WRONG])).unwrap();
        assert_eq!(listed["strategies"][0]["rules"][0]["claims"][1]["faults"], "pause");
        assert_eq!(listed["strategies"][0]["rules"][0]["claims"][1]["letters"], serde_json::json!(["L"]));
        assert_eq!(listed["knobs"][1]["default"], "3");
        assert_eq!(listed["profiles"][0]["scenario"]["strategy"], profile::all()[0].strategy());
        assert_eq!(listed["faults"].as_array().unwrap().len(), FaultClass::ALL.len());
        assert_eq!(listed["differences"][0]["id"], DIFFERENCES[0].id);
    }
}
