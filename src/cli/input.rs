//! Files that users name: read, if they can be what they should be.

use crate::cli::exit::Failure;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// Bytes of the longest file that is read. A witness has some kilobytes.
const LONGEST: u64 = 8 * 1024 * 1024;

/// The text of a witness file.
pub fn text(path: &Path) -> Result<String, Failure> {
    read(path, "witness", LONGEST)
}

/// The text of a deployment file. A longer one than this nobody wrote.
pub fn deployment(path: &Path) -> Result<String, Failure> {
    if path == Path::new("-") { standard_input("deployment", LONGEST / 8) } else { read(path, "deployment", LONGEST / 8) }
}

/// What comes from standard input until it ends, at most `longest` bytes of it.
fn standard_input(kind: &str, longest: u64) -> Result<String, Failure> {
    let mut text = String::new();
    match std::io::stdin().lock().take(longest + 1).read_to_string(&mut text) {
        Ok(length) if length as u64 <= longest => Ok(text),
        Ok(_) => {
            Err(Failure::Usage(format!("cannot read standard input: it is larger than {} MiB, so it is no {kind} file", longest >> 20)))
        }
        Err(e) => Err(Failure::Usage(format!("cannot read standard input: {e}"))),
    }
}

/// The text of a certificate. One that holds every record as text has some megabytes for each strategy.
pub fn certificate(path: &Path) -> Result<String, Failure> {
    read(path, "certificate", 32 * LONGEST)
}

/// The text of a file of at most `longest` bytes, which should be a `kind`. What never ends, such
/// as a device, or may keep one waiting, such as a pipe, is not even opened.
pub fn read(path: &Path, kind: &str, longest: u64) -> Result<String, Failure> {
    let name = path.display();
    let unreadable = |e: std::io::Error| Failure::Usage(format!("cannot read {name}: {e}"));
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(Failure::Usage(format!("cannot read {name}: it is not a regular file; write the name of a {kind} file")));
    }
    let mut text = String::new();
    // The length is that of what is read, not what the file system says: the file may still grow.
    let read = File::open(path).and_then(|file| file.take(longest + 1).read_to_string(&mut text));
    match read {
        Ok(length) if length as u64 <= longest => Ok(text),
        // A character cut in two at the bound is not text either.
        Err(e) if fs::metadata(path).is_ok_and(|file| file.len() <= longest) => Err(unreadable(e)),
        Ok(_) | Err(_) => {
            Err(Failure::Usage(format!("cannot read {name}: it is larger than {} MiB, so it is no {kind} file", longest >> 20)))
        }
    }
}
