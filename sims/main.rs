//! Simulation tests: one story a file.

mod cli;
