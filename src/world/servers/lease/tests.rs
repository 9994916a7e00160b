//! The lease store as redis-rs sees it.

mod queues;

use super::*;
use crate::time::Span;
use crate::trace::Event;
use crate::world::servers::test_host::{Network, simulate};
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, ErrorKind, ProtocolVersion, RedisConnectionInfo, RedisResult, ServerErrorKind, cmd};

const N0: HostId = HostId::Node(crate::id::NodeId(0));
const N1: HostId = HostId::Node(crate::id::NodeId(1));

fn start(network: &Rc<Network>) -> (Rc<RefCell<LeaseStore>>, crate::host::Task) {
    let store = Rc::new(RefCell::new(LeaseStore::default()));
    (store.clone(), boot(network, &store))
}

fn boot(network: &Rc<Network>, store: &Rc<RefCell<LeaseStore>>) -> crate::host::Task {
    let host = network.host(HostId::Lease);
    host.spawn("lease", Box::pin(serve(host.clone(), store.clone())))
}

async fn client(network: &Rc<Network>, by: HostId) -> MultiplexedConnection {
    tokio::task::yield_now().await;
    let host = network.host(by);
    let stream = host.connect(HostId::Lease).await.expect("the store listens");
    let info = RedisConnectionInfo::default().set_protocol(ProtocolVersion::RESP2).set_skip_set_lib_name();
    let config = AsyncConnectionConfig::new().set_response_timeout(None);
    let (connection, driver) = MultiplexedConnection::new_with_config(&info, stream, config).await.expect("no handshake to fail");
    host.spawn("redis-driver", Box::pin(driver)).detach();
    connection
}

/// One request in words, its reply as text.
async fn ask(connection: &mut MultiplexedConnection, request: &str) -> String {
    let mut words = request.split(' ');
    let mut command = cmd(words.next().expect("a command"));
    command.arg(words.collect::<Vec<_>>());
    let reply: RedisResult<redis::Value> = command.query_async(connection).await;
    match reply {
        Ok(redis::Value::Nil) => "nil".to_owned(),
        Ok(redis::Value::Okay) => "OK".to_owned(),
        Ok(redis::Value::Int(n)) => n.to_string(),
        Ok(redis::Value::SimpleString(text)) => text,
        Ok(redis::Value::BulkString(text)) => String::from_utf8_lossy(&text).into_owned(),
        Ok(other) => format!("{other:?}"),
        Err(error) => format!("{} {}", error.code().unwrap_or_default(), error.detail().unwrap_or_default()),
    }
}

#[test]
fn every_command_answers_as_redis_does() {
    let script = [
        ("PING", "PONG"),
        ("PING hello", "hello"),
        ("CLIENT SETNAME me", "OK"),
        ("SELECT 0", "OK"),
        ("SELECT 1", "ERR DB index is out of range"),
        ("GET k", "nil"),
        ("SET k v", "OK"),
        ("GET k", "v"),
        ("SET k w NX", "nil"),
        ("SET none w XX", "nil"),
        ("SET k w XX PX 1500", "OK"),
        ("PTTL k", "1500"),
        ("TTL k", "2"),
        ("SET k x KEEPTTL", "OK"),
        ("PTTL k", "1500"),
        ("SET k x NX XX", "ERR syntax error"),
        ("SET k x PX", "ERR syntax error"),
        ("SET k x PX 0", "ERR invalid expire time in 'set' command"),
        ("SET k x PX ten", "ERR value is not an integer or out of range"),
        ("SET k x PX 9223372036854775807", "ERR invalid expire time in 'set' command"),
        ("PEXPIRE k 9223372036854775807", "ERR invalid expire time in 'pexpire' command"),
        ("EXPIRE none 9223372036854775807", "ERR invalid expire time in 'expire' command"),
        ("SETNX k y", "0"),
        ("SETNX l y", "1"),
        ("TTL l", "-1"),
        ("TTL none", "-2"),
        ("EXPIRE l 10", "1"),
        ("TTL l", "10"),
        ("PEXPIRE none 10", "0"),
        ("PEXPIRE l -1", "1"),
        ("EXISTS k l k", "2"),
        ("DEL k l", "1"),
        ("INCR n", "1"),
        ("INCRBY n 41", "42"),
        ("INCRBY n 9223372036854775807", "ERR increment or decrement would overflow"),
        ("SET text abc", "OK"),
        ("INCR text", "ERR value is not an integer or out of range"),
        ("SET text 007", "OK"),
        ("INCR text", "ERR value is not an integer or out of range"),
        ("RPUSH q a b", "2"),
        ("LPUSH q z", "3"),
        ("LLEN q", "3"),
        ("LPOP q", "z"),
        ("RPOP q", "b"),
        ("GET q", "WRONGTYPE Operation against a key holding the wrong kind of value"),
        ("LPUSH text a", "WRONGTYPE Operation against a key holding the wrong kind of value"),
        ("LPOP q", "a"),
        ("LPOP q", "nil"),
        ("EXISTS q", "0"),
        ("GET", "ERR wrong number of arguments for 'get' command"),
        ("SET k", "ERR wrong number of arguments for 'set' command"),
        ("FLY me", "ERR unknown command 'FLY', with args beginning with: 'me' "),
        ("RPUSH from a b c b", "4"),
        ("LMOVE from to LEFT RIGHT", "a"),
        ("LMOVE from from right left", "b"),
        ("LMOVE none to LEFT LEFT", "nil"),
        ("LMOVE from to UP RIGHT", "ERR syntax error"),
        ("LREM from 0 b", "2"),
        ("LRANGE from 0 -1", "array([bulk-string('\"c\"')])"),
        ("LREM from 1 x", "0"),
        ("LREM from -1 c", "1"),
        ("EXISTS from", "0"),
        ("BRPOP none to 1", "array([bulk-string('\"to\"'), bulk-string('\"a\"')])"),
        ("BLMOVE text to LEFT LEFT 1", "WRONGTYPE Operation against a key holding the wrong kind of value"),
        ("BRPOP to -1", "ERR timeout is negative"),
        ("EVALSHA 00 0", "NOSCRIPT No matching script. Please use EVAL."),
    ];
    simulate(async |network| {
        let (_store, server) = start(&network);
        let mut connection = client(&network, N0).await;
        for (request, reply) in script {
            assert_eq!(ask(&mut connection, request).await, reply, "{request}");
        }
        server.abort();
    });
}

/// n0 takes the lease, n1 is refused; n0 renews, n1 can neither renew nor release; it runs out, n1 gets it.
#[test]
fn a_lease_is_granted_renewed_run_out_and_released() {
    simulate(async |network| {
        let (store, server) = start(&network);
        let (mut c0, mut c1) = (client(&network, N0).await, client(&network, N1).await);
        let renew = redis::Script::new(
            "if redis.call('get', KEYS[1]) == ARGV[1] then\n  return redis.call('pexpire', KEYS[1], ARGV[2])\nelse\n  return 0\nend",
        );
        let release =
            redis::Script::new("if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end");
        assert_eq!(ask(&mut c0, "SET lock n0 NX PX 1000").await, "OK");
        assert_eq!(ask(&mut c1, "SET lock n1 NX PX 1000").await, "nil");
        assert_eq!(renew.key("lock").arg("n0").arg(2000).invoke_async::<i64>(&mut c0).await, Ok(1));
        assert_eq!(renew.key("lock").arg("n1").arg(9000).invoke_async::<i64>(&mut c1).await, Ok(0));
        assert_eq!(release.key("lock").arg("n1").invoke_async::<i64>(&mut c1).await, Ok(0));
        tokio::time::sleep(1999.ms()).await;
        assert_eq!(ask(&mut c1, "SET lock n1 NX PX 500").await, "nil");
        tokio::time::sleep(1.ms()).await;
        assert_eq!(ask(&mut c1, "SET lock n1 NX PX 500").await, "OK");
        assert_eq!(store.borrow().keys(), [crate::settlement::LeaseKey { holder: N1, expires: true }]);
        assert_eq!(release.key("lock").arg("n1").invoke_async::<i64>(&mut c1).await, Ok(1));
        assert_eq!(store.borrow().keys(), []);
        let told = [
            Event::LeaseGranted { to: N0, ttl_ms: 1000 },
            Event::LeaseRefused { to: N1, holder: N0 },
            Event::LeaseExtended { by: N0, holder: N0, ttl_ms: 2000 },
            Event::LeaseRefused { to: N1, holder: N0 },
            Event::LeaseExpired { holder: N0 },
            Event::LeaseGranted { to: N1, ttl_ms: 500 },
            Event::LeaseReleased { by: N1, holder: N1 },
        ];
        assert_eq!(network.events(), told);
        server.abort();
    });
}

/// Nobody checks the owner: n1's late DEL frees n0's lock, and both hosts are told. Counters and lists are no leases.
#[test]
fn a_stranger_can_delete_a_lease_and_data_is_no_lease() {
    simulate(async |network| {
        let (store, server) = start(&network);
        let (mut c0, mut c1) = (client(&network, N0).await, client(&network, N1).await);
        ask(&mut c0, "SETNX lock 1").await;
        assert_eq!(store.borrow().keys(), [crate::settlement::LeaseKey { holder: N0, expires: false }]);
        ask(&mut c1, "DEL lock").await;
        ask(&mut c1, "INCR token").await;
        ask(&mut c1, "LPUSH queue 1").await;
        ask(&mut c1, "DEL token").await;
        let told =
            [Event::LeaseGranted { to: N0, ttl_ms: 0 }, Event::LeaseReleased { by: N1, holder: N0 }, Event::Pushed { by: N1, message: 1 }];
        assert_eq!(network.events(), told);
        assert_eq!(store.borrow().keys(), []);
        server.abort();
    });
}

/// The process dies and starts again: keys are there, scripts must be loaded anew, expiry went by the store's clock.
#[test]
fn keys_survive_a_restart_and_run_out_by_the_stores_own_clock() {
    simulate(async |network| {
        let store = Rc::new(RefCell::new(LeaseStore::default()));
        let server = boot(&network, &store);
        let mut before = client(&network, N0).await;
        ask(&mut before, "SET lock n0 NX PX 60000").await;
        let sha = ask(&mut before, "SCRIPT LOAD x").await;
        assert!(sha.starts_with("ERR this simulated store runs no Lua"), "{sha}");
        server.abort();

        let host = network.host(HostId::Lease);
        host.clock_error_ms.set(60_000);
        let server = host.spawn("lease", Box::pin(serve(host.clone(), store.clone())));
        let mut after = client(&network, N1).await;
        assert_eq!(ask(&mut after, "SET lock n1 NX PX 60000").await, "OK", "a store whose clock is a minute ahead forgets early");
        assert!(network.events().contains(&Event::LeaseExpired { holder: N0 }));
        server.abort();
    });
}

fn lost<const N: usize>(holders: [HostId; N]) -> Loss {
    Loss { lost: holders.to_vec(), ..Loss::default() }
}

/// Evicted is the lease granted last that is still held; a wipe takes everything, and counts no lease that had run out.
#[test]
fn leases_are_evicted_and_wiped() {
    simulate(async |network| {
        let (store, server) = start(&network);
        let (mut c0, mut c1) = (client(&network, N0).await, client(&network, N1).await);
        ask(&mut c0, "SET first n0").await;
        ask(&mut c1, "SET second n1").await;
        ask(&mut c0, "SET third n0 PX 100").await;
        ask(&mut c0, "INCR data").await;
        tokio::time::sleep(100.ms()).await;
        let (host, wall) = (network.host(HostId::Lease), network.host(HostId::Lease).wall());
        assert_eq!(store.borrow_mut().evict(host.now(), wall), lost([N1]));
        assert_eq!(ask(&mut c1, "EXISTS first second data").await, "2");
        assert_eq!(store.borrow_mut().wipe(wall), lost([N0]));
        assert_eq!(ask(&mut c1, "EXISTS first second data").await, "0");
        assert_eq!(store.borrow_mut().evict(host.now(), wall), Loss::default(), "there is nothing to evict");
        server.abort();
    });
}

/// A replica one second behind: it has the first grant and its renewal, not the release, not what came after.
#[test]
fn a_failover_forgets_the_latest_writes_only() {
    simulate(async |network| {
        let store = Rc::new(RefCell::new(LeaseStore::replicated(Some(1.seconds()))));
        let server = boot(&network, &store);
        let (mut c0, mut c1) = (client(&network, N0).await, client(&network, N1).await);
        let host = network.host(HostId::Lease);
        ask(&mut c0, "SET lock n0 NX PX 10000").await;
        ask(&mut c0, "RPUSH queue a b").await;
        ask(&mut c0, "PEXPIRE lock 30000").await;
        tokio::time::sleep(1.seconds()).await;
        ask(&mut c0, "DEL lock").await;
        tokio::time::sleep(500.ms()).await;
        ask(&mut c1, "SET lock n1 NX PX 10000").await;
        ask(&mut c1, "LPOP queue").await;
        ask(&mut c1, "INCR data").await;
        let loss = store.borrow_mut().fail_over(1.seconds(), host.now(), host.wall());
        assert_eq!(loss, Loss { returned: vec![N0], messages_returned: vec![1], ..lost([N1]) });
        assert_eq!(ask(&mut c1, "GET lock").await, "n0");
        assert_eq!(ask(&mut c1, "PTTL lock").await, "28500");
        assert_eq!(ask(&mut c1, "LLEN queue").await, "2");
        assert_eq!(ask(&mut c1, "EXISTS data").await, "0");
        // What the replica has is what it is: a second failover at once forgets nothing more.
        assert_eq!(store.borrow_mut().fail_over(1.seconds(), host.now(), host.wall()), Loss::default());
        server.abort();
    });
}

/// A key that ran out while nobody looked is no lease, neither lost nor returned.
#[test]
fn a_failover_does_not_wake_the_dead() {
    simulate(async |network| {
        let store = Rc::new(RefCell::new(LeaseStore::replicated(Some(1.seconds()))));
        let server = boot(&network, &store);
        let (mut c0, mut c1) = (client(&network, N0).await, client(&network, N1).await);
        let host = network.host(HostId::Lease);
        ask(&mut c0, "SET lock n0 NX PX 1000").await;
        tokio::time::sleep(1.seconds()).await;
        ask(&mut c1, "SET lock n1 NX PX 1000").await;
        let loss = store.borrow_mut().fail_over(500.ms(), host.now(), host.wall());
        assert_eq!(loss, lost([N1]));
        assert_eq!(ask(&mut c0, "SET lock n0 NX PX 1000").await, "OK");
        server.abort();
    });
}

/// While a slow command runs, requests wait; expiry is judged when they are carried out.
#[test]
fn a_busy_store_answers_later_by_what_it_finds_then() {
    simulate(async |network| {
        let (store, server) = start(&network);
        let (mut c0, mut c1) = (client(&network, N0).await, client(&network, N1).await);
        ask(&mut c0, "SET lock n0 NX PX 1000").await;
        let busy = store.borrow().busy();
        busy.begin(crate::id::FaultId(0));
        let waiting = tokio::task::spawn_local(async move { ask(&mut c1, "SET lock n1 NX PX 1000").await });
        tokio::time::sleep(999.ms()).await;
        assert!(!waiting.is_finished(), "it was answered");
        tokio::time::sleep(1.ms()).await;
        assert!(busy.end(crate::id::FaultId(0)));
        assert_eq!(waiting.await.expect("it ends"), "OK", "the lease ran out while the request waited");
        assert!(network.events().contains(&Event::Waited { by: N1 }));
        server.abort();
    });
}

/// What is not RESP is answered with an error and a closed connection, and others are not disturbed.
#[test]
fn garbage_ends_the_connection_only() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    simulate(async |network| {
        let (_store, server) = start(&network);
        let mut connection = client(&network, N0).await;
        for garbage in [&b"GET k\r\n"[..], b"*1\r\n:5\r\n", b"*-1\r\n", b"*1\r\n$-1\r\n", b"\x00\xff\r\n", b"$3\r\nabc\r\n"] {
            let mut raw = network.host(N1).connect(HostId::Lease).await.expect("the store listens");
            raw.write_all(garbage).await.expect("a pipe");
            let mut reply = Vec::new();
            raw.read_to_end(&mut reply).await.expect("a pipe");
            assert!(reply.starts_with(b"-ERR Protocol error"), "{:?}", String::from_utf8_lossy(&reply));
        }
        assert_eq!(ask(&mut connection, "PING").await, "PONG");
        let unknown: RedisResult<i64> = redis::Script::new("return 1").invoke_async(&mut connection).await;
        assert_eq!(unknown.expect_err("no Lua here").kind(), ErrorKind::Server(ServerErrorKind::ResponseError));
        server.abort();
    });
}
