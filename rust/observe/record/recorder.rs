//! The observer of a run that writes the tables of a recording.

use std::fmt;
use std::io::{self, Write};

use super::path_changes::PathChanges;
use super::paths::Paths;
use super::pauses::Pauses;
use super::ports::Ports;
use super::queue_changes::QueueChanges;
use super::queue_pairs::QueuePairs;
use super::{Profile, RecordedTable, Recording};
use crate::fabric::{PacketRecord, PauseRecord, Snapshot, Watch};
use crate::ids::PortId;
use crate::topology::{Node, Topology};
use crate::units::{Span, Time};

/// Observes a run and writes its tables.
pub struct Recorder {
    every: Span,
    next: Time,
    ports: Option<Ports>,
    queue_pairs: Option<QueuePairs>,
    paths: Option<Paths>,
    pauses: Option<Pauses>,
    queue_changes: Option<QueueChanges>,
    path_changes: Option<PathChanges>,
    sampled: Vec<PortId>,
    profile: Profile,
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("every", &self.every).finish_non_exhaustive()
    }
}

impl Recorder {
    /// Creates a recorder of a run in a topology. `open` returns the destination of each table.
    ///
    /// # Errors
    /// Those of `open`, and of writing the names of the columns.
    pub fn new(
        recording: &Recording,
        topology: &Topology,
        open: &mut dyn FnMut(RecordedTable) -> io::Result<Box<dyn Write>>,
    ) -> io::Result<Self> {
        let mut recorder = Self {
            every: recording.every,
            next: Time::NEVER,
            ports: None,
            queue_pairs: None,
            paths: None,
            pauses: None,
            queue_changes: None,
            path_changes: None,
            sampled: sampled(recording, topology),
            profile: Profile::new(recording.every),
        };
        for table in recording.tables() {
            recorder.add(table, recording, topology, open(table)?)?;
        }
        let samples =
            [recorder.ports.is_some(), recorder.queue_pairs.is_some(), recorder.pauses.is_some()];
        if samples.contains(&true) {
            recorder.next = Time::ZERO.saturating_add(recording.every);
        }
        Ok(recorder)
    }

    /// Adds a table. If changes are recorded, intervals are still sampled for the profile.
    fn add(
        &mut self,
        table: RecordedTable,
        recording: &Recording,
        topology: &Topology,
        to: Box<dyn Write>,
    ) -> io::Result<()> {
        let unwritten = || Box::new(io::sink());
        match table {
            RecordedTable::Ports => self.ports = Some(Ports::new(recording, topology, to)?),
            RecordedTable::QueuePairs => {
                self.queue_pairs = Some(QueuePairs::new(recording, topology, to)?);
            }
            RecordedTable::Paths => self.paths = Some(Paths::new(recording, topology, to)?),
            RecordedTable::Pauses | RecordedTable::PauseChanges => {
                self.pauses = Some(Pauses::new(recording, topology, to)?);
            }
            RecordedTable::QueueChanges => {
                self.ports = Some(Ports::new(recording, topology, unwritten())?);
                self.queue_changes = Some(QueueChanges::new(&recording.ports, topology, to)?);
            }
            RecordedTable::PathChanges => {
                self.paths = Some(Paths::new(recording, topology, unwritten())?);
                self.path_changes = Some(PathChanges::new(&recording.paths, topology, to)?);
            }
        }
        Ok(())
    }

    /// Writes the rest of each table after the run has ended with these `pauses`, and returns its
    /// profile.
    ///
    /// # Errors
    /// The first error while writing a table, now or earlier.
    pub fn finish(mut self, pauses: &[PauseRecord]) -> io::Result<Profile> {
        if let Some(mut paths) = self.paths.take() {
            paths.end_window(&mut self.profile);
            paths.finish()?;
        }
        if let Some(recorded) = self.pauses.take() {
            recorded.finish(pauses, &mut self.profile)?;
        }
        self.ports.map_or(Ok(()), Ports::finish)?;
        self.queue_pairs.map_or(Ok(()), QueuePairs::finish)?;
        self.queue_changes.map_or(Ok(()), QueueChanges::finish)?;
        self.path_changes.map_or(Ok(()), PathChanges::finish)?;
        Ok(self.profile)
    }
}

impl Watch for Recorder {
    fn traces(&self, node: Node) -> bool {
        self.paths.as_ref().is_some_and(|paths| paths.traces(node))
            || self.queue_changes.as_ref().is_some_and(|queues| queues.traces(node))
    }

    fn sampled_ports(&self) -> &[PortId] {
        &self.sampled
    }

    fn next_sample(&self) -> Time {
        self.next
    }

    fn sample(&mut self, now: Time, _next_event: Time, snapshot: &Snapshot<'_>) {
        if let Some(ports) = &mut self.ports {
            let longest = ports.sample(now, snapshot);
            let most = &mut self.profile.window(now).queue_bytes_max;
            *most = longest.max(*most);
        }
        if let Some(pairs) = &mut self.queue_pairs {
            pairs.sample(now, snapshot.endpoints);
        }
        if let Some(pauses) = &mut self.pauses {
            pauses.sample(now, snapshot.pauses, &mut self.profile);
        }
        self.next = now.saturating_add(self.every);
    }

    fn take_records(&mut self, records: &[PacketRecord]) {
        if let Some(paths) = &mut self.paths {
            records.iter().for_each(|record| paths.take(record, &mut self.profile));
        }
        if let Some(changes) = &mut self.path_changes {
            records.iter().for_each(|record| changes.take(record));
        }
        if let Some(changes) = &mut self.queue_changes {
            records.iter().for_each(|record| changes.take(record));
        }
    }
}

/// Returns the recorded ports, and the ports of hosts whose queue pairs are recorded: the in-flight
/// counts of a NIC are exact only if its port is sampled.
fn sampled(recording: &Recording, topology: &Topology) -> Vec<PortId> {
    let hosts = recording.queue_pairs.iter().flat_map(|&host| topology.planes().ports_of(host));
    let mut ports: Vec<PortId> = recording.ports.iter().chain(hosts).copied().collect();
    ports.sort_unstable();
    ports.dedup();
    ports
}
