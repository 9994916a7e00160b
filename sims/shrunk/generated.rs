//! Tests as `onceproof shrink` writes them; `shrunk.rs` holds this file against what it writes now.

/// n1 set about 2026-01-10 at 00:00:02, n0 set about 2026-01-10 at 00:00:03, n1 settled 2026-01-10 at
/// 00:02:03, and n0 settled 2026-01-10 again.
#[test]
fn local_mutex_under_calm_breaks_settled_once() {
    use onceproof::explore::observe;
    use onceproof::world::{Deployment, EngineKind};
    use onceproof::{FaultClass, plan::FaultPlan, scenario::Scenario, seed::Seed};

    let scenario: Scenario = toml::from_str(
        r#"
earnings = 0
nodes = 2
players = 1
strategy = "local-mutex"

[schedule]
cron = "0 0 10,25 * *"
from = "2026-01-09T00:00:00"
kind = "cron"
periods = 1
zone = "Asia/Shanghai"
"#,
    )
    .expect("a scenario");
    let plan = FaultPlan::none();
    let deployment = Deployment::new(&scenario, EngineKind::Event).expect("it can be deployed");
    deployment.check_plan(&plan).expect("the plan can strike it");
    let seen = observe(&deployment, FaultClass::Calm, Seed(1), &plan).expect("it can be simulated");
    let broken: Vec<&str> = seen.findings.iter().map(|finding| finding.rule).collect();
    assert!(broken.contains(&"settled-once"), "settled-once holds; broken: {broken:?}");
}

/// traffic let player 1 earn 7 points (earning 2; 7 in all) on 2026-01-09 at 17:10:22, let player 1
/// earn 31 points (earning 1; 38 in all) at 20:38:09 and let player 1 earn 1 point (earning 3, after
/// 2026-01-10 had ended; 39 in all) at 00:00:00 that day, and n0 set about 2026-01-10 at 00:01:03 and
/// settled 2026-01-10 at 00:03:03; 2026-01-10 settled by n0 at 00:03:03: stored rank 1 player 1 with 39
/// points, should be rank 1 player 1 with 38 points.
#[test]
fn table_key_published_under_calm_breaks_ranking_right() {
    use onceproof::explore::observe;
    use onceproof::world::{Deployment, EngineKind};
    use onceproof::{FaultClass, plan::FaultPlan, scenario::Scenario, seed::Seed};

    let scenario: Scenario = toml::from_str(
        r#"
earnings = 3
nodes = 1
players = 1
strategy = "table-key-published"

[schedule]
cron = "0 0 10,25 * *"
from = "2026-01-09T00:00:00"
kind = "cron"
periods = 1
zone = "Asia/Shanghai"
"#,
    )
    .expect("a scenario");
    let plan = FaultPlan::none();
    let deployment = Deployment::new(&scenario, EngineKind::Event).expect("it can be deployed");
    deployment.check_plan(&plan).expect("the plan can strike it");
    let seen = observe(&deployment, FaultClass::Calm, Seed(1), &plan).expect("it can be simulated");
    let broken: Vec<&str> = seen.findings.iter().map(|finding| finding.rule).collect();
    assert!(broken.contains(&"ranking-right"), "ranking-right holds; broken: {broken:?}");
}

/// n0 got the lease without an expiry at 00:00:03 and crashed before `lease.expire`; the lease granted
/// to n0 at 00:00:03 never expires and is still held.
#[test]
fn lease_setnx_expire_under_crash_breaks_nothing_stuck() {
    use onceproof::explore::observe;
    use onceproof::world::{Deployment, EngineKind};
    use onceproof::{FaultClass, plan::FaultPlan, scenario::Scenario, seed::Seed};

    let scenario: Scenario = toml::from_str(
        r#"
earnings = 0
nodes = 1
players = 1
strategy = "lease-setnx-expire"

[schedule]
cron = "0 0 10,25 * *"
from = "2026-01-09T00:00:00"
kind = "cron"
periods = 1
zone = "Asia/Shanghai"
"#,
    )
    .expect("a scenario");
    let plan: FaultPlan = toml::from_str(
        r#"
[[fault]]
harm = { back_after = "1ms", host = "self", kind = "crash" }
when = { nth = 1, phase = "before", step = "lease.expire" }
"#,
    )
    .expect("a plan");
    let deployment = Deployment::new(&scenario, EngineKind::Event).expect("it can be deployed");
    deployment.check_plan(&plan).expect("the plan can strike it");
    let seen = observe(&deployment, FaultClass::Crash, Seed(1), &plan).expect("it can be simulated");
    let broken: Vec<&str> = seen.findings.iter().map(|finding| finding.rule).collect();
    assert!(broken.contains(&"nothing-stuck"), "nothing-stuck holds; broken: {broken:?}");
}

/// n1 got the lease for 30m at 00:00:03 and took 30m longer before `work.3` at 00:00:51, the lease of
/// n1 expired at 00:30:03, n0 got the lease for 30m at 00:30:06, n1 settled 2026-01-10 at 00:31:39, and
/// n0 settled 2026-01-10 again at 00:32:06.
#[test]
fn lease_set_px_checked_under_pause_breaks_settled_once() {
    use onceproof::explore::observe;
    use onceproof::world::{Deployment, EngineKind};
    use onceproof::{FaultClass, plan::FaultPlan, scenario::Scenario, seed::Seed};

    let scenario: Scenario = toml::from_str(
        r#"
earnings = 0
nodes = 2
players = 1
strategy = "lease-set-px-checked"

[schedule]
cron = "0 0 10,25 * *"
from = "2026-01-09T00:00:00"
kind = "cron"
periods = 1
zone = "Asia/Shanghai"
"#,
    )
    .expect("a scenario");
    let plan: FaultPlan = toml::from_str(
        r#"
[[fault]]
harm = { extra = "30m", kind = "slow-step" }
when = { nth = 1, phase = "before", step = "work.3" }
"#,
    )
    .expect("a plan");
    let deployment = Deployment::new(&scenario, EngineKind::Event).expect("it can be deployed");
    deployment.check_plan(&plan).expect("the plan can strike it");
    let seen = observe(&deployment, FaultClass::Pause, Seed(1), &plan).expect("it can be simulated");
    let broken: Vec<&str> = seen.findings.iter().map(|finding| finding.rule).collect();
    assert!(broken.contains(&"settled-once"), "settled-once holds; broken: {broken:?}");
}

/// n0 set about 2026-01-10 at 00:00:02 and claimed 2026-01-10, the reply of the database to n0 was
/// lost, and n0 failed to settle 2026-01-10 at 00:00:07; 2026-01-10 ended at 00:00:00 and had to be
/// settled by 02:00:02: never settled.
#[test]
fn version_published_under_reply_lost_breaks_settled_in_the_end() {
    use onceproof::explore::observe;
    use onceproof::world::{Deployment, EngineKind};
    use onceproof::{FaultClass, plan::FaultPlan, scenario::Scenario, seed::Seed};

    let scenario: Scenario = toml::from_str(
        r#"
earnings = 0
nodes = 1
players = 1
strategy = "version-published"

[schedule]
cron = "0 0 10,25 * *"
from = "2026-01-09T00:00:00"
kind = "cron"
periods = 1
zone = "Asia/Shanghai"
"#,
    )
    .expect("a scenario");
    let plan: FaultPlan = toml::from_str(
        r#"
[[fault]]
harm = { from = "db", host = "self", kind = "reply-lost" }
when = { nth = 1, phase = "sent", step = "task.claim" }
"#,
    )
    .expect("a plan");
    let deployment = Deployment::new(&scenario, EngineKind::Event).expect("it can be deployed");
    deployment.check_plan(&plan).expect("the plan can strike it");
    let seen = observe(&deployment, FaultClass::ReplyLost, Seed(1), &plan).expect("it can be simulated");
    let broken: Vec<&str> = seen.findings.iter().map(|finding| finding.rule).collect();
    assert!(broken.contains(&"settled-in-the-end"), "settled-in-the-end holds; broken: {broken:?}");
}

/// n1 got the lease for 30s at 00:00:03, the lease store lost the lease of n1 (last renewed at
/// 00:01:54) at 00:02:03, n1 took 500ms longer before `tx.begin`, n0 got the lease for 30s, n1 settled
/// 2026-01-10, and n0 settled 2026-01-10 again at 00:04:04.
#[test]
fn lease_watchdog_under_lease_loss_breaks_settled_once() {
    use onceproof::explore::observe;
    use onceproof::world::{Deployment, EngineKind};
    use onceproof::{FaultClass, plan::FaultPlan, scenario::Scenario, seed::Seed};

    let scenario: Scenario = toml::from_str(
        r#"
earnings = 0
nodes = 2
players = 1
strategy = "lease-watchdog"

[schedule]
cron = "0 0 10,25 * *"
from = "2026-01-09T00:00:00"
kind = "cron"
periods = 1
zone = "Asia/Shanghai"
"#,
    )
    .expect("a scenario");
    let plan: FaultPlan = toml::from_str(
        r#"
[[fault]]
harm = { kind = "lease-evict" }
when = { nth = 1, phase = "before", step = "tx.begin" }
[[fault]]
harm = { extra = "500ms", kind = "slow-step" }
when = { nth = 1, phase = "before", step = "tx.begin" }
"#,
    )
    .expect("a plan");
    let deployment = Deployment::new(&scenario, EngineKind::Event).expect("it can be deployed");
    deployment.check_plan(&plan).expect("the plan can strike it");
    let seen = observe(&deployment, FaultClass::LeaseLoss, Seed(1), &plan).expect("it can be simulated");
    let broken: Vec<&str> = seen.findings.iter().map(|finding| finding.rule).collect();
    assert!(broken.contains(&"settled-once"), "settled-once holds; broken: {broken:?}");
}
