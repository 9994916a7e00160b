//! Fault plans: complete in themselves as text, and over when they say they are.
