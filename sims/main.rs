//! Simulation tests: one story a file, each with its control.

mod cli;
mod determinism;
mod layers;
mod misbehaviour;
mod pgwire_differential;
