//! Time series of a run: what ports, queue pairs and paths do in each interval of time.
//!
//! A [`Recorder`] observes a run and writes three tables while it proceeds; the caller decides
//! where the bytes go. It keeps a state for each port, queue pair and flow that it records, and a
//! [`Profile`] of at most [`MOST_WINDOWS`] windows, however long the run is. A run without
//! a recorder has no cost for it.
//!
//! It knows no file and no scenario. `docs/recording.md` has the columns.

mod paths;
mod ports;
mod profile;
mod queue_pairs;

use std::fmt;
use std::io::{self, Write};

pub use profile::{MOST_WINDOWS, Profile, Window};

use paths::Paths;
use ports::Ports;
use queue_pairs::QueuePairs;

use crate::fabric::{PacketRecord, Snapshot, Watch};
use crate::ids::{HostId, PortId};
use crate::topology::{Node, Topology};
use crate::units::{Span, Time};

/// What is recorded of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    /// The length of an interval.
    pub every: Span,
    /// The ports whose queues and transmissions are recorded.
    pub ports: Vec<PortId>,
    /// The hosts whose queue pairs are recorded as they send.
    pub queue_pairs: Vec<HostId>,
    /// The hosts of whose packets the entropy values and paths are recorded.
    pub paths: Vec<HostId>,
}

/// A table that is written during the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordedTable {
    /// Queues and transmissions of ports.
    Ports,
    /// Windows and rates of queue pairs.
    QueuePairs,
    /// Entropy values and paths of flows.
    Paths,
}

impl RecordedTable {
    /// The name of its file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ports => "ports.csv",
            Self::QueuePairs => "queue_pairs.csv",
            Self::Paths => "paths.csv",
        }
    }
}

impl Recording {
    /// The tables that are written.
    pub fn tables(&self) -> Vec<RecordedTable> {
        let tables = [
            (!self.ports.is_empty()).then_some(RecordedTable::Ports),
            (!self.queue_pairs.is_empty()).then_some(RecordedTable::QueuePairs),
            (!self.paths.is_empty()).then_some(RecordedTable::Paths),
        ];
        tables.into_iter().flatten().collect()
    }
}

/// The destination of a table. After the first error nothing more is written to it.
struct Sink {
    to: Box<dyn Write>,
    failed: Option<io::Error>,
}

impl Sink {
    /// A table with these columns.
    fn new(mut to: Box<dyn Write>, columns: &str) -> io::Result<Self> {
        writeln!(to, "{columns}")?;
        Ok(Self { to, failed: None })
    }

    fn row(&mut self, row: fmt::Arguments<'_>) {
        if self.failed.is_none() {
            self.failed = writeln!(self.to, "{row}").err();
        }
    }

    fn finish(mut self) -> io::Result<()> {
        self.failed.take().map_or_else(|| self.to.flush(), Err)
    }
}

/// The nanoseconds of a time, with picoseconds as decimals.
fn nanoseconds(at: Time) -> f64 {
    at.as_ps() as f64 / 1e3
}

/// Observes a run and writes its tables.
pub struct Recorder {
    every: Span,
    next: Time,
    ports: Option<Ports>,
    queue_pairs: Option<QueuePairs>,
    paths: Option<Paths>,
    sampled: Vec<PortId>,
    profile: Profile,
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("every", &self.every).finish_non_exhaustive()
    }
}

impl Recorder {
    /// A recorder of a run in a topology; `open` returns the destination of each table.
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
            sampled: recording.ports.clone(),
            profile: Profile::new(recording.every),
        };
        for table in recording.tables() {
            let to = open(table)?;
            match table {
                RecordedTable::Ports => {
                    recorder.ports = Some(Ports::new(recording, topology, to)?);
                }
                RecordedTable::QueuePairs => {
                    let pairs = QueuePairs::new(&recording.queue_pairs, topology, to)?;
                    recorder.queue_pairs = Some(pairs);
                }
                RecordedTable::Paths => {
                    recorder.paths = Some(Paths::new(recording, topology, to)?);
                }
            }
        }
        if recorder.ports.is_some() || recorder.queue_pairs.is_some() {
            recorder.next = Time::ZERO.saturating_add(recording.every);
        }
        Ok(recorder)
    }

    /// Writes the rest of each table after the run has ended, and returns its profile.
    ///
    /// # Errors
    /// The first error of writing a table, now or earlier.
    pub fn finish(mut self) -> io::Result<Profile> {
        if let Some(mut paths) = self.paths.take() {
            paths.end_window(&mut self.profile);
            paths.finish()?;
        }
        self.ports.map_or(Ok(()), Ports::finish)?;
        self.queue_pairs.map_or(Ok(()), QueuePairs::finish)?;
        Ok(self.profile)
    }
}

impl Watch for Recorder {
    fn traces(&self, node: Node) -> bool {
        self.paths.as_ref().is_some_and(|paths| paths.traces(node))
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
        self.next = now.saturating_add(self.every);
    }

    fn take_records(&mut self, records: &[PacketRecord]) {
        if let Some(paths) = &mut self.paths {
            records.iter().for_each(|record| paths.take(record, &mut self.profile));
        }
    }
}
