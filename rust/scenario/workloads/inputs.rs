//! Context of workloads on a fabric.

use super::CommonSection;
use crate::collective::MessageTally;
use crate::ids::{HostId, LinkId};
use crate::input::context::{Context, FileText};
use crate::input::error::ScenarioError;
use crate::input::located::{Key, Located};
use crate::topology::Topology;
use crate::units::Bytes;
use crate::workload::Workload;

/// Context shared by all workloads of a scenario.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SharedInputs<'a> {
    pub topology: &'a Topology,
    /// Host of each node id in flow files.
    pub host_of_node: &'a [Option<HostId>],
    /// Seed of all random numbers.
    pub seed: u64,
    /// True if messages may be generated during the run: a single workload, in packets, on this
    /// program's own fabric.
    pub may_generate: bool,
    /// True if the totals of the messages may replace them: a single workload that is not run.
    pub may_tally: bool,
    /// Memory that the messages of a collective may use; unlimited if `None`.
    pub most_memory: Option<Bytes>,
}

impl<'a> SharedInputs<'a> {
    /// Returns the context in which all messages exist from the start.
    pub(crate) fn new(
        topology: &'a Topology,
        host_of_node: &'a [Option<HostId>],
        seed: u64,
        most_memory: Option<Bytes>,
    ) -> Self {
        Self { topology, host_of_node, seed, may_generate: false, may_tally: false, most_memory }
    }
}

/// Context of one workload.
#[derive(Debug, Clone)]
pub(crate) struct WorkloadInputs<'a> {
    pub context: Context<'a>,
    pub shared: SharedInputs<'a>,
    pub kind: &'a Located<String>,
    pub common: &'a CommonSection,
    /// Participating hosts by rank; `None` means all.
    pub hosts: Option<Vec<HostId>>,
}

impl WorkloadInputs<'_> {
    /// Returns the number of hosts of the workload.
    pub(super) fn count(&self) -> u32 {
        let chosen = self.hosts.as_ref().map(|hosts| hosts.len() as u32);
        chosen.unwrap_or_else(|| self.shared.topology.host_count())
    }

    /// Reads the file that the section names. `example` is the name shown in the error if it names
    /// none.
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

/// Messages of one workload or of a whole scenario.
#[derive(Debug, Default)]
pub(crate) struct ResolvedWorkload {
    pub workload: Workload,
    /// Warnings of file readers.
    pub warnings: Vec<String>,
    /// Links that a file takes down from the start, known to routing.
    pub down: Vec<LinkId>,
    /// Totals of the messages, if `workload` has only their load.
    pub tally: Option<MessageTally>,
}

impl From<Workload> for ResolvedWorkload {
    fn from(workload: Workload) -> Self {
        Self { workload, ..Self::default() }
    }
}
