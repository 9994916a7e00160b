//! A browser with one page in it: opened from disk, looked at, and used by keyboard and pointer.

use super::driver::{Driver, Installed};
use bytes::Bytes;
use fantoccini::actions::{InputSource, KeyAction, KeyActions, MouseActions, PointerAction};
use fantoccini::key::Key;
use fantoccini::{Client, ClientBuilder, Locator};
use futures_util::FutureExt;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::path::Path;
use std::time::Duration;
use tokio::net::TcpStream;

/// How long a test may take: a browser that hangs must not hang the tests.
const PATIENCE: Duration = Duration::from_mins(2);

/// A function of an element: whether it is drawn. `checkVisibility` says so of parts of an SVG that are not displayed.
pub const VISIBLE: &str =
    "(e => e.getClientRects().length > 0 && getComputedStyle(e).visibility === 'visible' && getComputedStyle(e).opacity !== '0')";

/// A browser.
pub struct Browser {
    client: Client,
    port: u16,
    session: String,
}

/// Starts a browser for `test`, if one is installed, and does with it what `uses` says. It is closed whatever happens.
///
/// # Panics
/// The browser does not do what it is told, or `uses` panics.
#[expect(clippy::disallowed_methods, reason = "a real browser answers in real time")]
pub fn browse(test: &str, uses: impl AsyncFnOnce(&Browser)) {
    let Some(installed) = Installed::find(test) else { return };
    let driver = Driver::start(&installed);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let used = runtime.block_on(async {
        let browser = Browser::start(&driver, &installed).await;
        let used = tokio::time::timeout(PATIENCE, AssertUnwindSafe(uses(&browser)).catch_unwind()).await;
        browser.client.close().await.expect("the browser closes");
        used
    });
    if let Err(panic) = used.expect("the browser answers in time") {
        resume_unwind(panic);
    }
}

impl Browser {
    async fn start(driver: &Driver, installed: &Installed) -> Browser {
        let wanted = json!({
            "goog:chromeOptions": {
                "binary": installed.browser,
                "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,900"],
            },
            "goog:loggingPrefs": { "performance": "ALL", "browser": "ALL" },
        });
        let Value::Object(wanted) = wanted else { unreachable!("it is written as an object") };
        let mut builder = ClientBuilder::new(HttpConnector::new());
        let at = format!("http://127.0.0.1:{}", driver.port);
        let client = builder.capabilities(wanted).connect(&at).await.expect("a browser starts");
        let session = client.session_id().await.expect("it answers").expect("it has a session");
        Browser { client, port: driver.port, session }
    }

    /// Opens a page from disk. What was requested or complained about before is forgotten.
    pub async fn open(&self, page: &Path) {
        self.client.goto("about:blank").await.expect("an empty page opens");
        self.log("performance").await;
        self.log("browser").await;
        self.client.goto(&format!("file://{}", page.display())).await.expect("the page opens");
    }

    /// What a script returns.
    pub async fn ask(&self, script: &str) -> Value {
        self.client.execute(script, Vec::new()).await.unwrap_or_else(|e| panic!("{script}: {e}"))
    }

    /// What a script hands to its last argument.
    pub async fn await_of(&self, script: &str, arguments: Vec<Value>) -> Value {
        self.client.execute_async(script, arguments).await.unwrap_or_else(|e| panic!("{script}: {e}"))
    }

    /// Runs a script of others in the page.
    pub async fn inject(&self, script: &str) {
        self.client.execute(script, Vec::new()).await.expect("the script runs");
    }

    /// Whether an expression is true in the page.
    pub async fn is(&self, expression: &str) -> bool {
        self.ask(&format!("return !!({expression});")).await == true
    }

    /// What an expression is, as text.
    pub async fn text(&self, expression: &str) -> String {
        let told = self.ask(&format!("return String({expression});")).await;
        told.as_str().expect("a text").to_owned()
    }

    /// Presses a key, on whatever has the focus.
    pub async fn press(&self, key: Key) {
        let value = char::from(key);
        let keys = KeyActions::new("keyboard".to_owned()).then(KeyAction::Down { value }).then(KeyAction::Up { value });
        self.client.perform_actions(keys).await.expect("a key is pressed");
    }

    /// Puts the pointer on an element.
    pub async fn hover(&self, selector: &str) {
        let element = self.client.find(Locator::Css(selector)).await.unwrap_or_else(|e| panic!("{selector}: {e}"));
        self.ask(&format!("document.querySelector({}).scrollIntoView({{block: 'center', inline: 'center'}});", json!(selector))).await;
        // Scrolling is told to the page with its next frame, and so is the pointer.
        self.next_frame().await;
        let to = PointerAction::MoveToElement { element, duration: None, x: 0.0, y: 0.0 };
        self.client.perform_actions(MouseActions::new("mouse".to_owned()).then(to)).await.expect("the pointer moves");
        self.next_frame().await;
    }

    /// Waits until the page has been told what happened and has been drawn anew.
    async fn next_frame(&self) {
        let script = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done(true)));";
        self.await_of(script, Vec::new()).await;
    }

    /// Clicks on an element, as a person does.
    pub async fn click(&self, selector: &str) {
        let element = self.client.find(Locator::Css(selector)).await.unwrap_or_else(|e| panic!("{selector}: {e}"));
        element.click().await.unwrap_or_else(|e| panic!("{selector}: {e}"));
    }

    /// Shows the page as a screen of this width does, in a colour scheme.
    pub async fn see(&self, width: u32, scheme: &str) {
        let screen = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.devtools("Emulation.setDeviceMetricsOverride", &screen).await;
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.devtools("Emulation.setEmulatedMedia", &media).await;
    }

    /// A command of the developer tools.
    pub async fn devtools(&self, command: &str, params: &Value) -> Value {
        self.post("goog/cdp/execute", &json!({ "cmd": command, "params": params })).await
    }

    /// Opens and ticks all that can be opened and ticked.
    pub async fn unfold(&self) {
        self.ask("document.querySelectorAll('details').forEach(details => { details.open = true; });").await;
        self.ask("document.querySelectorAll('input[type=checkbox]').forEach(box => { if (!box.checked) box.click(); });").await;
    }

    /// Every address that was requested since the page was opened.
    pub async fn requests(&self) -> Vec<String> {
        let mut requests = Vec::new();
        for entry in self.log("performance").await {
            let message: Value = serde_json::from_str(entry["message"].as_str().expect("a message")).expect("it is JSON");
            let message = &message["message"];
            if message["method"] == "Network.requestWillBeSent" {
                requests.push(message["params"]["request"]["url"].as_str().expect("an address").to_owned());
            }
        }
        requests
    }

    /// Every error and warning of the console since the page was opened.
    pub async fn complaints(&self) -> Vec<String> {
        let bad = |entry: &Value| entry["level"] == "SEVERE" || entry["level"] == "WARNING";
        self.log("browser").await.iter().filter(|entry| bad(entry)).map(|entry| entry["message"].to_string()).collect()
    }

    async fn log(&self, kind: &str) -> Vec<Value> {
        match self.post("se/log", &json!({ "type": kind })).await {
            Value::Array(entries) => entries,
            other => panic!("no log: {other}"),
        }
    }

    /// A command that only chromedriver knows.
    #[expect(clippy::disallowed_methods, reason = "a real connection is driven on a real runtime")]
    async fn post(&self, command: &str, body: &Value) -> Value {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).await.expect("chromedriver listens");
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.expect("it speaks HTTP");
        tokio::spawn(connection);
        let request = Request::post(format!("/session/{}/{command}", self.session))
            .header("host", format!("127.0.0.1:{}", self.port))
            .header("content-type", "application/json")
            .body(Full::new(Bytes::from(body.to_string())))
            .expect("it is a request");
        let answer = sender.send_request(request).await.expect("it answers");
        let status = answer.status();
        let answer = answer.into_body().collect().await.expect("it answers to the end").to_bytes();
        let mut answer: Value = serde_json::from_slice(&answer).expect("it answers with JSON");
        assert!(status.is_success(), "{command} {body}: {answer}");
        answer["value"].take()
    }
}
