//! settlements
