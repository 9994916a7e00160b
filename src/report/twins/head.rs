//! What a page says before its picture.

use crate::explore::Witness;
use crate::explore::shrink::periods;
use crate::report::knobs::Drawn;
use crate::report::twin::{Boundary, Knob, Planned, Shrunk, Size, Violation};
use crate::report::twins::view::View;
use crate::report::words;
use crate::settlement::Calendar;

/// What broke.
pub fn violations(view: &View<'_>) -> Vec<Violation> {
    let told = view.seen.findings.iter().map(|finding| Violation {
        letter: finding.mark.to_string(),
        rule: finding.rule.to_owned(),
        at_ms: finding.at.0,
        period: finding.period.map(|period| period.to_string()),
        what: finding.what.clone(),
        kept_for: view.finding.is_some_and(|kept| kept.rule == finding.rule && kept.mark == finding.mark),
    });
    told.collect()
}

/// A knob and what it usually is.
pub fn knob(drawn: &Drawn) -> Knob {
    let plain = |value: &toml::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let usually = drawn.given.as_ref().map(|given| format!(" (usually {})", plain(given))).unwrap_or_default();
    Knob { name: drawn.knob.clone(), value: plain(&drawn.drawn) + &usually }
}

/// The faults, and what became of them.
pub fn plan(view: &View<'_>) -> Vec<Planned> {
    let told = view.plan.faults.iter().zip(&view.seen.run.receipts).map(|(fault, receipt)| Planned {
        what: words::fault(fault),
        fired_ms: receipt.fired.map(|at| at.0),
        felt_ms: receipt.felt.map(|felt| felt.at.0),
        proof: receipt.felt.map(|felt| felt.proof.to_string()),
    });
    told.collect()
}

/// When periods end.
pub fn boundaries(calendar: &Calendar) -> Vec<Boundary> {
    calendar.periods.iter().map(|period| Boundary { period: period.id.to_string(), at_ms: calendar.origin.sim(period.due).0 }).collect()
}

/// What shrinking did.
pub fn shrunk(witness: &Witness) -> Option<Shrunk> {
    let from = witness.shrunk_from.as_ref()?;
    let scenario = &witness.scenario;
    let to = Size {
        faults: witness.plan.faults.len(),
        nodes: scenario.nodes,
        periods: periods(&scenario.schedule),
        players: scenario.players,
        earnings: scenario.earnings,
    };
    let before = Size { faults: from.faults, nodes: from.nodes, periods: from.periods, players: from.players, earnings: from.earnings };
    Some(Shrunk { from: before, to, tried: from.tried, accepted: from.accepted, converged: from.converged, milder: from.milder })
}
