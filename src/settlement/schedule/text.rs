//! How a schedule is read from TOML: all keys at once, sorted out afterwards, because serde's
//! own tagged enums forget in which line a value stood.

use crate::settlement::{Fold, Gap, Schedule};
use serde::Deserialize;
use std::time::Duration;

/// All keys that a schedule can have.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScheduleTable {
    kind: Kind,
    cron: Option<String>,
    zone: Option<String>,
    from: Option<jiff::civil::DateTime>,
    #[serde(default, with = "optional_duration")]
    every: Option<Duration>,
    periods: Option<u32>,
    gap: Option<Gap>,
    fold: Option<Fold>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Cron,
    Interval,
}

impl Kind {
    fn name(&self) -> &'static str {
        match self {
            Kind::Cron => "cron",
            Kind::Interval => "interval",
        }
    }
}

impl TryFrom<ScheduleTable> for Schedule {
    type Error = String;

    fn try_from(table: ScheduleTable) -> Result<Schedule, String> {
        const CRON: &str = r#"cron = "0 0 10,25 * *", zone = "Asia/Shanghai", from = "2026-01-09T00:00:00", periods = 3"#;
        const INTERVAL: &str = r#"every = "6m", periods = 3"#;
        let kind = table.kind.name();
        let wrong =
            |has: &str, key: &str, form: &str| format!("a schedule of kind `{kind}` {has} `{key}`; write `kind = \"{kind}\", {form}`");
        let needs = |key, form| wrong("needs", key, form);
        let foreign = |key, form| wrong("has no", key, form);
        let ScheduleTable { kind, cron, zone, from, every, periods, gap, fold } = table;
        match kind {
            Kind::Cron if every.is_some() => Err(foreign("every", CRON)),
            Kind::Cron => Ok(Schedule::Cron {
                cron: cron.ok_or_else(|| needs("cron", CRON))?,
                zone: zone.ok_or_else(|| needs("zone", CRON))?,
                from: from.ok_or_else(|| needs("from", CRON))?,
                periods: periods.ok_or_else(|| needs("periods", CRON))?,
                gap: gap.unwrap_or_default(),
                fold: fold.unwrap_or_default(),
            }),
            Kind::Interval if cron.is_some() => Err(foreign("cron", INTERVAL)),
            Kind::Interval if zone.is_some() => Err(foreign("zone", INTERVAL)),
            Kind::Interval if gap.is_some() => Err(foreign("gap", INTERVAL)),
            Kind::Interval if fold.is_some() => Err(foreign("fold", INTERVAL)),
            Kind::Interval if from.is_some() => Err(foreign("from", INTERVAL)),
            Kind::Interval => Ok(Schedule::Interval {
                every: every.ok_or_else(|| needs("every", INTERVAL))?,
                periods: periods.ok_or_else(|| needs("periods", INTERVAL))?,
            }),
        }
    }
}

/// A duration that may be missing.
mod optional_duration {
    use crate::plan::duration;
    use serde::Deserializer;
    use std::time::Duration;

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Duration>, D::Error> {
        duration::deserialize(d).map(Some)
    }
}
