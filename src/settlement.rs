//! The job that every strategy guards: periods and their schedule, the SQL schema, the
//! independent oracle for rankings and points, and the typed state that a run leaves behind.

mod civil;
mod oracle;
mod period;
mod schedule;
mod schema;
mod state;

pub use civil::{Fold, Gap, ahead_of, most_ahead_ms, scaled as scaled_zone};
pub use oracle::{Board, Standing};
pub use period::{Decides, Period};
pub use schedule::{Calendar, Schedule, ScheduleError};
pub use schema::{RANKED, REWARDS, SCHEMA, SCHEMA_MYSQL, UNIQUE_MARKER};
pub use state::{EarningRow, FinalState, InDoubt, LeaseKey, OutboxRow, RankingRow, SettlementRow, TaskRow};
