//! Server: payout.
