//! What a host knows of its database before it connects to it.

use std::rc::Rc;

/// The SQL that a database understands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dialect {
    /// PostgreSQL's.
    #[default]
    PostgreSql,
    /// MySQL's, in the words that MariaDB shares with it.
    MySql,
}

/// How a host reaches its database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Database {
    /// It speaks PostgreSQL's protocol, over the streams of [`super::Host::connect`].
    PostgreSql {
        /// User, password, database and options, as `postgres://user:password@host/name`; the
        /// address in it is the host's business. `None`: user and database `postgres`, no password.
        login: Option<Rc<str>>,
    },
    /// It speaks MySQL's protocol. The client library opens its sockets by itself, and takes none
    /// of others, so only a host in the real world can offer this.
    MySql {
        /// `mysql://user:password@host:port/name`.
        url: Rc<str>,
    },
}

impl Database {
    /// The SQL that it understands.
    pub fn dialect(&self) -> Dialect {
        match self {
            Database::PostgreSql { .. } => Dialect::PostgreSql,
            Database::MySql { .. } => Dialect::MySql,
        }
    }
}

impl Default for Database {
    /// What every simulation has.
    fn default() -> Database {
        Database::PostgreSql { login: None }
    }
}
