//! The simulated servers. Each speaks the real wire and tells the history what it did.

pub mod lease;
pub mod payout;
pub mod postgres;
