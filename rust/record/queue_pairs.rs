//! `queue_pairs.csv`: the window, the rate and the packets in flight of each recorded queue pair
//! that has work, at the end of each interval.

use std::io::{self, Write};

use super::{Sink, nanoseconds};
use crate::endpoint::Endpoints;
use crate::ids::HostId;
use crate::nic::Backlog;
use crate::topology::{Node, Topology};
use crate::units::{BitRate, Time};

/// The queue pairs of some hosts and their table.
pub(super) struct QueuePairs {
    is_recorded: Vec<bool>,
    names: Vec<String>,
    /// Indices of the recorded connections, in order of creation.
    recorded: Vec<usize>,
    /// The number of connections created so far.
    created: usize,
    sink: Sink,
}

impl QueuePairs {
    pub(super) fn new(
        hosts: &[HostId],
        topology: &Topology,
        to: Box<dyn Write>,
    ) -> io::Result<Self> {
        let all = || (0..topology.host_count()).map(HostId);
        let columns = "time_ns,src,dst,label,in_flight_packets,window_bytes,rate_bps";
        Ok(Self {
            is_recorded: all().map(|host| hosts.contains(&host)).collect(),
            names: all().map(|host| topology.node_name(Node::Host(host)).to_owned()).collect(),
            recorded: Vec::new(),
            created: 0,
            sink: Sink::new(to, columns)?,
        })
    }

    /// Writes a row for each queue pair with work that is not acknowledged.
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
            let [src, dst] = [pair.src, pair.dst].map(|host| &self.names[host.index()]);
            let state = &pair.state;
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
