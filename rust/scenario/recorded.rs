//! The traces of a scenario's workload, as files.

use std::path::Path;

use super::resolved::Scenario;
use super::workloads::WorkloadKeys;
use super::workloads::trace_source::Files;
use crate::chakra::{MendError, Mended, Options};

/// The traces that a scenario's workload is read from.
#[derive(Debug)]
pub struct Recorded {
    files: Files,
    ranks: u32,
    options: Options,
}

impl Scenario {
    /// The Chakra traces of `[workload]`, if it has some.
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
    /// The number of files: one for each rank, or one that every rank replays.
    pub fn files(&self) -> u32 {
        match self.files {
            Files::One(_) => 1,
            Files::OfRanks(_) => self.ranks,
        }
    }

    /// Whether the traces are in that folder.
    pub fn are_in(&self, folder: &Path) -> bool {
        let own = self.files.folder();
        own.canonicalize().is_ok_and(|own| folder.canonicalize().is_ok_and(|it| it == own))
    }

    /// The prefix of the files of ranks, without their folder; `None` of a file that all replay.
    pub fn prefix(&self) -> Option<String> {
        self.files.prefix_name()
    }

    /// The name of the mended file of a rank, without its folder.
    pub fn name(&self, rank: u32) -> String {
        self.files.unpacked_name(rank)
    }

    /// The trace of a rank, to be written with an order of its streams.
    ///
    /// # Errors
    /// As [`Mended::read`].
    pub fn mended(&self, rank: u32) -> Result<Mended<'_>, MendError> {
        Mended::read(&self.files, rank, self.ranks, &self.options)
    }
}
