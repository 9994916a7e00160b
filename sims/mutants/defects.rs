//! The catalogue of defects: one small mistake each, as a programmer makes it on a bad day, in a
//! strategy that is right without it.

use super::bend::{Bend, Value, begin, commit, instead};
use super::waste::Measure;
use onceproof::class::FaultClass;
use onceproof::id::HostId;
use onceproof::plan::{Direction, FaultPlan, Harm, Target, Trigger};
use onceproof::scenario::Scenario;
use onceproof::settlement::Calendar;
use onceproof::store::sql::{aggregate, int, text};
use onceproof::strategy::{Context, Error, Pinned, pinned};
use onceproof::time::Span;
use onceproof::trace::Phase;
use std::cmp::Reverse;
use std::time::Duration;

/// The database's clock in the words of PostgreSQL.
const DATABASE_CLOCK: &str = "(extract(epoch from clock_timestamp()) * 1000)::bigint";

/// A mistake in a strategy.
pub struct Defect {
    /// The strategy, a dot, and a name.
    pub name: &'static str,
    /// The strategy that it spoils.
    pub of: &'static str,
    /// What a programmer did wrong.
    pub mistake: &'static str,
    /// How.
    pub bends: &'static [Bend],
    /// What becomes of it.
    pub fate: Fate,
}

/// What becomes of a defect.
pub enum Fate {
    /// A run shows a letter that its strategy never may; the hint names one.
    Killed(Hint),
    /// It breaks nothing, for what it spoils only saves work: under this plan it costs more than its strategy does.
    Wasteful(Measure, Pinned),
    /// What its strategy promises holds, and it costs no more, also under this plan, where it should show most: why.
    Equivalent(Pinned, &'static str),
}

/// A run that is known to kill.
#[derive(Clone, Copy)]
pub enum Hint {
    /// The how-manieth run of a class, from 0.
    Drawn(FaultClass, u64),
    /// What no single drawn fault has shown so far, or only rarely.
    Plan(Pinned),
}

const CALM: Hint = Hint::Drawn(FaultClass::Calm, 0);

/// Every defect, strategy by strategy.
pub static DEFECTS: &[Defect] = &[
    // table-key
    Defect {
        name: "table-key.marker-ignored",
        of: "table-key",
        mistake: "does not look at how many rows its marker inserted",
        bends: &[Bend::Count("tx.marker", 1)],
        fate: Fate::Equivalent(
            settled_before_an_earning_arrives,
            "a place in the ranking is a row of the outbox with an id of its own: whoever ranks anybody a second time cannot queue the payment, and is rolled back",
        ),
    },
    Defect {
        name: "table-key.marker-apart",
        of: "table-key",
        mistake: "commits its marker in a transaction of its own, before the effect",
        bends: &[Bend::Then("tx.marker", |context, _| {
            Box::pin(async {
                commit(context).await?;
                begin(context).await
            })
        })],
        fate: Fate::Killed(Hint::Drawn(FaultClass::Calm, 0)),
    },
    Defect {
        name: "table-key.own-clock",
        of: "table-key",
        mistake: "compares the end of the period with the node's clock instead of the database's",
        bends: &[Bend::Words("tx.due", |context, words| instead(words, DATABASE_CLOCK, &format!("{}::bigint", context.wall().0)))],
        fate: Fate::Killed(Hint::Drawn(FaultClass::Skew, 0)),
    },
    Defect {
        name: "table-key.five-minutes-early",
        of: "table-key",
        mistake: "gives the end of the period a tolerance of five minutes",
        bends: &[Bend::Words("tx.due", |_, words| instead(words, "* 1000)::bigint", "* 1000)::bigint + 300000"))],
        fate: Fate::Killed(Hint::Drawn(FaultClass::Skew, 0)),
    },
    Defect {
        name: "table-key.wakes-early",
        of: "table-key",
        mistake: "wakes ten minutes before the end of the period",
        bends: &[Bend::WakesEarly(Duration::from_mins(10))],
        fate: Fate::Wasteful(Measure::Requests, pinned::calm),
    },
    Defect {
        name: "table-key.points-reset",
        of: "table-key",
        mistake: "sets points to 0 instead of subtracting what was ranked",
        bends: &[Bend::Words("tx.points", |_, words| instead(words, "points - taken.column2", "taken.column2 - taken.column2"))],
        fate: Fate::Killed(CALM),
    },
    Defect {
        name: "table-key.boundary-included",
        of: "table-key",
        mistake: "counts what was earned exactly at the end (<= instead of <)",
        bends: &[Bend::Words("tx.mark", |_, words| instead(words, "at < $2", "at <= $2"))],
        fate: Fate::Killed(CALM),
    },
    Defect {
        name: "table-key.until-now",
        of: "table-key",
        mistake: "counts what was earned until now, not until the end of the period",
        bends: &[Bend::Params("tx.mark", |context, params| *params[1].number() = context.wall().0)],
        fate: Fate::Killed(CALM),
    },
    Defect {
        name: "table-key.marks-nothing",
        of: "table-key",
        mistake: "reads what it ranks and forgets to mark it",
        bends: &[Bend::Words("tx.mark", |_, _| {
            "SELECT player, amount FROM earnings WHERE at < $2 AND settled_in IS NULL AND $1 = $1".to_owned()
        })],
        fate: Fate::Killed(CALM),
    },
    Defect {
        name: "table-key.last-first",
        of: "table-key",
        mistake: "ranks in ascending order of points",
        bends: &[Bend::Params("tx.ranking", |_, params| ranked_by(params, |&(player, points)| (points, player)))],
        fate: Fate::Killed(CALM),
    },
    Defect {
        name: "table-key.ties-reversed",
        of: "table-key",
        mistake: "ranks players with as many points by descending number",
        bends: &[Bend::Params("tx.ranking", |_, params| ranked_by(params, |&(player, points)| (Reverse(points), Reverse(player))))],
        fate: Fate::Killed(CALM),
    },
    Defect {
        name: "table-key.new-key-each-try",
        of: "table-key",
        mistake: "makes a new idempotency key for each try of a payment",
        bends: &[Bend::Key(|context, key| Some(format!("{key}-{:x}", context.random())))],
        fate: Fate::Killed(Hint::Drawn(FaultClass::Power, 0)),
    },
    Defect {
        name: "table-key.no-key",
        of: "table-key",
        mistake: "sends payments without an idempotency key",
        bends: &[Bend::Key(|_, _| None)],
        fate: Fate::Killed(Hint::Drawn(FaultClass::ReplyLost, 1)),
    },
    Defect {
        name: "table-key.key-without-player",
        of: "table-key",
        mistake: "makes its idempotency keys of the period alone",
        bends: &[Bend::Key(|_, key| key.split('-').next().map(str::to_owned))],
        fate: Fate::Killed(CALM),
    },
    Defect {
        name: "table-key.sent-before-it-is-sent",
        of: "table-key",
        mistake: "marks a payment as delivered and delivers it then",
        bends: &[Bend::First("outbox.pay", |context, asked| {
            Box::pin(async move {
                let Value::Text(key) = &asked[1] else { panic!("a key is text") };
                context.sql().execute("outbox.sent", "UPDATE outbox SET sent = 1 WHERE key = $1", &[text(key)]).await.map(drop)
            })
        })],
        fate: Fate::Killed(Hint::Plan(crash_before_a_payment)),
    },
    Defect {
        name: "table-key.payment-error-swallowed",
        of: "table-key",
        mistake: "logs that a payment failed, and goes on to mark it as delivered",
        bends: &[Bend::PassedOver("outbox.pay")],
        fate: Fate::Killed(Hint::Plan(cut_from_the_payouts)),
    },
    Defect {
        name: "table-key.never-sent-again",
        of: "table-key",
        mistake: "delivers only what it has just decided, and never looks into the outbox",
        bends: &[Bend::Words("outbox.find", |_, words| instead(words, "sent = 0", "sent = 2"))],
        fate: Fate::Killed(Hint::Drawn(FaultClass::Power, 0)),
    },
    Defect {
        name: "table-key.outbox-after-commit",
        of: "table-key",
        mistake: "commits, and fills the outbox then",
        bends: &[Bend::First("tx.outbox", |context, _| Box::pin(commit(context)))],
        fate: Fate::Killed(Hint::Drawn(FaultClass::Power, 0)),
    },
    Defect {
        name: "table-key.paid-before-commit",
        of: "table-key",
        mistake: "delivers the outbox before the transaction is committed",
        bends: &[Bend::Then("tx.outbox", |context, queued| {
            Box::pin(async move {
                for row in queued.chunks(3) {
                    let [_, Value::Text(key), Value::Text(payload)] = row else { panic!("a row of the outbox has three columns") };
                    context.payout().pay("outbox.pay", payload, Some(key)).await?;
                }
                Ok(())
            })
        })],
        fate: Fate::Killed(CALM),
    },
    // lease-fenced
    Defect {
        name: "lease-fenced.fence-ignored",
        of: "lease-fenced",
        mistake: "accepts any token that is not newer than the fence",
        bends: &[Bend::Words("tx.fence", |_, words| instead(words, "token = $1", "token >= $1"))],
        fate: Fate::Killed(Hint::Plan(pause_before_the_work)),
    },
    Defect {
        name: "lease-fenced.settled-unchecked",
        of: "lease-fenced",
        mistake: "checks the token in its transaction, and not whether the period is settled",
        bends: &[Bend::Words("tx.fence", |_, words| {
            instead(words, "AND NOT EXISTS (SELECT 1 FROM settlement WHERE period = $2)", "AND $2 = $2")
        })],
        fate: Fate::Killed(Hint::Drawn(FaultClass::DbError, 4)),
    },
    Defect {
        name: "lease-fenced.fence-read-outside",
        of: "lease-fenced",
        mistake: "checks its token before the transaction, not inside of it",
        bends: &[
            Bend::First("tx.fence", |context, _| Box::pin(commit(context))),
            Bend::Then("tx.fence", |context, _| Box::pin(begin(context))),
        ],
        fate: Fate::Killed(Hint::Drawn(FaultClass::Pause, 15)),
    },
    Defect {
        name: "lease-fenced.fence-not-raised",
        of: "lease-fenced",
        mistake: "takes over with the token of its predecessor",
        bends: &[Bend::Words("fence.token", |_, words| instead(words, "token + 1", "token"))],
        fate: Fate::Killed(Hint::Plan(pause_before_the_work)),
    },
    Defect {
        name: "lease-fenced.token-read-again",
        of: "lease-fenced",
        mistake: "reads its token again just before it is checked",
        bends: &[Bend::Words("tx.fence", |_, words| {
            instead(words, "token = $1", "token = (SELECT max(token) FROM fence WHERE name = 'settlement' AND $1 = $1)")
        })],
        fate: Fate::Killed(Hint::Plan(pause_before_the_work)),
    },
    Defect {
        name: "lease-fenced.settlement-after-commit",
        of: "lease-fenced",
        mistake: "commits ranking and points, and says then that the period is settled",
        bends: &[Bend::First("tx.settlement", |context, _| Box::pin(commit(context)))],
        fate: Fate::Killed(CALM),
    },
    Defect {
        name: "lease-fenced.seconds-as-milliseconds",
        of: "lease-fenced",
        mistake: "passes the seconds of its lease where milliseconds are asked for",
        bends: &[Bend::Ttl("lease.acquire", |ttl| ttl / 1000), Bend::Ttl("lease.renew", |ttl| ttl / 1000)],
        fate: Fate::Killed(CALM),
    },
    Defect {
        name: "lease-fenced.milliseconds-as-seconds",
        of: "lease-fenced",
        mistake: "passes the milliseconds of its lease where seconds are asked for",
        bends: &[Bend::Ttl("lease.acquire", |ttl| ttl * 1000), Bend::Ttl("lease.renew", |ttl| ttl * 1000)],
        fate: Fate::Killed(Hint::Plan(pinned::crash_in_the_job)),
    },
    Defect {
        name: "lease-fenced.set-without-nx",
        of: "lease-fenced",
        mistake: "forgets NX when it sets its lease",
        bends: &[Bend::Overwritten("lease.acquire")],
        fate: Fate::Killed(CALM),
    },
    Defect {
        name: "lease-fenced.renewal-of-anybodys",
        of: "lease-fenced",
        mistake: "renews the lease without asking whose it is",
        bends: &[Bend::Anybodys("lease.renew")],
        fate: Fate::Wasteful(Measure::Requests, pinned::pause_into_the_next_job),
    },
    Defect {
        name: "lease-fenced.renewed-after-expiry",
        of: "lease-fenced",
        mistake: "renews by setting the lease anew, also when it has run out and is somebody else's",
        bends: &[Bend::Overwritten("lease.renew")],
        fate: Fate::Wasteful(Measure::Requests, pinned::pause_into_the_next_job),
    },
    Defect {
        name: "lease-fenced.loss-ignored",
        of: "lease-fenced",
        mistake: "works on when a renewal says that the lease is lost",
        bends: &[Bend::Believed("lease.renew")],
        fate: Fate::Wasteful(Measure::Overlaps, pinned::evicted_in_the_job),
    },
    Defect {
        name: "lease-fenced.release-of-anybodys",
        of: "lease-fenced",
        mistake: "releases the lease without asking whose it is",
        bends: &[Bend::Anybodys("lease.release")],
        fate: Fate::Wasteful(Measure::WastedJobs, pinned::pause_into_the_next_job),
    },
    Defect {
        name: "lease-fenced.same-owner",
        of: "lease-fenced",
        mistake: "writes the same owner into the lease in every process",
        bends: &[Bend::Owner("scheduling-1")],
        fate: Fate::Wasteful(Measure::WastedJobs, pinned::pause_into_the_next_job),
    },
    Defect {
        name: "lease-fenced.never-released",
        of: "lease-fenced",
        mistake: "never releases its lease",
        bends: &[Bend::Unasked("lease.release")],
        fate: Fate::Wasteful(Measure::Delay, pinned::commit_refused),
    },
    Defect {
        name: "lease-fenced.released-on-error-only",
        of: "lease-fenced",
        mistake: "releases its lease only when something went wrong",
        bends: &[Bend::UnaskedIf("lease.release", |context| Box::pin(has_settled(context)))],
        fate: Fate::Equivalent(
            pinned::job_error,
            "once a period is settled nobody asks for the lease again, and it runs out long before the next period ends",
        ),
    },
    Defect {
        name: "lease-fenced.job-error-swallowed",
        of: "lease-fenced",
        mistake: "settles although the job has failed",
        bends: &[Bend::JobPassedOver],
        fate: Fate::Killed(Hint::Plan(pinned::job_error)),
    },
    // version-reclaim
    Defect {
        name: "version-reclaim.fence-ignored",
        of: "version-reclaim",
        mistake: "does not look at how many rows its fence found",
        bends: &[Bend::Count("tx.done", 1)],
        fate: Fate::Killed(Hint::Drawn(FaultClass::Pause, 1)),
    },
    Defect {
        name: "version-reclaim.attempt-read-again",
        of: "version-reclaim",
        mistake: "reads the attempt number again just before it is the fence",
        bends: &[Bend::Words("tx.done", |_, words| {
            instead(words, "attempt = $2", "attempt = (SELECT t.attempt FROM task t WHERE t.period = $1 AND $2 = $2)")
        })],
        fate: Fate::Killed(Hint::Plan(pause_into_the_takeover_when_the_work_is_done)),
    },
    Defect {
        name: "version-reclaim.done-apart",
        of: "version-reclaim",
        mistake: "commits the settlement, and completes the task then",
        bends: &[Bend::First("tx.done", |context, _| Box::pin(commit(context)))],
        fate: Fate::Killed(Hint::Drawn(FaultClass::DbError, 0)),
    },
    Defect {
        name: "version-reclaim.attempt-not-raised",
        of: "version-reclaim",
        mistake: "takes a dead claim over under its old attempt number",
        bends: &[Bend::Words("task.claim", |_, words| {
            instead(words, "attempt = attempt + 1", "attempt = CASE WHEN attempt = 0 THEN 1 ELSE attempt END")
        })],
        fate: Fate::Killed(Hint::Plan(pause_into_the_takeover)),
    },
    Defect {
        name: "version-reclaim.no-heartbeat",
        of: "version-reclaim",
        mistake: "never writes a heartbeat",
        bends: &[Bend::Unasked("task.heartbeat")],
        fate: Fate::Wasteful(Measure::WastedJobs, pinned::slow_job),
    },
    Defect {
        name: "version-reclaim.stale-reversed",
        of: "version-reclaim",
        mistake: "takes claims over whose heartbeat is fresh, not those whose heartbeat is stale",
        bends: &[Bend::Words("task.claim", |_, words| instead(words, "status = 1 AND heartbeat < ", "status = 1 AND heartbeat > "))],
        fate: Fate::Killed(CALM),
    },
    Defect {
        name: "version-reclaim.stale-in-seconds",
        of: "version-reclaim",
        mistake: "compares milliseconds of heartbeat with seconds of patience",
        bends: &[Bend::Params("task.claim", |_, params| *params[2].number() /= 1000)],
        fate: Fate::Killed(CALM),
    },
    Defect {
        name: "version-reclaim.never-stale",
        of: "version-reclaim",
        mistake: "takes no dead claim over",
        bends: &[Bend::Words("task.claim", |_, words| instead(words, "status = 1 AND heartbeat", "status = 9 AND heartbeat"))],
        fate: Fate::Killed(Hint::Plan(pinned::crash_in_the_job)),
    },
    Defect {
        name: "version-reclaim.own-clock",
        of: "version-reclaim",
        mistake: "claims by the node's clock instead of the database's",
        bends: &[Bend::Words("task.claim", |context, words| words.replace(DATABASE_CLOCK, &format!("{}::bigint", context.wall().0)))],
        fate: Fate::Killed(Hint::Drawn(FaultClass::Swarm, 4)),
    },
    Defect {
        name: "version-reclaim.not-given-back",
        of: "version-reclaim",
        mistake: "does not give its claim back after an error",
        bends: &[Bend::Unasked("task.give-back")],
        fate: Fate::Wasteful(Measure::Delay, pinned::commit_refused),
    },
    Defect {
        name: "version-reclaim.given-back-unfenced",
        of: "version-reclaim",
        mistake: "gives its claim back after an error whoever has it by now, and whatever became of it",
        bends: &[Bend::Words("task.give-back", |_, words| instead(words, "AND attempt = $2 AND status = 1", "AND $2 = $2"))],
        fate: Fate::Killed(Hint::Drawn(FaultClass::Pause, 0)),
    },
    Defect {
        name: "version-reclaim.dead-letter-at-once",
        of: "version-reclaim",
        mistake: "gives a period up after its first job error",
        bends: &[Bend::Params("task.fail", |_, params| *params[2].number() = 4)],
        fate: Fate::Killed(Hint::Plan(pinned::job_error)),
    },
    Defect {
        name: "version-reclaim.backoff-in-seconds",
        of: "version-reclaim",
        mistake: "multiplies its backoff by a thousand, as if it were in seconds",
        bends: &[Bend::Params("task.fail", |_, params| *params[3].number() *= 1000)],
        fate: Fate::Killed(Hint::Plan(pinned::job_error)),
    },
    Defect {
        name: "version-reclaim.no-compensation",
        of: "version-reclaim",
        mistake: "leaves its claim as it is after a job error",
        bends: &[Bend::Unasked("task.fail")],
        fate: Fate::Wasteful(Measure::Delay, pinned::job_error),
    },
    // dual-guard
    Defect {
        name: "dual-guard.fence-ignored",
        of: "dual-guard",
        mistake: "does not look at how many rows its fence found: the lease decides",
        bends: &[Bend::Count("tx.done", 1)],
        fate: Fate::Killed(Hint::Plan(pause_and_cut_from_the_lease)),
    },
    Defect {
        name: "dual-guard.set-without-nx",
        of: "dual-guard",
        mistake: "forgets NX when it sets its lease",
        bends: &[Bend::Overwritten("lease.acquire")],
        fate: Fate::Killed(CALM),
    },
    Defect {
        name: "dual-guard.renewed-after-expiry",
        of: "dual-guard",
        mistake: "renews by setting the lease anew, also when it has run out and is somebody else's",
        bends: &[Bend::Overwritten("lease.renew")],
        fate: Fate::Equivalent(
            pause_into_the_takeover,
            "who is robbed of the lease robs it back at his next renewal, and meanwhile the claim keeps everybody else from working",
        ),
    },
    Defect {
        name: "dual-guard.renewal-of-anybodys",
        of: "dual-guard",
        mistake: "renews the lease without asking whose it is",
        bends: &[Bend::Anybodys("lease.renew")],
        fate: Fate::Equivalent(
            pause_into_the_takeover,
            "the heartbeat is as frequent as the renewal, and tells a worker that his claim has passed to somebody else; whose lease it extends until then keeps out nobody who could claim",
        ),
    },
    Defect {
        name: "dual-guard.release-of-anybodys",
        of: "dual-guard",
        mistake: "releases the lease without asking whose it is",
        bends: &[Bend::Anybodys("lease.release")],
        fate: Fate::Wasteful(Measure::WastedJobs, pause_into_the_takeover),
    },
    Defect {
        name: "dual-guard.never-released",
        of: "dual-guard",
        mistake: "never releases its lease",
        bends: &[Bend::Unasked("lease.release")],
        fate: Fate::Wasteful(Measure::Delay, pinned::commit_refused),
    },
    Defect {
        name: "dual-guard.loss-ignored",
        of: "dual-guard",
        mistake: "works on when a renewal, or a heartbeat, says that its guard is lost",
        bends: &[Bend::Believed("lease.renew"), Bend::Count("task.heartbeat", 1)],
        fate: Fate::Wasteful(Measure::Requests, pause_into_the_takeover),
    },
    Defect {
        name: "dual-guard.due-unchecked",
        of: "dual-guard",
        mistake: "settles without asking whether the period has ended",
        bends: &[
            Bend::Words("tx.due", |_, words| instead(words, DATABASE_CLOCK, "4102444800000::bigint")),
            Bend::Words("task.claim", |_, words| {
                instead(words, "due <= (extract(epoch from clock_timestamp()) * 1000)::bigint", "due = due")
            }),
        ],
        fate: Fate::Killed(Hint::Drawn(FaultClass::Skew, 0)),
    },
];

/// Ranking rows by another order: the players and points of the statement, with ranks from 1.
fn ranked_by<K: Ord>(params: &mut [Value], order: fn(&(i64, i64)) -> K) {
    let mut places: Vec<(i64, i64)> = params[1..].chunks_mut(3).map(|place| (*place[1].number(), *place[2].number())).collect();
    places.sort_unstable_by_key(order);
    for (place, (player, points)) in params[1..].chunks_mut(3).zip(places) {
        (*place[1].number(), *place[2].number()) = (player, points);
    }
}

/// Whether this attempt has settled its period.
async fn has_settled(context: &Context) -> Result<bool, Error> {
    const SETTLED: &str = "SELECT count(*) FROM settlement WHERE node = $1 AND attempt = $2";
    let (node, attempt) = (i64::from(context.attempt().node.0), i64::from(context.attempt().number));
    let rows = context.sql().query("settled.find", SETTLED, &[int(&node), int(&attempt)]).await?;
    Ok(aggregate(&rows)? > 0)
}

/// Nobody hears of what players earn in the last minutes before the end until three minutes after
/// it, and the first node takes ten minutes longer: it comes when the others have settled, and
/// when there is something left.
fn settled_before_an_earning_arrives(_: &Scenario, calendar: &Calendar) -> FaultPlan {
    let (traffic, database) = (Target::Host(HostId::Traffic), Target::Host(HostId::Database));
    let cut = Harm::Partition { host: traffic, from: database, direction: Direction::Both, lasts: 5.minutes() };
    let before = Trigger::At { at_ms: calendar.due(calendar.periods[0]) - 2.minutes() };
    let slow = Harm::SlowStep { extra: 10.minutes() };
    FaultPlan::of([cut.when(before), slow.when(Trigger::first("work.5", Phase::Before))])
}

/// Whoever pays first dies before its request leaves.
fn crash_before_a_payment(_: &Scenario, _: &Calendar) -> FaultPlan {
    let crash = Harm::Crash { host: Target::Self_, back_after: 5.minutes() };
    FaultPlan::of([crash.when(Trigger::first("outbox.pay", Phase::Before))])
}

/// Whoever pays first is cut from the payout service.
fn cut_from_the_payouts(_: &Scenario, _: &Calendar) -> FaultPlan {
    let harm = Harm::Partition { host: Target::Self_, from: Target::Peer, direction: Direction::Both, lasts: 40.minutes() };
    FaultPlan::of([harm.when(Trigger::first("outbox.pay", Phase::Before))])
}

/// Whoever is granted the lease first stops before it has anything else, and wakes while the next one is at work.
///
/// In seconds since its grant: its lease runs out at 30; the others poll at 60 to 66, and one of
/// them works from there to 186. The first takes its token at 110, and would commit at 230.
fn pause_before_the_work(_: &Scenario, _: &Calendar) -> FaultPlan {
    let pause = Harm::Pause { host: Target::Self_, lasts: 110.seconds() };
    FaultPlan::of([pause.when(Trigger::first("lease.acquire", Phase::After))])
}

/// Whoever works first stops for so long that its claim is taken over, and wakes while the next one is at work.
///
/// In seconds since its claim: its last heartbeat is at 30, stale at 330. The others poll every
/// 60, so one of them claims from 330 to 396 and works for 120. The first stops at 48, and wakes at 415.
fn pause_into_the_takeover(_: &Scenario, _: &Calendar) -> FaultPlan {
    let pause = Harm::Pause { host: Target::Self_, lasts: 367.seconds() };
    FaultPlan::of([pause.when(Trigger::first("work.3", Phase::Before))])
}

/// As [`pause_into_the_takeover`], but whoever stops has done its work: nobody tells it that its claim is lost.
///
/// In seconds since its claim: its last heartbeat is at 90, stale at 390. One of the others claims
/// from 390 to 456 and works for 120. The first stops at 120, wakes at 480, and commits at once.
fn pause_into_the_takeover_when_the_work_is_done(_: &Scenario, _: &Calendar) -> FaultPlan {
    let pause = Harm::Pause { host: Target::Self_, lasts: 360.seconds() };
    FaultPlan::of([pause.when(Trigger::first("tx.begin", Phase::Before))])
}

/// The first node stops when its work is done and its transaction has not begun; when it wakes, it
/// cannot ask the lease store whose the lease is by now.
fn pause_and_cut_from_the_lease(_: &Scenario, _: &Calendar) -> FaultPlan {
    let pause = Harm::Pause { host: Target::Self_, lasts: 40.minutes() };
    let cut = Harm::Partition { host: Target::Self_, from: Target::Host(HostId::Lease), direction: Direction::Both, lasts: 80.minutes() };
    FaultPlan::of([cut, pause].map(|harm| harm.when(Trigger::first("tx.begin", Phase::Before))))
}
