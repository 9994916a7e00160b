//! Tests as `onceproof shrink` writes them; `shrunk.rs` holds this file against what it writes now.
