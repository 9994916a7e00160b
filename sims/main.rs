//! Simulation tests: one story a file, each with its control.

mod cli;
mod layers;
mod pgwire_differential;
