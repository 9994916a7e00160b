//! A desk: the program in an empty folder, as its users meet it.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use tempfile::TempDir;

/// An empty folder to run the program in.
pub struct Desk(pub TempDir);

impl Desk {
    pub fn new() -> Desk {
        Desk(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("onceproof"));
        command.current_dir(self.0.path()).args(args).env_remove("COLUMNS");
        command
    }

    pub fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// A desk on which no-guard's calm run, which has to break, has left a witness.
    pub fn with_witness() -> (Desk, String) {
        let desk = Desk::new();
        let done = desk.run(&["--strategy", "no-guard", "--faults", "calm", "--seeds", "3"]);
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        let witness = fs::read_to_string(desk.path(WITNESS)).unwrap();
        (desk, witness)
    }
}

/// The witness of [`Desk::with_witness`].
pub const WITNESS: &str = "reports/witnesses/no-guard--calm.toml";

/// What the program wrote.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The run ended with exit code 2 and one line of error that says all these things.
pub fn refused(done: &Output, says: &[&str]) {
    let error = text(&done.stderr);
    assert_eq!(done.status.code(), Some(2), "{error}");
    assert!(error.starts_with("error: ") && error.lines().count() == 1, "not one line: {error}");
    for word in says {
        assert!(error.contains(word), "`{word}` is missing in: {error}");
    }
}
