//! `[record]` as written in the file.

use crate::scenario::input::section::section;
use crate::units::Span;

section! {
    /// `[record]`: time series of a run.
    pub struct RecordSection {
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
    }
}
