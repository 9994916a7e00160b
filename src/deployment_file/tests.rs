use super::*;
use crate::deployment_file::checks::Severity::{self, Danger, Note, Warning};
use crate::deployment_file::checks::checks;
use crate::scenario::{ClockKnobs, JobLengths, Misfire, PoolKnobs, Rules};
use crate::settlement::{Fold, Gap, Schedule};
use crate::time::Span;
use serde_json::Value;

mod pattern;

/// A good file.
fn good(text: &str) -> DeploymentFile {
    DeploymentFile::read("d.toml", text).unwrap_or_else(|mistakes| panic!("{text}\n{mistakes}"))
}

/// What a bad file is told.
fn bad(text: &str) -> String {
    match DeploymentFile::read("d.toml", text) {
        Ok(_) => panic!("this was read: {text}"),
        Err(mistakes) => mistakes.to_string(),
    }
}

#[test]
fn the_example_is_good_and_shows_every_key() {
    let file = good(EXAMPLE);
    assert_eq!((file.guard.name(), file.scenario.nodes, file.seeds), ("lease-watchdog", 3, SEEDS));
    assert_eq!(file.scenario.job_lengths, Some(JobLengths { p50: 2.minutes(), p95: 6.minutes(), p99: 15.minutes(), max: 25.minutes() }));
    assert_eq!(file.scenario.clocks, ClockKnobs { error: 500.ms(), drift_ppm: 200 });
    assert_eq!(file.classes, FaultClass::ALL);
    assert_eq!(checks(&file), []);
    for key in &keys::KEYS {
        let name = key.path.rsplit('.').next().unwrap();
        assert!(EXAMPLE.contains(&format!("{name} = ")) || EXAMPLE.contains(&format!("[{name}]")), "{} is not in the example", key.path);
    }
}

/// With every comment opened that is a key, it is still good, but for what excludes each other.
#[test]
fn what_is_commented_out_in_the_example_can_be_written() {
    let all = EXAMPLE.lines().map(|line| match line.strip_prefix("# ") {
        Some(inner) if inner.contains(" = ") && !inner.starts_with(['A', 'I']) => {
            let excluded = ["every", "profile", "at_least"].iter().any(|key| inner.starts_with(key));
            if excluded { line } else { inner }
        }
        Some(inner) if inner.starts_with('[') => inner,
        _ => line,
    });
    let text = all.collect::<Vec<_>>().join("\n").replace("\"lease-watchdog\"", "\"dual-guard\"").replace("ttl = \"30s\"", "ttl = \"90s\"");
    let file = good(&text);
    assert_eq!(file.classes, [FaultClass::Calm, FaultClass::Crash, FaultClass::Pause]);
    assert!(file.says("claim.heartbeat") && file.says("knobs"));
    assert_eq!((file.scenario.node.misfire.policy, file.policy()), (Misfire::FireOnce, Policy::RetryChecked));
    assert_eq!(file.scenario.database.pool, Some(PoolKnobs { sessions: 10, round_robin: true }));
    assert_eq!(file.scenario.known_to(1).guard.dual_lease, 80.seconds());
}

#[test]
fn terms_are_the_guards_own() {
    let of = |guard: &str| good(&format!("guard = \"{guard}\"\n[lease]\nttl = \"41m\"\n")).scenario.guard;
    assert_eq!(of("lease-set-px").lease, 41.minutes());
    assert_eq!(of("lease-machine-id").machine_lease, 41.minutes());
    assert_eq!(of("lease-setnx-expire").setnx_lease, 41.minutes());
    assert_eq!(of("lease-fenced").watchdog_lease, 41.minutes());
    assert_eq!(of("dual-published").lease, 41.minutes());
    assert_eq!(of("redlock").watchdog_lease, 41.minutes());
    let of = |guard: &str, rest: &str| good(&format!("guard = \"{guard}\"\n{rest}\n")).scenario;
    assert_eq!(of("consensus-lease", "[lease]\nttl = \"41m\"").log.lease, 41.minutes());
    assert_eq!(of("consensus-log", "[lease]\nrenew_every = \"41s\"").log.renew_every, 41.seconds());
    assert_eq!(of("slot-key", "[lease]\nttl = \"41m\"").slot_key.kept, 41.minutes());
    let row = of("lease-row", "[lease]\nttl = \"41m\"\nat_least = \"40m\"\nrenew_every = \"9m\"").lease_row;
    assert_eq!((row.at_most, row.at_least, row.keep_alive), (41.minutes(), 40.minutes(), 9.minutes()));
    let locked = of("row-lock", "[claim]\nheartbeat = \"20s\"\nstale_after = \"50s\"").row_lock;
    assert_eq!((locked.check_in, locked.dead_after), (20.seconds(), 50.seconds()));
    assert_eq!(of("queue-reliable", "[claim]\nstale_after = \"41m\"").queue.visibility, 41.minutes());
    // An election begins early enough for a lease to run out before the boundary, and whoever waits has the time for it.
    let leader = of("leader", "[lease]\nttl = \"41m\"");
    assert!(leader.leader.lasts == 41.minutes() && leader.leader.ahead > 41.minutes());
    let centre = of("dispatch-center", "[claim]\nstale_after = \"5h\"");
    assert!(centre.centre.timeout == 5.hours() && centre.node.attention > 7.hours() && centre.liveness_bound > 6.hours());
    let told = bad("guard = \"table-key\"\n[lease]\nttl = \"41m\"\n");
    assert!(told.contains("d.toml:3:7: table-key has no lease, so it has no `lease.ttl`"), "{told}");
    let told = bad("guard = \"lease-set-px\"\nlease = { renew_every = \"10s\" }\n");
    assert!(told.contains("lease-set-px never renews its lease"), "{told}");
    assert!(bad("guard = \"table-key\"\n[claim]\nheartbeat = \"1s\"\n").contains("table-key has no heartbeat"));
}

#[test]
fn keys_become_knobs() {
    let file = good(
        "guard = \"table-key\"\nnodes = 5\njob = \"90m\"\n[schedule]\nevery = \"12h\"\nperiods = 2\n[database]\nrules = \"mysql\"\n\
         [try]\nseed = \"18446744073709551615\"\nseeds = 7\nfaults = [\"pause\"]\n[knobs.node]\nstep_jitter = \"9ms\"\n",
    );
    assert_eq!((file.scenario.nodes, file.scenario.node.work, file.scenario.node.step_jitter), (5, 90.minutes(), 9.ms()));
    assert_eq!(file.scenario.schedule, Schedule::Interval { every: 12.hours(), periods: 2 });
    assert_eq!(file.scenario.database.rules, Rules::InnodbRepeatableRead);
    assert_eq!((file.seeds, file.seed, file.classes.as_slice()), (7, Seed(u64::MAX), &[FaultClass::Calm, FaultClass::Pause][..]));
    // A job of an hour and a half may take longer than two hours, with all that it may wait for.
    assert!(file.scenario.liveness_bound > 12.hours() && file.scenario.node.attention > 12.hours());
    let file = good("profile = \"redisson\"\n[lease]\nttl = \"1m\"\n");
    assert_eq!((file.guard.name(), file.scenario.guard.watchdog_lease), ("lease-watchdog-silent", 1.minutes()));
    let right = good("guard = \"table-key\"\n[clocks]\nerror = \"0s\"\ndrift_ppm = 0\n");
    assert!(!right.classes.contains(&FaultClass::Skew) && !right.classes.contains(&FaultClass::Drift), "nothing to try");
}

/// What a node does, when it is due in civil time, what stands before the database, and who is configured otherwise.
#[test]
fn nodes_and_servers_are_described() {
    let file = good(
        "guard = \"lease-set-px-checked\"\npolicy = \"retry\"\n[schedule]\ngap = \"skip\"\nfold = \"both\"\n[misfire]\npolicy = \"skip\"\n\
         grace = \"90s\"\n[retry]\noperator = \"30m\"\n[lease]\nkey_prefix = \"live:\"\n[database]\nreplica_lag = \"7s\"\n[database.pool]\nsessions = 4\n\
         [[override]]\nnode = 2\nzone = \"UTC\"\npolicy = \"skip\"\njob = \"9m\"\nretry = { poll = \"7s\" }\n[override.lease]\nttl = \"8m\"\nkey_prefix = \"test:\"\n\
         [[override]]\nnode = 0\nunscheduled = true\n",
    );
    let scenario = &file.scenario;
    assert_eq!((file.policy(), scenario.node.misfire.policy, scenario.node.misfire.grace), (Policy::Retry, Misfire::Skip, 90.seconds()));
    assert!(matches!(scenario.schedule, Schedule::Cron { gap: Gap::Skip, fold: Fold::Both, .. }));
    assert_eq!((scenario.guard.operator, scenario.guard.key_prefix.as_str()), (30.minutes(), "live:"));
    assert_eq!((scenario.database.replica_lag, scenario.database.pool), (7.seconds(), Some(PoolKnobs { sessions: 4, round_robin: false })));
    let other = scenario.known_to(2);
    assert_eq!((other.node.policy, other.node.work, other.node.poll), (Some(Policy::Skip), 9.minutes(), 7.seconds()));
    assert_eq!((other.guard.lease, other.guard.key_prefix.as_str()), (8.minutes(), "test:"));
    assert_eq!(scenario.overrides[0].zone.as_deref(), Some("UTC"));
    assert!(scenario.overrides[1].unscheduled && scenario.known_to(1) == *scenario);
    // The guard's own policy is no other one, and claims stay claims.
    assert!(good("guard = \"lease-set-px-checked\"\npolicy = \"retry-checked\"\n").scenario.is_claimed_for());
}

/// Types, bounds, names, and what stands where it must not: every mistake at once, each with its place.
#[test]
fn every_mistake_is_told_at_once() {
    let text = "guard = \"lease-wachdog\"\nnodes = 33\nnode = 3\nttl = \"30s\"\njob = 5\nplayers = \"many\"\n\
                [lease]\nttll = \"30s\"\nrenew_every = \"often\"\n[try]\nfaults = [\"crahs\", 7]\nseeds = 0\nseed = -1\n\
                [retry]\npoll = 1.5\n[knobs.guard]\nleese = \"1m\"\n";
    insta::assert_snapshot!(bad(text));
}

/// What is right by itself and wrong beside something else.
#[test]
fn what_contradicts_itself_is_told_in_the_files_own_words() {
    for (text, says) in [
        ("", "d.toml: nothing says which guard it is\n   = write for example `guard = \"lease-watchdog\"`"),
        ("guard = \"table-key\"\nprofile = \"redisson\"\n", "d.toml:1:9: `guard` stands beside `profile`"),
        (
            "guard = \"lease-watchdog\"\n[lease]\nttl = \"10s\"\nrenew_every = \"10s\"\n",
            "d.toml:4:15: `lease.renew_every` is 10s, but must be less than `lease.ttl` = 10s",
        ),
        (
            "guard = \"lease-watchdog\"\n[lease]\nttl = \"5s\"\n",
            "d.toml:3:7: `lease.renew_every` is 10s, but must be less than `lease.ttl` = 5s\n 3 | ttl = \"5s\"\n   |       ^^^^\n   = it is not in the file; write `lease.renew_every` too",
        ),
        (
            "guard = \"table-key\"\n[network]\nlatency_max = \"4s\"\n",
            "d.toml:3:15: `client.timeout` is 5s, but must be more than a round trip",
        ),
        ("guard = \"table-key\"\n[schedule]\ncron = \"every day\"\n", "d.toml:3:8: `every day` is not a cron expression"),
        ("guard = \"table-key\"\n[schedule]\nzone = \"Asia/Atlantis\"\n", "d.toml:3:8: unknown time zone `Asia/Atlantis`"),
        ("guard = \"table-key\"\n[schedule]\nfrom = \"tomorrow\"\n", "d.toml:3:8: `schedule.from` is not a local date and time"),
        (
            "guard = \"table-key\"\n[schedule]\nevery = \"1h\"\ncron = \"0 0 * * *\"\n",
            "d.toml:4:8: `schedule.cron` stands beside `schedule.every`",
        ),
        ("guard = \"table-key\"\n[job]\np50 = \"10m\"\np99 = \"5m\"\n", "d.toml:4:7: `job.p99` is 5m, but must be"),
        ("guard = \"table-key\"\n[job]\nmax = \"10m\"\n", "d.toml: `[job]` has no `p50`"),
        ("guard = \"table-key\"\njob = \"25h\"\n", "d.toml:2:7: `job` is longer than a day"),
        ("guard = \"table-key\"\n[try]\nfaults = [\"lease-cut\"]\n", "d.toml:3:11: lease-cut cannot strike table-key: "),
        (
            "guard = \"table-key\"\n[clocks]\nerror = \"0s\"\n[try]\nfaults = [\"skew\"]\n",
            "d.toml:5:11: there is nothing to try under skew",
        ),
        ("guard = \"table-key\"\n[knobs]\nstrategy = \"no-guard\"\n", "`knobs` has no `strategy`"),
        ("guard = \"table-key\"\nguard = \"table-key\"\n", "d.toml:2:1: "),
        ("guard = \"table-key\"\nnodes = \n", "d.toml:2:"),
        ("guard = [[[\n", "d.toml:"),
        (
            "guard = \"table-key\"\npolicy = \"always\"\n",
            "d.toml:2:10: unknown policy \"always\"\n 2 | policy = \"always\"\n   |          ^^^^^^^^\n   = write one of skip, retry, retry-checked",
        ),
        (
            "guard = \"table-key\"\n[misfire]\npolicy = \"skip\"\ngrace = \"5s\"\n",
            "d.toml:4:9: `misfire.grace` is 5s, but must be more than `retry.jitter` and `guard.wake_after`",
        ),
        ("guard = \"table-key\"\n[schedule]\nevery = \"1h\"\ngap = \"end\"\n", "d.toml:4:7: `schedule.gap` stands beside `schedule.every`"),
        (
            "guard = \"table-key\"\n[database]\npool = 3\n",
            "`database.pool` is a number, but must be a table\n 3 | pool = 3\n   |        ^\n   = write `[database.pool]`",
        ),
        ("guard = \"table-key\"\n[database.pool]\nround_robin = true\n", "d.toml:3:15: `[database.pool]` has no `sessions`"),
        (
            "guard = \"table-key\"\n[database.pool]\nsessions = 3\nround_robin = 1\n",
            "d.toml:4:15: `database.pool.round_robin` is a number, but must be true or false",
        ),
        ("guard = \"advisory-lock\"\n[database]\nrules = \"mysql\"\n", "d.toml:3:9: advisory-lock uses what only PostgreSQL has"),
        (
            "guard = \"lease-set-px\"\n[lease]\nat_least = \"1m\"\n",
            "d.toml:3:12: lease-set-px gives its lease back as soon as the job is over",
        ),
        ("guard = \"table-key\"\n[lease]\nkey_prefix = \"a\"\n", "d.toml:3:14: table-key keeps nothing in the lease store"),
        ("guard = \"lease-row\"\n[lease]\nttl = \"5m\"\n", "d.toml:3:7: `lease.at_least` is 10m, but must be at most `lease.ttl` = 5m"),
        ("guard = \"leader\"\n[lease]\nttl = \"5s\"\n", "d.toml:3:7: `lease.renew_every` is 10s, but must be less than `lease.ttl` = 5s"),
        ("guard = \"table-key\"\n[override]\nnode = 1\n", "d.toml:2:1: `override` is a table, but must be a list of tables\n"),
        ("guard = \"table-key\"\noverride = [3]\n", "d.toml:2:13: `override` holds a number, but must hold tables"),
        ("guard = \"table-key\"\n[[override]]\nzone = \"UTC\"\n", "d.toml:2:1: `[[override]]` does not say which node it is about"),
        ("guard = \"table-key\"\n[[override]]\nnode = 3\n", "d.toml:3:8: n3: `node` is 3, but must be 0 to 2"),
        ("guard = \"table-key\"\n[[override]]\nnode = 1\nzone = \"Asia/Atlantis\"\n", "d.toml:4:8: n1: unknown time zone `Asia/Atlantis`"),
        (
            "guard = \"table-key\"\n[schedule]\nevery = \"1h\"\n[[override]]\nnode = 1\ncron = \"0 0 * * *\"\n",
            "d.toml:6:8: n1: `cron` is `0 0 * * *`, but must be left out",
        ),
        (
            "guard = \"table-key\"\n[[override]]\nnode = 1\n[[override]]\nnode = 1\n",
            "d.toml:5:8: n1: `node` is 1, but must be in one override only",
        ),
        (
            "guard = \"dual-guard\"\n[[override]]\nnode = 1\nlease = { ttl = \"20s\" }\n",
            "d.toml:4:17: n1: `lease.renew_every` is 30s, but must be less than `lease.ttl` = 20s",
        ),
        (
            "guard = \"leader\"\n[[override]]\nnode = 1\nlease = { ttl = \"20s\" }\n",
            "d.toml:4:17: `lease.ttl` of leader is the same on all nodes",
        ),
        (
            "guard = \"lease-set-px\"\n[[override]]\nnode = 1\nttl = \"20s\"\n",
            "d.toml:4:1: `[[override]]` has no `ttl`\n 4 | ttl = \"20s\"\n   | ^^^\n   = `ttl` belongs below `[override.lease]`",
        ),
    ] {
        let told = bad(text);
        assert!(told.contains(says), "{text}\nsays {told}\nand not {says}");
    }
}

/// Each with its numbers and the line; the same file with the cure has nothing to say.
#[test]
fn a_file_is_told_what_it_says_about_itself() {
    let said = |text: &str| -> Vec<(&'static str, Severity, Option<usize>)> {
        checks(&good(text)).into_iter().map(|check| (check.name, check.severity, check.place.map(|place| place.line))).collect()
    };
    for (text, expected) in [
        ("guard = \"lease-watchdog\"\n[lease]\nttl = \"30s\"\nrenew_every = \"15s\"\n", &[("renewal-margin", Warning, Some(4))][..]),
        (
            "guard = \"lease-watchdog\"\n[lease]\nttl = \"14s\"\nrenew_every = \"6s\"\n[client]\ntimeout = \"8s\"\n",
            &[("renewal-timeout", Warning, Some(6))],
        ),
        (
            "guard = \"lease-set-px-checked\"\njob = { p50 = \"2m\", p99 = \"45m\" }\n[lease]\nttl = \"30m\"\n",
            &[("job-outlives-lease", Danger, Some(4))],
        ),
        ("guard = \"dual-published\"\njob = \"45m\"\n", &[("job-outlives-lease", Danger, None)]),
        ("guard = \"lease-set-px\"\n[clocks]\nerror = \"1m\"\n", &[("clock-error", Danger, Some(3))]),
        ("guard = \"table-key-published\"\n[clocks]\nerror = \"2m\"\n", &[("clock-too-fast", Danger, Some(3))]),
        (
            "guard = \"lease-set-px-checked\"\nsettle_within = \"2h\"\n[lease]\nttl = \"4h\"\n[retry]\nattention = \"3h\"\n",
            &[("lease-outlasts-bound", Danger, Some(4)), ("nobody-asks-again", Danger, Some(6))],
        ),
        ("guard = \"version-reclaim\"\n[claim]\nheartbeat = \"1m\"\nstale_after = \"2m\"\n", &[("heartbeat-margin", Warning, Some(4))]),
        (
            "guard = \"table-key\"\n[database]\nlock_timeout = \"6s\"\nidle_in_transaction_timeout = \"5s\"\n",
            &[("idle-below-statement", Danger, Some(4)), ("lock-outlasts-client", Warning, Some(3))],
        ),
        (
            "guard = \"table-key\"\njob = \"2h\"\nsettle_within = \"1h\"\n[schedule]\nevery = \"90m\"\n",
            &[("job-outlasts-bound", Danger, Some(3)), ("job-outlasts-period", Warning, Some(5))],
        ),
        (
            "guard = \"table-key\"\n[misfire]\npolicy = \"skip\"\ngrace = \"66s\"\n[retry]\npoll = \"5m\"\n",
            &[("misfire-grace", Warning, Some(4)), ("missed-for-good", Note, Some(3))],
        ),
        (
            "guard = \"table-key\"\n[misfire]\npolicy = \"fire-once\"\ngrace = \"66s\"\n[retry]\npoll = \"61s\"\n",
            &[("misfire-grace", Note, Some(4))],
        ),
        ("guard = \"table-key\"\n[misfire]\ngrace = \"66s\"\n", &[("grace-unused", Note, Some(3))]),
        ("guard = \"table-key\"\npolicy = \"skip\"\n", &[("one-attempt", Warning, Some(2))]),
        ("guard = \"lease-watchdog\"\n[database]\nreplica_lag = \"5s\"\n", &[("stale-look", Danger, Some(3))]),
        ("guard = \"table-key\"\n[database]\nreplica_lag = \"5s\"\n", &[("stale-look", Note, Some(3))]),
        ("guard = \"lease-set-px\"\n[database]\nreplica_lag = \"5s\"\n[clocks]\nerror = \"1s\"\n", &[]),
        ("guard = \"advisory-lock\"\n[database.pool]\nsessions = 2\n", &[("session-lock-in-a-pool", Danger, Some(3))]),
        ("guard = \"lease-watchdog\"\n[[override]]\nnode = 1\nzone = \"Asia/Tokyo\"\n", &[("zones-differ", Danger, Some(4))]),
        ("guard = \"table-key\"\n[[override]]\nnode = 1\nzone = \"Asia/Tokyo\"\n", &[("zones-differ", Note, Some(4))]),
        ("guard = \"table-key\"\n[[override]]\nnode = 1\nzone = \"Asia/Shanghai\"\n", &[]),
        ("guard = \"table-key\"\n[[override]]\nnode = 1\nunscheduled = true\n", &[("unscheduled-node", Note, Some(4))]),
        ("guard = \"lease-watchdog\"\n[[override]]\nnode = 1\nelsewhere = true\n", &[("shared-keys", Danger, Some(4))]),
        ("guard = \"lease-watchdog\"\n[[override]]\nnode = 1\nelsewhere = true\nlease = { key_prefix = \"b\" }\n", &[]),
        ("guard = \"dispatch-center\"\njob = \"20m\"\n", &[("job-outlives-timeout", Danger, None)]),
        ("guard = \"queue-reliable\"\njob = \"20m\"\n", &[("job-outlives-timeout", Note, None)]),
        ("profile = \"quartz\"\n", &[("heartbeat-margin", Warning, None)]),
        ("profile = \"xxl-job\"\n", &[]),
        ("profile = \"shedlock\"\n", &[]),
        ("profile = \"shedlock\"\njob = \"4s\"\n", &[("clock-error", Danger, None)]),
        ("profile = \"shedlock-db-time\"\n[lease]\nat_least = \"3m\"\n", &[("clock-error", Danger, None)]),
        ("guard = \"lease-row\"\n", &[]),
        (
            "guard = \"lease-set-px-checked\"\n[lease]\nttl = \"10m\"\n[[override]]\nnode = 1\njob = \"20m\"\n",
            &[("job-outlives-lease", Danger, Some(3))],
        ),
        (
            "guard = \"lease-watchdog\"\n[lease]\nttl = \"30s\"\n[[override]]\nnode = 1\nlease = { renew_every = \"29s\" }\n",
            &[("renewal-margin", Warning, Some(6))],
        ),
        ("guard = \"lease-set-px-checked\"\njob = \"10m\"\n[lease]\nttl = \"10m\"\n", &[("job-outlives-lease", Danger, Some(4))]),
        ("guard = \"lease-set-px-checked\"\njob = \"599s\"\n[lease]\nttl = \"10m\"\n", &[]),
        ("profile = \"shedlock\"\n[clocks]\nerror = \"11m\"\n", &[("clocks-outrun-lease", Danger, Some(3))]),
        ("guard = \"lease-row\"\n[clocks]\nerror = \"24h\"\n", &[("clocks-outrun-lease", Danger, Some(3))]),
        (
            "profile = \"shedlock\"\n[schedule]\nevery = \"30m\"\n[lease]\nat_least = \"30m\"\nttl = \"31m\"\n",
            &[("lease-outlasts-period", Danger, Some(5))],
        ),
        (
            "guard = \"version-reclaim-unfenced\"\n[[override]]\nnode = 1\nclaim = { heartbeat = \"4m\", stale_after = \"20m\" }\n",
            &[("claim-thresholds-differ", Danger, Some(4))],
        ),
        // Constants that no node has of its own cannot differ.
        ("profile = \"quartz\"\n[[override]]\nnode = 1\nretry.poll = \"50s\"\n", &[("heartbeat-margin", Warning, None)]),
        ("guard = \"dispatch-center\"\n[[override]]\nnode = 1\njob = \"20m\"\n", &[("job-outlives-timeout", Danger, None)]),
        ("guard = \"lease-row\"\njob = \"45m\"\n", &[("job-outlives-lease", Danger, None)]),
        ("guard = \"lease-row\"\njob = \"45m\"\n[lease]\nrenew_every = \"9m\"\n", &[]),
        ("guard = \"slot-key\"\n", &[]),
        ("guard = \"slot-key\"\n[clocks]\nerror = \"31m\"\n", &[("clock-error", Danger, Some(3))]),
        ("guard = \"redlock\"\n[lease]\nrenew_every = \"15s\"\n", &[("renewal-margin", Warning, Some(3))]),
        ("guard = \"table-key\"\nnodes = 1\n", &[("one-node", Note, Some(2))]),
        ("guard = \"table-key\"\n", &[]),
        ("guard = \"lease-set-px\"\n[clocks]\nerror = \"59s\"\n", &[]),
    ] {
        assert_eq!(said(text), expected, "{text}");
    }
    let setnx = said("guard = \"lease-setnx-expire\"\n[clocks]\nerror = \"1s\"\n");
    assert!(setnx.contains(&("lease-without-expiry", Danger, Some(1))), "{setnx:?}");
}

/// What cannot be a calendar is refused where it stands.
#[test]
fn a_calendar_that_cannot_be_is_refused_at_its_place() {
    for (text, said) in [
        (
            "guard = \"table-key\"\n[schedule]\nzone = \"UTC+8\"\n",
            "d.toml:3:8: the time zone `UTC+8` is neither an IANA name nor an offset",
        ),
        ("guard = \"table-key\"\n[schedule]\nzone = \"+25:00\"\n", "d.toml:3:8: the offset `+25:00` is farther from UTC than 14 hours"),
        (
            "guard = \"table-key\"\n[schedule]\ncron = \"0 12 * * *\"\nzone = \"Pacific/Apia\"\nfrom = \"2011-12-29T00:00:00\"\nperiods = 4\ngap = \"shift\"\n",
            "d.toml:7:7: the periods 2011-12-30 and 2011-12-31 of the cron expression `0 12 * * *` end at the same instant",
        ),
        (
            "guard = \"table-key\"\n[schedule]\ncron = \"30 2 * * *\"\nzone = \"America/New_York\"\nfrom = \"2026-03-08T02:10:00\"\n",
            "d.toml:5:8: the period 2026-03-08 of the cron expression `30 2 * * *` ends before the run begins",
        ),
    ] {
        let told = bad(text);
        assert!(told.contains(said), "{told}");
    }
}

/// A file with the hint of each of its mistakes in the place of what is wrong; `None` if a mistake has no such hint.
fn hinted(text: &str) -> Option<String> {
    let mut table: toml::Table = toml::from_str(text).unwrap();
    let mistakes = DeploymentFile::read("d.toml", text).map(|_| ()).unwrap_err();
    for mistake in &mistakes.all {
        let hint = mistake.cure.split("for example `").nth(1)?.split('`').next()?;
        let (_, value) = hint.split_once(" = ")?;
        let value = toml::from_str::<toml::Table>(&format!("x = {value}")).unwrap()["x"].clone();
        let about = mistake.what.split_once(": ").filter(|(node, _)| node.len() < 4 && node.starts_with('n'));
        let said = about.map_or(mistake.what.as_str(), |(_, said)| said);
        let path = said.trim_start_matches('`').split('`').next()?;
        let own = said != mistake.what;
        let at = if own { table["override"][0].as_table_mut().unwrap() } else { &mut table };
        let (key, groups) = path.split('.').collect::<Vec<_>>().split_last().map(|(key, groups)| (*key, groups.to_vec()))?;
        let into = groups.into_iter().fold(at, |at, group| {
            let inner = at.entry(group).or_insert_with(|| toml::Table::new().into());
            inner.as_table_mut().unwrap_or_else(|| panic!("{text}\n{mistakes}"))
        });
        into.insert(key.to_owned(), value);
    }
    Some(toml::to_string(&table).unwrap())
}

/// Whatever is out of bounds by itself or beside its neighbours is told a value with which the file is accepted.
#[test]
fn every_hint_is_accepted() {
    let guards = [
        "table-key",
        "lease-watchdog",
        "lease-set-px",
        "dual-guard",
        "version-reclaim",
        "lease-row",
        "leader",
        "consensus-lease",
        "slot-key",
    ];
    let guards = guards.into_iter().chain(["row-lock", "dispatch-center", "queue-reliable"]);
    let values = ["0s", "1ms", "50ms", "5s", "10m", "1h", "25h", "8784h", "9999h"];
    let mut refused = 0;
    let mut hold = |text: &str| {
        if DeploymentFile::read("d.toml", text).is_ok() {
            return;
        }
        let told = bad(text);
        if told.contains(", so it has no `") || told.contains("is the same on all nodes") {
            return;
        }
        let hinted = hinted(text).unwrap_or_else(|| panic!("{text}\nhas no hint: {told}"));
        refused += 1;
        if let Err(still) = DeploymentFile::read("d.toml", &hinted) {
            panic!("{text}\nis told {told}\nand then {still}");
        }
    };
    for guard in guards {
        let lengths = keys::KEYS.iter().filter(|key| key.kind == keys::Kind::Length && key.path != "schedule.every");
        for key in lengths {
            for value in values {
                let own = key.path.strip_prefix("override.").map(|own| format!("[[override]]\nnode = 1\n{own} = \"{value}\"\n"));
                // What `[job]` says, it says of its median first.
                let job = if key.path.starts_with("job.") && key.path != "job.p50" { "job.p50 = \"2m\"\n" } else { "" };
                hold(&own.map_or_else(
                    || format!("guard = \"{guard}\"\n{job}{} = \"{value}\"\n", key.path),
                    |own| format!("guard = \"{guard}\"\n{own}"),
                ));
            }
        }
    }
    for text in [
        "[network]\nlatency_min = \"60ms\"\nlatency_max = \"50ms\"\n",
        "[misfire]\npolicy = \"skip\"\ngrace = \"2m\"\n[retry]\njitter = \"10m\"\n",
        "[job]\np50 = \"20m\"\np95 = \"5m\"\n",
        "[job]\np50 = \"20m\"\np95 = \"5m\"\np99 = \"6m\"\nmax = \"7m\"\n",
        "[schedule]\nevery = \"0s\"\n",
        "[retry]\nbackoff = \"1h\"\nbackoff_max = \"1m\"\n",
        "[retry]\npoll = \"40m\"\nattention = \"30m\"\n",
        "nodes = 1\n",
        "[[override]]\nnode = 3\n",
    ] {
        let text = format!("guard = \"table-key\"\n{text}");
        hold(&text);
    }
    assert!(refused > 300, "only {refused} were refused");
}

/// What was not written is not wrong, what can only be taken away is not told to be written, and who is to blame is told so.
#[test]
fn whoever_is_to_blame_is_told() {
    good("guard = \"lease-set-px\"\n[lease]\nttl = \"8784h\"\n");
    for (text, says, never) in [
        (
            "[schedule]\ncron = \"0 0 29 2 *\"\nperiods = 1000\n",
            "d.toml:4:11: the cron expression `0 0 29 2 *` has no more than",
            "no boundary after",
        ),
        ("[schedule]\nevery = \"1h\"\n[[override]]\nnode = 1\ncron = \"0 0 * * *\"\n", "= take the line away", "turmoil"),
        ("[network]\nlatency_min = \"1m\"\n", "must be 1m\n", "1m to 1m"),
        ("[knobs]\nstrateg = \"no-guard\"\n", "unknown field `strateg`", "`strategy`"),
        (
            "[retry]\noperator = \"1ms\"\n",
            "d.toml:3:12: `retry.operator` is 1ms, but must be 0s for nobody, or at least 1m",
            "`guard.operator`",
        ),
        (
            "nodes = 2\n[[override]]\nnode = 0\nunscheduled = true\n[[override]]\nnode = 1\nunscheduled = true\n",
            "d.toml:8:15: no node knows the schedule",
            "panicked",
        ),
        ("nodes = 1\n[[override]]\nnode = 0\n[[override]]\nnode = 0\n", "in one override only", "write for example"),
        ("[[override]]\nnode = 3\n", "write for example `node = 2`", "node = 1"),
    ] {
        let told = bad(&format!("guard = \"table-key\"\n{text}"));
        assert!(told.contains(says) && !told.contains(never), "{told}");
    }
    let cron = "guard = \"table-key\"\n[schedule]\ncron = \"0 0 29 2 *\"\nperiods = ";
    let told = bad(&format!("{cron}1000\n"));
    let most: u32 = told.split("write `periods = ").nth(1).unwrap().split('`').next().unwrap().parse().unwrap();
    good(&format!("{cron}{most}\n"));
    bad(&format!("{cron}{}\n", most + 1));
}

/// What the parser takes, the schema takes; what is wrong by itself, neither takes.
#[test]
fn the_schema_is_held_to_the_parser() {
    let schema = schema::schema();
    let takes = |text: &str| valid(&schema, &serde_json::to_value(toml::from_str::<toml::Table>(text).unwrap()).unwrap());
    for text in [
        EXAMPLE,
        "guard = \"table-key\"\njob = \"2m\"\n[try]\nseed = \"18446744073709551615\"\nfaults = [\"crash\"]\n",
        "guard = \"dual-guard\"\njob = { p50 = \"1m\" }\n[knobs.node]\nstep_jitter = \"1ms\"\n[database]\nrules = \"mysql\"\n",
    ] {
        good(text);
        assert!(takes(text), "{text}");
    }
    for text in [
        "profile = \"quartz\"\n[misfire]\npolicy = \"skip\"\n",
        "guard = \"table-key\"\ndatabase = { pool = { sessions = 3, round_robin = true } }\n[[override]]\nnode = 1\nunscheduled = true\nclaim = {}\n",
    ] {
        good(text);
        assert!(takes(text), "{text}");
    }
    for text in [
        "nodes = 3\n",
        "guard = \"table-key\"\npolicy = \"always\"\n",
        "guard = \"table-key\"\noverride = 3\n",
        "guard = \"table-key\"\noverride = [3]\n",
        "guard = \"table-key\"\n[[override]]\nunscheduled = true\n",
        "guard = \"table-key\"\n[[override]]\nnode = 1\nunscheduled = 1\n",
        "guard = \"table-key\"\n[[override]]\nnode = 1\nnodes = 1\n",
        "guard = \"table-key\"\n[database.pool]\nround_robin = true\n",
        "guard = \"no-such\"\n",
        "guard = \"table-key\"\nnodes = 33\n",
        "guard = \"table-key\"\nnodes = \"3\"\n",
        "guard = \"table-key\"\nnods = 3\n",
        "guard = \"table-key\"\njob = 5\n",
        "guard = \"table-key\"\njob = \"soon\"\n",
        "guard = \"table-key\"\njob = { max = \"5m\" }\n",
        "guard = \"table-key\"\njob = { p50 = \"5m\", p90 = \"5m\" }\n",
        "guard = \"table-key\"\n[retry]\npol = \"1m\"\n",
        "guard = \"table-key\"\n[retry]\npoll = \"-1m\"\n",
        "guard = \"table-key\"\n[try]\nfaults = []\n",
        "guard = \"table-key\"\n[try]\nfaults = [\"crahs\"]\n",
        "guard = \"table-key\"\n[try]\nseed = -1\n",
        "guard = \"table-key\"\nknobs = 3\n",
        "guard = \"table-key\"\nlease = 3\n",
        "guard = \"lease-set-px\"\n[lease]\nttl = \"0s\"\n",
        "guard = \"table-key\"\n[schedule]\nevery = \"1h\"\ncron = \"0 0 1 * *\"\n",
        "guard = \"table-key\"\n[schedule]\nevery = \"1h\"\nzone = \"UTC\"\n",
        "guard = \"table-key\"\n[try]\nseeds = 1000000001\n",
    ] {
        bad(text);
        assert!(!takes(text), "{text}");
    }
}

/// A duration is one for editors if it is one for the parser.
#[test]
fn the_pattern_of_a_duration_is_what_the_parser_takes() {
    let schema = schema::schema();
    let takes = |text: &str| valid(&schema["properties"]["retry"]["properties"]["jitter"], &text.into());
    let mut wrong = Vec::new();
    for text in [
        "5m",
        "5 m",
        "+5m",
        "1h 30m",
        "1h30m",
        "1h, 30m",
        "1h,30m",
        "1h , 30m",
        "1.5h",
        "1,5h",
        "1h 1.5m",
        "1.5h 1m",
        "1h 1h",
        "1m 1h",
        "5 minutes",
        "1 hour, 30 mins",
        "250ms",
        "250 millis",
        "5us",
        "5µs",
        "5μs",
        "7ns",
        "1.5ns",
        "1m 1ms",
        "1s 1us 1ns",
        "01:02:03",
        "01:02:03.5",
        "1h 01:02:03",
        "1:2",
        "00:00:05",
        "5\tm",
        "5\nm",
        "1.1234567890s",
        "1.s",
        ".5s",
        "2m30",
        "2m 30",
        "5m ",
        "1.5h ",
        "5ns ",
        "01:02:03 ",
        "5m\u{a0}",
        "5m \n",
        " 5m",
        "5m,",
        "5m, ",
        "1d",
        "1w",
        "1 day",
        "5",
        "5M",
        "5H",
        "1e3s",
        "2m ago",
        "-5m",
        "--5m",
        "++5m",
        "m",
        "",
        "+",
        "soon",
        "5 parsecs",
        "1h and 5m",
        "PT5M",
        "P1D",
        "5m5",
        "5msms",
        "1hour30minutes",
        "1hourss",
        "1_000s",
        "٣s",
        "5\u{a0}m",
        "5mo",
        "1y",
        "1h\u{2003}1m",
    ] {
        let parsed = crate::plan::duration::parse(text).is_ok();
        if takes(text) != parsed {
            wrong.push((text, parsed));
        }
    }
    assert!(wrong.is_empty(), "the parser takes them, or not: {wrong:?}");
}

/// What the schema says must not be zero is refused with every guard.
#[test]
fn no_guard_takes_a_zero_that_the_schema_refuses() {
    for path in schema::NOT_ZERO {
        assert!(keys::find(path).is_some(), "{path}");
        for guard in keys::Names::Guards.all() {
            let text = match path.strip_prefix("override.") {
                Some(own) => format!("guard = \"{guard}\"\n[[override]]\nnode = 1\n{own} = \"0s\"\n"),
                None => format!("guard = \"{guard}\"\n{path} = \"0s\"\n"),
            };
            assert!(DeploymentFile::read("d.toml", &text).is_err(), "{text}");
        }
    }
}

/// So is a cron text, as far as the number of its fields goes.
#[test]
fn the_pattern_of_a_cron_text_counts_fields_as_the_parser_does() {
    let schema = schema::schema();
    let takes = |text: &str| valid(&schema["properties"]["schedule"]["properties"]["cron"], &text.into());
    for text in [
        "0 0 * * *",
        "0  0 * * *",
        "0\t0 1 * *",
        " 0 0 1 * *",
        "0 0 1 * * ",
        "0 0 1 * * *",
        "0 0 1 *",
        "",
        "0 0 1 * * * *",
        "@monthly",
        "@",
        "@monthly 0",
    ] {
        let parsed = crate::settlement::Schedule::Cron {
            cron: text.to_owned(),
            zone: "UTC".to_owned(),
            from: jiff::civil::date(2026, 1, 9).at(0, 0, 0, 0),
            periods: 2,
            gap: crate::settlement::Gap::End,
            fold: crate::settlement::Fold::First,
        };
        let parsed = parsed.calendar().is_ok();
        assert_eq!(takes(text), parsed, "{text:?}: the parser takes it: {parsed}");
    }
}

/// As much of JSON Schema as ours has.
fn valid(schema: &Value, value: &Value) -> bool {
    let is = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        other => panic!("unknown type {other}"),
    };
    schema.as_object().unwrap().iter().all(|(word, rule)| match word.as_str() {
        "type" => rule.as_str().map_or_else(|| rule.as_array().unwrap().iter().any(|one| is(one.as_str().unwrap())), is),
        "enum" => rule.as_array().unwrap().contains(value),
        "minimum" => value.as_f64().is_none_or(|n| n >= rule.as_f64().unwrap()),
        "maximum" => value.as_f64().is_none_or(|n| n <= rule.as_f64().unwrap()),
        "minItems" => value.as_array().is_none_or(|all| all.len() as u64 >= rule.as_u64().unwrap()),
        "items" => value.as_array().is_none_or(|all| all.iter().all(|one| valid(rule, one))),
        "oneOf" => rule.as_array().unwrap().iter().filter(|one| valid(one, value)).count() == 1,
        "required" => {
            value.as_object().is_none_or(|table| rule.as_array().unwrap().iter().all(|key| table.contains_key(key.as_str().unwrap())))
        }
        "properties" => {
            value.as_object().is_none_or(|table| table.iter().all(|(key, inner)| rule.get(key).is_none_or(|rule| valid(rule, inner))))
        }
        "additionalProperties" => value.as_object().is_none_or(|table| table.keys().all(|key| schema["properties"].get(key).is_some())),
        "pattern" => value.as_str().is_none_or(|text| pattern::matches(rule.as_str().unwrap(), text)),
        "not" => !valid(rule, value),
        "anyOf" => rule.as_array().unwrap().iter().any(|one| valid(one, value)),
        "$schema" | "title" | "description" | "examples" => true,
        other => panic!("unknown word {other}"),
    })
}
