//! What host code holds of the network: streams, listeners, and the waiting for them.
//!
//! A stream is a few numbers; its state lives in the fabric of the run on this thread. That
//! makes it `Send` and `Sync`, as the clients demand. After its run, or on another thread,
//! it is a stream whose connection is gone.

use super::conn::EndId;
use super::current;
use super::fabric::Fabric;
use crate::host::{Duplex, Listen};
use crate::id::HostId;
use futures_util::future::LocalBoxFuture;
use std::fmt;
use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// One end of a connection.
struct Stream {
    run: u64,
    end: EndId,
    generation: u32,
}

/// Neither the run nor the generation: they differ between equal runs.
impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream({}.{})", self.end.conn(), self.end.side())
    }
}

impl Stream {
    /// Does something in the fabric of this stream's run, if that run is on.
    fn with<R>(&self, work: impl FnOnce(&mut Fabric, EndId, u32) -> R) -> Option<R> {
        current::with(|machine| (machine.run == self.run).then(|| work(&mut machine.fabric.borrow_mut(), self.end, self.generation)))
            .flatten()
    }
}

/// What is left of a stream after its run.
fn gone<T>() -> Poll<io::Result<T>> {
    Poll::Ready(Err(ErrorKind::ConnectionAborted.into()))
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.with(|fabric, end, generation| fabric.read(end, generation, into, cx.waker())).unwrap_or_else(gone)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.with(|fabric, end, generation| fabric.write(end, generation, bytes, cx.waker())).unwrap_or_else(gone)
    }

    /// Nothing to do: what was written leaves when the task's poll ends.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.with(Fabric::finish);
        Poll::Ready(Ok(()))
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.with(Fabric::release);
    }
}

/// What the network of a run that is over answers.
fn over() -> io::Error {
    ErrorKind::NetworkDown.into()
}

/// Connects; the SYN leaves at the first poll. Dropping the future gives the attempt up.
pub(super) async fn connect(from: HostId, to: HostId) -> io::Result<Box<dyn Duplex>> {
    let stream = current::with(|machine| {
        let (end, generation) = machine.fabric.borrow_mut().connect(from, to)?;
        Ok(Stream { run: machine.run, end, generation })
    });
    let stream = stream.unwrap_or_else(|| Err(over()))?;
    poll_fn(|cx| stream.with(|fabric, end, generation| fabric.connected(end, generation, cx.waker())).unwrap_or_else(gone)).await?;
    Ok(Box::new(stream))
}

struct Listener {
    run: u64,
    on: HostId,
    number: u32,
}

/// Starts to listen.
pub(super) fn listen(on: HostId) -> io::Result<Box<dyn Listen>> {
    let listener = current::with(|machine| {
        let number = machine.fabric.borrow_mut().listen(on)?;
        Ok(Listener { run: machine.run, on, number })
    });
    Ok(Box::new(listener.unwrap_or_else(|| Err(over()))?))
}

impl Listener {
    fn with<R>(&self, work: impl FnOnce(&mut Fabric) -> R) -> Option<R> {
        current::with(|machine| (machine.run == self.run).then(|| work(&mut machine.fabric.borrow_mut()))).flatten()
    }
}

impl Listen for Listener {
    fn accept(&mut self) -> LocalBoxFuture<'_, io::Result<(Box<dyn Duplex>, HostId)>> {
        Box::pin(poll_fn(move |cx| match self.with(|fabric| fabric.accept(self.on, self.number, cx.waker())) {
            Some(Poll::Ready((end, generation, from))) => {
                let stream: Box<dyn Duplex> = Box::new(Stream { run: self.run, end, generation });
                Poll::Ready(Ok((stream, from)))
            }
            Some(Poll::Pending) => Poll::Pending,
            None => Poll::Ready(Err(over())),
        }))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.with(|fabric| fabric.unlisten(self.on, self.number));
    }
}
