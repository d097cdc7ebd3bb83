//! What several tests need.

pub(crate) mod extent;
mod snapshot;

pub(crate) use snapshot::{rows, screen, snapshot};
