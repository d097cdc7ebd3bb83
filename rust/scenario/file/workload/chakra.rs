//! `kind = "chakra"` as written in the file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::generated::StepAfterName;
use super::recorded::{ComputeName, StreamingName};
use crate::chakra::Dependencies;
use crate::input::section::{named, section};

/// The dependencies of Chakra traces that are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DependenciesName {
    /// Control and data dependencies.
    #[default]
    All,
    /// Data dependencies alone, without those of control.
    Data,
}

named! { DependenciesName }

impl From<DependenciesName> for Dependencies {
    fn from(name: DependenciesName) -> Self {
        match name {
            DependenciesName::All => Self::All,
            DependenciesName::Data => Self::Data,
        }
    }
}

section! {
    /// `kind = "chakra"`.
    pub struct ChakraSection {
        /// The prefix of the traces' names before `.RANK.et` (or `.RANK.et.gz`), or one file that
        /// every rank replays; relative to the scenario's file.
        file?: String = "required",
        /// The number of hosts: the first ones of `hosts`.
        ranks?: u32 = "as many as have traces",
        /// The algorithm of each operation: `{ all-reduce = "ring" }`.
        algorithms?: BTreeMap<String, String> = "the first algorithm of each operation",
        /// The dependencies that are followed.
        dependencies: DependenciesName = DependenciesName::default(),
        /// Whether computations of a host run one at a time.
        compute: ComputeName = ComputeName::default(),
        /// Sizes of the dimensions that `involved_dim` selects from; the first one varies fastest
        /// from rank to rank.
        dimensions?: Vec<u32> = "unknown",
        /// Whether traces are read during the run; `auto` does so if they are 1 GiB or more.
        streaming: StreamingName = StreamingName::default(),
        /// Traces that are read during the run: nodes of each rank in memory.
        window?: u32 = "8192",
        /// When a rank that waits for a message goes on: when it has all of the message, or when
        /// the sender has the last acknowledgement.
        step_after: StepAfterName = StepAfterName::default(),
    }
}
