//! A strategy in a sentence or two: what it survives, what breaks it, what it costs.

use crate::page::front::letters::Letters;
use crate::page::front::row::{CALM, Row};
use crate::page::front::say::{capital, duration, list, mean, some};
use crate::page::front::verdict::Verdict;
use crate::page::source::verdicts::{Cost, Spread};

/// So many fault classes are named in one place.
const NAMED: usize = 4;

/// What it survives and what breaks it.
pub fn fate(row: &Row, letters: Letters) -> String {
    let names = |verdict| row.cells(verdict).map(|cell| cell.faults.as_str()).collect::<Vec<_>>();
    let (held, undecided) = (names(Verdict::Holds), names(Verdict::Undecided));
    let broken = row.cells(Verdict::Breaks).next().is_some();
    let mut parts = Vec::new();
    match (held.len(), broken) {
        (0, false) if undecided.is_empty() => return "Nothing was tried.".to_owned(),
        (0, false) => {}
        (0, true) => parts.push("survives nothing that was tried".to_owned()),
        (n, false) if undecided.is_empty() => parts.push(format!("survives all {n} fault classes that can strike it")),
        _ => parts.push(format!("survives {}", some(&held, NAMED))),
    }
    if broken {
        parts.push(breaks(row, letters));
    }
    if !undecided.is_empty() {
        parts.push(format!("is undecided under {}", some(&undecided, NAMED)));
    }
    format!("{}.", capital(&parts.join("; ")))
}

/// Which letters break under which classes. Letters of the calm column are named once.
fn breaks(row: &Row, letters: Letters) -> String {
    let under = by_letter(row);
    let calm: Vec<&str> = under.iter().filter(|(_, classes)| classes.contains(&CALM)).flat_map(|(l, _)| l.iter().copied()).collect();
    let told = |some: &[&str]| list(&some.iter().map(|letter| letters.told(letter)).collect::<Vec<_>>());
    let faults: Vec<String> = under
        .iter()
        .filter(|(_, classes)| !classes.contains(&CALM))
        .map(|(letters, classes)| format!("{} under {}", told(letters), some(classes, NAMED)))
        .collect();
    match (calm.is_empty(), faults.is_empty()) {
        (true, _) => format!("breaks: {}", faults.join("; ")),
        (false, true) => format!("breaks without any fault: {}", told(&calm)),
        (false, false) => format!("breaks without any fault: {}; faults add {}", told(&calm), faults.join("; ")),
    }
}

/// The classes that brought each letter, most classes first; letters that came together are one entry.
fn by_letter<'a>(row: &Row<'a>) -> Vec<(Vec<&'a str>, Vec<&'a str>)> {
    let mut under: Vec<(&str, Vec<&str>)> = Vec::new();
    for cell in row.cells(Verdict::Breaks) {
        for broken in cell.broken.iter().filter(|b| !b.inherited) {
            match under.iter_mut().find(|(letter, _)| *letter == broken.letter) {
                Some((_, classes)) => classes.push(&cell.faults),
                None => under.push((&broken.letter, vec![&cell.faults])),
            }
        }
    }
    let mut together: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    for (letter, classes) in under {
        match together.iter_mut().find(|(_, other)| *other == classes) {
            Some((letters, _)) => letters.push(letter),
            None => together.push((vec![letter], classes)),
        }
    }
    together.sort_by_key(|(_, classes)| std::cmp::Reverse(classes.len()));
    together
}

/// What it costs, if that was measured: waste, time to settle, time to recover; in calm and where it is worst.
pub fn cost(row: &Row) -> Option<String> {
    let costs: Vec<(&str, &Cost)> = row.costs().collect();
    let calm = costs.iter().find(|(faults, _)| *faults == CALM).map(|(_, cost)| *cost);
    let parts: Vec<String> = [waste(&costs, calm), settle(&costs, calm), recovery(&costs)].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("{}.", capital(&parts.join("; "))))
}

fn waste(costs: &[(&str, &Cost)], calm: Option<&Cost>) -> Option<String> {
    let share = |cost: &Cost| cost.wasted as f64 / cost.due as f64;
    let (faults, worst) = costs.iter().max_by(|a, b| share(a.1).total_cmp(&share(b.1)))?;
    let told = |cost: &Cost| mean(cost.wasted, cost.due);
    let calm = calm.map(told);
    if calm.as_ref() == Some(&told(worst)) {
        return Some(format!("wastes {} attempts a period", told(worst)));
    }
    let calm = calm.map_or(String::new(), |calm| format!("{calm} attempts a period in calm, "));
    Some(format!("wastes {calm}{} under {faults}", told(worst)))
}

fn settle(costs: &[(&str, &Cost)], calm: Option<&Cost>) -> Option<String> {
    let settled = |cost: &Cost| cost.to_settle.n > 0;
    let (faults, worst) = costs.iter().filter(|(_, c)| settled(c)).max_by_key(|(_, c)| c.to_settle.p95_ms)?;
    let calm = calm.filter(|c| settled(c) && halves(&c.to_settle) != halves(&worst.to_settle));
    let calm = calm.map_or(String::new(), |calm| format!("in {} in calm, ", halves(&calm.to_settle)));
    Some(format!("settles {calm}in {} under {faults}", halves(&worst.to_settle)))
}

fn recovery(costs: &[(&str, &Cost)]) -> Option<String> {
    let spreads = costs.iter().filter_map(|(faults, cost)| Some((faults, cost.recovery.as_ref().filter(|s| s.n > 0)?)));
    let (faults, worst) = spreads.max_by_key(|(_, spread)| spread.p95_ms)?;
    Some(format!("recovers in {} under {faults}", halves(worst)))
}

/// The median, and what 95 % stay below: `2.1 s (95 %: 4 s)`.
fn halves(spread: &Spread) -> String {
    format!("{} (95 %: {})", duration(spread.p50_ms), duration(spread.p95_ms))
}
