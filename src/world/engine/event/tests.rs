//! Stories about the engine: who wins a race, what survives which fault, what is refused.

mod code;
mod determinism;
mod lifecycle;
mod links;
mod race;
mod sockets;
mod stage;
