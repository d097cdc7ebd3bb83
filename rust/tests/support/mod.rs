//! Helpers that several tests share.

mod alone;
#[cfg(any(feature = "astra-sim", feature = "bridge"))]
#[path = "../../bridge/tests/archive.rs"]
mod archive;
pub(crate) mod extent;
mod snapshot;

pub(crate) use alone::alone;
#[cfg(any(feature = "astra-sim", feature = "bridge"))]
pub(crate) use archive::archive;
pub(crate) use snapshot::{rows, screen, snapshot, snapshot_or_rows};
