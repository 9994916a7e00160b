//! sim_host
