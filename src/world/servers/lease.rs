//! Server: lease.
