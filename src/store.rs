//! What a strategy may touch: the lease store, the database, the payout service, each through
//! its unmodified client library over a stream that the host supplies.
//!
//! Every call has the client timeout of its deployment. After a timeout or a lost connection
//! the connection is dropped, and the next call opens a new one. Errors are classified once,
//! in `error`.

mod error;
mod lease;
pub mod log;
mod payout;
mod queue;
pub mod centre;
pub mod sql;
pub mod wire;

pub use centre::CentreService;
pub use error::{ErrorKind, StoreError};
pub use lease::{LeaseStore, RELEASE_SCRIPT, RENEW_SCRIPT};
pub use log::LogService;
pub use payout::{Payment, PayoutService};
pub use sql::Sql;
