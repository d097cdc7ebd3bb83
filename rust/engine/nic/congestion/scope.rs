//! The scope of a congestion window.

use serde::{Deserialize, Serialize};

/// The packets that one window limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// All packets of a queue pair.
    #[default]
    Qp,
    /// The packets of a queue pair in one plane of a multi-plane fabric.
    Plane,
    /// The packets of a queue pair on one path of a policy with a fixed number of paths
    /// ([`SenderPolicy::paths`](crate::balance::sender::SenderPolicy::paths)).
    Path,
    /// The packets of all queue pairs of a NIC to the same host.
    Destination,
    /// The packets of all queue pairs of a NIC to the same host, in one plane.
    DestinationPlane,
}

impl Scope {
    /// True if each plane has its own window.
    pub const fn is_per_plane(self) -> bool {
        matches!(self, Self::Plane | Self::DestinationPlane)
    }

    /// True if windows limit a part of a queue pair's packets, which its recovery must then count.
    pub const fn is_partial(self) -> bool {
        self.is_per_plane() || matches!(self, Self::Path)
    }

    /// True if queue pairs to the same host share their windows.
    pub const fn is_per_destination(self) -> bool {
        matches!(self, Self::Destination | Self::DestinationPlane)
    }
}
