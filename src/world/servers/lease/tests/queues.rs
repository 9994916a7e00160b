//! Messages, and those who wait for them.

use super::*;
use tokio::task::JoinHandle;

/// A client that asks and waits, on a connection of its own.
async fn waits(network: &Rc<Network>, by: HostId, request: &'static str) -> JoinHandle<String> {
    let mut connection = client(network, by).await;
    let waiting = tokio::task::spawn_local(async move { ask(&mut connection, request).await });
    tokio::time::sleep(1.ms()).await;
    waiting
}

/// n0 waits first, n1 second: one message each, in that order, whoever pushed them at once. Who pushed is told the length before.
#[test]
fn whoever_waited_longest_is_served_first() {
    simulate(async |network| {
        let (_store, server) = start(&network);
        let first = waits(&network, N0, "BRPOP queue 0").await;
        let second = waits(&network, N1, "BLMOVE queue taken RIGHT LEFT 0").await;
        let mut pusher = client(&network, HostId::Traffic).await;
        assert_eq!(ask(&mut pusher, "LPUSH queue one two three").await, "3");
        assert!(first.await.expect("it ends").contains("one"));
        assert_eq!(second.await.expect("it ends"), "two");
        assert_eq!(ask(&mut pusher, "LLEN queue").await, "1");
        let (popped, moved) = (Event::Popped { by: N0, message: 1 }, Event::Moved { by: N1, message: 2 });
        assert_eq!(network.events()[3..], [popped, moved]);
        server.abort();
    });
}

/// What is moved to a list for which somebody waits is served on.
#[test]
fn a_message_passes_through_two_who_wait() {
    simulate(async |network| {
        let (_store, server) = start(&network);
        let last = waits(&network, N0, "BLPOP other taken 0").await;
        let between = waits(&network, N1, "BLMOVE queue taken RIGHT LEFT 0").await;
        let mut pusher = client(&network, HostId::Traffic).await;
        assert_eq!(ask(&mut pusher, "RPUSH queue one").await, "1");
        assert_eq!(between.await.expect("it ends"), "one");
        assert!(last.await.expect("it ends").contains("taken"));
        assert_eq!(ask(&mut pusher, "EXISTS queue taken").await, "0");
        server.abort();
    });
}

/// It waits on the store's clock, to the millisecond, and afterwards gets nothing; what it says meanwhile is done then.
#[test]
fn a_wait_ends_in_time_and_nothing_is_said_before() {
    simulate(async |network| {
        let (_store, server) = start(&network);
        let mut connection = client(&network, N0).await;
        let mut again = connection.clone();
        let waiting = tokio::task::spawn_local(async move { ask(&mut connection, "BRPOP queue 0.0501").await });
        tokio::time::sleep(1.ms()).await;
        let behind = tokio::task::spawn_local(async move { ask(&mut again, "RPUSH queue mine").await });
        tokio::time::sleep(49.ms()).await;
        assert!(!waiting.is_finished() && !behind.is_finished());
        tokio::time::sleep(2.ms()).await;
        assert_eq!((waiting.await.expect("it ends"), behind.await.expect("it ends")), ("nil".to_owned(), "1".to_owned()));
        server.abort();
    });
}

/// n0 waits first, and its connection ends: the message is n1's. The control: without that it would be n0's, as above.
#[test]
fn whoever_hangs_up_waits_no_longer() {
    simulate(async |network| {
        use tokio::io::AsyncWriteExt;
        let (_store, server) = start(&network);
        tokio::task::yield_now().await;
        let mut gone = network.host(N0).connect(HostId::Lease).await.expect("the store listens");
        gone.write_all(b"*3\r\n$5\r\nBRPOP\r\n$5\r\nqueue\r\n$1\r\n0\r\n").await.expect("a pipe");
        tokio::time::sleep(1.ms()).await;
        let waiting = waits(&network, N1, "BRPOP queue 0").await;
        drop(gone);
        tokio::time::sleep(1.ms()).await;
        let mut pusher = client(&network, HostId::Traffic).await;
        ask(&mut pusher, "RPUSH queue one").await;
        assert!(waiting.await.expect("it ends").contains("one"));
        server.abort();
    });
}

/// A new process knows nobody who waits, and has the lists of the old one. A wipe loses messages, an eviction those of one list.
#[test]
fn messages_survive_a_restart_and_are_lost_with_their_list() {
    simulate(async |network| {
        let (store, server) = start(&network);
        let waiting = waits(&network, N0, "BRPOP other 0").await;
        let mut pusher = client(&network, N1).await;
        ask(&mut pusher, "RPUSH queue one two").await;
        ask(&mut pusher, "SET lock n1").await;
        ask(&mut pusher, "RPUSH late three").await;
        server.abort();
        let server = boot(&network, &store);
        let mut pusher = client(&network, N1).await;
        assert_eq!(ask(&mut pusher, "RPUSH other four").await, "1");
        assert_eq!(ask(&mut pusher, "LLEN other").await, "1", "nobody waits");
        waiting.abort();
        let (host, wall) = (network.host(HostId::Lease), network.host(HostId::Lease).wall());
        let messages = |messages_lost: &[u64]| Loss { messages_lost: messages_lost.to_vec(), ..Loss::default() };
        assert_eq!(store.borrow_mut().evict(host.now(), wall), messages(&[4]));
        assert_eq!(store.borrow_mut().evict(host.now(), wall), messages(&[3]));
        assert_eq!(store.borrow_mut().wipe(wall), Loss { messages_lost: vec![1, 2], ..lost([N1]) });
        server.abort();
    });
}
