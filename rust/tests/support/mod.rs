//! Helpers of several tests.

pub(crate) mod extent;
mod snapshot;

pub(crate) use snapshot::{rows, screen, snapshot};
