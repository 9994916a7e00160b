//! The frontier as text and as JSON: what was measured beside what the line says.

use crate::explore::frontier::{Agreement, Along, Conditions, Line, Measured, Threshold};
use crate::plan::duration;
use crate::report::paint::{ALARM, FAINT, GOOD, Painted, STRONG, paint};
use crate::report::words::{count, signed, thousands, wrap};
use crate::seed::Seed;
use crate::time::Span;
use anstyle::Style;
use serde::Serialize;
use std::fmt::Write;
use std::time::Duration;

/// Version of the schema; changes when a reader of the last one would be misled.
pub const FORMAT: u32 = 1;

/// Where it is, in the reports folder.
pub const FILE: &str = "frontier.json";

/// What a report says beside the points.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The seed from which all others come.
    pub base: Seed,
    /// Runs at each value.
    pub seeds: usize,
    /// How closely thresholds are bracketed.
    pub resolution: Duration,
}

/// As text of at most `width` columns, where that is enough for names and numbers.
pub fn render(all: &[Measured], setting: &Setting, width: usize) -> String {
    let mut out = String::new();
    let heads = ["given", "what", "line", "begins", "differs", "runs"].map(|head| Painted::default().and(FAINT, head));
    let blocks: Vec<&[Measured]> = all.chunk_by(same_block).collect();
    let rows: Vec<Vec<[Painted; 6]>> = blocks.iter().map(|block| block.iter().flat_map(rows).collect()).collect();
    let widest = |n: usize| rows.iter().flatten().chain([&heads]).map(|row| row[n].width()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..heads.len()).map(widest).collect();
    for (block, rows) in blocks.iter().zip(&rows) {
        out.extend(wrap(&title(&block[0]), width).into_iter().map(|line| paint(STRONG, &line) + "\n"));
        for row in std::iter::once(&heads).chain(rows) {
            let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| cell.padded(*width)).collect();
            let _ = writeln!(out, "  {}", cells.join("  ").trim_end());
        }
        out.push('\n');
    }
    out.extend(wrap(&worth(all, setting), width).into_iter().map(|line| line + "\n"));
    out
}

fn same_block(a: &Measured, b: &Measured) -> bool {
    a.point.strategy.name() == b.point.strategy.name() && a.point.stops == b.point.stops
}

fn title(of: &Measured) -> String {
    let point = &of.point;
    let lease = point.ttl.map_or("no line is known".to_owned(), |ttl| format!("a lease of {}", duration::text(ttl)));
    let along = match point.along {
        Along::Stall => format!("for how long may its holder stop {}?", point.stops),
        Along::Lateness => "how late may another node come?".to_owned(),
    };
    format!("{}, {lease}: {along}", point.strategy.name())
}

fn rows(of: &Measured) -> [[Painted; 6]; 2] {
    let row = |given: String, what: &str, line: Line, measured: Threshold, agrees: Agreement| {
        let plain = |text: String| Painted::default().and(Style::new(), &text);
        let style = match agrees {
            Agreement::Within(_) | Agreement::Neither => GOOD,
            Agreement::NoLine => FAINT,
            Agreement::Off => ALARM,
        };
        let differs = Painted::default().and(style, &differs(agrees, line, measured));
        [plain(given), plain(what.to_owned()), plain(line_text(line)), plain(begins(measured)), differs, plain(runs(measured))]
    };
    let point = &of.point;
    [
        row(given(&point.given), "two at work", point.overlap, of.overlap, of.overlap_agrees()),
        row(String::new(), "settled twice", point.twice, of.twice, of.twice_agrees()),
    ]
}

/// The conditions that are given, in words.
fn given(under: &Conditions) -> String {
    let percent = |ppm: i32| format!("{} %", if ppm > 0 { format!("+{}", ppm / 10_000) } else { format!("−{}", -ppm / 10_000) });
    let mut told = vec![format!("job {}", rounded(under.job.as_millis() as u64))];
    let mut add = |is: bool, text: &dyn Fn() -> String| {
        if is {
            told.push(text());
        }
    };
    add(!under.stall.is_zero(), &|| format!("stopped for {}", duration::text(under.stall)));
    add(!under.lateness.is_zero(), &|| format!("n0 late by {}", duration::text(under.lateness)));
    add(under.store_ppm != 0, &|| format!("store's clock {}", percent(under.store_ppm)));
    add(under.holder_ppm != 0, &|| format!("holder's clock {}", percent(under.holder_ppm)));
    add(under.store_set_ms != 0, &|| format!("store's clock set {}", signed(under.store_set_ms)));
    told.join(", ")
}

/// Whole seconds, from ten on.
fn rounded(ms: u64) -> String {
    let ms = if ms >= 10_000 { (ms + 500) / 1000 * 1000 } else { ms };
    duration::text(ms.ms())
}

fn line_text(line: Line) -> String {
    match line {
        Line::From(0) => "at once".to_owned(),
        Line::From(from) => rounded(from),
        Line::Never => "never".to_owned(),
        Line::Unknown => "–".to_owned(),
    }
}

fn begins(measured: Threshold) -> String {
    match measured {
        Threshold::Never { up_to, .. } => format!("never up to {}", rounded(up_to)),
        Threshold::Always { .. } => "at once".to_owned(),
        Threshold::Between { breaks, .. } => rounded(breaks),
        Threshold::NotMonotone { shows, hides, .. } => format!("seen at {}, not at {}", rounded(shows), rounded(hides)),
    }
}

fn differs(agrees: Agreement, line: Line, measured: Threshold) -> String {
    match (agrees, line, measured.begins()) {
        (Agreement::Within(by), ..) => seconds(by),
        (Agreement::Neither, ..) => "as it says".to_owned(),
        (Agreement::NoLine, ..) => String::new(),
        (Agreement::Off, Line::From(from), Some(begins)) => format!("OFF by {}", seconds(begins as i64 - from as i64)),
        (Agreement::Off, ..) => "OFF".to_owned(),
    }
}

fn seconds(ms: i64) -> String {
    let sign = if ms < 0 { "−" } else { "+" };
    format!("{sign}{:.1}s", ms.unsigned_abs() as f64 / 1000.0)
}

fn runs(measured: Threshold) -> String {
    match measured {
        Threshold::Never { of, .. } => format!("0 of {of}"),
        Threshold::Always { seen, of, .. } | Threshold::Between { seen, of, .. } => format!("{seen} of {of}"),
        Threshold::NotMonotone { run, .. } => format!("run {run}"),
    }
}

fn worth(all: &[Measured], setting: &Setting) -> String {
    let runs: usize = all.iter().map(|measured| measured.runs).sum();
    let known = |agrees: &Agreement| *agrees != Agreement::NoLine;
    let lines = all.iter().flat_map(|of| [of.overlap_agrees(), of.twice_agrees()]).filter(known).count();
    let off = all.iter().filter(|measured| !measured.as_expected()).count();
    let agrees = match off {
        0 if lines < all.len() * 2 => "Everything that has a line begins where it says".to_owned(),
        0 => "Everything begins where the line says".to_owned(),
        n => format!("{} not where the line says", count(n, "point")),
    };
    let agrees = match all.len() * 2 - lines {
        0 => agrees,
        n if lines == 0 => format!("No line is known for {n} of {n}"),
        n => format!("{agrees}, no line is known for {n} of {}", all.len() * 2),
    };
    let before = |of: &Measured| matches!((of.twice.begins(), of.overlap.begins()), (Some(twice), Some(overlap)) if twice < overlap);
    let why = match all.iter().any(before) {
        true => {
            " Settled twice may begin before two at work, by up to the requests that follow the job: who looks after the \
             work and before its commit meets no work, and settles too."
        }
        false => "",
    };
    format!(
        "{agrees}. {}, {} runs; base seed {}. `begins` is the first value at which one of {} shows it; {} before it none does. \
         The line: stop + job > lease, each in true time; one that is renewed counts from its last renewal. \
         What is counted as on it: later by up to a poll, because who waits looks once a poll, the requests of an attempt \
         ({}) and the resolution ({}); earlier by these requests.{why}",
        count(all.len(), "point"),
        thousands(runs as u64),
        setting.base,
        count(setting.seeds, "run"),
        duration::text(setting.resolution),
        all.first().map_or(String::new(), |of| duration::text(of.point.slack_ms().ms())),
        duration::text(setting.resolution)
    )
}

#[derive(Serialize)]
struct Frontier {
    format: u32,
    onceproof: &'static str,
    base_seed: String,
    seeds: usize,
    resolution_ms: u64,
    as_expected: bool,
    points: Vec<PointRow>,
}

#[derive(Serialize)]
struct PointRow {
    strategy: &'static str,
    ttl_ms: Option<u64>,
    along: &'static str,
    stops: String,
    given: GivenRow,
    runs: usize,
    overlap: FoundRow,
    settled_twice: FoundRow,
}

#[derive(Serialize)]
struct GivenRow {
    job_ms: u64,
    stall_ms: u64,
    lateness_ms: u64,
    store_drift_ppm: i32,
    holder_drift_ppm: i32,
    store_set_ms: i64,
}

#[derive(Serialize)]
struct FoundRow {
    line: &'static str,
    line_ms: Option<u64>,
    measured: &'static str,
    holds_at_ms: Option<u64>,
    breaks_at_ms: Option<u64>,
    seen: usize,
    of: usize,
    differs_ms: Option<i64>,
    as_expected: bool,
}

/// As JSON. It depends on nothing but what was measured: no time, no machine.
///
/// # Panics
/// Never: everything in it can be written as JSON.
pub fn json(all: &[Measured], setting: &Setting) -> String {
    let frontier = Frontier {
        format: FORMAT,
        onceproof: env!("CARGO_PKG_VERSION"),
        base_seed: setting.base.to_string(),
        seeds: setting.seeds,
        resolution_ms: setting.resolution.as_millis() as u64,
        as_expected: all.iter().all(Measured::as_expected),
        points: all.iter().map(point).collect(),
    };
    serde_json::to_string_pretty(&frontier).expect("a frontier has only values that JSON knows") + "\n"
}

fn point(of: &Measured) -> PointRow {
    let (point, ms) = (&of.point, |d: Duration| d.as_millis() as u64);
    let given = &point.given;
    PointRow {
        strategy: point.strategy.name(),
        ttl_ms: point.ttl.map(ms),
        along: match point.along {
            Along::Stall => "stall",
            Along::Lateness => "lateness",
        },
        stops: point.stops.to_string(),
        given: GivenRow {
            job_ms: ms(given.job),
            stall_ms: ms(given.stall),
            lateness_ms: ms(given.lateness),
            store_drift_ppm: given.store_ppm,
            holder_drift_ppm: given.holder_ppm,
            store_set_ms: given.store_set_ms,
        },
        runs: of.runs,
        overlap: found(point.overlap, of.overlap, of.overlap_agrees()),
        settled_twice: found(point.twice, of.twice, of.twice_agrees()),
    }
}

fn found(line: Line, measured: Threshold, agrees: Agreement) -> FoundRow {
    let (line, line_ms) = match line {
        Line::From(from) => ("from", Some(from)),
        Line::Never => ("never", None),
        Line::Unknown => ("unknown", None),
    };
    let (told, holds_at_ms, breaks_at_ms, seen, of) = match measured {
        Threshold::Never { up_to, of } => ("never", Some(up_to), None, 0, of),
        Threshold::Always { from, seen, of } => ("at-once", None, Some(from), seen, of),
        Threshold::Between { holds, breaks, seen, of } => ("between", Some(holds), Some(breaks), seen, of),
        Threshold::NotMonotone { shows, hides, .. } => ("not-monotone", Some(hides), Some(shows), 1, 1),
    };
    let differs_ms = line_ms.zip(breaks_at_ms).map(|(line, breaks)| breaks as i64 - line as i64);
    FoundRow { line, line_ms, measured: told, holds_at_ms, breaks_at_ms, seen, of, differs_ms, as_expected: agrees != Agreement::Off }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::frontier::Point;
    use crate::strategy;

    const SETTING: Setting = Setting { base: Seed(7), seeds: 40, resolution: Duration::from_secs(1) };

    /// A point on the line, one off it, and two without a threshold.
    fn measured() -> Vec<Measured> {
        let at = |breaks: u64| Threshold::Between { holds: breaks - 1_000, breaks, seen: 3, of: 40 };
        let of = |name: &str, n: usize, overlap, twice| {
            let point = Point::all_of(strategy::find(name).unwrap()).swap_remove(n);
            Measured { point, overlap, twice, runs: 480, resolution: 1_000 }
        };
        vec![
            of("lease-set-px-checked", 0, at(1_681_000), at(1_680_000)),
            of("lease-set-px-checked", 4, at(1_700_000), at(1_900_000)),
            of(
                "lease-set-px",
                0,
                Threshold::Never { up_to: 118_470, of: 40 },
                Threshold::NotMonotone { run: 4, shows: 120_000, hides: 240_000 },
            ),
            of("dual-guard", 0, at(286_000), Threshold::Never { up_to: 3_660_000, of: 40 }),
        ]
    }

    #[test]
    fn what_is_off_stands_out() {
        insta::assert_snapshot!(anstream::adapter::strip_str(&render(&measured(), &SETTING, 110)).to_string());
    }

    /// What has no line is not said to be on it, and one point is one point.
    #[test]
    fn the_verdict_says_what_was_measured() {
        let all = measured();
        let worth = |all: &[Measured]| worth(all, &SETTING);
        let on_line = worth(&all[..1]);
        assert!(on_line.starts_with("Everything begins where the line says. 1 point, 480 runs;"), "{on_line}");
        assert!(on_line.contains("Settled twice may begin before two at work"), "{on_line}");
        let half = worth(&all[3..]);
        assert!(half.starts_with("Everything that has a line begins where it says, no line is known for 1 of 2. 1 point,"), "{half}");
        assert!(!half.contains("Settled twice may begin before"), "{half}");
        let free = Measured { point: Point::all_of(strategy::find("no-guard").unwrap()).swap_remove(0), ..all[3].clone() };
        assert!(worth(&[free]).starts_with("No line is known for 2 of 2. 1 point,"));
    }

    #[test]
    fn programs_find_both_ends_of_a_bracket_and_what_the_line_says() {
        let told: serde_json::Value = serde_json::from_str(&json(&measured(), &SETTING)).unwrap();
        assert_eq!(told["as_expected"], false);
        let overlap = &told["points"][0]["overlap"];
        assert_eq!([&overlap["holds_at_ms"], &overlap["breaks_at_ms"], &overlap["line_ms"]], [1_680_000, 1_681_000, 1_680_000]);
        assert_eq!((&overlap["differs_ms"], &overlap["seen"], &overlap["of"]), (&1_000.into(), &3.into(), &40.into()));
        let expected: Vec<bool> =
            (0..4).map(|n| ["overlap", "settled_twice"].iter().all(|what| told["points"][n][what]["as_expected"] == true)).collect();
        assert_eq!(expected, [true, false, false, true]);
        assert_eq!(told["points"][2]["settled_twice"]["measured"], "not-monotone");
        assert_eq!(told["points"][3]["settled_twice"]["line"], "never");
    }
}
