//! Sweeping, certifying, witnesses.

pub mod generate;
