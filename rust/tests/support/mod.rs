//! Helpers of several tests.

#[cfg(any(feature = "astra-sim", feature = "bridge"))]
mod archive;
pub(crate) mod extent;
mod snapshot;

#[cfg(any(feature = "astra-sim", feature = "bridge"))]
pub(crate) use archive::archive;
pub(crate) use snapshot::{rows, screen, snapshot};
