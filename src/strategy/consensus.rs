//! Guards on a replicated log of three members, which forgets nothing and agrees about
//! everything: as a lease ([`ConsensusLease`]), which a pause outlives all the same, and with
//! claim and settlement as entries of the log itself ([`ConsensusLog`]).

mod asking;
mod grant;
mod lease;
mod log;

pub use asking::LogSteps;
pub use lease::ConsensusLease;
pub use log::ConsensusLog;
