//! What one machine's share of the work came to, as a file for another to merge. Any command that
//! can be cut into shards writes one: the head says what it is a part of, the payload is the
//! command's own.

use crate::explore::Shard;
use crate::trace::Digest;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Version of the format.
pub const FORMAT: u64 = 2;

/// One shard's result.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File<P> {
    /// [`FORMAT`].
    pub format: u64,
    /// Version of the program.
    pub onceproof: String,
    /// Which command wrote it.
    pub command: String,
    /// Which part it is.
    pub shard: Shard,
    /// [`crate::explore::fingerprint`] of what was run, 16 hexadecimal digits.
    pub fingerprint: String,
    /// Everything that decides what the whole is; the same in all of its shards.
    pub order: Value,
    /// What the shard came to.
    pub payload: P,
}

/// Why files cannot be merged: one line that names the file, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unmergeable(pub String);

impl<P: Serialize> File<P> {
    /// A result of this program.
    ///
    /// # Panics
    /// The order cannot be written as JSON.
    pub fn new(command: &str, shard: Shard, fingerprint: Digest, order: &impl Serialize, payload: P) -> File<P> {
        File {
            format: FORMAT,
            onceproof: env!("CARGO_PKG_VERSION").to_owned(),
            command: command.to_owned(),
            shard,
            fingerprint: fingerprint.to_string(),
            order: serde_json::to_value(order).expect("an order has only values that JSON knows"),
            payload,
        }
    }

    /// Its name in the reports folder.
    pub fn name(&self) -> String {
        let command = if self.command == "verify" { String::new() } else { format!("{}-", self.command) };
        format!("{command}shard-{}-of-{}.json", self.shard.number(), self.shard.of())
    }

    /// The text of the file.
    ///
    /// # Panics
    /// The payload cannot be written as JSON.
    pub fn render(&self) -> String {
        serde_json::to_string(self).expect("a shard has only values that JSON knows") + "\n"
    }
}

impl<P: DeserializeOwned> File<P> {
    /// Reads the text of a file called `name`, which `command` of this version has to have written.
    ///
    /// # Errors
    /// It is something else, or incomplete.
    pub fn read(name: &str, command: &str, text: &str) -> Result<File<P>, Unmergeable> {
        let refuse = |what: String| Unmergeable(format!("{name}: {what}"));
        let again = "make the shard again";
        let value: Value = serde_json::from_str(text).map_err(|e| {
            refuse(if e.is_eof() { format!("the file ends in the middle; {again}") } else { format!("not a shard: {e}; {again}") })
        })?;
        let here = env!("CARGO_PKG_VERSION");
        match (value["format"].as_u64(), value["onceproof"].as_str(), value["command"].as_str()) {
            (None, ..) | (_, None, _) | (.., None) => {
                Err(refuse("not a shard: write the names of files that --shard has written".to_owned()))
            }
            (_, Some(version), _) if version != here => Err(refuse(format!(
                "written by onceproof {version}, and this is {here}; merge it with that version, or {again} with this one"
            ))),
            (Some(format), ..) if format != FORMAT => {
                Err(refuse(format!("the shard has format {format}, and this version reads format {FORMAT}; {again}")))
            }
            (.., Some(other)) if other != command => Err(refuse(format!("a shard of `{other}`, not of `{command}`; leave it out"))),
            _ => serde_json::from_value(value).map_err(|e| refuse(format!("not a whole shard: {e}; {again}"))),
        }
    }
}

/// Which command wrote a file, if it is a shard at all.
pub fn command(text: &str) -> Option<String> {
    let value: Value = serde_json::from_str(text).ok()?;
    value["command"].as_str().map(str::to_owned)
}

/// Puts the shards of one whole in order.
///
/// # Errors
/// They are not of one whole, or not all of it, or one is there twice.
pub fn whole<P>(mut files: Vec<(String, File<P>)>) -> Result<Vec<File<P>>, Unmergeable> {
    let Some((first, reference)) = files.first() else { return Err(Unmergeable("no shards; write the names of their files".to_owned())) };
    for (name, file) in &files[1..] {
        if let Some(differs) = difference(reference, file) {
            return Err(Unmergeable(format!(
                "{name} is no part of the same whole as {first}: {differs}; merge shards of one command line"
            )));
        }
    }
    let of = reference.shard.of();
    files.sort_by_key(|(_, file)| file.shard);
    if let Some([(one, file), (other, _)]) = files.array_windows().find(|[(_, one), (_, other)]| one.shard == other.shard) {
        return Err(Unmergeable(format!("{one} and {other} are both shard {}; leave one out", file.shard)));
    }
    if let Some(missing) = (1..=of).find(|n| !files.iter().any(|(_, file)| file.shard.number() == *n)) {
        return Err(Unmergeable(format!(
            "shard {missing}/{of} is missing, {} of {of} are here; run the same command with `--shard {missing}/{of}` and name its file too",
            files.len()
        )));
    }
    Ok(files.into_iter().map(|(_, file)| file).collect())
}

/// The first thing in which two files are not of one whole.
fn difference<P>(one: &File<P>, other: &File<P>) -> Option<String> {
    if one.shard.of() != other.shard.of() {
        return Some(format!("it is one of {} shards, not of {}", other.shard.of(), one.shard.of()));
    }
    let keys = one.order.as_object().into_iter().chain(other.order.as_object()).flat_map(serde_json::Map::keys);
    let differs = keys.into_iter().find(|key| one.order[*key] != other.order[*key]);
    if let Some(key) = differs {
        let told = |value: &Value| if value.is_array() { None } else { Some(value.to_string()) };
        return Some(match (told(&other.order[key]), told(&one.order[key])) {
            (Some(other), Some(one)) => format!("its {key} is {other}, not {one}"),
            _ => format!("its {key} are others"),
        });
    }
    (one.fingerprint != other.fingerprint).then(|| "another build made it, or another scenario".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn file(shard: &str, order: &Value) -> (String, File<u64>) {
        let shard: Shard = shard.parse().unwrap();
        let file = File::new("verify", shard, Digest(7), order, 42);
        (file.name(), file)
    }

    fn refused(files: Vec<(String, File<u64>)>, says: &[&str]) {
        let told = whole(files).unwrap_err().to_string();
        assert!(says.iter().all(|word| told.contains(word)), "{told}");
    }

    #[test]
    fn shards_of_one_whole_come_in_order_whatever_the_order_of_their_files() {
        let order = json!({"base_seed": "1", "classes": ["calm"]});
        let files = whole(vec![file("3/3", &order), file("1/3", &order), file("2/3", &order)]).unwrap();
        assert_eq!(files.iter().map(|f| f.shard.to_string()).collect::<Vec<_>>(), ["1/3", "2/3", "3/3"]);
    }

    #[test]
    fn what_is_missing_doubled_or_foreign_is_named() {
        let order = json!({"base_seed": "1", "classes": ["calm"]});
        refused(vec![], &["no shards"]);
        refused(vec![file("1/3", &order), file("3/3", &order)], &["shard 2/3 is missing", "2 of 3 are here", "`--shard 2/3`"]);
        refused(vec![file("1/2", &order), file("1/2", &order)], &["both shard 1/2", "leave one out"]);
        refused(vec![file("1/2", &order), file("2/3", &order)], &["shard-2-of-3.json", "one of 3 shards, not of 2"]);
        refused(
            vec![file("1/2", &order), file("2/2", &json!({"base_seed": "2", "classes": ["calm"]}))],
            &["shard-2-of-2.json is no part of the same whole as shard-1-of-2.json", "its base_seed is \"2\", not \"1\""],
        );
        refused(vec![file("1/2", &order), file("2/2", &json!({"base_seed": "1", "classes": ["crash"]}))], &["its classes are others"]);
        let (name, other) = file("2/2", &order);
        let built = File { fingerprint: "0".repeat(16), ..other };
        refused(vec![file("1/2", &order), (name, built)], &["another build made it"]);
    }

    #[test]
    fn only_whole_files_of_this_version_and_command_are_read() {
        let (name, file) = file("1/2", &json!({}));
        let text = file.render();
        let read = |text: &str| File::<u64>::read(&name, "verify", text).map_err(|e| e.to_string());
        assert_eq!(read(&text).unwrap().payload, 42);
        for (from, to, says) in [
            (text.as_str(), &text[..text.len() / 2], "ends in the middle"),
            (text.as_str(), "{}", "not a shard"),
            (text.as_str(), "nonsense", "not a shard"),
            (env!("CARGO_PKG_VERSION"), "0.0.9", "written by onceproof 0.0.9"),
            ("\"format\":2", "\"format\":9", "has format 9"),
            ("\"format\":2", "\"format\":1", "has format 1"),
            ("\"verify\"", "\"exhaust\"", "a shard of `exhaust`, not of `verify`"),
            ("\"payload\":42", "\"payload\":\"x\"", "not a whole shard"),
            ("\"1/2\"", "\"3/2\"", "`3/2` is no shard"),
        ] {
            let told = read(&text.replacen(from, to, 1)).unwrap_err();
            assert!(told.starts_with("shard-1-of-2.json: ") && told.contains(says), "{told}");
        }
    }
}
