//! The types of parameters and columns, and their two forms on the wire.

use super::error::SqlError;
use bytes::{BufMut, BytesMut};
use rusqlite::types::{Value, ValueRef};

/// A PostgreSQL type that this server knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Bool,
    Int2,
    Int4,
    Int8,
    Float8,
    Text,
}

impl Type {
    /// PostgreSQL's number for the type.
    pub(super) fn oid(self) -> u32 {
        match self {
            Type::Bool => 16,
            Type::Int8 => 20,
            Type::Int2 => 21,
            Type::Int4 => 23,
            Type::Text => 25,
            Type::Float8 => 701,
        }
    }

    /// The type that a client names by number.
    pub(super) fn from_oid(oid: u32) -> Result<Type, SqlError> {
        match oid {
            16 => Ok(Type::Bool),
            20 => Ok(Type::Int8),
            21 => Ok(Type::Int2),
            23 => Ok(Type::Int4),
            // unknown, bpchar and varchar look like text.
            25 | 705 | 1042 | 1043 => Ok(Type::Text),
            701 => Ok(Type::Float8),
            other => Err(SqlError::unsupported(format!("the type with oid {other}"))),
        }
    }

    /// The type with this name in SQL.
    pub(super) fn from_name(name: &str) -> Result<Type, SqlError> {
        let is = |names: &[&str]| names.iter().any(|n| name.eq_ignore_ascii_case(n));
        match () {
            () if is(&["bigint", "int8"]) => Ok(Type::Int8),
            () if is(&["integer", "int", "int4"]) => Ok(Type::Int4),
            () if is(&["smallint", "int2"]) => Ok(Type::Int2),
            () if is(&["text", "varchar"]) => Ok(Type::Text),
            () if is(&["double precision", "float8"]) => Ok(Type::Float8),
            () if is(&["boolean", "bool"]) => Ok(Type::Bool),
            () => Err(SqlError::unsupported(format!("the type `{name}`"))),
        }
    }

    /// The type that a column was declared with: `varchar(8)`, `double precision`.
    pub(super) fn declared(name: &str) -> Result<Type, SqlError> {
        Type::from_name(name.split('(').next().unwrap_or(name).trim())
    }

    /// Size on the wire in binary form; -1 = it varies.
    pub(super) fn size(self) -> i16 {
        match self {
            Type::Bool => 1,
            Type::Int2 => 2,
            Type::Int4 => 4,
            Type::Int8 | Type::Float8 => 8,
            Type::Text => -1,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Type::Bool => "boolean",
            Type::Int2 => "smallint",
            Type::Int4 => "integer",
            Type::Int8 => "bigint",
            Type::Float8 => "double precision",
            Type::Text => "text",
        }
    }

    /// Reads a parameter that is not null.
    pub(super) fn decode(self, bytes: &[u8], binary: bool) -> Result<Value, SqlError> {
        if binary && self != Type::Text { self.decode_binary(bytes) } else { self.decode_text(bytes) }
    }

    fn decode_binary(self, bytes: &[u8]) -> Result<Value, SqlError> {
        let wrong = || SqlError::new("22P03", format!("incorrect binary data format for type {}", self.name()));
        Ok(match self {
            Type::Bool => Value::Integer(i64::from(u8::from_be_bytes(bytes.try_into().map_err(|_| wrong())?) != 0)),
            Type::Int2 => Value::Integer(i64::from(i16::from_be_bytes(bytes.try_into().map_err(|_| wrong())?))),
            Type::Int4 => Value::Integer(i64::from(i32::from_be_bytes(bytes.try_into().map_err(|_| wrong())?))),
            Type::Int8 => Value::Integer(i64::from_be_bytes(bytes.try_into().map_err(|_| wrong())?)),
            Type::Float8 => Value::Real(f64::from_be_bytes(bytes.try_into().map_err(|_| wrong())?)),
            Type::Text => return self.decode_text(bytes),
        })
    }

    fn decode_text(self, bytes: &[u8]) -> Result<Value, SqlError> {
        let text = std::str::from_utf8(bytes).map_err(|_| SqlError::new("22021", "invalid byte sequence for encoding \"UTF8\""))?;
        let invalid = || SqlError::new("22P02", format!("invalid input syntax for type {}: \"{text}\"", self.name()));
        let word = text.trim();
        Ok(match self {
            Type::Text if text.contains('\0') => return Err(SqlError::new("22021", "invalid byte sequence for encoding \"UTF8\": 0x00")),
            Type::Text => Value::Text(text.to_owned()),
            Type::Float8 => Value::Real(word.parse().map_err(|_| invalid())?),
            Type::Bool => match word.to_ascii_lowercase().as_str() {
                "t" | "true" | "1" | "on" | "yes" | "y" => Value::Integer(1),
                "f" | "false" | "0" | "off" | "no" | "n" => Value::Integer(0),
                _ => return Err(invalid()),
            },
            Type::Int2 | Type::Int4 | Type::Int8 => {
                let number: i64 = word.parse().map_err(|_| invalid())?;
                if !self.holds(number) {
                    return Err(SqlError::new("22003", format!("value \"{word}\" is out of range for type {}", self.name())));
                }
                Value::Integer(number)
            }
        })
    }

    fn holds(self, number: i64) -> bool {
        match self {
            Type::Int2 => i16::try_from(number).is_ok(),
            Type::Int4 => i32::try_from(number).is_ok(),
            Type::Bool | Type::Int8 | Type::Float8 | Type::Text => true,
        }
    }

    /// Writes a column of a row, its length first.
    ///
    /// # Errors
    /// The value does not fit the type that the client was told. SQLite types values, not
    /// columns, so this can happen where PostgreSQL would have found a type for the expression.
    pub(super) fn encode(self, value: ValueRef<'_>, binary: bool, out: &mut BytesMut) -> Result<(), SqlError> {
        match (self, value) {
            (_, ValueRef::Null) => out.put_i32(-1),
            (Type::Text, ValueRef::Text(text)) => field(out, text),
            (Type::Text, ValueRef::Integer(n)) => field(out, n.to_string().as_bytes()),
            (Type::Text, ValueRef::Real(x)) => field(out, x.to_string().as_bytes()),
            (Type::Float8, ValueRef::Integer(n)) => float(out, n as f64, binary),
            (Type::Float8, ValueRef::Real(x)) => float(out, x, binary),
            (Type::Bool, ValueRef::Integer(n)) if binary => field(out, &[u8::from(n != 0)]),
            (Type::Bool, ValueRef::Integer(n)) => field(out, if n != 0 { b"t" } else { b"f" }),
            (Type::Int2 | Type::Int4 | Type::Int8, ValueRef::Integer(n)) => self.integer(out, n, binary)?,
            (Type::Bool | Type::Int2 | Type::Int4 | Type::Int8 | Type::Float8 | Type::Text, found) => {
                return Err(SqlError::new(
                    "42804",
                    format!("a column was described as {} and holds {}: cast it to its type", self.name(), found.data_type()),
                ));
            }
        }
        Ok(())
    }

    fn integer(self, out: &mut BytesMut, number: i64, binary: bool) -> Result<(), SqlError> {
        if !self.holds(number) {
            return Err(SqlError::new("22003", format!("{} out of range", self.name())));
        }
        match (binary, self) {
            (true, Type::Int2) => field(out, &(number as i16).to_be_bytes()),
            (true, Type::Int4) => field(out, &(number as i32).to_be_bytes()),
            (true, _) => field(out, &number.to_be_bytes()),
            (false, _) => field(out, number.to_string().as_bytes()),
        }
        Ok(())
    }
}

/// A value as an integer, as PostgreSQL casts it: a fraction is rounded, half to even; a text is parsed.
pub(super) fn to_integer(value: ValueRef<'_>) -> Result<Value, SqlError> {
    match value {
        ValueRef::Null => Ok(Value::Null),
        ValueRef::Integer(n) => Ok(Value::Integer(n)),
        ValueRef::Real(x) => {
            let rounded = x.round_ties_even();
            if (-(2_f64.powi(63))..2_f64.powi(63)).contains(&rounded) {
                Ok(Value::Integer(rounded as i64))
            } else {
                Err(SqlError::new("22003", "bigint out of range"))
            }
        }
        ValueRef::Text(text) | ValueRef::Blob(text) => Type::Int8.decode_text(text),
    }
}

fn float(out: &mut BytesMut, number: f64, binary: bool) {
    if binary {
        field(out, &number.to_be_bytes());
    } else {
        field(out, number.to_string().as_bytes());
    }
}

fn field(out: &mut BytesMut, bytes: &[u8]) {
    out.put_i32(i32::try_from(bytes.len()).expect("SQLite holds no value of 2 GiB"));
    out.put_slice(bytes);
}
