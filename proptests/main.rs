//! Property tests: generated inputs that shrink, held against models.

mod clock;
mod deployment_file;
mod fabric;
mod hardened;
mod lease_store;
mod plans;
mod schedule;
