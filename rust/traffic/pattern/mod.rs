//! Patterns of independent flows, and random start delays.

mod error;
mod incast;
mod permutation;
mod shift;
mod start_jitter;

pub use error::PatternError;
pub use incast::Incast;
pub use permutation::Permutation;
pub use shift::Shift;
pub use start_jitter::StartJitter;
