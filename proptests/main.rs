//! Property tests: what must hold for whatever proptest comes up with.

mod fabric;
