//! Advice, as text: what to do, what it should cure, and whether it did.

use crate::explore::Mark;
use crate::explore::advice::{Advice, Replayed, Trial};
use crate::report::deployment::Outcome;
use crate::report::paint::{BROKEN, FAINT, GOOD, STRONG, UNSURE, paint};
use crate::report::words::{count, wrap};
use std::collections::BTreeSet;
use std::fmt::Write;

/// All advice; nothing, if nothing broke.
pub fn told(outcome: &Outcome<'_>, width: usize) -> String {
    let mut out = String::new();
    if outcome.advice.is_empty() {
        return out;
    }
    let room = width.saturating_sub(4);
    let _ = writeln!(out, "{}", paint(STRONG, "What would have to be different"));
    for (advice, trials) in &outcome.advice {
        let _ = writeln!(out, "  {}", paint(STRONG, advice.name));
        for line in wrap(&advice.say, room).into_iter().chain(wrap(&advice.line(outcome.file), room)) {
            let _ = writeln!(out, "    {line}");
        }
        let cures = wrap(&format!("for {}", cures(advice)), room);
        out.extend(cures.iter().map(|line| format!("    {}\n", paint(FAINT, line))));
        for (style, line) in
            [(GOOD, helped(trials)), (BROKEN, failed(trials)), (UNSURE, but(trials)), (UNSURE, untried(trials)), (FAINT, unfit(trials))]
        {
            let Some(line) = line else { continue };
            out.extend(wrap(&line, room).iter().map(|line| format!("    {}\n", paint(style, line))));
        }
    }
    out.push('\n');
    out
}

/// `D under pause and slow`.
fn cures(advice: &Advice) -> String {
    let marks: BTreeSet<Mark> = advice.cures.iter().map(|(_, mark)| *mark).collect();
    let under = |mark: &Mark| {
        let classes: Vec<&str> = advice.cures.iter().filter(|(_, m)| m == mark).map(|(class, _)| class.name()).collect();
        format!("{mark} under {}", classes.join(", "))
    };
    marks.iter().map(under).collect::<Vec<_>>().join("; ")
}

/// Where it was tried and nothing was seen again: as many runs as noticed their faults.
fn helped(trials: &[Trial]) -> Option<String> {
    let helped: Vec<&Trial> = trials.iter().filter(|trial| trial.helped() && trial.counts()).collect();
    if helped.is_empty() {
        return None;
    }
    let each = |trial: &&Trial| {
        if let Some(why) = trial.misses {
            return format!("{} ({why})", trial.class);
        }
        let witness = if trial.witness == Replayed::Held { " and its witness" } else { "" };
        format!("{} ({}{witness})", trial.class, count(trial.felt as usize, "felt run"))
    };
    Some(format!("tried: it held under {}", helped.iter().map(each).collect::<Vec<_>>().join(", ")))
}

/// Where it did not help.
fn failed(trials: &[Trial]) -> Option<String> {
    let failed = trials.iter().filter(|trial| !trial.helped());
    let told: Vec<String> = failed
        .map(|trial| {
            let witness = if trial.witness == Replayed::Broke { " and in the witness" } else { "" };
            let still = marks(&trial.still);
            format!("against {still} under {}, in {} of {}{witness}", trial.class, trial.broke, count(trial.runs as usize, "run"))
        })
        .collect();
    (!told.is_empty()).then(|| format!("tried: it did not help {}", told.join("; ")))
}

/// What broke with the change made, and did not before.
fn but(trials: &[Trial]) -> Option<String> {
    let told: Vec<String> =
        trials.iter().filter(|trial| !trial.new.is_empty()).map(|trial| format!("{} under {}", marks(&trial.new), trial.class)).collect();
    (!told.is_empty()).then(|| format!("but it newly breaks {}", told.join("; ")))
}

fn marks(marks: &BTreeSet<Mark>) -> String {
    marks.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// Where no run noticed its faults.
fn untried(trials: &[Trial]) -> Option<String> {
    let classes: Vec<&str> = trials.iter().filter(|trial| trial.helped() && !trial.counts()).map(|trial| trial.class.name()).collect();
    (!classes.is_empty()).then(|| format!("not tried under {}: none of its runs noticed the fault", classes.join(", ")))
}

/// Where the witness names steps that the changed deployment does not make.
fn unfit(trials: &[Trial]) -> Option<String> {
    let classes: Vec<&str> =
        trials.iter().filter(|trial| matches!(trial.witness, Replayed::Unfit(_))).map(|trial| trial.class.name()).collect();
    (!classes.is_empty()).then(|| format!("the witness of {} cannot be played there: this guard has other steps", classes.join(", ")))
}
