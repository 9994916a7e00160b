//! The same runs in a fresh process: this very program, started again. It is given a time, and
//! it never outlives this one.

use crate::cli::exit::Failure;
use crate::cli::{CANCELLED, Exit};
use crate::explore::certify::Entry;
use crate::explore::certify::certificate::Named;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// The hidden command.
const AGAIN: &str = "certify-again";

/// How often somebody looks whether to end it.
const LOOK: Duration = Duration::from_millis(50);

/// Ends the process when it is no longer waited for.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What a fresh process makes of these runs, within `limit`.
pub fn entries(runs: &[Named], limit: Duration) -> Result<Vec<Entry>, Failure> {
    let failed = |why: String| Failure::Distrust(format!("the runs could not be made in a fresh process: {why}"));
    let program = std::env::current_exe().map_err(|e| failed(format!("this program cannot be found: {e}")))?;
    let mut command = Command::new(program);
    command.arg(AGAIN).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = Ended(command.spawn().map_err(|e| failed(format!("it cannot be started: {e}")))?);
    let order = serde_json::to_string(runs).expect("names can be written as JSON");
    let (mut input, output, errors) = (child.0.stdin.take(), child.0.stdout.take(), child.0.stderr.take());
    let (tell, told) = mpsc::channel();
    // What it is told and what it tells go through threads of their own: whoever waits for one of them can still be interrupted.
    thread::spawn(move || {
        // If it has died, it is its output that says why.
        let _ = input.take().map(|mut input| input.write_all(order.as_bytes()));
    });
    let errors = thread::spawn(move || text(errors));
    thread::spawn(move || tell.send(text(output)));
    let mut waited = Duration::ZERO;
    let output = loop {
        if CANCELLED.load(Ordering::SeqCst) {
            return Err(Failure::Interrupted);
        }
        if limit <= waited {
            return Err(failed(format!("it was not ready after {} s", limit.as_secs())));
        }
        match told.recv_timeout(LOOK) {
            Ok(output) => break output,
            Err(RecvTimeoutError::Timeout) => waited += LOOK,
            Err(RecvTimeoutError::Disconnected) => break String::new(),
        }
    };
    let status = child.0.wait().map_err(|e| failed(e.to_string()))?;
    // A terminal interrupts both at once, and this process may hear of it last.
    if CANCELLED.load(Ordering::SeqCst) || status.code() == Some(i32::from(Exit::Interrupted.code())) {
        return Err(Failure::Interrupted);
    }
    if !status.success() {
        let errors = errors.join().unwrap_or_default();
        return Err(failed(format!("it ended with {status}: {}", errors.trim().trim_start_matches("error: "))));
    }
    let entries: Vec<Entry> = serde_json::from_str(&output).map_err(|e| failed(format!("what it told cannot be read: {e}")))?;
    match entries.len() == runs.len() && entries.iter().zip(runs).all(|(entry, run)| entry.run == *run) {
        true => Ok(entries),
        false => Err(failed(format!("it told {} other runs than the {} that it was asked for", entries.len(), runs.len()))),
    }
}

fn text(from: Option<impl Read>) -> String {
    let mut text = String::new();
    let _ = from.map(|mut from| from.read_to_string(&mut text));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::FaultClass;
    use crate::scenario::Rules;
    use crate::seed::Seed;
    use crate::time::Span;

    fn run() -> Named {
        Named { strategy: "no-guard".to_owned(), rules: Rules::default(), faults: FaultClass::Calm, seed: Seed(1) }
    }

    /// This program is a test runner, which knows of no such command: what it tells is no list of runs.
    #[test]
    fn a_process_that_tells_something_else_is_not_believed() {
        let Err(Failure::Distrust(told)) = entries(&[run()], 60.seconds()) else { panic!("it was believed") };
        assert!(told.starts_with("the runs could not be made in a fresh process: what it told cannot be read: "), "{told}");
    }

    #[test]
    fn a_process_that_is_not_ready_in_time_is_given_up() {
        let given_up = entries(&[run()], Duration::ZERO);
        assert_eq!(
            given_up,
            Err(Failure::Distrust("the runs could not be made in a fresh process: it was not ready after 0 s".to_owned()))
        );
    }
}
