//! What every part of reading a scenario builds on: its text, faults and where they are, and the
//! checks that sections share.

pub(super) mod context;
pub(super) mod error;
pub(super) mod source;
