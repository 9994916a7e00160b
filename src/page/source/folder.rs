//! A reports folder, read: its files, or those that are about to replace them.

use crate::page::source::document::{self, Document};
use crate::page::source::{Exhaust, Frontier, Kills, Sources, Throughput, Verdicts};
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

/// Where the pages of runs are, in a reports folder.
const WITNESSES: &str = "witnesses";

/// A folder, and files that will be put into it.
struct Folder<'a> {
    path: &'a Path,
    fresh: &'a [(String, String)],
    unreadable: Vec<(String, String)>,
}

impl Sources {
    /// What will be in the folder when `fresh` files (name in the folder, content) are put into it. A file that is not
    /// there is none; one that cannot be read is named among the unreadable.
    pub fn of(folder: &Path, fresh: &[(String, String)]) -> Sources {
        let mut folder = Folder { path: folder, fresh, unreadable: Vec::new() };
        Sources {
            verdicts: folder.read::<Verdicts>("verdicts.json"),
            exhaust: folder.read::<Exhaust>("exhaust.json"),
            frontier: folder.read::<Frontier>("frontier.json"),
            kills: folder.read::<Kills>("kills.json"),
            throughput: folder.read::<Throughput>("throughput.json"),
            pages: folder.pages(),
            unreadable: folder.unreadable,
        }
    }

    /// Whether there is nothing to make a page of, readable or not.
    pub fn is_empty(&self) -> bool {
        let Sources { verdicts, exhaust, frontier, kills, throughput, pages: _, unreadable } = self;
        let nothing = verdicts.is_none() && exhaust.is_none() && frontier.is_none() && kills.is_none() && throughput.is_none();
        nothing && unreadable.is_empty()
    }
}

impl Folder<'_> {
    fn read<D: Document>(&mut self, name: &str) -> Option<D> {
        let text = self.text(name).map_err(|e| e.to_string()).transpose()?;
        match text.and_then(|text| document::read(&text).map_err(|e| e.to_string())) {
            Ok(document) => Some(document),
            Err(why) => {
                self.unreadable.push((name.to_owned(), why));
                None
            }
        }
    }

    /// The text of a file; none if it is not there.
    fn text(&self, name: &str) -> io::Result<Option<String>> {
        if let Some((_, text)) = self.fresh.iter().find(|(fresh, _)| fresh == name) {
            return Ok(Some(text.clone()));
        }
        match fs::read_to_string(self.path.join(name)) {
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
            Err(e) => Err(io::Error::new(e.kind(), format!("it cannot be read: {e}; remove it, or make it readable"))),
            Ok(text) => Ok(Some(text)),
        }
    }

    fn pages(&self) -> BTreeSet<String> {
        let entries = fs::read_dir(self.path.join(WITNESSES)).into_iter().flatten().flatten();
        let there = entries.filter_map(|entry| Some(format!("{WITNESSES}/{}", entry.file_name().to_str()?)));
        let fresh = self.fresh.iter().map(|(name, _)| name.clone());
        there.chain(fresh).filter(|name| is_page(name)).collect()
    }
}

fn is_page(name: &str) -> bool {
    let stem = name.strip_prefix("witnesses/").and_then(|file| file.strip_suffix(".html"));
    stem.is_some_and(|stem| !stem.starts_with('.') && !stem.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fresh(name: &str, text: &str) -> (String, String) {
        (name.to_owned(), text.to_owned())
    }

    #[test]
    fn an_empty_folder_and_none_at_all_are_empty() {
        let temp = tempfile::tempdir().unwrap();
        assert!(Sources::of(temp.path(), &[]).is_empty());
        assert!(Sources::of(&temp.path().join("nowhere"), &[]).is_empty());
        assert!(!Sources::of(temp.path(), &[fresh("kills.json", r#"{"format": 1}"#)]).is_empty());
    }

    #[test]
    fn a_fresh_file_stands_for_the_one_on_disk() {
        let temp = tempfile::tempdir().unwrap();
        fs::write(temp.path().join("verdicts.json"), r#"{"format": 1, "runs": 7}"#).unwrap();
        fs::write(temp.path().join("frontier.json"), r#"{"format": 1, "seeds": 60}"#).unwrap();
        let sources = Sources::of(temp.path(), &[fresh("verdicts.json", r#"{"format": 1, "runs": 8}"#)]);
        assert_eq!((sources.verdicts.unwrap().runs, sources.frontier.unwrap().seeds), (8, 60));
        assert!(sources.exhaust.is_none() && sources.unreadable.is_empty());
    }

    #[test]
    fn pages_are_those_that_will_be_there() {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir(temp.path().join(WITNESSES)).unwrap();
        for name in ["b--calm.html", "b--calm.toml", ".c--calm.html.7.tmp", ".d.html"] {
            fs::write(temp.path().join(WITNESSES).join(name), "").unwrap();
        }
        let will_be = [fresh("witnesses/a--calm.html", ""), fresh("index.html", ""), fresh("witnesses/a--calm.json", "")];
        let pages = Sources::of(temp.path(), &will_be).pages;
        assert_eq!(pages.into_iter().collect::<Vec<_>>(), ["witnesses/a--calm.html", "witnesses/b--calm.html"]);
    }

    /// One bad file does not hide the others.
    #[test]
    fn a_file_that_cannot_be_read_is_named_and_the_rest_is_there() {
        let temp = tempfile::tempdir().unwrap();
        fs::write(temp.path().join("exhaust.json"), "{").unwrap();
        fs::write(temp.path().join("kills.json"), b"\xff").unwrap();
        fs::create_dir(temp.path().join("frontier.json")).unwrap();
        let sources = Sources::of(temp.path(), &[fresh("verdicts.json", r#"{"format": 1}"#)]);
        assert!(sources.verdicts.is_some());
        let names: Vec<&str> = sources.unreadable.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["exhaust.json", "frontier.json", "kills.json"]);
        assert!(sources.unreadable[0].1.starts_with("not JSON: EOF while parsing an object at line 1 column 1"));
        assert!(sources.unreadable[2].1.starts_with("it cannot be read: "), "{}", sources.unreadable[2].1);
    }
}
