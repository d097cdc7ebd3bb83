//! `[[class]]` as written in a file.

use serde::{Deserialize, Serialize};

use crate::input::section::{named, section};

/// Scheduling of a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SchedulingName {
    /// Weighted round-robin with the other weighted classes, in bytes.
    #[default]
    Weighted,
    /// Ahead of all weighted classes.
    Strict,
}

named! { SchedulingName }

section! {
    /// `[[class]]`: a traffic class of data packets.
    pub struct ClassSection {
        /// Name, used by `class` in `[workload]` and `[[job]]`.
        name?: String = "required",
        /// Order at every output port and NIC: `strict` classes go first, in file order; `weighted`
        /// ones share the rest by `weight` (IEEE 802.1Q strict priority and ETS).
        scheduling: SchedulingName = SchedulingName::default(),
        /// `weighted`: share of bytes relative to other weighted classes, 1 to 64.
        weight?: u32 = "1",
        /// Priority flow control: own reserve and headroom per link to a switch, separate pauses.
        /// Without it, packets that exceed the shared memory are dropped.
        pfc?: bool = "whether `switch.pfc` is on",
    }
}
