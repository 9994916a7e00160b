//! Property tests: what must be so for every input, tried on many drawn ones.

mod plans;
mod schedule;
