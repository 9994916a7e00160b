//! The simulated servers. Each speaks the real wire and tells the history what it did.
//!
//! A server is a state that outlives its process ([`lease::LeaseStore`], [`postgres::Database`],
//! [`payout::PayoutLedger`]) and a `serve` future, which is the process: dropping it is a
//! crash, calling it again is a restart.

pub mod centre;
pub mod differences;
pub mod lease;
pub mod log;
pub mod payout;
pub mod postgres;

#[cfg(test)]
mod test_host;
