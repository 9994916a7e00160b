//! Property tests: generated inputs that shrink, held against models.

mod fabric;
mod plans;
mod schedule;
