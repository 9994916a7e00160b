//! Draws fault plans.
