//! Pages among the reports: one of each witness, and the front page.

use crate::page::{self, Sources};
use crate::report::Kept;
use crate::report::files;
use crate::report::twin::Twin;
use crate::report::twins;
use crate::report::words::quoted;
use std::path::Path;

/// A witness, its page, and what that is made of, each with its place in the reports folder.
pub fn files(name: String, kept: Kept) -> [(String, String); 3] {
    let Kept { witness, twin } = kept;
    let [page, json] = of(&name, &Twin { replay: replay(&name), ..twin });
    [(name, witness.to_toml()), page, json]
}

/// The page of a run, and what it is made of. `name` is where its witness is, or would be.
pub fn of(name: &str, twin: &Twin) -> [(String, String); 2] {
    [(files::page_name(name), page::run(twin)), (files::twin_name(name), twins::json(twin))]
}

/// The command that replays a witness, from inside of the reports folder: a page says the same whatever that folder is called.
pub fn replay(name: &str) -> String {
    format!("{}{}", page::IN_THE_FOLDER, quoted(name))
}

/// The front page, made of what was just made and what else is in the folder, but for what is `gone`.
pub fn index(reports: &Path, fresh: &[(String, String)], gone: &[String]) -> (String, String) {
    let mut sources = Sources::of(reports, fresh);
    sources.pages.retain(|page| !gone.contains(page));
    (page::INDEX.to_owned(), page::index(&sources))
}
