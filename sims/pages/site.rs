//! A reports folder with its pages, made by the library from an older folder's JSON.

use onceproof::page::source::{Sources, document};
use onceproof::page::{self, INDEX};
use onceproof::report::twin::Twin;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The run that has a page.
pub const RUN: &str = "witnesses/lease-set-px--pause.html";

/// What no text may do.
pub const SCRIPT: &str = "<script>window.pwned=1</script>";

/// The files of an older folder.
pub fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("sims/data/format-1")
}

/// A folder of pages.
pub struct Site {
    folder: TempDir,
    /// What `verdicts.json` says.
    pub verdicts: Value,
}

impl Site {
    /// As the files say.
    pub fn new() -> Site {
        Site::with(|text| text)
    }

    /// The same, where a strategy's name, and what a run is told by, are scripts.
    pub fn hostile() -> Site {
        let quoted = serde_json::to_string(SCRIPT).unwrap();
        Site::with(|text| {
            let text = text.replace("\"lease-set-px\"", &quoted).replace("\"is granted the lease\"", &quoted);
            text.replace("\"2026-01-10 settled by", &format!("\"{SCRIPT} settled by"))
        })
    }

    fn with(changed: impl Fn(String) -> String) -> Site {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("witnesses")).unwrap();
        let read = |name: &str| changed(fs::read_to_string(data().join(name)).unwrap());
        let twin: Twin = document::read(&read("witnesses/lease-set-px--pause.json")).unwrap();
        fs::write(folder.path().join(RUN), page::run(&twin)).unwrap();
        let verdicts = read("verdicts.json");
        fs::write(folder.path().join("verdicts.json"), &verdicts).unwrap();
        fs::write(folder.path().join(INDEX), page::index(&Sources::of(folder.path(), &[]))).unwrap();
        Site { folder, verdicts: serde_json::from_str(&verdicts).unwrap() }
    }

    /// Where its front page is.
    pub fn front(&self) -> PathBuf {
        self.folder.path().join(INDEX)
    }

    /// Where the page of its run is.
    pub fn run(&self) -> PathBuf {
        self.folder.path().join(RUN)
    }

    /// One more page, of these words.
    pub fn other(&self, text: &str) -> PathBuf {
        let path = self.folder.path().join("other.html");
        fs::write(&path, text).unwrap();
        path
    }
}
