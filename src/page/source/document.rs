//! How a JSON file of a reports folder is read: one of this program, of a format that it knows.
//! Fields that an older format does not have are left at their defaults.

use crate::report::twin::{self, Twin};
use crate::report::words::fit;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// What such a file holds.
pub trait Document: DeserializeOwned {
    /// The newest format that this program knows.
    const FORMAT: u32;
    /// What has to be done for another one to be written.
    const AGAIN: &'static str;
}

impl Document for Twin {
    const FORMAT: u32 = twin::FORMAT;
    const AGAIN: &'static str = "run again what wrote it, or remove it";
}

/// Why a text cannot be read: what is wrong, where, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// It is no JSON, or ends in the middle.
    #[error("not JSON: {what}; {again}")]
    Broken {
        /// What is wrong, at which line and column.
        what: String,
        /// What to do.
        again: &'static str,
    },
    /// It says of no format that it is written in it.
    #[error("not a file of onceproof: it has no `format`; {again}")]
    Foreign {
        /// What to do.
        again: &'static str,
    },
    /// Its format is no format.
    #[error("not as onceproof writes it: its `format` is {format}, and must be a whole number from 1; {again}")]
    Unnumbered {
        /// What it says.
        format: String,
        /// What to do.
        again: &'static str,
    },
    /// It is of a later version.
    #[error("written by a newer version (format {format}, this program knows up to {known}): update onceproof")]
    Newer {
        /// Its format.
        format: u64,
        /// The newest that is known.
        known: u32,
    },
    /// A field is not what it has to be.
    #[error("not as onceproof writes it: {what}; {again}")]
    Spoilt {
        /// What is wrong, at which line and column.
        what: String,
        /// What to do.
        again: &'static str,
    },
}

/// Reads a text.
///
/// # Errors
/// It is something else, or of a later version.
pub fn read<D: Document>(text: &str) -> Result<D, Unreadable> {
    let again = D::AGAIN;
    // All of it is looked at first: what ends in the middle is told so, whatever it is.
    let value: Value = serde_json::from_str(text).map_err(|e| Unreadable::Broken { what: e.to_string(), again })?;
    let format = &value["format"];
    match format.as_u64() {
        None if format.is_null() => Err(Unreadable::Foreign { again }),
        None | Some(0) => Err(Unreadable::Unnumbered { format: fit(&format.to_string(), 40), again }),
        Some(format) if format > u64::from(D::FORMAT) => Err(Unreadable::Newer { format, known: D::FORMAT }),
        // From the text once more, for the line and column of a mistake.
        Some(_) => serde_json::from_str(text).map_err(|e| Unreadable::Spoilt { what: e.to_string(), again }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::source::Verdicts;

    fn told(text: &str) -> String {
        read::<Verdicts>(text).unwrap_err().to_string()
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place_and_its_cure() {
        assert_eq!(
            told("{\n  \"format\": 1,\n  oops\n}"),
            "not JSON: key must be a string at line 3 column 3; run `onceproof verify` again"
        );
        assert_eq!(
            told("{\"format\": 1, \"strategies\": ["),
            "not JSON: EOF while parsing a list at line 1 column 29; run `onceproof verify` again"
        );
        assert_eq!(
            told("{\"format\": 1,\n\"runs\": \"many\"}"),
            "not as onceproof writes it: invalid type: string \"many\", expected u64 at line 2 column 14; run `onceproof verify` again"
        );
    }

    #[test]
    fn other_files_are_not_taken_for_ours() {
        for text in ["{}", "[]", "[1]", "7", "{\"format\": null}"] {
            assert_eq!(told(text), "not a file of onceproof: it has no `format`; run `onceproof verify` again", "{text}");
        }
    }

    #[test]
    fn a_format_that_is_no_number_from_one_is_told() {
        for format in ["\"1\"", "0", "-1", "1.5", "{}"] {
            let text = format!("{{\"format\": {format}}}");
            let says = format!(
                "not as onceproof writes it: its `format` is {format}, and must be a whole number from 1; run `onceproof verify` again"
            );
            assert_eq!(told(&text), says);
        }
    }

    /// An older format is read, the newest too, and none after it: its fields may mean something else.
    #[test]
    fn formats_are_read_up_to_the_newest_that_is_known() {
        for format in 1..=Verdicts::FORMAT {
            let read: Verdicts = read(&format!("{{\"format\": {format}, \"unknown\": {{}}}}")).unwrap();
            assert_eq!(read.format, format);
        }
        let newer = u64::from(Verdicts::FORMAT) + 7;
        let told = told(&format!("{{\"format\": {newer}, \"runs\": \"many\"}}"));
        assert_eq!(
            told,
            format!("written by a newer version (format {newer}, this program knows up to {}): update onceproof", Verdicts::FORMAT)
        );
    }
}
