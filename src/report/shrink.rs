//! A witness, shrunk: kept with what it comes down to, and told with what was tried.

use crate::explore::shrink::{self, Answer, Candidate, Effort, Failed, Limits, Shrunk, Target, periods};
use crate::explore::witness::ShrunkFrom;
use crate::explore::{Subject, Witness};
use crate::plan::FaultPlan;
use crate::report::gist::{Gist, gist};
use crate::report::paint::{FAINT, STRONG, paint};
use crate::report::twin::Twin;
use crate::report::twins::{self, Told};
use crate::report::words::{self, count, quoted, thousands, wrap};
use crate::report::{regression, witness};
use crate::scenario::Scenario;
use serde::Serialize;
use std::mem;
use std::sync::Arc;

/// Version of the JSON schema; changes when a reader of the last one would be misled.
pub const FORMAT: u32 = 1;

/// A witness before and after.
#[derive(Clone, Debug)]
pub struct Smaller {
    /// The first run.
    pub before: Witness,
    /// The smallest run that still breaks the rule. Its other violations are those of this run.
    pub after: Witness,
    /// What was tried.
    pub shrunk: Shrunk,
    /// The rule.
    pub rule: String,
    /// What the page of the smallest run is made of.
    pub twin: Twin,
}

/// Shrinks the run of a witness. `given` is the deployment that it varies, if that is not the catalogue's.
///
/// # Errors
/// It does not break, or its runs do not repeat, or somebody asked for an end.
pub fn shrink(before: &Witness, given: Option<&Scenario>, target: &Target, limits: &Limits<'_>) -> Result<Smaller, Failed> {
    let usual = given.cloned().map(Arc::new);
    let start = Candidate { scenario: before.scenario.clone(), seed: before.seed, plan: before.plan.clone(), usual };
    let shrunk = shrink::shrink(&start, target.strategy.steps(), &|case| target.ask(case), limits)?;
    let (deployment, seen) = target.observe(&shrunk.case).map_err(Failed::NotBroken)?;
    let broken = seen.findings.iter().find(|finding| finding.mark == target.mark && finding.rule == target.rule);
    let finding = broken.ok_or(Failed::Flaky { pass: "end", first: Answer::Breaks(shrunk.digest), then: Answer::Holds })?;
    let usual = given.cloned().unwrap_or_else(|| Scenario::on(deployment.strategy().name(), deployment.scenario().database.rules));
    let mut after = witness::kept(&deployment, &usual, target.engine, target.class, &shrunk.case.plan, &seen);
    Gist { sentence: after.sentence, lines: after.because } = gist(&seen, finding, &shrunk.case.plan, Subject::calendar(&deployment));
    after.shrunk_from = Some(ShrunkFrom {
        seed: start.seed,
        faults: start.plan.faults.len(),
        nodes: start.scenario.nodes,
        periods: periods(&start.scenario.schedule),
        players: start.scenario.players,
        earnings: start.scenario.earnings,
        rule: target.rule.clone(),
        tried: shrunk.tried(),
        accepted: shrunk.accepted(),
        converged: shrunk.converged,
        milder: has_another_kind(&start.plan, &shrunk.case.plan),
    });
    let rule = Some(target.rule.as_str());
    let told =
        Told { subject: &deployment, usual: &usual, plan: &shrunk.case.plan, seen: &seen, witness: &after, rule, replay: String::new() };
    let twin = twins::twin(&told);
    Ok(Smaller { before: before.clone(), after, shrunk, rule: target.rule.clone(), twin })
}

/// Whether a plan has a fault of a kind that the plan before it had not. Shrinking goes to milder ones alone.
fn has_another_kind(before: &FaultPlan, after: &FaultPlan) -> bool {
    let kinds: Vec<_> = before.faults.iter().map(|fault| mem::discriminant(&fault.harm)).collect();
    after.faults.iter().any(|fault| !kinds.contains(&mem::discriminant(&fault.harm)))
}

#[derive(Serialize)]
struct Report<'a> {
    format: u32,
    onceproof: &'static str,
    strategy: &'a str,
    faults: crate::class::FaultClass,
    rule: &'a str,
    before: Size,
    after: Size,
    sentence: &'a str,
    because: &'a [String],
    converged: bool,
    runs: u64,
    efforts: Vec<EffortRow>,
    witness: &'a str,
    digest: String,
    test: String,
}

#[derive(Serialize)]
struct Size {
    seed: String,
    faults: Vec<String>,
    nodes: u8,
    periods: u32,
    players: u32,
    earnings: u32,
}

#[derive(Serialize)]
struct EffortRow {
    pass: &'static str,
    tried: u64,
    accepted: u64,
}

impl Size {
    fn of(witness: &Witness) -> Size {
        let scenario = &witness.scenario;
        Size {
            seed: witness.seed.to_string(),
            faults: witness.plan.faults.iter().map(words::fault).collect(),
            nodes: scenario.nodes,
            periods: periods(&scenario.schedule),
            players: scenario.players,
            earnings: scenario.earnings,
        }
    }

    fn line(&self) -> String {
        format!(
            "{}, {}, {}, {}, {} a period, seed {}",
            count(self.faults.len(), "fault"),
            count(usize::from(self.nodes), "node"),
            count(self.periods as usize, "period"),
            count(self.players as usize, "player"),
            count(self.earnings as usize, "earning"),
            self.seed
        )
    }
}

impl Smaller {
    /// All of it as JSON; `file` is where the witness was written.
    ///
    /// # Panics
    /// Never: everything in it can be written as JSON.
    pub fn json(&self, file: &str) -> String {
        let report = Report {
            format: FORMAT,
            onceproof: env!("CARGO_PKG_VERSION"),
            strategy: self.after.strategy(),
            faults: self.after.faults,
            rule: &self.rule,
            before: Size::of(&self.before),
            after: Size::of(&self.after),
            sentence: &self.after.sentence,
            because: &self.after.because,
            converged: self.shrunk.converged,
            runs: self.shrunk.runs,
            efforts: self.shrunk.efforts.iter().map(|&Effort { pass, tried, accepted }| EffortRow { pass, tried, accepted }).collect(),
            witness: file,
            digest: self.after.digest.to_string(),
            test: regression::test(&self.after, &self.rule),
        };
        serde_json::to_string_pretty(&report).expect("it has only values that JSON knows") + "\n"
    }

    /// All of it as text of at most `width` columns.
    pub fn text(&self, file: &str, width: usize) -> String {
        let mut lines = Vec::new();
        let (before, after) = (Size::of(&self.before), Size::of(&self.after));
        for (name, size) in [("before", &before), ("after", &after)] {
            let mut head = indented(&size.line(), "        ", width);
            if let Some(first) = head.first_mut() {
                *first = format!("{}  {}", paint(STRONG, &format!("{name:<6}")), first.trim_start());
            }
            lines.extend(head);
            lines.extend(size.faults.iter().flat_map(|fault| indented(fault, "        ", width)));
        }
        lines.push(String::new());
        lines.extend(wrap(&self.after.sentence, width));
        let milder = words::milder(self.after.faults, &self.after.plan);
        lines.extend(milder.into_iter().flat_map(|milder| wrap(&milder, width)));
        lines.push(String::new());
        lines.extend(self.after.because.iter().flat_map(|line| indented(line, "  ", width)));
        lines.push(String::new());
        lines.extend(wrap(&self.tried(), width).into_iter().map(|line| paint(FAINT, &line)));
        lines.push(String::new());
        lines.push(format!("witness  {file}"));
        lines.push(format!("replay   onceproof replay {}", quoted(file)));
        lines.push("test     paste it into a file in sims:".to_owned());
        lines.push(String::new());
        lines.into_iter().map(|line| line + "\n").collect::<String>() + &regression::test(&self.after, &self.rule)
    }

    /// What was tried, and whether anything is left to try.
    fn tried(&self) -> String {
        let passes: Vec<String> = self
            .shrunk
            .efforts
            .iter()
            .map(|effort| format!("{} {} of {}", effort.pass, thousands(effort.accepted), thousands(effort.tried)))
            .collect();
        let end = match self.shrunk.converged {
            true => "a whole round brought nothing more: converged",
            false => "the budget was spent before a whole round brought nothing: NOT converged",
        };
        format!("accepted of those tried: {}; {}; {end}", passes.join(", "), count(self.shrunk.runs as usize, "run"))
    }
}

fn indented(text: &str, by: &str, width: usize) -> Vec<String> {
    wrap(text, width.saturating_sub(by.len())).into_iter().map(|line| format!("{by}{line}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::HostId;
    use crate::plan::{Direction, Harm, Target, Trigger};
    use crate::time::Span;

    #[test]
    fn a_fault_of_a_new_kind_is_milder_and_a_shorter_one_is_not() {
        let (node, database) = (Target::Self_, Target::Host(HostId::Database));
        let plan = |harm: Harm| FaultPlan::of([harm.when(Trigger::start())]);
        let cut = |minutes: u64| plan(Harm::Partition { host: node, from: database, direction: Direction::Both, lasts: minutes.minutes() });
        let lost = plan(Harm::ReplyLost { host: node, from: database });
        assert!(has_another_kind(&cut(40), &lost));
        assert!(!has_another_kind(&cut(40), &cut(1)) && !has_another_kind(&cut(40), &FaultPlan::none()));
    }
}
