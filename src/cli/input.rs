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
    let mut bytes = Vec::new();
    // The length is that of what is read, not what the file system says: the file may still grow.
    let read = File::open(path).and_then(|file| file.take(longest + 1).read_to_end(&mut bytes)).map_err(unreadable)?;
    if read as u64 > longest {
        return Err(Failure::Usage(format!("cannot read {name}: it is larger than {} MiB, so it is no {kind} file", longest >> 20)));
    }
    String::from_utf8(bytes).map_err(|e| Failure::Usage(format!("cannot read {name}: {}", no_text(e.as_bytes(), &e.utf8_error()))))
}

/// Where the first byte is that is no text, in lines and characters.
fn no_text(bytes: &[u8], error: &std::str::Utf8Error) -> String {
    let good = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
    let line = 1 + good.matches('\n').count();
    let column = 1 + good.rsplit('\n').next().unwrap_or_default().chars().count();
    let bad = bytes[error.valid_up_to()];
    format!("the byte 0x{bad:02x} in line {line}, column {column} is no UTF-8; save the file as UTF-8 text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_that_is_no_text_has_a_place() {
        let bytes = ["guard = 1\n# Zürich ".as_bytes(), &[0xfc], b"ber\n"].concat();
        let error = std::str::from_utf8(&bytes).unwrap_err();
        assert_eq!(no_text(&bytes, &error), "the byte 0xfc in line 2, column 10 is no UTF-8; save the file as UTF-8 text");
    }
}
