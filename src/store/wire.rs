//! What servers of our own speak, for which no client library exists: JSON, each message with its
//! length before it.

use crate::host::Duplex;
use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io;
use tokio_util::codec::{Framed, LengthDelimitedCodec};

/// A stream of messages, each with its length before it.
#[derive(Debug)]
pub struct Wire(Framed<Box<dyn Duplex>, LengthDelimitedCodec>);

impl Wire {
    /// Messages on this stream.
    pub fn new(stream: Box<dyn Duplex>) -> Wire {
        Wire(Framed::new(stream, LengthDelimitedCodec::new()))
    }

    /// Sends a message.
    ///
    /// # Errors
    /// The stream is broken, or the message cannot be written as JSON.
    pub async fn send(&mut self, message: &impl Serialize) -> io::Result<()> {
        let text = serde_json::to_vec(message)?;
        self.0.send(Bytes::from(text)).await
    }

    /// Waits for the next message; `None` = the other side has hung up.
    ///
    /// # Errors
    /// The stream is broken, or the message is not what was expected.
    pub async fn receive<M: DeserializeOwned>(&mut self) -> io::Result<Option<M>> {
        match self.0.next().await {
            None => Ok(None),
            Some(frame) => Ok(Some(serde_json::from_slice(&frame?)?)),
        }
    }

    /// Sends a message and waits for its answer.
    ///
    /// # Errors
    /// As its parts; the other side has hung up.
    pub async fn ask<M: DeserializeOwned>(&mut self, message: &impl Serialize) -> io::Result<M> {
        self.send(message).await?;
        self.receive().await?.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}
