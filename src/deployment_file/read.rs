//! From text to what stands behind each key: types, bounds and names, every mistake at once.

use crate::deployment_file::keys::{self, Kind, Names};
use crate::deployment_file::mistake::Mistake;
use crate::nearest::nearest;
use crate::plan::duration;
use crate::seed::Seed;
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;
use toml::Spanned;
use toml::de::{DeInteger, DeString, DeTable, DeValue};

/// What stands behind a key.
#[derive(Clone, Debug)]
pub enum Value {
    /// A duration.
    Length(Duration),
    /// A number, or a seed.
    Number(u64),
    /// Text, or a name.
    Text(String),
    /// Names, each with its place.
    Names(Vec<(String, Range<usize>)>),
    /// A table of knobs.
    Knobs(toml::Value),
    /// True or false.
    Flag(bool),
}

/// A key that is in the file.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What stands behind it.
    pub value: Value,
    /// Where the value is, in bytes.
    pub span: Range<usize>,
}

/// All keys that are in a file, by their paths.
#[derive(Clone, Debug, Default)]
pub struct Entries {
    all: BTreeMap<&'static str, Entry>,
    /// What is said about one node alone, each by the paths that it would have in the file, in the file's order.
    overrides: Vec<Entries>,
    /// Where the table itself is, if it is about one node.
    table: Option<Range<usize>>,
}

impl Entries {
    /// Reads a text: what is good in it, and all mistakes; those of the syntax alone, if there are any, for what follows
    /// them cannot be trusted.
    pub fn read(text: &str) -> (Entries, Vec<Mistake>) {
        let (file, syntax) = DeTable::parse_recoverable(text);
        if !syntax.is_empty() {
            let mistake = |e: &toml::de::Error| {
                let what = e.message().lines().collect::<Vec<_>>().join("; ");
                let cure = "a line is `key = value`, with text and durations in quotes, or `[table]`";
                Mistake { span: e.span(), what, cure: cure.to_owned() }
            };
            return (Entries::default(), syntax.iter().map(mistake).collect());
        }
        let mut reader = Reader { entries: Entries::default(), mistakes: Vec::new() };
        reader.table("", file.get_ref());
        (reader.entries, reader.mistakes)
    }

    /// What is said about one node alone.
    pub fn overrides(&self) -> &[Entries] {
        &self.overrides
    }

    /// Where the table is that these stand in, if it is not the file.
    pub fn table(&self) -> Option<Range<usize>> {
        self.table.clone()
    }

    /// Where the value of a key is.
    pub fn span(&self, path: &str) -> Option<Range<usize>> {
        self.all.get(path).map(|entry| entry.span.clone())
    }

    /// Whether the file has it.
    pub fn has(&self, path: &str) -> bool {
        self.all.contains_key(path)
    }

    /// Every key of the file.
    pub fn paths(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.all.keys().copied()
    }

    /// A duration.
    pub fn length(&self, path: &str) -> Option<Duration> {
        match self.all.get(path)?.value {
            Value::Length(length) => Some(length),
            _ => None,
        }
    }

    /// A number.
    pub fn number(&self, path: &str) -> Option<u64> {
        match self.all.get(path)?.value {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Text.
    pub fn text(&self, path: &str) -> Option<&str> {
        match &self.all.get(path)?.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Names.
    pub fn names(&self, path: &str) -> Option<&[(String, Range<usize>)]> {
        match &self.all.get(path)?.value {
            Value::Names(names) => Some(names),
            _ => None,
        }
    }

    /// True or false.
    pub fn flag(&self, path: &str) -> Option<bool> {
        match self.all.get(path)?.value {
            Value::Flag(flag) => Some(flag),
            _ => None,
        }
    }

    /// A table of knobs.
    pub fn knobs(&self, path: &str) -> Option<&toml::Value> {
        match &self.all.get(path)?.value {
            Value::Knobs(knobs) => Some(knobs),
            _ => None,
        }
    }
}

struct Reader {
    entries: Entries,
    mistakes: Vec<Mistake>,
}

impl Reader {
    fn table(&mut self, at: &str, table: &DeTable<'_>) {
        for (key, value) in table {
            let path = if at.is_empty() { key.get_ref().to_string() } else { format!("{at}.{}", key.get_ref()) };
            if path == keys::LIST
                && let DeValue::Array(all) = value.get_ref()
            {
                self.list(all);
                continue;
            }
            let inner = value.get_ref().as_table().filter(|_| keys::is_table(&path) && path != keys::LIST);
            match (keys::find(&path), inner) {
                (_, Some(inner)) => self.table(&path, inner),
                (Some(key), None) => self.value(key, value),
                (None, None) if keys::is_table(&path) => {
                    let (kind, head) = (if path == keys::LIST { "a list of tables" } else { "a table" }, head(&path));
                    let what = format!("`{path}` is {}, but must be {kind}", kind_of(value.get_ref()));
                    self.mistakes.push(Mistake::at(
                        value.span(),
                        what,
                        format!("write `{head}`, and below it {}", listed(&keys::within(&path))),
                    ));
                }
                (None, None) => self.unknown(at, key),
            }
        }
    }

    /// Tables about one node each: keys of the file, with their own places.
    fn list(&mut self, all: &[Spanned<DeValue<'_>>]) {
        for one in all {
            let Some(table) = one.get_ref().as_table() else {
                let what = format!("`{}` holds {}, but must hold tables", keys::LIST, kind_of(one.get_ref()));
                self.mistakes.push(Mistake::at(one.span(), what, format!("write `{}`, and below it `node = 1`", head(keys::LIST))));
                continue;
            };
            let mut own = Reader { entries: Entries { table: Some(one.span()), ..Entries::default() }, mistakes: Vec::new() };
            own.table(keys::LIST, table);
            if !own.entries.has("node") && own.mistakes.is_empty() {
                let what = format!("`{}` does not say which node it is about", head(keys::LIST));
                own.mistakes.push(Mistake::at(one.span(), what, "write for example `node = 1`"));
            }
            self.entries.overrides.push(own.entries);
            self.mistakes.extend(own.mistakes);
        }
    }

    fn unknown(&mut self, at: &str, key: &Spanned<DeString<'_>>) {
        let typed = key.get_ref().as_ref();
        let here = keys::within(at);
        let place = if at.is_empty() { "a deployment file".to_owned() } else { format!("`{}`", head(at)) };
        // A name that is right elsewhere is meant to be there, and best in the same table.
        let mut others: Vec<&str> = keys::KEYS.iter().map(|key| key.path).filter(|path| path.rsplit('.').next() == Some(typed)).collect();
        others.sort_by_key(|path| at.is_empty() || !path.starts_with(at));
        let elsewhere = others.first();
        let cure = match (nearest(typed, here.iter().copied()), elsewhere) {
            (None, Some(path)) => match path.rsplit_once('.') {
                Some((table, name)) => format!("`{name}` belongs below `{}`", head(table)),
                None => format!("`{path}` belongs at the top of the file, before the first table"),
            },
            (Some(meant), _) => format!("did you mean `{meant}`?"),
            (None, None) => format!("there are {}", listed(&here)),
        };
        self.mistakes.push(Mistake::at(key.span(), format!("{place} has no `{}`", shortened(typed)), cure));
    }

    fn value(&mut self, key: &'static keys::Key, value: &Spanned<DeValue<'_>>) {
        match read(key, value) {
            Ok(read) => {
                let path = key.path.strip_prefix(keys::LIST).and_then(|rest| rest.strip_prefix('.')).unwrap_or(key.path);
                self.entries.all.insert(path, Entry { value: read, span: value.span() });
            }
            Err(mistakes) => self.mistakes.extend(mistakes),
        }
    }
}

fn read(key: &keys::Key, value: &Spanned<DeValue<'_>>) -> Result<Value, Vec<Mistake>> {
    let (path, name) = (key.path, key.path.rsplit('.').next().unwrap_or(key.path));
    let write = || format!("write for example `{name} = {}`", key.example);
    let wrong = |what: String| vec![Mistake::at(value.span(), what, write())];
    let another = |wanted: &str| wrong(format!("`{path}` is {}, but must be {wanted}", kind_of(value.get_ref())));
    match (key.kind, value.get_ref()) {
        (Kind::Length, DeValue::String(text)) => duration::parse(text)
            .map(Value::Length)
            .map_err(|_| wrong(format!("`{path}` is \"{}\", which is not a duration", shortened(text)))),
        (Kind::Length, _) => Err(another("a duration in quotes")),
        (Kind::Number { least, most }, DeValue::Integer(n)) => whole(n)
            .filter(|n| (least..=most).contains(n))
            .map(Value::Number)
            .ok_or_else(|| wrong(format!("`{path}` is {}, but must be {least} to {most}", shortened(n.as_str())))),
        (Kind::Number { least, most }, _) => Err(another(&format!("a whole number from {least} to {most}"))),
        (Kind::Seed, DeValue::Integer(n)) => {
            whole(n).map(Value::Number).ok_or_else(|| wrong(format!("`{path}` is {}, but must be 0 or more", shortened(n.as_str()))))
        }
        (Kind::Seed, DeValue::String(text)) => text
            .parse::<u64>()
            .map(|n| Value::Number(Seed(n).0))
            .map_err(|_| wrong(format!("`{path}` is \"{}\", which is not a whole number", shortened(text)))),
        (Kind::Seed, _) => Err(another("a whole number")),
        (Kind::Flag, DeValue::Boolean(flag)) => Ok(Value::Flag(*flag)),
        (Kind::Flag, _) => Err(another("true or false")),
        (Kind::Text, DeValue::String(text)) => Ok(Value::Text(text.to_string())),
        (Kind::Text, _) => Err(another("text in quotes")),
        (Kind::Name(names), DeValue::String(text)) => {
            known(names, text, value.span()).map(|()| Value::Text(text.to_string())).map_err(|e| vec![e])
        }
        (Kind::Name(names), _) => Err(another(&format!("the name of a {} in quotes", names.noun()))),
        (Kind::Names(names), DeValue::Array(all)) => {
            let mut mistakes = Vec::new();
            let mut read = Vec::new();
            for one in all {
                match one.get_ref() {
                    DeValue::String(text) => match known(names, text, one.span()) {
                        Ok(()) => read.push((text.to_string(), one.span())),
                        Err(mistake) => mistakes.push(mistake),
                    },
                    other => {
                        let what = format!("`{path}` holds {}, but must hold names in quotes", kind_of(other));
                        mistakes.push(Mistake::at(one.span(), what, write()));
                    }
                }
            }
            if all.is_empty() {
                mistakes.push(Mistake::at(
                    value.span(),
                    format!("`{path}` names nothing"),
                    "leave it out for all, or name some".to_owned(),
                ));
            }
            if mistakes.is_empty() { Ok(Value::Names(read)) } else { Err(mistakes) }
        }
        (Kind::Names(_), _) => Err(another("a list of names")),
        (Kind::Knobs, DeValue::Table(_)) => knobs(value).map(Value::Knobs).map_err(|mistake| vec![mistake]),
        (Kind::Knobs, _) => Err(another("a table")),
    }
}

/// Knobs of a scenario that a file has no say in, or says otherwise.
const OTHERS_SAY: [&str; 2] = ["strategy", "time_scale"];

/// A part of a scenario: read as one, so that what a scenario has not is told with its place.
fn knobs(value: &Spanned<DeValue<'_>>) -> Result<toml::Value, Mistake> {
    use crate::scenario::Scenario;
    use serde::Deserialize;
    use toml::de::ValueDeserializer;
    let whole = value.clone();
    let mistake = |e: toml::de::Error| {
        let message = OTHERS_SAY.iter().fold(e.message().to_owned(), |text, knob| text.replace(&format!("`{knob}`, "), ""));
        let what = message.lines().collect::<Vec<_>>().join("; ");
        Mistake { span: Some(e.span().unwrap_or(value.span())), what, cure: meant(&message) }
    };
    let table = toml::Value::deserialize(ValueDeserializer::from(whole)).map_err(mistake)?;
    // A schedule is whole only together with the file's own.
    let mut rest = table.clone();
    let schedule = rest.as_table_mut().and_then(|table| table.remove("schedule"));
    if let Some(key) = rest.as_table().and_then(|table| OTHERS_SAY.into_iter().find(|key| table.contains_key(*key))) {
        let cure = if key == "strategy" { "`guard` says which guard it is" } else { "take it away: time is not scaled here" };
        return Err(Mistake::at(value.span(), format!("`knobs` has no `{key}`"), cure.to_owned()));
    }
    match schedule {
        Some(_) => Scenario::deserialize(rest).map(|_| ()).map_err(mistake)?,
        None => Scenario::deserialize(ValueDeserializer::from(value.clone())).map(|_| ()).map_err(mistake)?,
    }
    Ok(table)
}

/// What serde's complaint about an unknown field may come from.
fn meant(message: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    let near = quoted.next().filter(|_| message.starts_with("unknown field")).and_then(|typed| nearest(typed, quoted));
    near.map_or_else(|| "`onceproof list` shows all knobs".to_owned(), |near| format!("did you mean `{near}`?"))
}

fn known(names: Names, typed: &str, span: Range<usize>) -> Result<(), Mistake> {
    let all = names.all();
    if all.contains(&typed) {
        return Ok(());
    }
    let cure = match nearest(typed, all.iter().copied()) {
        Some(meant) => format!("did you mean \"{meant}\"?"),
        None if all.len() <= 12 => format!("write one of {}", all.join(", ")),
        None => "`onceproof list` shows all".to_owned(),
    };
    Err(Mistake::at(span, format!("unknown {} \"{}\"", names.noun(), shortened(typed)), cure))
}

fn whole(n: &DeInteger<'_>) -> Option<u64> {
    u64::from_str_radix(n.as_str(), n.radix()).ok()
}

/// How a table begins.
fn head(table: &str) -> String {
    if table == keys::LIST { format!("[[{table}]]") } else { format!("[{table}]") }
}

fn kind_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "text",
        DeValue::Integer(_) => "a number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// What somebody typed, if it is not too long to be told.
fn shortened(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).take(60).collect();
    if plain.chars().count() < text.chars().count() { plain + "…" } else { plain }
}

fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
