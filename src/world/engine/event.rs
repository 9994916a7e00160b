//! engine/event
