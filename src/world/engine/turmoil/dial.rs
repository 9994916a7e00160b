//! Opening connections, as TCP does it towards applications: turmoil's own handshake has no
//! way back, and calls everything "refused" that did not get through.

use super::process::Kind;
use super::stream::Stream;
use super::{SERVICE, Turmoil};
use crate::host::{Duplex, Listen};
use crate::id::HostId;
use crate::world::engine::Engine;
use futures_util::future::LocalBoxFuture;
use std::io;
use std::net::Ipv4Addr;
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::mpsc;
use turmoil::net::{TcpListener, TcpStream};

/// How long silence must last until a connect gives up (Linux: six retries, 127 s in all).
const GIVE_UP: Duration = Duration::from_secs(127);

/// How long a connect waits until it tries again. As with data, it does not back off.
const RETRY: Duration = Duration::from_millis(super::socket::RETRY_MS);

/// Connects; called inside host `from`.
pub(super) async fn connect(engine: Rc<Turmoil>, from: HostId, to: HostId) -> io::Result<Box<dyn Duplex>> {
    if from == to {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "a host does not connect to itself"));
    }
    let give_up = engine.now() + GIVE_UP;
    while engine.now() < give_up {
        if let Some(answer) = handshake(&engine, from, to).await {
            return answer.map(|stream| Box::new(stream) as Box<dyn Duplex>);
        }
        engine.sleep(RETRY).await;
    }
    Err(io::ErrorKind::TimedOut.into())
}

/// One SYN and the answer to it; `None` = there was none.
async fn handshake(engine: &Rc<Turmoil>, from: HostId, to: HostId) -> Option<io::Result<Stream>> {
    let extra = {
        let mut state = engine.wire.lock();
        // A SYN whose answer is held is as good as lost: no application sees a connection that is half open.
        if state.links.is_off(to) || state.links.holds(from, to) || state.links.holds(to, from) {
            None
        } else {
            Some(state.links.extra(from, to))
        }
    };
    engine.report();
    engine.sleep(Duration::from_millis(extra?)).await;
    let address = engine.address(to)?;
    let opened = TcpStream::connect((address, SERVICE)).await.map(|stream| engine.wire.open(stream, from, to));
    // turmoil answers at once, the way back takes its time. A dead process is answered for by its kernel, a host without power is not.
    if opened.is_err() && engine.wire.lock().links.is_off(to) {
        return None;
    }
    let back = engine.latency() + Duration::from_millis(engine.wire.lock().links.extra(to, from));
    engine.sleep(back).await;
    while engine.wire.lock().links.holds(to, from) {
        engine.sleep(RETRY).await;
    }
    Some(opened)
}

/// Connections that wait to be accepted.
struct Backlog(mpsc::UnboundedReceiver<(Stream, HostId)>);

impl Listen for Backlog {
    fn accept(&mut self) -> LocalBoxFuture<'_, io::Result<(Box<dyn Duplex>, HostId)>> {
        Box::pin(async {
            let (stream, peer) = self.0.recv().await.ok_or(io::ErrorKind::NotConnected)?;
            Ok((Box::new(stream) as Box<dyn Duplex>, peer))
        })
    }
}

/// Listens; called inside host `on`. The kernel accepts also while the process is paused.
pub(super) async fn listen(engine: Rc<Turmoil>, on: HostId) -> io::Result<Box<dyn Listen>> {
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, SERVICE)).await?;
    let (arrived, backlog) = mpsc::unbounded_channel();
    let accepting = accept_all(engine.clone(), on, listener, arrived);
    engine.start_task(on, Kind::Kernel, Box::pin(accepting));
    Ok(Box::new(Backlog(backlog)))
}

async fn accept_all(engine: Rc<Turmoil>, on: HostId, listener: TcpListener, arrived: mpsc::UnboundedSender<(Stream, HostId)>) {
    loop {
        let accepted = tokio::select! {
            biased;
            () = arrived.closed() => return,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, address)) = accepted else { return };
        let peer = engine.host_at(address.ip());
        // If the process stopped listening just now, the stream is dropped, and so closed.
        let _ = arrived.send((engine.wire.open(stream, on, peer), peer));
    }
}
