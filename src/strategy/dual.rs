//! dual
