//! JSON that is indented down to a depth, and on one line from there on: so that lists of numbers
//! do not take a line for each.

use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};
use std::io::{self, Write};

/// A value as JSON, its first `deepest` levels indented.
///
/// # Errors
/// The value cannot be written as JSON.
pub fn text(value: &impl Serialize, deepest: usize) -> serde_json::Result<String> {
    let mut written = Vec::new();
    let shallow = Shallow { pretty: PrettyFormatter::new(), depth: 0, deepest };
    value.serialize(&mut Serializer::with_formatter(&mut written, shallow))?;
    String::from_utf8(written).map_err(serde::ser::Error::custom)
}

struct Shallow {
    pretty: PrettyFormatter<'static>,
    depth: usize,
    deepest: usize,
}

impl Shallow {
    fn is_flat(&self) -> bool {
        self.depth > self.deepest
    }
}

fn apart<W: ?Sized + Write>(to: &mut W, first: bool) -> io::Result<()> {
    if first { Ok(()) } else { to.write_all(b", ") }
}

impl Formatter for Shallow {
    fn begin_array<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.depth += 1;
        if self.is_flat() { to.write_all(b"[") } else { self.pretty.begin_array(to) }
    }

    fn end_array<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        let flat = self.is_flat();
        self.depth -= 1;
        if flat { to.write_all(b"]") } else { self.pretty.end_array(to) }
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        if self.is_flat() { apart(to, first) } else { self.pretty.begin_array_value(to, first) }
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        if self.is_flat() { Ok(()) } else { self.pretty.end_array_value(to) }
    }

    fn begin_object<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.depth += 1;
        if self.is_flat() { to.write_all(b"{") } else { self.pretty.begin_object(to) }
    }

    fn end_object<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        let flat = self.is_flat();
        self.depth -= 1;
        if flat { to.write_all(b"}") } else { self.pretty.end_object(to) }
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        if self.is_flat() { apart(to, first) } else { self.pretty.begin_object_key(to, first) }
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        to.write_all(b": ")
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        if self.is_flat() { Ok(()) } else { self.pretty.end_object_value(to) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_deep_is_on_one_line() {
        let value = json!({"a": [[1, 2], {"b": [], "c": {"d": "e"}}], "f": {}});
        let lines = "{\n  \"a\": [\n    [1, 2],\n    {\"b\": [], \"c\": {\"d\": \"e\"}}\n  ],\n  \"f\": {}\n}";
        assert_eq!(text(&value, 2).unwrap(), lines);
        assert_eq!(text(&value, 9).unwrap(), serde_json::to_string_pretty(&value).unwrap());
    }
}
