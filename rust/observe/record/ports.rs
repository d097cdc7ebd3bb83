//! `ports.csv`: the queue of each recorded port at the end of each interval, and the bytes that it
//! transmitted during the interval.

use std::io::{self, Write};

use super::csv_field;
use super::{Recording, Sink, nanoseconds};
use crate::fabric::Snapshot;
use crate::ids::PortId;
use crate::topology::Topology;
use crate::units::{BitRate, Span, Time};

/// A port and its last row.
#[derive(Debug)]
struct Port {
    id: PortId,
    from: String,
    onto: String,
    rate: BitRate,
    queue: u32,
    carried: u64,
    was_busy: bool,
}

/// The recorded ports and their table.
pub(super) struct Ports {
    every: Span,
    ports: Vec<Port>,
    sink: Sink,
}

impl Ports {
    pub(super) fn new(
        recording: &Recording,
        topology: &Topology,
        to: Box<dyn Write>,
    ) -> io::Result<Self> {
        let port = |&id: &PortId| {
            let (from, onto) = topology.ends_of(id);
            Port {
                id,
                from: csv_field(topology.node_name(from)),
                onto: csv_field(topology.node_name(onto)),
                rate: topology.link(id.link()).rate,
                queue: 0,
                carried: 0,
                was_busy: false,
            }
        };
        let columns = "time_ns,from,to,queue_bytes,carried_bytes,utilisation";
        let ports = recording.ports.iter().map(port).collect();
        Ok(Self { every: recording.every, ports, sink: Sink::new(to, columns)? })
    }

    /// Writes a row for each port that transmitted or whose queue has changed, and one when it
    /// becomes idle. Returns the longest queue in bytes.
    pub(super) fn sample(&mut self, now: Time, snapshot: &Snapshot<'_>) -> u64 {
        let mut longest = 0;
        for port in &mut self.ports {
            let queue = snapshot.waiting[port.id.index()];
            let total = snapshot.carried[port.id.index()];
            longest = longest.max(u64::from(queue));
            let carried = total - port.carried;
            if carried > 0 || port.was_busy || queue != port.queue {
                let Port { from, onto, rate, .. } = port;
                let most = rate.as_bps() as f64 * self.every.as_ps() as f64 / 8e12;
                let (at, used) = (nanoseconds(now), carried as f64 / most);
                self.sink.row(format_args!("{at},{from},{onto},{queue},{carried},{used:.4}"));
            }
            (port.queue, port.carried, port.was_busy) = (queue, total, carried > 0);
        }
        longest
    }

    pub(super) fn finish(self) -> io::Result<()> {
        self.sink.finish()
    }
}
