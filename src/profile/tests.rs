use super::*;
use crate::scenario::GuardKnobs;
use crate::time::Span;

/// The knobs that a profile sets, by path.
fn set(table: &toml::Table, prefix: &str) -> Vec<String> {
    let each = |(key, value): (&String, &toml::Value)| match value {
        toml::Value::Table(inner) => set(inner, &format!("{prefix}{key}.")),
        _ => vec![format!("{prefix}{key}")],
    };
    table.iter().flat_map(each).collect()
}

/// Every file can be read, says what it should, and every constant that it sets says where it
/// comes from; nothing is documented that is not set. That each can be deployed is for `sims`.
#[test]
fn every_constant_says_where_it_comes_from() {
    for profile in all() {
        let name = &profile.name;
        profile.scenario().validate().unwrap_or_else(|wrong| panic!("{name}: {wrong:?}"));
        assert!(!profile.about.is_empty() && !profile.limits.is_empty(), "{name} says too little");
        assert!(profile.model.contains("our model of the documented mechanism"), "{name} must say that it is a model");
        for Documented { knob, says, url } in &profile.documented {
            assert!(url.starts_with("https://") && !says.is_empty(), "{name}: {knob} needs a public address, and what stands there");
            assert!(profile.sets(knob).is_some(), "{name} documents {knob} and does not set it");
        }
        for knob in set(&profile.knobs, "").iter().filter(|knob| *knob != "strategy") {
            assert!(profile.documented.iter().any(|d| d.knob == *knob), "{name} sets {knob} and does not say where it is documented");
        }
    }
}

#[test]
fn names_are_unique_and_found() {
    for profile in all() {
        assert_eq!(find(&profile.name), Some(profile));
    }
    assert_eq!(find("cron"), None);
}

/// What a deployment says itself wins over its profile; the rest of the profile stays.
#[test]
fn a_deployment_lays_its_own_knobs_over_its_profile() {
    let redisson = find("redisson").expect("there is one");
    let own =
        "nodes = 5\nguard.watchdog_lease = \"1m\"\nschedule = { kind = \"interval\", every = \"6h\", periods = 2 }".parse().expect("TOML");
    let scenario = redisson.with(&own).expect("three knobs");
    assert_eq!((scenario.strategy.as_str(), scenario.nodes), (redisson.strategy(), 5));
    assert_eq!(scenario.guard, GuardKnobs { watchdog_lease: 1.minutes(), ..redisson.scenario().guard });
    assert_eq!(redisson.sets("guard.renew_every").as_deref(), Some("\"10s\""));
    assert_eq!(redisson.sets("guard.lease"), None);

    let wrong = redisson.with(&"nods = 5".parse().expect("TOML")).expect_err("a knob that there is not");
    assert!(wrong.to_string().contains("unknown field `nods`"), "{wrong}");
}
