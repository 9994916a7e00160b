//! What becomes of a granted lease when its server restarts, or a replica takes over: the same
//! two requests to a Redis of the test's own and to the simulated store with the fault for it.
//! One client is granted the lease; something happens; another asks for it.

#![expect(clippy::disallowed_methods, reason = "a real server keeps real time")]

use super::server::Server;
use crate::stage::{after, fault, one_period};
use onceproof::id::{HostId, NodeId};
use onceproof::plan::{FaultPlan, Harm, Target};
use onceproof::redis::Value;
use onceproof::seed::Seed;
use onceproof::time::Span;
use onceproof::trace::Event;
use onceproof::world::{Deployment, EngineKind, Run};
use onceproof::{Belief, Context, Error, Period, Policy, Step, Strategy, async_trait, redis, steps};
use std::cell::{Cell, RefCell};
use std::thread;

/// Nothing runs out meanwhile.
const LONG_MS: u64 = 60_000;

/// No snapshots, no append-only file.
const FORGETFUL: [&str; 4] = ["--save", "", "--appendonly", "no"];

/// Every write is on the disk before it is answered.
const KEEPING: [&str; 6] = ["--save", "", "--appendonly", "yes", "--appendfsync", "always"];

thread_local! {
    static ANSWERS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    static TTL_MS: Cell<u64> = const { Cell::new(LONG_MS) };
}

/// `SET lease … NX PX`, as it is sent.
fn take(client: &str, ttl_ms: u64) -> Vec<String> {
    ["SET", "lease", client, "NX", "PX", &ttl_ms.to_string()].map(str::to_owned).to_vec()
}

/// n0 takes the lease at once, n1 asks for it half a minute later.
struct AsksTwice;

#[async_trait(?Send)]
impl Strategy for AsksTwice {
    fn name(&self) -> &'static str {
        "asks-twice"
    }

    fn policy(&self) -> Policy {
        Policy::Skip
    }

    fn steps(&self) -> &'static [Step] {
        steps![Step::lease("grant"), Step::lease("again")]
    }

    async fn attempt(&self, context: &mut Context, _: Period) -> Result<Belief, Error> {
        let (step, words) = match context.attempt().node {
            NodeId(0) => ("grant", take("n0", TTL_MS.get())),
            NodeId(1) => {
                context.sleep(30.seconds()).await;
                ("again", take("n1", TTL_MS.get()))
            }
            NodeId(_) => return Ok(Belief::Busy),
        };
        let ask = async |mut client| redis::cmd(&words[0]).arg(&words[1..]).query_async::<Value>(&mut client).await;
        let answer = context.redis(step, ask).await?;
        ANSWERS.with_borrow_mut(|all| all.push(super::answer::text(Ok(answer))));
        Ok(Belief::Busy)
    }
}

/// The two answers of the simulated store.
fn simulated(ttl_ms: u64, plan: &FaultPlan) -> (Vec<String>, Run) {
    static ASKS: AsksTwice = AsksTwice;
    let deployment = Deployment::with_strategy(&one_period("any"), &ASKS, EngineKind::Event).expect("it is deployed well");
    deployment.check_plan(plan).expect("it can strike");
    ANSWERS.take();
    TTL_MS.set(ttl_ms);
    let run = deployment.run(Seed(5), plan).expect("it can be simulated");
    assert!(run.receipts.iter().all(|receipt| receipt.fired.is_some()), "nothing struck: nothing tested");
    (ANSWERS.take(), run)
}

fn lost(run: &Run) -> usize {
    run.trace.events().filter(|e| matches!(e, Event::LeaseLost { .. })).count()
}

/// The two answers of a server that restarts in between.
fn restarted(options: &[&str]) -> Vec<String> {
    let mut server = Server::start(options);
    let first = server.clients().ask(0, &take("n0", LONG_MS));
    server.restart();
    vec![first, server.clients().ask(1, &take("n1", LONG_MS))]
}

#[test]
fn a_restart_without_persistence_loses_the_lease() {
    if !Server::is_there("a_restart_without_persistence_loses_the_lease") {
        return;
    }
    let (answers, run) = simulated(LONG_MS, &fault(Harm::LeaseWipe { store: HostId::Lease, back_after: 2.seconds() }, after("grant")));
    let real = restarted(&FORGETFUL);
    assert_eq!((answers, lost(&run)), (real.clone(), 1));
    assert_eq!(real, ["OK", "OK"]);
}

#[test]
fn a_restart_with_an_append_only_file_keeps_it() {
    if !Server::is_there("a_restart_with_an_append_only_file_keeps_it") {
        return;
    }
    let restart = Harm::Crash { host: Target::Host(HostId::Lease), back_after: 2.seconds() };
    let (answers, run) = simulated(LONG_MS, &fault(restart, after("grant")));
    let real = restarted(&KEEPING);
    assert_eq!((answers, lost(&run)), (real.clone(), 0));
    assert_eq!(real, ["OK", "nil"]);
}

/// Time passes for a key while its server is down.
#[test]
fn a_lease_runs_out_while_its_server_is_down() {
    if !Server::is_there("a_lease_runs_out_while_its_server_is_down") {
        return;
    }
    let mut server = Server::start(&KEEPING);
    let first = server.clients().ask(0, &take("n0", 300));
    server.kill();
    thread::sleep(400.ms());
    server.restart();
    let real = vec![first, server.clients().ask(1, &take("n1", LONG_MS))];
    let restart = Harm::Crash { host: Target::Host(HostId::Lease), back_after: 22.seconds() };
    let (answers, run) = simulated(20_000, &fault(restart, after("grant")));
    assert_eq!(answers, real);
    assert_eq!(real, ["OK", "OK"]);
    assert!(run.trace.events().any(|e| matches!(e, Event::LeaseExpired { holder } if *holder == HostId::node(0))));
}

/// The two answers of a primary that dies in between, and of its replica that is promoted. One
/// that is out of touch when the lease is granted does not hear of it.
fn failed_over(in_touch: bool) -> Vec<String> {
    let mut primary = Server::start(&FORGETFUL);
    let replica = Server::start(&FORGETFUL);
    let follow = |port: u16| ["REPLICAOF", "127.0.0.1", &port.to_string()].map(str::to_owned).to_vec();
    let mut admin = replica.clients();
    assert_eq!(admin.ask(0, &follow(primary.port())), "OK");
    let info = ["INFO", "replication"].map(str::to_owned);
    replica.until("the replica is in touch", |redis| redis.ask(0, &info).contains("master_link_status:up"));
    if !in_touch {
        // A port on which nobody listens: the replica stays one, and hears nothing.
        assert_eq!(admin.ask(0, &follow(1)), "OK");
    }
    let mut clients = primary.clients();
    let first = clients.ask(0, &take("n0", LONG_MS));
    if in_touch {
        assert_eq!(clients.ask(0, &["WAIT", "1", "5000"].map(str::to_owned)), ":1");
    }
    primary.kill();
    assert_eq!(admin.ask(0, &["REPLICAOF", "NO", "ONE"].map(str::to_owned)), "OK");
    vec![first, replica.clients().ask(1, &take("n1", LONG_MS))]
}

#[test]
fn a_replica_that_missed_the_grant_grants_again() {
    if !Server::is_there("a_replica_that_missed_the_grant_grants_again") {
        return;
    }
    let failover = |lag| Harm::LeaseFailover { store: HostId::Lease, lag, back_after: 2.seconds() };
    let (missed, run) = simulated(LONG_MS, &fault(failover(5.seconds()), after("grant")));
    let real = failed_over(false);
    assert_eq!((missed, lost(&run)), (real.clone(), 1));
    assert_eq!(real, ["OK", "OK"]);
    // A replica one millisecond behind has seen what was answered: an answer takes as long.
    let (seen, run) = simulated(LONG_MS, &fault(failover(1.ms()), after("grant")));
    let real = failed_over(true);
    assert_eq!((seen, lost(&run)), (real.clone(), 0));
    assert_eq!(real, ["OK", "nil"]);
}
