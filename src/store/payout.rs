//! The payout service, a second system: hyper over one HTTP/1 connection.

use crate::host::{Host, within};
use crate::id::HostId;
use crate::store::StoreError;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// What the service is asked to pay: the JSON body of `POST /payments`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Payment {
    /// The period, as its column stores it.
    pub period: i64,
    /// The winner's place, from 1.
    pub rank: i64,
    /// The winner.
    pub player: i64,
    /// How much.
    pub amount: i64,
}

impl Payment {
    /// The request's body.
    pub fn json(&self) -> String {
        let Payment { period, rank, player, amount } = self;
        format!(r#"{{"period":{period},"rank":{rank},"player":{player},"amount":{amount}}}"#)
    }
}

/// A client of the payout service.
pub struct PayoutService {
    host: Rc<dyn Host>,
    timeout: Duration,
    /// The open connection while nobody uses it.
    idle: RefCell<Option<SendRequest<Full<Bytes>>>>,
}

impl PayoutService {
    /// A client on `host` that waits for at most `timeout` for a connection or an answer.
    pub fn new(host: Rc<dyn Host>, timeout: Duration) -> PayoutService {
        PayoutService { host, timeout, idle: RefCell::default() }
    }

    /// Connects, unless a connection is open.
    ///
    /// # Errors
    /// `NotSent`: the service could not be reached.
    pub async fn ready(&self) -> Result<(), StoreError> {
        let sender = self.sender().await?;
        *self.idle.borrow_mut() = Some(sender);
        Ok(())
    }

    /// `POST /payments` with this body, and an `Idempotency-Key` if there is one.
    ///
    /// # Errors
    /// `MaybeApplied`: no answer came. `Rejected`: the service did not say that it paid.
    pub async fn pay(&self, body: &str, key: Option<&str>) -> Result<(), StoreError> {
        let mut sender = self.sender().await?;
        let mut request = Request::post("/payments").header("host", "payout").header("content-type", "application/json");
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        let request = request.body(Full::new(Bytes::copy_from_slice(body.as_bytes()))).map_err(StoreError::rejected)?;
        let exchange = async {
            let response = sender.send_request(request).await?;
            let status = response.status();
            response.into_body().collect().await?;
            Ok::<StatusCode, hyper::Error>(status)
        };
        let status = within(&*self.host, self.timeout, exchange).await.ok_or_else(StoreError::timed_out)??;
        *self.idle.borrow_mut() = Some(sender);
        if status.is_success() { Ok(()) } else { Err(StoreError::rejected(status)) }
    }

    async fn sender(&self) -> Result<SendRequest<Full<Bytes>>, StoreError> {
        let idle = self.idle.borrow_mut().take();
        if let Some(mut sender) = idle
            && !sender.is_closed()
            && matches!(within(&*self.host, self.timeout, sender.ready()).await, Some(Ok(())))
        {
            return Ok(sender);
        }
        within(&*self.host, self.timeout, Box::pin(self.connect())).await.unwrap_or_else(|| Err(StoreError::not_sent("timed out")))
    }

    async fn connect(&self) -> Result<SendRequest<Full<Bytes>>, StoreError> {
        let stream = self.host.connect(HostId::Payout).await?;
        let (sender, driver) = handshake(TokioIo::new(stream)).await.map_err(StoreError::not_sent)?;
        let driver = async move {
            // The request in flight gets the error too.
            let _ = driver.await;
        };
        self.host.spawn("payout-driver", Box::pin(driver)).detach();
        Ok(sender)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payment_reads_as_the_service_expects_it() {
        let payment = Payment { period: 20_260_110, rank: 1, player: 7, amount: 100 };
        insta::assert_snapshot!(payment.json(), @r#"{"period":20260110,"rank":1,"player":7,"amount":100}"#);
    }
}
