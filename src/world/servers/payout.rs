//! The payout service: a second system, reached over HTTP, that cannot take part in a
//! database transaction. It pays whatever it is asked to, and protects only those who send an
//! idempotency key.
//!
//! It also takes part in two-phase commits (`transactions`): payments that are prepared under a name
//! are made, or given up, when somebody says so.

mod transactions;

use crate::host::{Duplex, Host};
use crate::id::{HostId, PeriodId, PlayerId};
use crate::settlement::InDoubt;
use crate::time::WallTime;
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
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::rc::Rc;
use std::time::Duration;
use transactions::{Phase, Transactions};

/// The header that makes a payment safe to repeat.
pub const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Where payments are posted.
pub const PAYMENTS: &str = "/payments";

/// Where prepared payments are: `POST /transactions/NAME/prepare` with a list of payments, then
/// `POST /transactions/NAME/commit` or `…/abort`; `GET /transactions` lists the names of those in doubt.
pub const TRANSACTIONS: &str = "/transactions";

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
    /// Those of payments that it has made, and when, by its own clock.
    keys: BTreeMap<Bytes, WallTime>,
    /// How long it keeps a key; zero: for ever.
    retention: Duration,
    transactions: Transactions,
}

impl PayoutLedger {
    /// Forgets a key after `retention`; zero: never.
    pub fn keeping(retention: Duration) -> PayoutLedger {
        PayoutLedger { retention, ..PayoutLedger::default() }
    }

    /// What is prepared and has not been ended.
    pub fn in_doubt(&self) -> impl Iterator<Item = InDoubt> + '_ {
        self.transactions.in_doubt().map(|(number, _)| InDoubt::Payout(number))
    }

    fn knows(&self, key: &Bytes, now: WallTime) -> bool {
        self.keys.get(key).is_some_and(|paid| self.retention.is_zero() || now.since(*paid) < self.retention)
    }

    /// Pays, unless the key is known; tells whether it did.
    fn pay(&mut self, host: &dyn Host, payment: Payment, key: Option<Bytes>) -> bool {
        let Payment { period, rank, player, amount } = payment;
        let (player, keyed) = (PlayerId(player), key.is_some());
        let now = host.wall();
        if key.as_ref().is_some_and(|key| self.knows(key, now)) {
            host.record(Event::PaymentRepeated { period, rank, player });
            return false;
        }
        if let Some(key) = key {
            self.keys.insert(key, now);
        }
        host.record(Event::Paid { period, rank, player, amount, keyed });
        true
    }
}

/// The process of the payout service: accepts connections for as long as it lives.
pub async fn serve(host: Rc<dyn Host>, ledger: Rc<RefCell<PayoutLedger>>) {
    let Ok(mut listener) = host.listen().await else { return };
    while let Ok((stream, by)) = listener.accept().await {
        host.spawn("payout-connection", Box::pin(connection(host.clone(), ledger.clone(), stream, by))).detach();
    }
}

async fn connection(host: Rc<dyn Host>, ledger: Rc<RefCell<PayoutLedger>>, stream: Box<dyn Duplex>, by: HostId) {
    let service = service_fn(move |request| {
        let (host, ledger) = (host.clone(), ledger.clone());
        async move { Ok::<_, Infallible>(answer(&*host, &ledger, by, request).await) }
    });
    // No date header: it would show the clock of the machine that simulates. How a connection
    // ends is the client's business; whatever was paid stays paid.
    let _ = hyper::server::conn::http1::Builder::new().auto_date_header(false).serve_connection(TokioIo::new(stream), service).await;
}

async fn answer(host: &dyn Host, ledger: &RefCell<PayoutLedger>, by: HostId, request: Request<Incoming>) -> Response<Full<Bytes>> {
    let path = request.uri().path().to_owned();
    if let Some(of) = path.strip_prefix(TRANSACTIONS) {
        return transaction(host, ledger, by, of, request).await;
    }
    if path != PAYMENTS {
        return reply(StatusCode::NOT_FOUND, format!("there are only {PAYMENTS} and {TRANSACTIONS}"));
    }
    if request.method() != Method::POST {
        let mut refusal = reply(StatusCode::METHOD_NOT_ALLOWED, "payments are posted".to_owned());
        refusal.headers_mut().insert(ALLOW, hyper::header::HeaderValue::from_static("POST"));
        return refusal;
    }
    let key = request.headers().get(IDEMPOTENCY_KEY).map(|key| Bytes::copy_from_slice(key.as_bytes()));
    let body = match read(request).await {
        Ok(body) => body,
        Err(refusal) => return refusal,
    };
    match serde_json::from_slice(&body) {
        Err(error) => reply(StatusCode::BAD_REQUEST, format!("the body is not a payment: {error}")),
        Ok(payment) if ledger.borrow_mut().pay(host, payment, key) => reply(StatusCode::CREATED, "paid".to_owned()),
        Ok(_) => reply(StatusCode::OK, "paid before".to_owned()),
    }
}

/// A request about the two-phase commit whose name, and phase, are `of`.
async fn transaction(
    host: &dyn Host,
    ledger: &RefCell<PayoutLedger>,
    by: HostId,
    of: &str,
    request: Request<Incoming>,
) -> Response<Full<Bytes>> {
    if of.is_empty() && request.method() == Method::GET {
        let ledger = ledger.borrow();
        let names: Vec<&str> = ledger.transactions.in_doubt().map(|(_, name)| name).collect();
        return reply(StatusCode::OK, serde_json::json!(names).to_string());
    }
    let phase = of.strip_prefix('/').and_then(|of| of.split_once('/')).filter(|_| request.method() == Method::POST);
    let Some((name, phase)) = phase.and_then(|(name, phase)| Some((name, Phase::named(phase)?))) else {
        let what = format!("GET {TRANSACTIONS}, or POST {TRANSACTIONS}/NAME/prepare, commit or abort");
        return reply(StatusCode::NOT_FOUND, what);
    };
    let body = match read(request).await {
        Ok(body) => body,
        Err(refusal) => return refusal,
    };
    let PayoutLedger { transactions, .. } = &mut *ledger.borrow_mut();
    let (status, text) = match phase {
        Phase::Prepare => match serde_json::from_slice(&body) {
            Err(error) => (StatusCode::BAD_REQUEST, format!("the body is no list of payments: {error}")),
            Ok(payments) => transactions.prepare(host, by, name, payments),
        },
        Phase::Commit => transactions.commit(host, by, name),
        Phase::Abort => transactions.abort(host, by, name),
    };
    reply(status, text)
}

async fn read(request: Request<Incoming>) -> Result<Bytes, Response<Full<Bytes>>> {
    match Limited::new(request.into_body(), BODY_LIMIT).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) => Err(reply(StatusCode::BAD_REQUEST, format!("the body cannot be read: {error}"))),
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
    use crate::time::Span;
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

    /// A key that is forgotten protects no more, and is remembered anew with the payment that it let through.
    #[test]
    fn a_key_protects_for_as_long_as_it_is_remembered() {
        simulate(async |network| {
            let host = network.host(HostId::Payout);
            let payment: Payment = serde_json::from_str(BODY).expect("a payment");
            let mut ledger = PayoutLedger::keeping(24.hours());
            let paid = async |ledger: &mut PayoutLedger, later: Duration| {
                host.sleep(later).await;
                ledger.pay(&*host, payment, Some(Bytes::from_static(b"a")))
            };
            assert!(paid(&mut ledger, Duration::ZERO).await);
            assert!(!paid(&mut ledger, 24.hours().saturating_sub(1.ms())).await);
            assert!(paid(&mut ledger, 1.ms()).await);
            assert!(!paid(&mut ledger, 23.hours()).await);
            let mut for_ever = PayoutLedger::default();
            assert!(paid(&mut for_ever, Duration::ZERO).await && !paid(&mut for_ever, 1_000.hours()).await);
        });
    }

    /// Prepared payments are made once, or never, whatever is repeated; they survive the service's process.
    #[test]
    fn a_transaction_pays_once_or_never() {
        simulate(async |network| {
            let (host, ledger) = (network.host(HostId::Payout), Rc::default());
            let process = host.spawn("payout", Box::pin(serve(host.clone(), Rc::clone(&ledger))));
            let mut http = client(&network).await;
            let list = format!("[{BODY}]");
            let phase = |name: &str, phase: &str| format!("/transactions/{name}/{phase}");
            for (name, what, status) in [("a", "commit", 404), ("a", "prepare", 201), ("a", "prepare", 200), ("b", "prepare", 201)] {
                assert_eq!(send(&mut http, "POST", &phase(name, what), None, &list).await.0, status, "{name} {what}");
            }
            assert_eq!(send(&mut http, "GET", "/transactions", None, "").await, (200, r#"["a","b"]"#.to_owned()));
            process.abort();
            let process = host.spawn("payout", Box::pin(serve(host.clone(), Rc::clone(&ledger))));
            let mut http = client(&network).await;
            for (name, what, status) in [
                ("a", "commit", 200),
                ("a", "commit", 200),
                ("a", "abort", 409),
                ("a", "prepare", 200),
                ("b", "abort", 200),
                ("b", "abort", 200),
                ("b", "commit", 409),
                ("b", "prepare", 409),
                // Aborted before it was prepared: the request to prepare it comes too late.
                ("c", "abort", 200),
                ("c", "prepare", 409),
            ] {
                assert_eq!(send(&mut http, "POST", &phase(name, what), None, &list).await.0, status, "{name} {what}");
            }
            assert_eq!(ledger.borrow().in_doubt().count(), 0);
            let (period, by) = (PeriodId(20_260_110), HostId::node(0));
            let prepared = |number| Event::PaymentsPrepared { number, period, by };
            let ended = |number, committed| Event::PaymentsEnded { number, by, committed };
            let paid = Event::Paid { period, rank: 1, player: PlayerId(7), amount: 100, keyed: true };
            assert_eq!(network.events(), [prepared(1), prepared(2), ended(1, true), paid, ended(2, false)]);
            for (method, path, body, status) in [
                ("POST", "/transactions/a", "", 404),
                ("POST", "/transactions/a/forget", "", 404),
                ("GET", "/transactions/a/commit", "", 404),
                ("POST", "/transactions/d/prepare", "{}", 400),
            ] {
                assert_eq!(send(&mut http, method, path, None, body).await.0, status, "{method} {path}");
            }
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
