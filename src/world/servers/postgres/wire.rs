//! Messages of the PostgreSQL protocol, version 3: reading without trust, writing.

use super::error::SqlError;
use super::statement::Column;
use bytes::{BufMut, BytesMut};
use std::ffi::CStr;
use std::fmt::Write;

/// Longest message that a client may send, in bytes.
const LONGEST: usize = 16 << 20;
/// Longest startup packet, in bytes; the bound is PostgreSQL's.
const LONGEST_STARTUP: usize = 10_000;

/// The first packet of a connection, which has no type byte.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Startup {
    /// Asks for encryption; the answer is no, and then comes the real one.
    Encryption,
    /// Wants another session's statement cancelled. There is no answer.
    Cancel,
    /// Version 3.
    Session,
}

/// Whole startup packet at the beginning of `input`, with its length; `None` if more bytes must come.
pub(super) fn startup(input: &[u8]) -> Result<Option<(Startup, usize)>, SqlError> {
    let Some(length) = length(input) else { return Ok(None) };
    if !(8..=LONGEST_STARTUP).contains(&length) {
        return Err(SqlError::protocol("invalid length of startup packet"));
    }
    if input.len() < length {
        return Ok(None);
    }
    let code = u32::from_be_bytes(input[4..8].try_into().expect("four bytes"));
    let packet = match code {
        80_877_102 => Startup::Cancel,
        80_877_103 | 80_877_104 => Startup::Encryption,
        version if version >> 16 == 3 => Startup::Session,
        other => {
            let (major, minor) = (other >> 16, other & 0xffff);
            return Err(SqlError::new("0A000", format!("unsupported frontend protocol {major}.{minor}: server supports 3.0 to 3.0")));
        }
    };
    Ok(Some((packet, length)))
}

/// A message of a client.
#[derive(Debug)]
pub(super) struct Message<'a> {
    pub kind: u8,
    pub body: Body<'a>,
    /// Bytes it takes in the input.
    pub size: usize,
}

/// Whole message at the beginning of `input`; `None` if more bytes must come.
pub(super) fn message(input: &[u8]) -> Result<Option<Message<'_>>, SqlError> {
    let Some((&kind, rest)) = input.split_first() else { return Ok(None) };
    let Some(length) = length(rest) else { return Ok(None) };
    if !(4..=LONGEST).contains(&length) {
        return Err(SqlError::protocol("invalid message length"));
    }
    Ok(rest.get(4..length).map(|body| Message { kind, body: Body(body), size: 1 + length }))
}

fn length(input: &[u8]) -> Option<usize> {
    let bytes = input.first_chunk::<4>()?;
    usize::try_from(u32::from_be_bytes(*bytes)).ok()
}

/// The rest of a message. Every read says whether there was enough.
#[derive(Debug)]
pub(super) struct Body<'a>(&'a [u8]);

impl<'a> Body<'a> {
    pub(super) fn bytes(&mut self, n: usize) -> Result<&'a [u8], SqlError> {
        let (taken, rest) = self.0.split_at_checked(n).ok_or_else(|| SqlError::protocol("insufficient data left in message"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], SqlError> {
        Ok(self.bytes(N)?.try_into().expect("as many bytes as asked for"))
    }

    pub(super) fn u8(&mut self) -> Result<u8, SqlError> {
        Ok(u8::from_be_bytes(self.array()?))
    }

    pub(super) fn u16(&mut self) -> Result<u16, SqlError> {
        Ok(u16::from_be_bytes(self.array()?))
    }

    pub(super) fn u32(&mut self) -> Result<u32, SqlError> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    pub(super) fn i32(&mut self) -> Result<i32, SqlError> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    /// Text up to a zero byte.
    pub(super) fn text(&mut self) -> Result<&'a str, SqlError> {
        let text = CStr::from_bytes_until_nul(self.0).map_err(|_| SqlError::protocol("invalid string in message"))?.to_bytes();
        self.0 = &self.0[text.len() + 1..];
        std::str::from_utf8(text).map_err(|_| SqlError::new("22021", "invalid byte sequence for encoding \"UTF8\""))
    }

    /// A count, and as many format codes: true = binary.
    pub(super) fn formats(&mut self) -> Result<Vec<bool>, SqlError> {
        let n = self.u16()?;
        (0..n)
            .map(|_| match self.u16()? {
                0 => Ok(false),
                1 => Ok(true),
                other => Err(SqlError::new("22023", format!("unsupported format code: {other}"))),
            })
            .collect()
    }

    pub(super) fn end(&self) -> Result<(), SqlError> {
        if self.0.is_empty() { Ok(()) } else { Err(SqlError::protocol("invalid message format")) }
    }
}

/// The format of the `i`-th of several values: none given = text, one given = it holds for all.
pub(super) fn format(formats: &[bool], i: usize) -> bool {
    match formats {
        [] => false,
        [all] => *all,
        each => each.get(i).copied().unwrap_or(false),
    }
}

/// Writes one message, its length filled in afterwards.
pub(super) fn put<T>(out: &mut BytesMut, kind: u8, body: impl FnOnce(&mut BytesMut) -> T) -> T {
    out.put_u8(kind);
    let start = out.len();
    out.put_u32(0);
    let done = body(out);
    let length = u32::try_from(out.len() - start).expect("no message reaches 4 GiB");
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
    done
}

/// Writes a message without a body.
pub(super) fn put_empty(out: &mut BytesMut, kind: u8) {
    put(out, kind, |_| ());
}

pub(super) fn put_text(out: &mut BytesMut, text: &str) {
    out.put_slice(text.as_bytes());
    out.put_u8(0);
}

/// What a server says before the first query. Always the same bytes: no process id, no random key.
pub(super) fn put_greeting(out: &mut BytesMut) {
    const PARAMETERS: [(&str, &str); 7] = [
        ("server_version", "15.0"),
        ("server_encoding", "UTF8"),
        ("client_encoding", "UTF8"),
        ("DateStyle", "ISO, MDY"),
        ("TimeZone", "UTC"),
        ("integer_datetimes", "on"),
        ("standard_conforming_strings", "on"),
    ];
    put(out, b'R', |out| out.put_u32(0));
    for (name, value) in PARAMETERS {
        put(out, b'S', |out| {
            put_text(out, name);
            put_text(out, value);
        });
    }
    put(out, b'K', |out| {
        out.put_u32(1);
        out.put_u32(1);
    });
}

pub(super) fn put_ready(out: &mut BytesMut, status: u8) {
    put(out, b'Z', |out| out.put_u8(status));
}

pub(super) fn put_error(out: &mut BytesMut, severity: &str, error: &SqlError) {
    put(out, b'E', |out| {
        for (field, text) in [(b'S', severity), (b'V', severity), (b'C', error.code), (b'M', &error.message)] {
            out.put_u8(field);
            // A zero byte would end the field early.
            put_text(out, &text.replace('\0', "?"));
        }
        out.put_u8(0);
    });
}

pub(super) fn put_parameters(out: &mut BytesMut, oids: impl ExactSizeIterator<Item = u32>) {
    put(out, b't', |out| {
        out.put_u16(u16::try_from(oids.len()).expect("a statement has at most 65535 parameters"));
        oids.for_each(|oid| out.put_u32(oid));
    });
}

/// Describes the rows that will come; no columns = no rows.
pub(super) fn put_columns(out: &mut BytesMut, columns: &[Column], formats: &[bool]) {
    if columns.is_empty() {
        return put_empty(out, b'n');
    }
    put(out, b'T', |out| {
        out.put_u16(u16::try_from(columns.len()).expect("SQLite returns at most 2000 columns"));
        for (i, column) in columns.iter().enumerate() {
            put_text(out, &column.name);
            out.put_u32(0);
            out.put_u16(0);
            out.put_u32(column.of.oid());
            out.put_i16(column.of.size());
            out.put_i32(-1);
            out.put_u16(u16::from(format(formats, i)));
        }
    });
}

pub(super) fn put_complete(out: &mut BytesMut, tag: &str, rows: Option<u64>) {
    put(out, b'C', |out| {
        out.put_slice(tag.as_bytes());
        if let Some(rows) = rows {
            write!(out, " {rows}").expect("a buffer in memory grows");
        }
        out.put_u8(0);
    });
}
