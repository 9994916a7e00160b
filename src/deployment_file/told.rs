//! A scenario's refusals in the words of the file.

use crate::deployment_file::mistake::Mistake;
use crate::deployment_file::read::Entries;
use crate::deployment_file::terms::Terms;
use crate::scenario::Misconfigured;
use crate::settlement::ScheduleError;
use std::ops::Range;

/// Keys that stand for one knob each, whatever the guard. A knob of another name is told by its key.
const SAME: [(&str, &str); 31] = [
    ("nodes", "nodes"),
    ("players", "players"),
    ("earnings", "earnings"),
    ("liveness_bound", "settle_within"),
    ("schedule.every", "schedule.every"),
    ("schedule.from", "schedule.from"),
    ("node.poll", "retry.poll"),
    ("node.jitter", "retry.jitter"),
    ("node.attention", "retry.attention"),
    ("guard.backoff_max", "retry.backoff_max"),
    ("guard.backoff", "retry.backoff"),
    ("guard.dead_letter_after", "retry.dead_letter_after"),
    ("clocks.error", "clocks.error"),
    ("network.latency_min", "network.latency_min"),
    ("network.latency_max", "network.latency_max"),
    ("node.timeout", "client.timeout"),
    ("database.lock_timeout", "database.lock_timeout"),
    ("database.idle_in_transaction_timeout", "database.idle_in_transaction_timeout"),
    ("job_lengths.p50", "job.p50"),
    ("job_lengths.p95", "job.p95"),
    ("job_lengths.p99", "job.p99"),
    ("job_lengths.max", "job.max"),
    ("node.work", "job"),
    ("node.misfire.grace", "misfire.grace"),
    ("guard.operator", "retry.operator"),
    ("guard.key_prefix", "lease.key_prefix"),
    ("database.replica_lag", "database.replica_lag"),
    ("database.pool.sessions", "database.pool.sessions"),
    ("override.node", "node"),
    ("override.cron", "cron"),
    ("override.elsewhere", "elsewhere"),
];

/// A refusal, at the key that it is about, or at one that it is compared with.
pub fn told(wrong: &Misconfigured, file: &Entries, terms: Terms) -> Mistake {
    let Misconfigured::Override { node, what } = wrong else { return told_of(wrong, file, file, terms) };
    let own = file.overrides().iter().rfind(|own| own.number("node") == Some(node.0.into())).unwrap_or(file);
    let mistake = told_of(what, own, file, terms);
    Mistake { span: mistake.span.or_else(|| own.table()), what: format!("{node}: {}", mistake.what), ..mistake }
}

/// One that is about what `entries` say: a node's own, or the whole file's.
fn told_of(wrong: &Misconfigured, entries: &Entries, file: &Entries, terms: Terms) -> Mistake {
    let all: Vec<(&str, &str)> = terms.constants().map(|(key, constant)| (constant.knob, key)).chain(SAME).collect();
    let key_of = |knob: &str| all.iter().find(|(name, _)| *name == knob).map(|(_, key)| *key);
    let in_keys =
        |text: &str| all.iter().fold(text.to_owned(), |text, (knob, key)| text.replace(&format!("`{knob}`"), &format!("`{key}`")));
    let span = |key: Option<&str>| -> Option<Range<usize>> {
        key.and_then(|key| entries.span(key)).or_else(|| entries.table()).or_else(|| file.span("knobs"))
    };
    match wrong {
        Misconfigured::Knob { knob, value, bound, example } => {
            let key = key_of(knob);
            // On turmoil a schedule becomes an interval, which is nothing to a file.
            let bound = bound.replace("where `schedule.kind` is `interval`, as it is on turmoil", "where the job is due every so often");
            let bound = in_keys(&bound);
            let compared = || entries.paths().find(|path| bound.contains(&format!("`{path}`")));
            let name = key.unwrap_or(knob);
            let what = format!("`{name}` is {value}, but must be {bound}");
            let cure = match key.filter(|key| entries.has(key)) {
                Some(_) if example.is_empty() => "take the line away".to_owned(),
                Some(key) => format!("write for example `{} = {example}`", key.rsplit('.').next().unwrap_or(key)),
                None => format!(
                    "it is not in the file; write `{name}` too, for example `{name} = {example}`, or change what it is compared with"
                ),
            };
            let at = key.filter(|key| entries.has(key)).or_else(compared);
            Mistake { span: span(at), what, cure }
        }
        Misconfigured::Schedule(error) => {
            let key = match error {
                ScheduleError::Together { .. } if entries.has("schedule.gap") => "schedule.gap",
                ScheduleError::Past { .. } if entries.has("schedule.from") => "schedule.from",
                ScheduleError::Cron { .. }
                | ScheduleError::NoBoundary { .. }
                | ScheduleError::SameDay { .. }
                | ScheduleError::Together { .. }
                | ScheduleError::Past { .. } => "schedule.cron",
                ScheduleError::Zone(_) => "schedule.zone",
                // Where the file does not say how many, the text is to blame.
                ScheduleError::TooFew { .. } if !entries.has("schedule.periods") => "schedule.cron",
                ScheduleError::TooFew { .. } => "schedule.periods",
                ScheduleError::Range { what, .. } => match *what {
                    "`from`" => "schedule.from",
                    "`every`" => "schedule.every",
                    _ => "schedule.periods",
                },
            };
            let text = error.to_string();
            let (what, cure) = text.split_once("; ").unwrap_or((text.as_str(), ""));
            // Of one node it is `zone` and `cron`.
            let at = span(Some(key.strip_prefix("schedule.").filter(|name| entries.has(name)).unwrap_or(key)));
            Mistake { span: at, what: what.to_owned(), cure: cure.to_owned() }
        }
        Misconfigured::Strategy { .. }
        | Misconfigured::Unclear { .. }
        | Misconfigured::Plan(_)
        | Misconfigured::TooLong { .. }
        | Misconfigured::Override { .. } => Mistake { span: span(Some("guard")), what: wrong.to_string(), cure: String::new() },
    }
}
