//! What all plots have in common.

