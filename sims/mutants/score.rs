//! What became of a defect in the run that is known to show it.

use super::defects::{DEFECTS, Defect, Fate, Hint};
use super::hunt::{self, Trial};
use super::mutant::Pair;
use super::waste::{Costs, Measure};
use onceproof::explore::Mark;

/// What a defect showed.
#[derive(Clone, Debug)]
pub enum Shown {
    /// A letter that its strategy never may.
    Letter(Mark),
    /// It costs more than its strategy does.
    Costs(Measure, Costs),
    /// Nothing.
    Nothing,
}

/// The pair that a hint speaks of, and the run.
pub fn hinted(defect: &'static Defect, hint: Hint) -> (Pair, Trial) {
    match hint {
        Hint::Drawn(class, n) => {
            let pair = Pair::of(defect, 3);
            let trial = hunt::drawn(&pair.sound, hunt::BASE, class, n);
            (pair, trial)
        }
        Hint::Plan(plan) => {
            let pair = Pair::of(defect, 1);
            let trial = hunt::pinned(&pair.sound, hunt::BASE, plan);
            (pair, trial)
        }
    }
}

/// What a defect shows where it is known to show most.
pub fn shown(defect: &'static Defect) -> Shown {
    match defect.fate {
        Fate::Killed(hint) => {
            let (pair, trial) = hinted(defect, hint);
            hunt::forbidden(&pair.spoiled, &trial).map_or(Shown::Nothing, Shown::Letter)
        }
        Fate::Wasteful(measure, plan) => {
            let costs = Costs::of(measure, &Pair::of(defect, 1), plan);
            if costs.more() { Shown::Costs(measure, costs) } else { Shown::Nothing }
        }
        Fate::Equivalent(plan, _) => {
            let pair = Pair::of(defect, 1);
            let letter = hunt::forbidden(&pair.spoiled, &hunt::pinned(&pair.spoiled, hunt::BASE, plan));
            let costs =
                || [Measure::WastedJobs, Measure::Overlaps, Measure::Delay].map(|measure| (measure, Costs::of(measure, &pair, plan)));
            let more = || costs().into_iter().find(|(_, costs)| costs.more()).map(|(measure, costs)| Shown::Costs(measure, costs));
            letter.map(Shown::Letter).or_else(more).unwrap_or(Shown::Nothing)
        }
    }
}

/// What became of a defect, in the words of a table.
pub fn told(defect: &Defect, shown: &Shown) -> String {
    match (shown, &defect.fate) {
        (Shown::Letter(mark), _) => format!("killed: {mark}, {}", mark.meaning()),
        (Shown::Costs(measure, costs), _) => {
            let (sound, spoiled) = costs.sums();
            format!("costs {}: {spoiled} instead of {sound}", measure.name())
        }
        (Shown::Nothing, Fate::Equivalent(_, because)) => format!("equivalent: {because}"),
        (Shown::Nothing, Fate::Killed(_) | Fate::Wasteful(..)) => "survives".to_owned(),
    }
}

/// The mutation score, as one sentence.
pub fn sentence(shown: &[Shown]) -> String {
    let count = |is: fn(&Fate) -> bool| DEFECTS.iter().filter(|defect| is(&defect.fate)).count();
    let equivalent = count(|fate| matches!(fate, Fate::Equivalent(..)));
    let killed = shown.iter().filter(|shown| matches!(shown, Shown::Letter(_))).count();
    let wasteful = shown.iter().filter(|shown| matches!(shown, Shown::Costs(..))).count();
    format!(
        "{} defects: {killed} of {} that break something are killed, {wasteful} of {} that only waste work are detected by what they cost, {equivalent} are equivalent.",
        DEFECTS.len(),
        count(|fate| matches!(fate, Fate::Killed(_))),
        count(|fate| matches!(fate, Fate::Wasteful(..))),
    )
}
