//! controls
