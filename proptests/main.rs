//! Property tests: generated inputs that shrink, held against models.

mod clock;
mod fabric;
mod plans;
mod schedule;
