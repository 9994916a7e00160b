//! Which database, at which isolation level: what its transactions see, and what makes them wait or fail.

use serde::{Deserialize, Serialize};

/// The rules of a database at an isolation level. What each means for a settlement was measured on real servers; `world::servers::postgres::isolation` keeps them.
///
/// In files a database alone stands for its default level: `postgresql`, `innodb`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", try_from = "String")]
pub enum Rules {
    /// `PostgreSQL`, read committed, its default: each statement sees what was committed when it began.
    #[default]
    PostgresReadCommitted,
    /// `PostgreSQL`, repeatable read: one snapshot a transaction; a row changed since fails with 40001.
    PostgresRepeatableRead,
    /// `PostgreSQL`, serializable: as repeatable read, and dangerous structures fail with 40001.
    PostgresSerializable,
    /// `InnoDB`, read committed.
    InnodbReadCommitted,
    /// `InnoDB`, repeatable read, its default: plain reads see a snapshot, writes and locking reads the newest rows.
    InnodbRepeatableRead,
}

impl Rules {
    /// All of them.
    pub const ALL: [Rules; 5] = [
        Rules::PostgresReadCommitted,
        Rules::PostgresRepeatableRead,
        Rules::PostgresSerializable,
        Rules::InnodbReadCommitted,
        Rules::InnodbRepeatableRead,
    ];

    /// The name in files and commands.
    pub fn name(self) -> &'static str {
        match self {
            Rules::PostgresReadCommitted => "postgres-read-committed",
            Rules::PostgresRepeatableRead => "postgres-repeatable-read",
            Rules::PostgresSerializable => "postgres-serializable",
            Rules::InnodbReadCommitted => "innodb-read-committed",
            Rules::InnodbRepeatableRead => "innodb-repeatable-read",
        }
    }

    /// The shortest name: that of the database alone, if this is its default level.
    pub fn short(self) -> &'static str {
        match self {
            Rules::PostgresReadCommitted => "postgresql",
            Rules::InnodbRepeatableRead => "innodb",
            other => other.name(),
        }
    }

    /// The rules with this name, long or short, or of the servers that have `InnoDB`.
    pub fn find(name: &str) -> Option<Rules> {
        let name = if matches!(name, "mysql" | "mariadb") { "innodb" } else { name };
        Rules::ALL.into_iter().find(|rules| [rules.name(), rules.short()].contains(&name))
    }

    /// A strategy on a database with these rules: `table-key`, `table-key@innodb`. The default rules go without saying.
    pub fn label(self, strategy: &str) -> String {
        if self == Rules::default() { strategy.to_owned() } else { format!("{strategy}@{}", self.short()) }
    }

    /// Whether a row that changed since the transaction's snapshot fails the transaction: who comes
    /// second in a race is turned away, whatever the guard thinks.
    pub fn refuses_changed_rows(self) -> bool {
        matches!(self, Rules::PostgresRepeatableRead | Rules::PostgresSerializable)
    }

    /// Whether they are those of `InnoDB`, the engine of `MySQL` and `MariaDB`.
    pub fn is_innodb(self) -> bool {
        matches!(self, Rules::InnodbReadCommitted | Rules::InnodbRepeatableRead)
    }
}

impl TryFrom<String> for Rules {
    type Error = String;

    fn try_from(name: String) -> Result<Rules, String> {
        let all = Rules::ALL.map(Rules::name).join(", ");
        Rules::find(&name).ok_or_else(|| format!("unknown rules `{name}`; write postgresql, innodb, or one of {all}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What serde derives from the variants is what people type.
    #[test]
    fn names_in_files_are_names_in_commands() {
        for rules in Rules::ALL {
            assert_eq!(serde_json::to_value(rules).unwrap(), rules.name());
        }
        let alias = |name: &str| serde_json::from_value::<Rules>(name.into()).unwrap();
        for rules in Rules::ALL {
            assert_eq!((Rules::find(rules.name()), Rules::find(rules.short())), (Some(rules), Some(rules)));
            assert_eq!(alias(rules.short()), rules);
        }
        assert_eq!([Rules::PostgresReadCommitted, Rules::InnodbRepeatableRead].map(|r| r.label("a")), ["a", "a@innodb"]);
    }
}
