//! What the database's settings say: its timeouts, a replica that is behind, a pooler before it.

use super::{Found, Severity, terms, text};
use crate::id::HostId;
use crate::strategy::Policy;

/// How steps are called that read outside of a transaction, and decide by what they find.
const LOOKS: [&str; 4] = [".find", ".read", ".settled", ".check"];

impl Found<'_> {
    pub(super) fn timeouts(&mut self) {
        let scenario = &self.file.scenario;
        let (timeout, lock, idle) = (scenario.node.timeout, scenario.database.lock_timeout, scenario.database.idle_in_transaction_timeout);
        if idle <= timeout {
            self.note(
                "idle-below-statement",
                Severity::Danger,
                "database.idle_in_transaction_timeout",
                format!("the server ends a session that is idle in a transaction after {}, while its client waits for another answer for up to {}", text(idle), text(timeout)),
                format!("write `idle_in_transaction_timeout` above {}, twice the client's timeout", text(timeout * 2)),
            );
        }
        if lock >= timeout {
            self.note(
                "lock-outlasts-client",
                Severity::Warning,
                "database.lock_timeout",
                format!(
                    "a statement may wait for a lock for {}, but its client gives up after {} and does not know what became of it",
                    text(lock),
                    text(timeout)
                ),
                "write a `lock_timeout` below the client's `timeout`".to_owned(),
            );
        }
    }

    /// What is read before it is acted on, and by which session.
    pub(super) fn reads(&mut self) {
        let (database, guard) = (&self.file.scenario.database, self.file.guard);
        let decided = terms(guard.name()).decided_in_transaction;
        let checked = self.file.policy() == Policy::RetryChecked;
        let looks = guard.steps().iter().any(|step| {
            step.peer == Some(HostId::Database) && !step.name.starts_with("tx.") && LOOKS.iter().any(|end| step.name.ends_with(end))
        });
        if !database.replica_lag.is_zero() && (checked || looks) {
            let (severity, costs) = if decided {
                (Severity::Note, "what decides is read in the transaction, from the primary, so it only costs work")
            } else {
                (Severity::Danger, "a node that looks sooner finds nothing, and does the job again")
            };
            let what = format!("what a node reads before it acts may be {} old: {costs}", text(database.replica_lag));
            let cure = if decided {
                "read from the primary, if work that is done in vain costs more than a read"
            } else {
                "read inside the transaction that writes, which the primary serves, and let a unique key decide there: `guard = \"table-key\"`"
            };
            self.note("stale-look", severity, "database.replica_lag", what, cure.to_owned());
        }
        if let Some(pool) = database.pool.filter(|_| guard.name() == "advisory-lock") {
            let what = format!(
                "the lock belongs to a session, and the pooler has {} of them, which it hands to whoever comes next, with the lock on it",
                pool.sessions
            );
            let cure = "lock inside the transaction, or let a unique key decide there: `guard = \"table-key\"`";
            self.note("session-lock-in-a-pool", Severity::Danger, "database.pool.sessions", what, cure.to_owned());
        }
    }
}
