//! Server: postgres.
