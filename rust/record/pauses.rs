//! `pauses.csv`: how often and how long each recorded port was paused in each interval;
//! `pause_changes.csv`: each pause and resume, when it took effect.

use std::io::{self, Write};

use super::{Profile, Recording, Sink, nanoseconds};
use crate::fabric::{PauseOrder, PauseRecord};
use crate::ids::PortId;
use crate::topology::Topology;
use crate::units::{Span, Time};

/// A port and its state.
#[derive(Debug)]
struct Port {
    id: PortId,
    from: String,
    onto: String,
    /// Since when it is paused, if it is.
    since: Option<Time>,
    /// Pauses that began in the interval.
    begun: u64,
    /// How long it was paused in the interval, up to the last change.
    paused: Span,
}

/// The ports and their table.
pub(super) struct Pauses {
    every: Span,
    writes_changes: bool,
    ports: Vec<Port>,
    /// How many pauses and resumes of the run have been taken.
    taken: usize,
    sink: Sink,
}

impl Pauses {
    pub(super) fn new(
        recording: &Recording,
        topology: &Topology,
        to: Box<dyn Write>,
    ) -> io::Result<Self> {
        let port = |&id: &PortId| {
            let (from, onto) = topology.ends_of(id);
            let [from, onto] = [from, onto].map(|node| topology.node_name(node).to_owned());
            Port { id, from, onto, since: None, begun: 0, paused: Span::ZERO }
        };
        let mut ports: Vec<Port> = recording.pauses.iter().map(port).collect();
        ports.sort_by_key(|port| port.id);
        let writes_changes = recording.is_on_change();
        let columns = if writes_changes {
            "time_ns,from,to,paused"
        } else {
            "time_ns,from,to,pauses,paused_ns,paused"
        };
        let sink = Sink::new(to, columns)?;
        Ok(Self { every: recording.every, writes_changes, ports, taken: 0, sink })
    }

    /// Takes what happened since the last sample, and writes a row for each port that was paused.
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
                let Port { from, onto, begun, paused, .. } = port;
                let share = paused.as_ps() as f64 / self.every.as_ps() as f64;
                let paused = paused.as_ns_f64();
                self.sink.row(format_args!("{at},{from},{onto},{begun},{paused},{share:.4}"));
            }
            (port.begun, port.paused) = (0, Span::ZERO);
        }
    }

    /// Takes pauses and resumes that have not been taken.
    fn take(&mut self, all: &[PauseRecord]) {
        for record in &all[self.taken..] {
            let Ok(index) = self.ports.binary_search_by_key(&record.port, |port| port.id) else {
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
                // Repeats what holds.
                _ => continue,
            }
            if self.writes_changes {
                let Port { from, onto, since, .. } = port;
                let (at, paused) = (nanoseconds(record.at), u8::from(since.is_some()));
                self.sink.row(format_args!("{at},{from},{onto},{paused}"));
            }
        }
        self.taken = all.len();
    }

    /// Writes what happened after the last sample; the interval ends as all do.
    pub(super) fn finish(mut self, all: &[PauseRecord], profile: &mut Profile) -> io::Result<()> {
        if let Some(last) = all.get(self.taken..).and_then(|rest| rest.last()) {
            let length = self.every.as_ps();
            let end = Time::from_ps((last.at.as_ps() / length + 1) * length);
            self.take(all);
            self.ports.iter_mut().for_each(|port| port.since = None);
            self.sample(end, all, profile);
        }
        self.sink.finish()
    }
}
