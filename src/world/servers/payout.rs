//! The payout service: a second system, reached over HTTP, that cannot take part in a
//! database transaction. It pays whatever it is asked to, and protects only those who send an
//! idempotency key.

use crate::host::{Duplex, Host};
use crate::id::{PeriodId, PlayerId};
use crate::trace::Event;
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{ALLOW, HeaderName};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::rc::Rc;

/// The header that makes a payment safe to repeat.
pub const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Where payments are posted.
pub const PAYMENTS: &str = "/payments";

/// No payment needs a longer body.
const BODY_LIMIT: usize = 4096;

/// The body of a payment request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Payment {
    /// For which period.
    pub period: PeriodId,
    /// For which place in its ranking, from 1.
    pub rank: i64,
    /// To whom.
    pub player: i64,
    /// How much.
    pub amount: i64,
}

/// What the payout service remembers. It survives the service's process.
#[derive(Debug, Default)]
pub struct PayoutLedger {
    keys: BTreeSet<Bytes>,
}

impl PayoutLedger {
    /// Pays, unless the key is known; tells whether it did.
    fn pay(&mut self, host: &dyn Host, payment: Payment, key: Option<Bytes>) -> bool {
        let Payment { period, rank, player, amount } = payment;
        let (player, keyed) = (PlayerId(player), key.is_some());
        if key.is_some_and(|key| !self.keys.insert(key)) {
            host.record(Event::PaymentRepeated { period, rank, player });
            return false;
        }
        host.record(Event::Paid { period, rank, player, amount, keyed });
        true
    }
}

/// The process of the payout service: accepts connections for as long as it lives.
pub async fn serve(host: Rc<dyn Host>, ledger: Rc<RefCell<PayoutLedger>>) {
    let Ok(mut listener) = host.listen().await else { return };
    while let Ok((stream, _)) = listener.accept().await {
        host.spawn("payout-connection", Box::pin(connection(host.clone(), ledger.clone(), stream))).detach();
    }
}

async fn connection(host: Rc<dyn Host>, ledger: Rc<RefCell<PayoutLedger>>, stream: Box<dyn Duplex>) {
    let service = service_fn(move |request| {
        let (host, ledger) = (host.clone(), ledger.clone());
        async move { Ok::<_, Infallible>(answer(&*host, &ledger, request).await) }
    });
    // No date header: it would show the clock of the machine that simulates. How a connection
    // ends is the client's business; whatever was paid stays paid.
    let _ = hyper::server::conn::http1::Builder::new().auto_date_header(false).serve_connection(TokioIo::new(stream), service).await;
}

async fn answer(host: &dyn Host, ledger: &RefCell<PayoutLedger>, request: Request<Incoming>) -> Response<Full<Bytes>> {
    if request.uri().path() != PAYMENTS {
        return reply(StatusCode::NOT_FOUND, format!("there is only {PAYMENTS}"));
    }
    if request.method() != Method::POST {
        let mut refusal = reply(StatusCode::METHOD_NOT_ALLOWED, "payments are posted".to_owned());
        refusal.headers_mut().insert(ALLOW, hyper::header::HeaderValue::from_static("POST"));
        return refusal;
    }
    let key = request.headers().get(IDEMPOTENCY_KEY).map(|key| Bytes::copy_from_slice(key.as_bytes()));
    let body = match Limited::new(request.into_body(), BODY_LIMIT).collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) => return reply(StatusCode::BAD_REQUEST, format!("the body cannot be read: {error}")),
    };
    match serde_json::from_slice(&body) {
        Err(error) => reply(StatusCode::BAD_REQUEST, format!("the body is not a payment: {error}")),
        Ok(payment) if ledger.borrow_mut().pay(host, payment, key) => reply(StatusCode::CREATED, "paid".to_owned()),
        Ok(_) => reply(StatusCode::OK, "paid before".to_owned()),
    }
}

fn reply(status: StatusCode, text: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::HostId;
    use crate::world::servers::test_host::{Network, simulate};
    use hyper::client::conn::http1::{SendRequest, handshake};

    async fn client(network: &Rc<Network>) -> SendRequest<Full<Bytes>> {
        tokio::task::yield_now().await;
        let host = network.host(HostId::node(0));
        let stream = host.connect(HostId::Payout).await.expect("the service listens");
        let (sender, driver) = handshake(TokioIo::new(stream)).await.expect("no handshake to fail");
        host.spawn("hyper-driver", Box::pin(async { driver.await.expect("no I/O to fail") })).detach();
        sender
    }

    async fn send(to: &mut SendRequest<Full<Bytes>>, method: &str, path: &str, key: Option<&str>, body: &str) -> (u16, String) {
        let mut request = Request::builder().method(method).uri(path).header("host", "payout");
        if let Some(key) = key {
            request = request.header(IDEMPOTENCY_KEY, key);
        }
        let request = request.body(Full::new(Bytes::from(body.to_owned()))).expect("a request");
        let response = to.send_request(request).await.expect("an answer");
        assert!(!response.headers().contains_key("date"), "the machine's clock must not show");
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.expect("a body").to_bytes();
        (status, String::from_utf8_lossy(&body).into_owned())
    }

    const BODY: &str = r#"{"period":20260110,"rank":1,"player":7,"amount":100}"#;

    /// Without a key every request pays; with a key only the first does, even after a restart.
    #[test]
    fn only_a_key_protects_from_paying_twice() {
        simulate(async |network| {
            let (host, ledger) = (network.host(HostId::Payout), Rc::default());
            let process = host.spawn("payout", Box::pin(serve(host.clone(), Rc::clone(&ledger))));
            let mut http = client(&network).await;
            for (key, status) in [(None, 201), (None, 201), (Some("a"), 201), (Some("a"), 200)] {
                assert_eq!(send(&mut http, "POST", "/payments", key, BODY).await.0, status, "{key:?}");
            }
            process.abort();
            let process = host.spawn("payout", Box::pin(serve(host.clone(), ledger)));
            let mut http = client(&network).await;
            assert_eq!(send(&mut http, "POST", "/payments", Some("a"), BODY).await.0, 200);
            let (period, rank, player) = (PeriodId(20_260_110), 1, PlayerId(7));
            let paid = |keyed| Event::Paid { period, rank, player, amount: 100, keyed };
            let repeated = Event::PaymentRepeated { period, rank, player };
            assert_eq!(network.events(), [paid(false), paid(false), paid(true), repeated, repeated]);
            process.abort();
        });
    }

    #[test]
    fn what_is_not_a_payment_is_refused_with_a_reason() {
        simulate(async |network| {
            let host = network.host(HostId::Payout);
            let process = host.spawn("payout", Box::pin(serve(host.clone(), Rc::default())));
            let mut http = client(&network).await;
            let long = format!("{BODY}{}", " ".repeat(BODY_LIMIT));
            for (method, path, body, status, reason) in [
                ("POST", "/payments", "", 400, "EOF"),
                ("POST", "/payments", r#"{"period":1}"#, 400, "missing field `rank`"),
                ("POST", "/payments", r#"{"period":1,"rank":"x"}"#, 400, "invalid type"),
                ("POST", "/payments", &long, 400, "limit"),
                ("GET", "/payments", "", 405, "posted"),
                ("POST", "/", BODY, 404, "/payments"),
            ] {
                let (got, text) = send(&mut http, method, path, None, body).await;
                assert!(got == status && text.contains(reason), "{method} {path} {body:.60}: {got} {text}");
            }
            assert_eq!(network.events(), []);
            process.abort();
        });
    }
}
