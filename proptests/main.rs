//! Property tests: generated inputs that shrink, held against models.

mod plans;
mod schedule;
