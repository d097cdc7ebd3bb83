//! The context of workloads on a fabric.

use super::CommonSection;
use crate::ids::{HostId, LinkId};
use crate::input::context::{Context, FileText};
use crate::input::error::ScenarioError;
use crate::input::located::{Key, Located};
use crate::topology::Topology;
use crate::units::Bytes;
use crate::workload::Workload;

/// The context that all workloads of a scenario share.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ground<'a> {
    pub topology: &'a Topology,
    /// The host of each node id of flow files.
    pub host_of_node: &'a [Option<HostId>],
    /// The seed of all draws.
    pub seed: u64,
    /// Whether messages may be generated during the run: a workload is all that is sent, in
    /// packets, on this program's own fabric.
    pub may_generate: bool,
    /// The memory that the messages of a collective may take; any if `None`.
    pub most_memory: Option<Bytes>,
}

impl<'a> Ground<'a> {
    /// The context where all messages are there from the beginning.
    pub(crate) fn new(
        topology: &'a Topology,
        host_of_node: &'a [Option<HostId>],
        seed: u64,
        most_memory: Option<Bytes>,
    ) -> Self {
        Self { topology, host_of_node, seed, may_generate: false, most_memory }
    }
}

/// The context of one workload.
#[derive(Debug, Clone)]
pub(crate) struct Site<'a> {
    pub context: Context<'a>,
    pub ground: Ground<'a>,
    pub kind: &'a Located<String>,
    pub common: &'a CommonSection,
    /// The hosts that take part, by rank; `None` means all.
    pub hosts: Option<Vec<HostId>>,
}

impl Site<'_> {
    /// The number of hosts of the workload.
    pub(super) fn count(&self) -> u32 {
        let chosen = self.hosts.as_ref().map(|hosts| hosts.len() as u32);
        chosen.unwrap_or_else(|| self.ground.topology.host_count())
    }

    /// Reads the file that the section names; `example` is the name in the error if it names none.
    pub(super) fn read(
        &self,
        file: &Located<Option<String>>,
        example: &str,
    ) -> Result<FileText, ScenarioError> {
        let Some(path) = file.given() else {
            let because = format!("{} = {} reads a file", self.kind.key(), self.kind);
            return Err(self.context.missing(file.key(), because, format!("file = \"{example}\"")));
        };
        self.context.read(&path)
    }

    /// Fails for files with more hosts than the scenario.
    pub(super) fn expect_hosts(
        &self,
        key: &Key,
        file: &FileText,
        wanted: u32,
    ) -> Result<(), ScenarioError> {
        let hosts = self.count();
        if wanted <= hosts {
            return Ok(());
        }
        let value = format!("{} for {wanted} hosts", file.name);
        let expected = match self.hosts {
            Some(_) => format!("{} names {hosts}; name {wanted} or more", self.common.hosts.key()),
            None => format!("the topology has {hosts}; give it {wanted} or more"),
        };
        Err(self.context.invalid_as(key, value, expected))
    }
}

/// The messages of one workload or of a whole scenario.
#[derive(Debug, Default)]
pub(crate) struct ResolvedWorkload {
    pub workload: Workload,
    /// Warnings of a reader of files.
    pub warnings: Vec<String>,
    /// Links that a file takes down from the start, known to routing.
    pub down: Vec<LinkId>,
}

impl From<Workload> for ResolvedWorkload {
    fn from(workload: Workload) -> Self {
        Self { workload, warnings: Vec::new(), down: Vec::new() }
    }
}
