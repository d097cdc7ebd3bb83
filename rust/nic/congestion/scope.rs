//! What a window is for.

use serde::{Deserialize, Serialize};

/// What one window of a queue pair limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// All its packets.
    #[default]
    Qp,
    /// Those of one plane of a fabric of several.
    Plane,
}
