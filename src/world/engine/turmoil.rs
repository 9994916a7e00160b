//! engine/turmoil
