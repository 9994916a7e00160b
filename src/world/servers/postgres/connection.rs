//! One client's connection: bytes in, bytes out, and the end of sessions that idle in a transaction.
//!
//! Everything that a client sent in one go is answered with one write, as the answer leaves
//! a real server with its flush at `Sync`.

use super::Database;
use super::error::SqlError;
use super::session::{After, Session};
use super::wire::{self, Startup};
use crate::host::{Duplex, Host, within};
use crate::id::HostId;
use crate::trace::Event;
use bytes::BytesMut;
use std::io;
use std::rc::Rc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Room for one request and for one answer; larger ones grow it.
const BUFFER: usize = 1024;

/// Answers a client until it goes away, or must go.
pub(super) async fn serve(host: Rc<dyn Host>, db: Rc<Database>, mut stream: Box<dyn Duplex>, by: HostId) {
    let mut input = Vec::with_capacity(BUFFER);
    let mut session = Session::new(host.clone(), db.clone(), by);
    let _ = greet(&mut stream, &mut input, session.out()).await;
    let told_to_end = Rc::clone(&session.told_to_end);
    let ended = tokio::select! {
        biased;
        () = told_to_end.notified() => true,
        () = converse(&host, &db, &mut stream, &mut input, &mut session, by) => false,
    };
    if ended {
        session.is_ended();
        let _ = send(&mut stream, session.out()).await;
    }
    session.leave();
}

/// Until the client leaves, politely or not, or is thrown out.
async fn converse(
    host: &Rc<dyn Host>,
    db: &Database,
    stream: &mut Box<dyn Duplex>,
    input: &mut Vec<u8>,
    session: &mut Session,
    by: HostId,
) {
    while let Ok(After::GoOn) = answer(stream, input, session).await {
        if !session.in_transaction() {
            match hear(host, stream, input, session, by).await {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            continue;
        }
        match within(&**host, db.knobs.idle_in_transaction_timeout, hear(host, stream, input, session, by)).await {
            Some(Ok(0) | Err(_)) => return,
            Some(Ok(_)) => {}
            None => {
                host.record(Event::IdleInTransaction { by });
                session.end(&SqlError::new("25P03", "terminating connection due to idle-in-transaction timeout"));
                let _ = send(stream, session.out()).await;
                return;
            }
        }
    }
}

/// Waits for the client's next bytes.
///
/// # Errors
/// The connection is broken, or the kernel has found that the client is gone.
async fn hear(host: &Rc<dyn Host>, stream: &mut Box<dyn Duplex>, input: &mut Vec<u8>, session: &Session, by: HostId) -> io::Result<usize> {
    let read = tokio::select! {
        biased;
        () = session.line.gone.notified() => {
            host.record(Event::ClientGone { by });
            return Err(io::ErrorKind::TimedOut.into());
        }
        read = stream.read_buf(input) => read,
    };
    session.line.heard.set(host.now());
    read
}

/// Waits for the startup packet and welcomes the client.
///
/// # Errors
/// The client left, or is none.
async fn greet(stream: &mut Box<dyn Duplex>, input: &mut Vec<u8>, out: &mut BytesMut) -> io::Result<()> {
    loop {
        match wire::startup(input) {
            Ok(None) => {
                if stream.read_buf(input).await? == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            Ok(Some((packet, length))) => {
                input.drain(..length);
                match packet {
                    Startup::Encryption => stream.write_all(b"N").await?,
                    Startup::Cancel => return Err(io::ErrorKind::ConnectionAborted.into()),
                    Startup::Session => {
                        wire::put_greeting(out);
                        wire::put_ready(out, b'I');
                        return Ok(());
                    }
                }
            }
            Err(error) => {
                wire::put_error(out, "FATAL", &error);
                send(stream, out).await?;
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
    }
}

/// Answers all whole messages that have come.
async fn answer(stream: &mut Box<dyn Duplex>, input: &mut Vec<u8>, session: &mut Session) -> io::Result<After> {
    let (mut used, mut after) = (0, After::GoOn);
    while after == After::GoOn {
        match wire::message(&input[used..]) {
            Ok(None) => break,
            Ok(Some(message)) => {
                used += message.size;
                after = session.message(message).await;
            }
            Err(error) => {
                session.end(&error);
                after = After::Close;
            }
        }
    }
    input.drain(..used);
    send(stream, session.out()).await?;
    Ok(after)
}

async fn send(stream: &mut Box<dyn Duplex>, out: &mut BytesMut) -> io::Result<()> {
    if !out.is_empty() {
        stream.write_all(out).await?;
        out.clear();
        stream.flush().await?;
    }
    Ok(())
}
