//! What goes into a statement and what comes out of it, whichever protocol carries it.

use crate::store::StoreError;
use mysql_async::prelude::FromValue;
use std::any::type_name;
use tokio_postgres::types::{FromSqlOwned, ToSql, Type};

/// A statement's parameter.
#[derive(Clone, Copy, Debug)]
pub enum Param<'a> {
    /// A `bigint`.
    Int(&'a i64),
    /// A `text`, or whatever MySQL stores as one.
    Text(&'a str),
}

/// A `bigint` parameter.
pub fn int(value: &i64) -> Param<'_> {
    Param::Int(value)
}

/// A `text` parameter.
pub fn text(value: &str) -> Param<'_> {
    Param::Text(value)
}

impl Param<'_> {
    /// As tokio-postgres takes it.
    pub(super) fn postgres(&self) -> (&(dyn ToSql + Sync), Type) {
        match self {
            Param::Int(value) => (*value, Type::INT8),
            Param::Text(value) => (value, Type::TEXT),
        }
    }

    /// As `mysql_async` takes it.
    pub(super) fn mysql(&self) -> mysql_async::Value {
        match self {
            Param::Int(value) => (**value).into(),
            Param::Text(value) => (*value).into(),
        }
    }
}

/// A row of an answer.
#[derive(Debug)]
pub enum Row {
    /// As tokio-postgres read it.
    PostgreSql(tokio_postgres::Row),
    /// As `mysql_async` read it.
    MySql(Vec<mysql_async::Value>),
}

/// A Rust type for a column, which both client libraries know how to read.
pub trait Column: FromSqlOwned + FromValue {}
impl<T: FromSqlOwned + FromValue> Column for T {}

/// The value of a column; `T` is `i64` for `bigint` and `String` for `text`.
///
/// # Errors
/// `Rejected`: the server sent another type.
pub fn column<T: Column>(row: &Row, index: usize) -> Result<T, StoreError> {
    match row {
        Row::PostgreSql(row) => row.try_get(index).map_err(StoreError::rejected),
        Row::MySql(values) => {
            let missing = || StoreError::rejected(format!("the row has no column {index}"));
            let value = values.get(index).ok_or_else(missing)?;
            let other = |_| StoreError::rejected(format!("column {index} holds {value:?}, which is no {}", type_name::<T>()));
            mysql_async::from_value_opt(value.clone()).map_err(other)
        }
    }
}

/// The only value of an aggregate.
///
/// # Errors
/// `Rejected`: the server sent no row, or another type.
pub fn aggregate(rows: &[Row]) -> Result<i64, StoreError> {
    let row = rows.first().ok_or_else(|| StoreError::rejected("the server answered an aggregate without a row"))?;
    column(row, 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mysql_async::Value;

    /// What MySQL sends is read as what was asked for, or refused with a reason; NULL is no number.
    #[test]
    fn columns_of_mysql_have_types() {
        let row = Row::MySql(vec![Value::Int(7), Value::Bytes(b"key".to_vec()), Value::NULL]);
        assert_eq!(column::<i64>(&row, 0), Ok(7));
        assert_eq!(column::<String>(&row, 1).as_deref(), Ok("key"));
        assert_eq!((column::<Option<i64>>(&row, 0), column::<Option<i64>>(&row, 2)), (Ok(Some(7)), Ok(None)));
        for (index, reason) in [(1, "which is no i64"), (2, "which is no i64"), (3, "no column 3")] {
            let refused = column::<i64>(&row, index).expect_err("no number");
            assert!(refused.text.contains(reason), "{refused}");
        }
        assert_eq!(aggregate(&[row]), Ok(7));
        assert!(aggregate(&[]).is_err());
    }
}
