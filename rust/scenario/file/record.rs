//! `[record]` as written in the file.

use serde::{Deserialize, Serialize, Serializer};

use crate::input::section::{named, section};
use crate::units::Span;

section! {
    /// `[record]`: time series of a run; several of them are `[[record]]`, each with a `name`.
    pub struct RecordSection {
        /// What tells it from others: part of the names of its files (`ports-NAME.csv`) and of
        /// metrics. Letters, digits, `-` and `_`.
        name?: String = "none; *required* of several",
        /// Whether rows are written at the end of each interval, or when a value changes. Windows
        /// and rates of queue pairs are looked at once an interval in both cases.
        on: RecordOn = RecordOn::Interval,
        /// The length of an interval.
        every: Span = Span::from_us(10),
        /// Ports whose queues and transmissions are recorded, both directions of each link: links
        /// by the names of their ends, separated by commas (`"leaf0-spine0, leaf0-spine1"`),
        /// `"all"` or `"none"`.
        ports: String = "all".to_owned(),
        /// Hosts whose queue pairs are recorded as they send: `"0..4"`, `"all"` or `"none"`.
        queue_pairs: String = "all".to_owned(),
        /// Hosts of whose packets the entropy values and paths are recorded: `"0..4"`, `"all"` or
        /// `"none"`.
        paths: String = "all".to_owned(),
        /// Ports whose pauses by priority flow control are recorded, as `ports`; without
        /// `switch.pfc` nothing is paused, and `"all"` is `"none"`.
        pauses: String = "all".to_owned(),
    }
}

/// When rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecordOn {
    /// At the end of each interval.
    Interval,
    /// When a value changes.
    Change,
}

named! { RecordOn }

/// Writes `[record]` as one table, and `[[record]]` as a list.
pub(crate) fn serialize<S: Serializer>(
    sections: &[RecordSection],
    to: S,
) -> Result<S::Ok, S::Error> {
    match sections {
        [alone] if !alone.every.key().path().contains('[') => alone.serialize(to),
        several => several.serialize(to),
    }
}
