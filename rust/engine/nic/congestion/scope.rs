//! What a window is for.

use serde::{Deserialize, Serialize};

/// What one window limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// All packets of a queue pair.
    #[default]
    Qp,
    /// Those of a queue pair in one plane of a fabric of several.
    Plane,
    /// Those of all queue pairs of a NIC to the same host.
    Destination,
    /// Those of them in one plane.
    DestinationPlane,
}

impl Scope {
    /// Whether each plane of several has a window.
    pub const fn is_of_plane(self) -> bool {
        matches!(self, Self::Plane | Self::DestinationPlane)
    }

    /// Whether queue pairs to the same host share their windows.
    pub const fn is_of_destination(self) -> bool {
        matches!(self, Self::Destination | Self::DestinationPlane)
    }
}
