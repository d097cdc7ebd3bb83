//! The tables of a recording and the names of their files.

/// A table that is written during the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordedTable {
    /// Queues and transmissions of ports, for each interval.
    Ports,
    /// Windows and rates of queue pairs.
    QueuePairs,
    /// Entropy values and paths of flows, for each interval.
    Paths,
    /// Pauses of ports, for each interval.
    Pauses,
    /// Each change of a queue.
    QueueChanges,
    /// Each change of a flow's entropy value or path.
    PathChanges,
    /// Each pause and resume.
    PauseChanges,
}

impl RecordedTable {
    /// All tables.
    pub const ALL: [Self; 7] = [
        Self::Ports,
        Self::QueuePairs,
        Self::Paths,
        Self::Pauses,
        Self::QueueChanges,
        Self::PathChanges,
        Self::PauseChanges,
    ];

    /// Returns the name of its file without the extension.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ports => "ports",
            Self::QueuePairs => "queue_pairs",
            Self::Paths => "paths",
            Self::Pauses => "pauses",
            Self::QueueChanges => "queue_changes",
            Self::PathChanges => "path_changes",
            Self::PauseChanges => "pause_changes",
        }
    }

    /// Returns the name of its file: `ports.csv`, or `ports-NAME.csv` for a named recording.
    pub fn file(self, recording: Option<&str>) -> String {
        let name = self.name();
        recording.map_or_else(|| format!("{name}.csv"), |of| format!("{name}-{of}.csv"))
    }

    /// Returns the name of the recording whose table is in `file`; `None` for other files.
    pub fn recording_of(self, file: &str) -> Option<Option<&str>> {
        match file.strip_suffix(".csv")?.strip_prefix(self.name())? {
            "" => Some(None),
            rest => Some(Some(rest.strip_prefix('-')?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_identified_by_their_file_names() {
        let tables =
            RecordedTable::ALL.map(|table| (table, table.file(None), table.file(Some("a"))));
        for (table, plain, named) in tables {
            assert_eq!(table.recording_of(&plain), Some(None));
            assert_eq!(table.recording_of(&named), Some(Some("a")));
            let others = RecordedTable::ALL.into_iter().filter(|other| *other != table);
            for other in others {
                assert_eq!(other.recording_of(&plain), None, "{plain} as {}", other.name());
                assert_eq!(other.recording_of(&named), None, "{named} as {}", other.name());
            }
        }
        assert_eq!(RecordedTable::Ports.recording_of("ports.txt"), None);
    }
}
