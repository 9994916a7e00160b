//! Redis processes of the test's own, on free ports, in a folder of their own. They end with the
//! value that holds them, also when a test panics.

#![expect(clippy::disallowed_methods, reason = "a real server keeps real time")]

use super::actual::Redis;
use std::env;
use std::io::ErrorKind;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// A free port may be taken by somebody else before the server has it.
const PORTS: usize = 5;

/// A server that may be killed.
pub struct Server {
    process: Child,
    port: u16,
    folder: TempDir,
    options: Vec<String>,
}

impl Server {
    /// Whether there is a `redis-server` to start. Without one the caller's test, named `test`, has nothing to do.
    ///
    /// # Panics
    /// There is none, and `ONCEPROOF_REQUIRE_SERVERS` is 1.
    pub fn is_there(test: &str) -> bool {
        let found = Command::new("redis-server").arg("--version").stdout(Stdio::null()).status();
        match found {
            Ok(status) => status.success(),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                assert!(env::var_os("ONCEPROOF_REQUIRE_SERVERS").is_none_or(|v| v != "1"), "{test}: there is no redis-server on the PATH");
                eprintln!("skipped: {test}: there is no redis-server on the PATH");
                false
            }
            Err(error) => panic!("redis-server does not start: {error}"),
        }
    }

    /// Starts one with these options beside what all have.
    ///
    /// # Panics
    /// It does not come up.
    pub fn start(options: &[&str]) -> Server {
        let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
        for _ in 0..PORTS {
            let free = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a free port");
            let folder = tempfile::tempdir().expect("a folder");
            let process = spawn(free.port(), &folder, &options);
            let mut server = Server { process, port: free.port(), folder, options: options.clone() };
            if server.comes_up() {
                return server;
            }
        }
        panic!("no redis-server came up on {PORTS} ports");
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// A new pair of clients.
    pub fn clients(&self) -> Redis {
        super::connect(&self.url())
    }

    /// Ends the process at once, as a crash does.
    pub fn kill(&mut self) {
        // It may have ended by itself; then there is nothing to end.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// Kills the process and starts another on what it left.
    pub fn restart(&mut self) {
        self.kill();
        self.process = spawn(self.port, &self.folder, &self.options);
        assert!(self.comes_up(), "redis-server does not come up again");
    }

    /// Waits until `what` holds.
    pub fn until(&self, what: &str, holds: impl Fn(&mut Redis) -> bool) {
        let (began, mut clients) = (Instant::now(), self.clients());
        while !holds(&mut clients) {
            assert!(began.elapsed() < PATIENCE, "{what} did not come to pass within {PATIENCE:?}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Whether it answers; false if the process has ended.
    fn comes_up(&mut self) -> bool {
        let began = Instant::now();
        let client = redis::Client::open(self.url()).expect("a good URL");
        while began.elapsed() < PATIENCE {
            if self.process.try_wait().expect("it is ours").is_some() {
                return false;
            }
            let answer = client.get_connection().and_then(|mut connection| redis::cmd("PING").query::<String>(&mut connection));
            if answer.is_ok() {
                return true;
            }
            thread::sleep(Duration::from_millis(20));
        }
        false
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

fn spawn(port: u16, folder: &TempDir, options: &[String]) -> Child {
    let mut command = Command::new("redis-server");
    command.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--dir"]).arg(folder.path()).args(options);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("redis-server starts")
}
