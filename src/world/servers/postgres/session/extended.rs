//! The extended protocol: statements are parsed under a name, bound to values in a portal, and executed.

use super::{Block, Session, aborted};
use crate::world::servers::postgres::error::SqlError;
use crate::world::servers::postgres::statement::{Kind, Statement};
use crate::world::servers::postgres::wire::{self, Body, format};
use rusqlite::types::Value;
use std::rc::Rc;

/// A statement with values for its parameters.
pub(super) struct Portal {
    name: String,
    statement: Rc<Statement>,
    values: Vec<Value>,
    /// Formats of the result columns.
    formats: Vec<bool>,
}

impl Session {
    pub(super) fn parse(&mut self, mut body: Body<'_>) -> Result<(), SqlError> {
        let (name, text) = (body.text()?, body.text()?);
        let count = body.u16()?;
        let given = (0..count).map(|_| body.u32()).collect::<Result<Vec<u32>, SqlError>>()?;
        body.end()?;
        let statement = match self.statement(text, &given) {
            // In a failed transaction only its end is looked at any further than its syntax.
            Ok(statement) if self.block == Block::Failed && !matches!(statement.kind, Kind::Commit | Kind::Rollback | Kind::Prepare) => {
                return Err(aborted());
            }
            Err(error) if self.block == Block::Failed && error.code != "42601" => return Err(aborted()),
            parsed => parsed?,
        };
        if name.is_empty() {
            // The unnamed statement is replaced each time.
            self.statements.remove(name);
        } else if self.statements.contains_key(name) {
            return Err(SqlError::new("42P05", format!("prepared statement \"{name}\" already exists")));
        }
        self.statements.insert(name.to_owned(), statement);
        wire::put_empty(&mut self.out, b'1');
        Ok(())
    }

    fn prepared(&self, name: &str) -> Result<&Rc<Statement>, SqlError> {
        self.statements.get(name).ok_or_else(|| SqlError::new("26000", format!("prepared statement \"{name}\" does not exist")))
    }

    fn portal(&self, name: &str) -> Result<usize, SqlError> {
        let found = self.portals.iter().position(|portal| portal.name == name);
        found.ok_or_else(|| SqlError::new("34000", format!("portal \"{name}\" does not exist")))
    }

    pub(super) fn bind(&mut self, mut body: Body<'_>) -> Result<(), SqlError> {
        let (name, statement) = (body.text()?, body.text()?);
        let statement = self.prepared(statement)?.clone();
        let formats = body.formats()?;
        let count = usize::from(body.u16()?);
        let wanted = statement.parameters.len();
        if count != wanted {
            return Err(SqlError::protocol(format!(
                "bind message supplies {count} parameters, but the prepared statement requires {wanted}"
            )));
        }
        if formats.len() > 1 && formats.len() != count {
            return Err(SqlError::protocol(format!("bind message has {} parameter formats but {count} parameters", formats.len())));
        }
        let mut values = Vec::with_capacity(count);
        for (i, of) in statement.parameters.iter().enumerate() {
            values.push(match usize::try_from(body.i32()?) {
                Err(_) => Value::Null,
                Ok(length) => of.decode(body.bytes(length)?, format(&formats, i))?,
            });
        }
        let formats = body.formats()?;
        body.end()?;
        if formats.len() > 1 && formats.len() != statement.columns.len() {
            return Err(SqlError::protocol("bind message has another number of result formats than the query has columns"));
        }
        self.portals.retain(|portal| portal.name != name);
        self.portals.push(Portal { name: name.to_owned(), statement, values, formats });
        wire::put_empty(&mut self.out, b'2');
        Ok(())
    }

    pub(super) fn describe(&mut self, mut body: Body<'_>) -> Result<(), SqlError> {
        let (what, name) = (body.u8()?, body.text()?);
        match what {
            b'S' => {
                let statement = self.prepared(name)?.clone();
                wire::put_parameters(&mut self.out, statement.parameters.iter().map(|of| of.oid()));
                wire::put_columns(&mut self.out, &statement.columns, &[]);
            }
            b'P' => {
                let portal = &self.portals[self.portal(name)?];
                wire::put_columns(&mut self.out, &portal.statement.columns, &portal.formats);
            }
            other => return Err(SqlError::protocol(format!("invalid DESCRIBE message subtype {other}"))),
        }
        Ok(())
    }

    pub(super) async fn execute(&mut self, mut body: Body<'_>) -> Result<(), SqlError> {
        let (name, limit) = (body.text()?, body.u32()?);
        if limit != 0 {
            return Err(SqlError::unsupported("a row limit in Execute"));
        }
        let at = self.portal(name)?;
        let Portal { statement, values, formats, .. } = self.portals.swap_remove(at);
        self.run(&statement, &values, &formats).await
    }

    pub(super) fn close(&mut self, body: &mut Body<'_>) -> Result<(), SqlError> {
        let (what, name) = (body.u8()?, body.text()?);
        match what {
            b'S' => _ = self.statements.remove(name),
            b'P' => self.portals.retain(|portal| portal.name != name),
            other => return Err(SqlError::protocol(format!("invalid CLOSE message subtype {other}"))),
        }
        wire::put_empty(&mut self.out, b'3');
        Ok(())
    }
}
