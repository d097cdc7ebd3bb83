//! `[[class]]` as written in the file.

use serde::{Deserialize, Serialize};

use crate::input::section::{named, section};

/// The scheduling that a class can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SchedulingName {
    /// In turns with the other weighted classes, in bytes.
    #[default]
    Weighted,
    /// Before all weighted classes.
    Strict,
}

named! { SchedulingName }

section! {
    /// `[[class]]`: a traffic class of data packets.
    pub struct ClassSection {
        /// The name by which `class` of `[[job]]` and `[workload]` names it.
        name?: String = "required",
        /// When its packets start, at every output port and every NIC: `strict` classes before all
        /// weighted ones and each other in order, `weighted` ones in turns (IEEE 802.1Q, strict
        /// priority and enhanced transmission selection).
        scheduling: SchedulingName = SchedulingName::default(),
        /// `weighted`: its share of the bytes, relative to the other weighted classes; 1 to 64.
        weight?: u32 = "1",
        /// Whether priority flow control protects it: it has a reserve and a headroom of each link
        /// that ends at a switch, and is paused by itself. Packets of a class without it are
        /// dropped that find no room in the shared memory.
        pfc?: bool = "whether `switch.pfc` is on",
    }
}
