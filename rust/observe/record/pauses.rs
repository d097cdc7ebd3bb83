//! `pauses.csv`: the number and duration of pauses of each recorded port in each interval.
//! `pause_changes.csv`: each pause and resume, at the time it takes effect.
//!
//! Traffic classes are paused separately. With classes, a row describes one class of a port, and
//! its last column names the class.

use std::io::{self, Write};

use super::csv_field;
use super::{Profile, Recording, Sink, nanoseconds};
use crate::fabric::{PauseOrder, PauseRecord};
use crate::ids::{ClassId, PortId};
use crate::topology::Topology;
use crate::units::{Span, Time};

/// A traffic class of a port and its state.
#[derive(Debug)]
struct Port {
    id: (PortId, ClassId),
    /// A comma and the name of the class, the end of its rows; empty without classes.
    class: String,
    from: String,
    onto: String,
    /// Start of the current pause, if it is paused.
    since: Option<Time>,
    /// Pauses that started in the interval.
    begun: u64,
    /// Time paused in the interval, up to the last change.
    paused: Span,
}

/// The recorded ports and their table.
pub(super) struct Pauses {
    every: Span,
    writes_changes: bool,
    ports: Vec<Port>,
    /// Number of pause records of the run that have been processed.
    processed: usize,
    sink: Sink,
}

impl Pauses {
    pub(super) fn new(
        recording: &Recording,
        topology: &Topology,
        to: Box<dyn Write>,
    ) -> io::Result<Self> {
        let port = |port: PortId, class: ClassId| {
            let (from, onto) = topology.ends_of(port);
            let [from, onto] = [from, onto].map(|node| csv_field(topology.node_name(node)));
            let name = recording.classes.get(class.index());
            let (id, class) =
                ((port, class), name.map_or_else(String::new, |it| format!(",{}", csv_field(it))));
            Port { id, class, from, onto, since: None, begun: 0, paused: Span::ZERO }
        };
        let classes = || (0..recording.classes.len().max(1) as u32).map(ClassId);
        let ids = recording.pauses.iter();
        let mut ports: Vec<Port> = ids
            .flat_map(|&id| classes().map(move |class| (id, class)))
            .map(|(id, class)| port(id, class))
            .collect();
        ports.sort_by_key(|port| port.id);
        let writes_changes = recording.is_on_change();
        let columns = if writes_changes {
            "time_ns,from,to,paused"
        } else {
            "time_ns,from,to,pauses,paused_ns,paused"
        };
        let class = if recording.classes.is_empty() { "" } else { ",class" };
        let sink = Sink::new(to, &format!("{columns}{class}"))?;
        Ok(Self { every: recording.every, writes_changes, ports, processed: 0, sink })
    }

    /// Processes the records since the last sample, and writes a row for each port that was paused.
    pub(super) fn sample(&mut self, now: Time, all: &[PauseRecord], profile: &mut Profile) {
        self.take(all);
        let at = nanoseconds(now);
        let window = profile.window(now);
        for port in &mut self.ports {
            if let Some(since) = &mut port.since {
                port.paused += now.since(*since);
                *since = now;
            }
            if port.begun == 0 && port.paused == Span::ZERO {
                continue;
            }
            window.pauses += port.begun;
            window.paused_ps += port.paused.as_ps();
            if !self.writes_changes {
                let Port { from, onto, begun, paused, class, .. } = port;
                let share = paused.as_ps() as f64 / self.every.as_ps() as f64;
                let paused = paused.as_ns_f64();
                self.sink
                    .row(format_args!("{at},{from},{onto},{begun},{paused},{share:.4}{class}"));
            }
            (port.begun, port.paused) = (0, Span::ZERO);
        }
    }

    /// Processes the pause records that are new.
    fn take(&mut self, all: &[PauseRecord]) {
        for record in &all[self.processed..] {
            let id = (record.port, record.class);
            let Ok(index) = self.ports.binary_search_by_key(&id, |port| port.id) else {
                continue;
            };
            let port = &mut self.ports[index];
            match (record.order, port.since) {
                (PauseOrder::Pause, None) => {
                    port.since = Some(record.at);
                    port.begun += 1;
                }
                (PauseOrder::Resume, Some(since)) => {
                    port.paused += record.at.since(since);
                    port.since = None;
                }
                // Repeats the current state.
                _ => continue,
            }
            if self.writes_changes {
                let Port { from, onto, since, class, .. } = port;
                let (at, paused) = (nanoseconds(record.at), u8::from(since.is_some()));
                self.sink.row(format_args!("{at},{from},{onto},{paused}{class}"));
            }
        }
        self.processed = all.len();
    }

    /// Writes the records after the last sample; the last interval has full length.
    pub(super) fn finish(mut self, all: &[PauseRecord], profile: &mut Profile) -> io::Result<()> {
        if let Some(last) = all.get(self.processed..).and_then(|rest| rest.last()) {
            let length = self.every.as_ps();
            let end = Time::from_ps((last.at.as_ps() / length + 1) * length);
            self.take(all);
            self.ports.iter_mut().for_each(|port| port.since = None);
            self.sample(end, all, profile);
        }
        self.sink.finish()
    }
}
