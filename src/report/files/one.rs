//! One file in a place that the user names: the old one or the new one, never half of either.

use super::{beside, remove_empty, replaceable};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The file cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {path}: {why}; name another file")]
pub struct Unwritable {
    path: String,
    why: io::Error,
}

/// A place for one file.
#[derive(Debug)]
pub struct One {
    place: PathBuf,
}

impl One {
    /// Makes sure that a file can be written to `place`, before long work begins. Nothing is left of the trial.
    ///
    /// # Errors
    /// A folder is there, or its own folder cannot be created or written to.
    pub fn open(place: &Path) -> Result<One, Unwritable> {
        let one = One { place: place.to_owned() };
        let missing = one.missing();
        let probed = one.staged("").and_then(fs::remove_file);
        remove_empty(&missing);
        probed.map_err(|why| one.unwritable(why))?;
        Ok(one)
    }

    /// Puts the content in its place.
    ///
    /// # Errors
    /// It could not be written; what was there is as it was.
    pub fn replace(&self, content: &str) -> Result<(), Unwritable> {
        let missing = self.missing();
        let placed = self.staged(content).and_then(|staged| {
            fs::rename(&staged, &self.place).inspect_err(|_| {
                let _ = fs::remove_file(&staged);
            })
        });
        placed.map_err(|why| {
            remove_empty(&missing);
            self.unwritable(why)
        })
    }

    /// The content in a file beside its place.
    fn staged(&self, content: &str) -> io::Result<PathBuf> {
        replaceable(&self.place)?;
        if let Some(folder) = self.folder() {
            fs::create_dir_all(folder)?;
        }
        let staged = beside(&self.place);
        let written = File::create(&staged).and_then(|mut file| {
            file.write_all(content.as_bytes())?;
            file.sync_all()
        });
        match written {
            Ok(()) => Ok(staged),
            Err(why) => {
                let _ = fs::remove_file(&staged);
                Err(why)
            }
        }
    }

    fn folder(&self) -> Option<&Path> {
        self.place.parent().filter(|folder| !folder.as_os_str().is_empty())
    }

    /// The folders that are not there yet, innermost first.
    fn missing(&self) -> Vec<PathBuf> {
        let above = self.folder().into_iter().flat_map(Path::ancestors);
        above.take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists()).map(Path::to_owned).collect()
    }

    fn unwritable(&self, why: io::Error) -> Unwritable {
        Unwritable { path: self.place.display().to_string(), why }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_leaves_nothing_and_a_file_is_replaced_whole() {
        let temp = tempfile::tempdir().unwrap();
        let place = temp.path().join("new/certificate.json");
        let one = One::open(&place).unwrap();
        assert!(!temp.path().join("new").exists());
        one.replace("old").unwrap();
        one.replace("new").unwrap();
        assert_eq!(fs::read_to_string(&place).unwrap(), "new");
        assert_eq!(fs::read_dir(temp.path().join("new")).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_or_a_file_in_the_way_is_told_at_once() {
        let temp = tempfile::tempdir().unwrap();
        let told = One::open(temp.path()).unwrap_err().to_string();
        assert!(told.contains("is a folder; name another file"), "{told}");
        fs::write(temp.path().join("file"), "mine").unwrap();
        One::open(&temp.path().join("file/certificate.json")).unwrap_err();
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 1);
    }
}
