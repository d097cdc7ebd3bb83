//! `queue_pairs.csv`: window, rate and packets in flight of each recorded queue pair with
//! unacknowledged work, at the end of each interval. If changes are recorded, an interval has a row
//! only if a value has changed.

use std::io::{self, Write};

use std::collections::BTreeMap;

use super::csv_field;
use super::{Recording, Sink, nanoseconds};
use crate::endpoint::Endpoints;
use crate::ids::HostId;
use crate::nic::Backlog;
use crate::topology::{Node, Topology};
use crate::units::{BitRate, Time};

/// The recorded queue pairs and their table.
pub(super) struct QueuePairs {
    is_recorded: Vec<bool>,
    names: Vec<String>,
    /// Indices of the recorded connections, in order of creation.
    recorded: Vec<usize>,
    /// Number of connections created so far.
    created: usize,
    /// By connection: the values of its last row; `None` if every interval has a row.
    last: Option<BTreeMap<usize, [u64; 3]>>,
    sink: Sink,
}

impl QueuePairs {
    pub(super) fn new(
        recording: &Recording,
        topology: &Topology,
        to: Box<dyn Write>,
    ) -> io::Result<Self> {
        let all = || (0..topology.host_count()).map(HostId);
        let columns = "time_ns,src,dst,label,in_flight_packets,window_bytes,rate_bps";
        Ok(Self {
            is_recorded: all().map(|host| recording.queue_pairs.contains(&host)).collect(),
            names: all().map(|host| csv_field(topology.node_name(Node::Host(host)))).collect(),
            recorded: Vec::new(),
            created: 0,
            last: recording.is_on_change().then(BTreeMap::new),
            sink: Sink::new(to, columns)?,
        })
    }

    /// Writes a row for each queue pair with unacknowledged work.
    pub(super) fn sample(&mut self, now: Time, endpoints: &Endpoints) {
        while let Some((src, _)) = endpoints.backlog(self.created) {
            if self.is_recorded[src.index()] {
                self.recorded.push(self.created);
            }
            self.created += 1;
        }
        let at = nanoseconds(now);
        for &index in &self.recorded {
            let Some(pair) = endpoints.sending(now, index) else { continue };
            if pair.state.backlog == Backlog::Nothing {
                continue;
            }
            let state = &pair.state;
            let numbers = [state.in_flight_packets, state.window_bytes, state.rate.as_bps()];
            if self.last.as_mut().is_some_and(|it| it.insert(index, numbers) == Some(numbers)) {
                continue;
            }
            let [src, dst] = [pair.src, pair.dst].map(|host| &self.names[host.index()]);
            let limit = |value: u64, unlimited: u64| {
                if value == unlimited { String::new() } else { value.to_string() }
            };
            let window = limit(state.window_bytes, u64::MAX);
            let rate = limit(state.rate.as_bps(), BitRate::MAX.as_bps());
            let (label, in_flight) = (pair.label, state.in_flight_packets);
            self.sink.row(format_args!("{at},{src},{dst},{label},{in_flight},{window},{rate}"));
        }
    }

    pub(super) fn finish(self) -> io::Result<()> {
        self.sink.finish()
    }
}
