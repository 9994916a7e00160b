//! Simulation tests.

mod pgwire_differential;
