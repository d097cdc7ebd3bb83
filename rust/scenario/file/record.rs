//! `[record]` as written in a file.

use serde::{Deserialize, Serialize, Serializer};

use crate::input::section::{named, section};
use crate::units::Span;

section! {
    /// `[record]`: time series of a run. Several are written `[[record]]`, each with a `name`.
    pub struct RecordSection {
        /// Label in file names (`ports-NAME.csv`) and metrics: letters, digits, `-` and `_`.
        name?: String = "none; *required* of several",
        /// Writes rows every interval, or on changes. Windows and rates of queue pairs are sampled
        /// every interval either way.
        on: RecordOn = RecordOn::Interval,
        /// Length of an interval.
        every: Span = Span::from_us(10),
        /// Ports whose queues and transmissions are recorded, both directions of each link:
        /// `"leaf0-spine0, leaf0-spine1"`, `"all"` or `"none"`.
        ports: String = "all".to_owned(),
        /// Hosts whose sending queue pairs are recorded: `"0..4"`, `"all"` or `"none"`.
        queue_pairs: String = "all".to_owned(),
        /// Hosts whose packets' entropy values and paths are recorded: `"0..4"`, `"all"` or
        /// `"none"`.
        paths: String = "all".to_owned(),
        /// Ports whose PFC pauses are recorded, as in `ports`. Without `switch.pfc`, `"all"` means
        /// `"none"`.
        pauses: String = "all".to_owned(),
    }
}

/// Time at which rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecordOn {
    /// At the end of each interval.
    Interval,
    /// When a value changes.
    Change,
}

named! { RecordOn }

/// Serializes one unnamed section as the table `[record]`, and others as the list `[[record]]`.
pub(crate) fn serialize<S: Serializer>(
    sections: &[RecordSection],
    to: S,
) -> Result<S::Ok, S::Error> {
    match sections {
        [alone] if !alone.every.key().path().contains('[') => alone.serialize(to),
        several => several.serialize(to),
    }
}
