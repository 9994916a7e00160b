//! The payout service, a second system: hyper over one HTTP/1 connection.

use crate::host::{Host, within};
use crate::id::HostId;
use crate::store::StoreError;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::http::request::Builder;
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

    /// `POST /transactions/NAME/PHASE` with this body: `prepare` with a list of payments, `commit`, `abort`.
    ///
    /// # Errors
    /// `MaybeApplied`: no answer came. `Rejected`: the service did not say that it did.
    pub async fn phase(&self, name: &str, phase: &str, body: &str) -> Result<(), StoreError> {
        self.ask(Request::post(format!("/transactions/{name}/{phase}")), body).await.map(drop)
    }

    /// `GET /transactions`: the names of those that are prepared and have not been ended.
    ///
    /// # Errors
    /// No answer came, or none that is a list of names.
    pub async fn in_doubt(&self) -> Result<Vec<String>, StoreError> {
        let names = self.ask(Request::get("/transactions"), "").await?;
        serde_json::from_slice(&names).map_err(StoreError::rejected)
    }

    /// `POST /payments` with this body, and an `Idempotency-Key` if there is one.
    ///
    /// # Errors
    /// `MaybeApplied`: no answer came. `Rejected`: the service did not say that it paid.
    pub async fn pay(&self, body: &str, key: Option<&str>) -> Result<(), StoreError> {
        let request = Request::post("/payments");
        let request = if let Some(key) = key { request.header("idempotency-key", key) } else { request };
        self.ask(request, body).await.map(drop)
    }

    /// Sends a request; what the answer says.
    async fn ask(&self, request: Builder, body: &str) -> Result<Bytes, StoreError> {
        let mut sender = self.sender().await?;
        let request = request.header("host", "payout").header("content-type", "application/json");
        let request = request.body(Full::new(Bytes::copy_from_slice(body.as_bytes()))).map_err(StoreError::rejected)?;
        let exchange = async {
            let response = sender.send_request(request).await?;
            let status = response.status();
            let said = response.into_body().collect().await?.to_bytes();
            Ok::<(StatusCode, Bytes), hyper::Error>((status, said))
        };
        let (status, said) = within(&*self.host, self.timeout, exchange).await.ok_or_else(StoreError::timed_out)??;
        *self.idle.borrow_mut() = Some(sender);
        if status.is_success() { Ok(said) } else { Err(StoreError::rejected(status)) }
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
