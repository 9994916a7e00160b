//! Will a scheduled job run exactly once when several servers share it?

pub mod cli;
pub mod explore;
pub mod host;
pub mod id;
pub mod invariant;
pub mod node;
pub mod plan;
pub mod report;
pub mod scenario;
pub mod seed;
pub mod settlement;
pub mod store;
pub mod strategy;
pub mod time;
pub mod trace;
pub mod world;
