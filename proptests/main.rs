//! Property tests: generated inputs that shrink, held against models.

mod clock;
mod fabric;
mod lease_store;
mod plans;
mod schedule;
