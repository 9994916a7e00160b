//! How faults are read from TOML.
//!
//! Both [`Harm`] and [`Trigger`] are one flat table with the keys of one of their variants.
//! Serde's own tagged and untagged enums read such tables through a buffer that forgets where
//! in the file a value stood, and answer a misspelt key with "did not match any variant". So
//! all keys are read at once, and sorted out here: errors name the key, and toml adds the line.

use crate::id::HostId;
use crate::plan::{Direction, Harm, StopOrder, Target, Trigger, duration};
use crate::time::SimTime;
use crate::trace::Phase;
use serde::Deserialize;
use std::fmt;
use std::time::Duration;

/// All keys that a harm can have.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HarmTable {
    kind: Kind,
    host: Option<Target>,
    from: Option<Target>,
    direction: Option<Direction>,
    back_after: Option<Length>,
    lasts: Option<Length>,
    extra: Option<Length>,
    times: Option<u32>,
    by_ms: Option<i64>,
    ppm: Option<i32>,
    lag: Option<Length>,
    zone: Option<String>,
    order: Option<StopOrder>,
    grace: Option<Length>,
    store: Option<HostId>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Crash,
    Power,
    Pause,
    Partition,
    ReplyLost,
    Late,
    SlowStep,
    JobError,
    ClockOffset,
    ClockDrift,
    LeaseWipe,
    LeaseEvict,
    LeaseFailover,
    LeaseStall,
    CommitFails,
    SessionEnds,
    Zone,
    Shutdown,
    Redeliver,
}

#[derive(Deserialize)]
#[serde(transparent)]
struct Length(#[serde(with = "duration")] Duration);

impl Kind {
    /// Its name, and the line of keys that it takes.
    fn form(self) -> (&'static str, &'static str) {
        match self {
            Kind::Crash => ("crash", r#"host = "self", back_after = "5m""#),
            Kind::Power => ("power", r#"host = "self", back_after = "5m""#),
            Kind::Pause => ("pause", r#"host = "self", lasts = "40m""#),
            Kind::Partition => ("partition", r#"host = "self", from = "everyone", direction = "both", lasts = "40m""#),
            Kind::ReplyLost => ("reply-lost", r#"host = "self", from = "peer""#),
            Kind::Late => ("late", r#"host = "self", from = "lease", extra = "10s", lasts = "5m""#),
            Kind::SlowStep => ("slow-step", r#"extra = "43m""#),
            Kind::JobError => ("job-error", "times = 1"),
            Kind::ClockOffset => ("clock-offset", r#"host = "n0", by_ms = -240000"#),
            Kind::ClockDrift => ("clock-drift", r#"host = "n0", ppm = 20000, lasts = "3h""#),
            Kind::LeaseWipe => ("lease-wipe", r#"back_after = "10s""#),
            Kind::LeaseEvict => ("lease-evict", ""),
            Kind::LeaseFailover => ("lease-failover", r#"lag = "1s", back_after = "10s""#),
            Kind::LeaseStall => ("lease-stall", r#"lasts = "10s""#),
            Kind::CommitFails => ("commit-fails", r#"host = "self""#),
            Kind::SessionEnds => ("session-ends", r#"host = "self""#),
            Kind::Zone => ("zone", r#"host = "n0", zone = "Asia/Tokyo""#),
            Kind::Shutdown => ("shutdown", r#"host = "self", order = "renewals-first", grace = "30m", back_after = "1m""#),
            Kind::Redeliver => ("redeliver", ""),
        }
    }
}

impl fmt::Display for Kind {
    /// What to write for one of the kind.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.form() {
            (kind, "") => write!(f, "kind = \"{kind}\""),
            (kind, form) => write!(f, "kind = \"{kind}\", {form}"),
        }
    }
}

/// The lease store that a harm names, or the first.
fn first_unless(named: Option<HostId>) -> HostId {
    named.unwrap_or(HostId::Lease)
}

/// Takes a key that the kind needs.
macro_rules! take {
    ($table:ident . $key:ident) => {
        $table.$key.take().ok_or_else(|| {
            let (kind, _) = $table.kind.form();
            format!(concat!("a fault of kind `{}` needs `", stringify!($key), "`; write `{}`"), kind, $table.kind)
        })?
    };
}

impl HarmTable {
    /// A key that is still there after the kind took its own.
    fn left_over(&self) -> Option<&'static str> {
        let keys = [
            ("host", self.host.is_some()),
            ("from", self.from.is_some()),
            ("direction", self.direction.is_some()),
            ("back_after", self.back_after.is_some()),
            ("lasts", self.lasts.is_some()),
            ("extra", self.extra.is_some()),
            ("times", self.times.is_some()),
            ("by_ms", self.by_ms.is_some()),
            ("ppm", self.ppm.is_some()),
            ("lag", self.lag.is_some()),
            ("zone", self.zone.is_some()),
            ("order", self.order.is_some()),
            ("grace", self.grace.is_some()),
            ("store", self.store.is_some()),
        ];
        keys.into_iter().find(|(_, there)| *there).map(|(key, _)| key)
    }
}

impl TryFrom<HarmTable> for Harm {
    type Error = String;

    fn try_from(mut t: HarmTable) -> Result<Harm, String> {
        let harm = match t.kind {
            Kind::Crash => Harm::Crash { host: take!(t.host), back_after: take!(t.back_after).0 },
            Kind::Power => Harm::Power { host: take!(t.host), back_after: take!(t.back_after).0 },
            Kind::Pause => Harm::Pause { host: take!(t.host), lasts: take!(t.lasts).0 },
            Kind::Partition => {
                let direction = t.direction.take().unwrap_or_default();
                Harm::Partition { host: take!(t.host), from: take!(t.from), direction, lasts: take!(t.lasts).0 }
            }
            Kind::ReplyLost => Harm::ReplyLost { host: take!(t.host), from: take!(t.from) },
            Kind::Late => Harm::Late { host: take!(t.host), from: take!(t.from), extra: take!(t.extra).0, lasts: take!(t.lasts).0 },
            Kind::SlowStep => Harm::SlowStep { extra: take!(t.extra).0 },
            Kind::JobError => Harm::JobError { times: take!(t.times) },
            Kind::ClockOffset => Harm::ClockOffset { host: take!(t.host), by_ms: take!(t.by_ms) },
            Kind::ClockDrift => Harm::ClockDrift { host: take!(t.host), ppm: take!(t.ppm), lasts: t.lasts.take().map(|l| l.0) },
            Kind::LeaseWipe => Harm::LeaseWipe { store: first_unless(t.store.take()), back_after: take!(t.back_after).0 },
            Kind::LeaseEvict => Harm::LeaseEvict { store: first_unless(t.store.take()) },
            Kind::LeaseFailover => {
                Harm::LeaseFailover { store: first_unless(t.store.take()), lag: take!(t.lag).0, back_after: take!(t.back_after).0 }
            }
            Kind::LeaseStall => Harm::LeaseStall { store: first_unless(t.store.take()), lasts: take!(t.lasts).0 },
            Kind::CommitFails => Harm::CommitFails { host: take!(t.host) },
            Kind::SessionEnds => Harm::SessionEnds { host: take!(t.host) },
            Kind::Shutdown => {
                Harm::Shutdown { host: take!(t.host), order: take!(t.order), grace: take!(t.grace).0, back_after: take!(t.back_after).0 }
            }
            Kind::Zone => Harm::Zone { host: take!(t.host), zone: take!(t.zone) },
            Kind::Redeliver => Harm::Redeliver,
        };
        match t.left_over() {
            None => Ok(harm),
            Some(key) => {
                let (kind, _) = t.kind.form();
                Err(format!("a fault of kind `{kind}` has no `{key}`; write `{}`", t.kind))
            }
        }
    }
}

/// All keys that a trigger can have.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TriggerTable {
    at_ms: Option<SimTime>,
    step: Option<String>,
    phase: Option<Phase>,
    nth: Option<u32>,
    node: Option<HostId>,
}

impl TryFrom<TriggerTable> for Trigger {
    type Error = String;

    fn try_from(table: TriggerTable) -> Result<Trigger, String> {
        const AT_A_STEP: &str = r#"`step = "lease.acquire", phase = "before"`"#;
        let TriggerTable { at_ms, step, phase, nth, node } = table;
        match (at_ms, step, phase) {
            (Some(at_ms), None, None) if nth.is_none() && node.is_none() => Ok(Trigger::At { at_ms }),
            (Some(_), ..) => Err("a fault strikes either at a time (`at_ms`) or at a step (`step`, `phase`), not both".to_owned()),
            (None, Some(_), Some(_)) if nth == Some(0) => Err("`nth` counts from 1; write `nth = 1` for the first time".to_owned()),
            (None, Some(step), Some(phase)) => Ok(Trigger::Step { step, phase, nth: nth.unwrap_or(1), node }),
            (None, Some(_), None) => Err(format!("a `step` needs its `phase`, before, sent or after; write {AT_A_STEP}")),
            (None, None, _) => Err(format!("when does it strike? write `at_ms = 0`, or {AT_A_STEP}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::FaultPlan;

    /// Reads a plan whose first fault has these lines, which must be refused; the error has to name the line.
    fn refused(harm: &str, when: &str, line: usize) -> String {
        let text = format!("[[fault]]\nharm = {harm}\nwhen = {when}\n");
        let error = toml::from_str::<FaultPlan>(&text).expect_err("must be refused").to_string();
        assert!(error.contains(&format!("line {line},")), "no line {line} in: {error}");
        error
    }

    const CRASH: &str = r#"{ kind = "crash", host = "n0", back_after = "5m" }"#;
    const START: &str = "{ at_ms = 0 }";

    #[test]
    fn a_good_plan_is_read() {
        let text = format!("[[fault]]\nharm = {CRASH}\nwhen = {{ step = \"work.1\", phase = \"after\", nth = 2, node = \"n1\" }}\n");
        let plan: FaultPlan = toml::from_str(&text).expect("a good plan");
        assert_eq!(toml::from_str::<FaultPlan>(&toml::to_string(&plan).expect("writes")).expect("reads"), plan);
    }

    #[test]
    fn an_unknown_key_is_named_with_those_there_are() {
        let error = refused(r#"{ kind = "crash", hots = "n0", back_after = "5m" }"#, START, 2);
        assert!(error.contains("unknown field `hots`") && error.contains("`host`"), "{error}");
        let error = refused(CRASH, r#"{ step = "work.1", fase = "after" }"#, 3);
        assert!(error.contains("unknown field `fase`") && error.contains("`phase`"), "{error}");
    }

    #[test]
    fn a_key_of_another_kind_is_named_with_what_to_write() {
        let error = refused(r#"{ kind = "crash", host = "n0", back_after = "5m", lasts = "5m" }"#, START, 2);
        assert!(error.contains(r#"kind `crash` has no `lasts`; write `kind = "crash", host = "self", back_after = "5m"`"#), "{error}");
    }

    #[test]
    fn what_happens_to_the_lease_store_has_no_host() {
        let error = refused(r#"{ kind = "lease-evict", host = "lease" }"#, START, 2);
        assert!(error.contains(r#"kind `lease-evict` has no `host`; write `kind = "lease-evict"`"#), "{error}");
        let error = refused(r#"{ kind = "lease-failover", back_after = "10s" }"#, START, 2);
        assert!(error.contains(r#"needs `lag`; write `kind = "lease-failover", lag = "1s", back_after = "10s"`"#), "{error}");
    }

    #[test]
    fn a_missing_key_is_named_with_what_to_write() {
        let error = refused(r#"{ kind = "pause", host = "n0" }"#, START, 2);
        assert!(error.contains("kind `pause` needs `lasts`; write"), "{error}");
    }

    #[test]
    fn a_wrong_value_says_what_to_write() {
        let error = refused(r#"{ kind = "explode" }"#, START, 2);
        assert!(error.contains("unknown variant `explode`") && error.contains("`crash`"), "{error}");
        let error = refused(r#"{ kind = "pause", host = "n0", lasts = 40 }"#, START, 2);
        assert!(error.contains(r#"expected a duration in quotes, for example "40m""#), "{error}");
        let error = refused(r#"{ kind = "pause", host = "n0", lasts = "40 parsecs" }"#, START, 2);
        assert!(error.contains("`40 parsecs` is not a duration; write for example `30s`"), "{error}");
        let error = refused(r#"{ kind = "pause", host = "moon", lasts = "40m" }"#, START, 2);
        assert!(error.contains("unknown host `moon`; write"), "{error}");
    }

    #[test]
    fn a_trigger_is_a_time_or_a_step() {
        assert!(refused(CRASH, r#"{ at_ms = 5, step = "work.1" }"#, 3).contains("not both"));
        assert!(refused(CRASH, r#"{ step = "work.1" }"#, 3).contains("needs its `phase`"));
        assert!(refused(CRASH, "{ }", 3).contains("when does it strike?"));
        assert!(refused(CRASH, r#"{ step = "work.1", phase = "after", nth = 0 }"#, 3).contains("counts from 1"));
        assert!(refused(CRASH, "{ at_ms = -5 }", 3).contains("-5"));
    }
}
