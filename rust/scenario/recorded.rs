//! The trace files of a scenario's workload.

use std::path::Path;

use super::resolved::Scenario;
use super::workloads::WorkloadKeys;
use super::workloads::trace_source::Files;
use crate::chakra::{Options, RepairError, Repaired};

/// Traces that a scenario's workload is read from.
#[derive(Debug)]
pub struct Recorded {
    files: Files,
    ranks: u32,
    options: Options,
}

impl Scenario {
    /// Returns the Chakra traces of `[workload]`, if it has any.
    pub fn recorded(&self) -> Option<Recorded> {
        let WorkloadKeys::Chakra(section) = &self.file.workload.as_ref()?.work else { return None };
        let path = section.file.as_ref()?;
        let files = Files::at(self.origin.folder().join(path));
        let dimensions = (*section.dimensions).clone().unwrap_or_default();
        let dependencies = *section.dependencies;
        let options = Options { dependencies, dimensions, ..Options::default() };
        Some(Recorded { files, ranks: (*section.ranks)?, options })
    }
}

impl Recorded {
    /// Number of files: one per rank, or one that every rank replays.
    pub fn files(&self) -> u32 {
        match self.files {
            Files::One(_) => 1,
            Files::OfRanks(_) => self.ranks,
        }
    }

    /// True if the traces are in `folder`.
    pub fn are_in(&self, folder: &Path) -> bool {
        let own = self.files.folder();
        own.canonicalize().is_ok_and(|own| folder.canonicalize().is_ok_and(|it| it == own))
    }

    /// Prefix of the per-rank file names, without the folder; `None` for one file that every rank
    /// replays.
    pub fn prefix(&self) -> Option<String> {
        self.files.prefix_name()
    }

    /// Name of a rank's repaired file, without the folder.
    pub fn name(&self, rank: u32) -> String {
        self.files.uncompressed_name(rank)
    }

    /// Opens the trace of a rank, to be written with an order of its streams.
    ///
    /// # Errors
    /// As [`Repaired::read`].
    pub fn repaired(&self, rank: u32) -> Result<Repaired<'_>, RepairError> {
        Repaired::read(&self.files, rank, self.ranks, &self.options)
    }
}
