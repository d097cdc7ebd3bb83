//! Helpers that several tests share.

mod alone;
pub(crate) mod extent;
mod snapshot;

pub(crate) use alone::alone;
pub(crate) use snapshot::{rows, screen, snapshot, snapshot_or_rows};
