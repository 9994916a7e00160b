//! sims
