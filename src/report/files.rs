//! The reports folder. A sweep may take an hour, so whether its results can be written is
//! found out before it starts; and a file is either the old one or the new one, never half
//! of either: everything is first written beside its place, then renamed into it.

mod one;

pub use one::One;

use crate::class::FaultClass;
use crate::page::INDEX;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Where the verdicts are, in the reports folder.
pub const VERDICTS: &str = "verdicts.json";

/// Where the witnesses are, in the reports folder.
const WITNESSES: &str = "witnesses";

/// Whether two paths lead to one file.
pub fn are_same(one: &Path, other: &Path) -> bool {
    match (fs::canonicalize(one), fs::canonicalize(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

/// Where to look: the front page, and the file of what was found.
pub fn written(reports: &str, file: &str) -> String {
    format!("written: {reports}/{INDEX}, {reports}/{file}")
}

/// Where the witness of a cell is, in the reports folder.
pub fn witness_name(strategy: &str, class: FaultClass) -> String {
    format!("{WITNESSES}/{strategy}--{class}.toml")
}

/// Where the page of a witness is.
pub fn page_name(witness: &str) -> String {
    beside_it(witness, "html")
}

/// Where what that page is made of is.
pub fn twin_name(witness: &str) -> String {
    beside_it(witness, "json")
}

/// All that belongs to a witness: its file, its page, and what that is made of.
pub fn of_witness(witness: &str) -> [String; 3] {
    [witness.to_owned(), page_name(witness), twin_name(witness)]
}

fn beside_it(witness: &str, ending: &str) -> String {
    format!("{}.{ending}", witness.strip_suffix(".toml").unwrap_or(witness))
}

/// The folder cannot be written to.
#[derive(Debug, thiserror::Error)]
#[error("cannot write reports to {path}: {why}; choose another folder with --reports DIR")]
pub struct Unwritable {
    path: String,
    why: io::Error,
}

impl Unwritable {
    /// The same without advice, for a command to which the folder is given otherwise.
    pub fn bare(&self) -> String {
        format!("cannot write reports to {}: {}", self.path, self.why)
    }
}

/// A reports folder that can be written to.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Makes sure that `path` is a folder that can be written to, or can be created. What is
    /// created for the trial is removed again: the sweep may fail or be interrupted.
    ///
    /// # Errors
    /// It is something else, or cannot be created or written to.
    pub fn open(path: &Path) -> Result<Folder, Unwritable> {
        let folder = Folder { path: path.to_owned() };
        let missing = folder.missing();
        let probe = || {
            fs::create_dir_all(path.join(WITNESSES))?;
            for place in [path.to_owned(), path.join(WITNESSES)] {
                let probe = beside(&place.join("probe"));
                File::create(&probe)?;
                fs::remove_file(probe)?;
            }
            replaceable(&path.join(VERDICTS))?;
            replaceable(&path.join(INDEX))?;
            pages_of(&path.join(WITNESSES)).try_for_each(|page| replaceable(&page))
        };
        let probed = probe();
        remove_empty(&missing);
        probed.map_err(|why| folder.unwritable(why))?;
        Ok(folder)
    }

    /// The folders that are not there yet, innermost first.
    fn missing(&self) -> Vec<PathBuf> {
        let witnesses = self.path.join(WITNESSES);
        let missing = witnesses.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
        missing.map(Path::to_owned).collect()
    }

    /// Puts all these files (name in the folder, content) in place, or, if one of them cannot
    /// be written, none. Then removes `gone`, the files that the new ones make untrue.
    ///
    /// # Errors
    /// Something could not be written.
    pub fn replace(&self, files: &[(String, String)], gone: &[String]) -> Result<(), Unwritable> {
        let missing = self.missing();
        let mut staged: Vec<(PathBuf, PathBuf)> = Vec::new();
        let mut stage = |(name, content): &(String, String)| {
            let place = self.path.join(name);
            replaceable(&place)?;
            let temporary = beside(&place);
            staged.push((temporary.clone(), place));
            let mut file = File::create(&temporary)?;
            file.write_all(content.as_bytes())?;
            file.sync_all()
        };
        let written = fs::create_dir_all(self.path.join(WITNESSES)).and_then(|()| files.iter().try_for_each(&mut stage));
        let placed = written.and_then(|()| staged.iter().try_for_each(|(temporary, place)| fs::rename(temporary, place)));
        if let Err(why) = placed {
            for (temporary, _) in &staged {
                let _ = fs::remove_file(temporary);
            }
            remove_empty(&missing);
            return Err(self.unwritable(why));
        }
        for name in gone {
            match fs::remove_file(self.path.join(name)) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(self.unwritable(e)),
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }

    fn unwritable(&self, why: io::Error) -> Unwritable {
        Unwritable { path: self.path.display().to_string(), why }
    }
}

/// One file, written beside its place and not there yet. Dropped, it leaves nothing.
#[derive(Debug)]
pub struct Staged {
    temporary: PathBuf,
    place: PathBuf,
}

impl Staged {
    /// Makes sure that a file can be put in this place.
    ///
    /// # Errors
    /// A folder is there, or nothing can be written there.
    pub fn at(place: &Path) -> io::Result<Staged> {
        replaceable(place)?;
        let staged = Staged { temporary: beside(place), place: place.to_owned() };
        File::create(&staged.temporary)?;
        Ok(staged)
    }

    /// Where it is for now.
    pub fn path(&self) -> &Path {
        &self.temporary
    }

    /// Writes it.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, content: &str) -> io::Result<()> {
        let mut file = File::create(&self.temporary)?;
        file.write_all(content.as_bytes())?;
        file.sync_all()
    }

    /// Puts it in its place.
    ///
    /// # Errors
    /// It cannot be put there.
    pub fn keep(self) -> io::Result<()> {
        fs::rename(&self.temporary, &self.place)
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // Once it is in its place, there is nothing beside it any more.
        let _ = fs::remove_file(&self.temporary);
    }
}

/// What has the name of a witness, or of what belongs to one.
fn pages_of(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let there = fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    there.filter(|path| path.extension().is_some_and(|ending| ["toml", "html", "json"].iter().any(|known| ending == *known)))
}

/// A file can be put in this place: no folder is there.
fn replaceable(place: &Path) -> io::Result<()> {
    if place.is_dir() {
        let name = place.file_name().unwrap_or(place.as_os_str()).to_string_lossy();
        return Err(io::Error::new(io::ErrorKind::IsADirectory, format!("{name} is a folder")));
    }
    Ok(())
}

/// Removes those of the folders, innermost first, in which nothing is.
fn remove_empty(folders: &[PathBuf]) {
    for folder in folders {
        // One that cannot be removed is used by somebody, or was never made.
        let _ = fs::remove_dir(folder);
    }
}

/// A name in the same folder, so that renaming stays within one file system; hidden, and different for every process.
fn beside(place: &Path) -> PathBuf {
    let name = place.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    place.with_file_name(format!(".{name}.{}.tmp", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn files_are_replaced_whole_and_leave_nothing_beside_them() {
        let temp = tempfile::tempdir().unwrap();
        let folder = Folder::open(&temp.path().join("reports")).unwrap();
        let witness = witness_name("no-guard", FaultClass::Calm);
        folder.replace(&[(VERDICTS.to_owned(), "old".to_owned()), (witness.clone(), "w".to_owned())], &[]).unwrap();
        folder.replace(&[(VERDICTS.to_owned(), "new".to_owned())], &[witness, "witnesses/never-was.toml".to_owned()]).unwrap();
        let path = temp.path().join("reports");
        assert_eq!(fs::read_to_string(path.join(VERDICTS)).unwrap(), "new");
        assert_eq!(names(&path), ["verdicts.json", "witnesses"]);
        assert_eq!(names(&path.join("witnesses")), [""; 0]);
    }

    /// The second file cannot be written, so the first must not be replaced either.
    #[test]
    fn one_unwritable_file_leaves_all_others_as_they_were() {
        let temp = tempfile::tempdir().unwrap();
        let folder = Folder::open(temp.path()).unwrap();
        folder.replace(&[(VERDICTS.to_owned(), "old".to_owned())], &[]).unwrap();
        let files = [(VERDICTS.to_owned(), "new".to_owned()), ("missing/folder.toml".to_owned(), String::new())];
        assert!(folder.replace(&files, &[]).is_err());
        assert_eq!(fs::read_to_string(temp.path().join(VERDICTS)).unwrap(), "old");
        assert_eq!(names(temp.path()), ["verdicts.json", "witnesses"]);
    }

    /// Nothing is left of a trial, nor of a replacement that failed.
    #[test]
    fn folders_are_made_only_when_there_is_something_to_put_in() {
        let temp = tempfile::tempdir().unwrap();
        let folder = Folder::open(&temp.path().join("new/reports")).unwrap();
        assert_eq!(names(temp.path()), [""; 0]);
        assert!(folder.replace(&[("missing/folder.toml".to_owned(), String::new())], &[]).is_err());
        assert_eq!(names(temp.path()), [""; 0]);
        folder.replace(&[(VERDICTS.to_owned(), "new".to_owned())], &[]).unwrap();
        assert_eq!(names(&temp.path().join("new/reports")), ["verdicts.json", "witnesses"]);
    }

    #[test]
    fn a_folder_in_the_verdicts_place_is_told_at_once() {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir(temp.path().join(VERDICTS)).unwrap();
        let told = Folder::open(temp.path()).unwrap_err().to_string();
        assert!(told.contains(": verdicts.json is a folder; "), "{told}");
        assert_eq!(names(temp.path()), ["verdicts.json"]);
    }

    #[test]
    fn a_file_in_the_folders_place_is_told_at_once() {
        let temp = tempfile::tempdir().unwrap();
        let place = temp.path().join("reports");
        fs::write(&place, "a file").unwrap();
        let told = Folder::open(&place).unwrap_err().to_string();
        assert!(told.starts_with("cannot write reports to ") && told.ends_with("--reports DIR"), "{told}");
    }
}
