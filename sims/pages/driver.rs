//! A chromedriver of the test's own, on a free port. It ends with the value that holds it, also when a test panics,
//! and its browser with it.

use std::env;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

/// Where a browser is, and what drives it.
pub struct Installed {
    pub driver: PathBuf,
    pub browser: PathBuf,
}

impl Installed {
    /// What is installed, in a place that a variable names or on the PATH. Without it the caller's test, named `test`,
    /// has nothing to do.
    ///
    /// # Panics
    /// There is none, and `ONCEPROOF_REQUIRE_BROWSER` is 1.
    pub fn find(test: &str) -> Option<Installed> {
        let driver = found("ONCEPROOF_CHROMEDRIVER", &["chromedriver"]);
        let browser = found("ONCEPROOF_CHROMIUM", &["chromium", "chromium-browser", "google-chrome"]);
        match (driver, browser) {
            (Some(driver), Some(browser)) => Some(Installed { driver, browser }),
            (_, None) => skip(test, "no Chromium is installed, and ONCEPROOF_CHROMIUM names none"),
            (None, _) => skip(test, "no chromedriver is installed, and ONCEPROOF_CHROMEDRIVER names none"),
        }
    }
}

/// Says that a test does nothing, and why.
///
/// # Panics
/// `ONCEPROOF_REQUIRE_BROWSER` is 1.
pub fn skip<T>(test: &str, why: &str) -> Option<T> {
    let required = env::var_os("ONCEPROOF_REQUIRE_BROWSER").is_some_and(|wish| wish == "1");
    assert!(!required, "{test}: {why}, and ONCEPROOF_REQUIRE_BROWSER is 1");
    eprintln!("skipped: {test}: {why}");
    None
}

fn found(variable: &str, names: &[&str]) -> Option<PathBuf> {
    if let Some(named) = env::var_os(variable).filter(|named| !named.is_empty()) {
        return Some(PathBuf::from(named)).filter(|path| path.is_file());
    }
    let path = env::var_os("PATH")?;
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|file| file.is_file())
}

/// It runs.
pub struct Driver {
    process: Child,
    /// Held, so that it can go on writing.
    _output: BufReader<ChildStdout>,
    pub port: u16,
}

impl Driver {
    /// Starts it.
    ///
    /// # Panics
    /// It does not come up.
    pub fn start(installed: &Installed) -> Driver {
        let mut command = Command::new(&installed.driver);
        command.arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null());
        // A group of its own, so that the browser can be ended with it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut process = command.spawn().expect("chromedriver starts");
        let mut output = BufReader::new(process.stdout.take().expect("its output is piped"));
        let port = port(&mut output).expect("chromedriver tells its port");
        Driver { process, _output: output, port }
    }
}

/// The port that it tells: `ChromeDriver was started successfully on port 38881.`
fn port(output: &mut impl BufRead) -> Option<u16> {
    for line in output.lines() {
        if let Some((_, port)) = line.ok()?.split_once("successfully on port ") {
            return port.trim_end_matches('.').parse().ok();
        }
    }
    None
}

impl Drop for Driver {
    fn drop(&mut self) {
        // What has ended by itself need not be ended.
        let group = format!("-{}", self.process.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
