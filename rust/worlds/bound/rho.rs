//! The greatest common rate of even splitting.
//!
//! rho_max = B / F. B is the rate of a host's link. F is the number of flow units on the most
//! loaded link if each message's unit demand is divided evenly over its equal-cost next hops at
//! every switch ("Load Balancing for AI Training Workloads", arXiv 2507.21372, section on the
//! model).
//!
//! A link with another rate counts by its rate over B. \[inferred\]: if hosts differ, B is the rate
//! of the fastest host's link. A workload with dependencies counts each pair of hosts once, because
//! its messages follow one another.

use crate::ids::{HostId, PortId, SwitchId};
use crate::topology::{Routes, Topology};
use crate::workload::{Message, Workload};

/// Returns rho_max of all messages together; 1 if there are no messages.
pub(super) fn rho_max(topology: &Topology, routes: &Routes, workload: &Workload) -> f64 {
    let over_fabric = |message: &Message| {
        let sender = topology.sender_over_fabric(message.src, message.dst)?;
        Some((sender, message.dst)).filter(|&(src, dst)| routes.path_count(src, dst) > 0)
    };
    let mut pairs: Vec<(HostId, HostId)> =
        workload.messages.iter().filter_map(over_fabric).collect();
    // Messages that wait for each other use a path one after another, not simultaneously.
    if !workload.waits_for.is_empty() {
        pairs.sort_unstable();
        pairs.dedup();
    }
    let units = units(topology, routes, &mut pairs);
    let rate = |port: usize| topology.links()[port / 2].rate.as_bps() as f64;
    let hosts = (0..topology.host_count()).map(HostId);
    let host_rate = hosts.map(|host| rate(topology.host_port(host).index())).fold(0.0, f64::max);
    let load = |(port, units): (usize, &f64)| units * host_rate / rate(port);
    let most = units.iter().enumerate().map(load).fold(0.0, f64::max);
    if most == 0.0 { 1.0 } else { 1.0 / most }
}

/// Returns the flow units on each port, by port id.
fn units(topology: &Topology, routes: &Routes, pairs: &mut [(HostId, HostId)]) -> Vec<f64> {
    let mut units = vec![0.0; 2 * topology.links().len()];
    let column = |pair: &(HostId, HostId)| (routes.edge_of(pair.1), routes.edge_of(pair.0));
    for &(src, dst) in pairs.iter() {
        units[topology.host_port(src).index()] += 1.0;
        // Hosts that are wired to each other have only the sender's port.
        if routes.edge_of(src) != Routes::NO_EDGE {
            units[topology.host_port(dst).reverse().index()] += 1.0;
        }
    }
    // Pairs towards one edge switch share a tree of next hops, which is walked once for all.
    pairs.sort_by_key(column);
    let mut tree = FlowTree::new(topology.switches().len());
    for to_one_edge in pairs.chunk_by(|a, b| routes.edge_of(a.1) == routes.edge_of(b.1)) {
        let dst = to_one_edge[0].1;
        for from_one_edge in to_one_edge.chunk_by(|a, b| column(a) == column(b)) {
            let (src, _) = from_one_edge[0];
            if !routes.same_edge(src, dst) {
                // The two hops at hosts do not count as distance between switches.
                let above = routes.hops(src, dst) as usize - 2;
                tree.add(routes.edge_of(src), above, from_one_edge.len() as f64);
            }
        }
        tree.drain(topology, routes, dst, &mut units);
    }
    units
}

/// Flow units towards one edge switch: by switch, and the switches by their distance to it.
struct FlowTree {
    at: Vec<f64>,
    by_distance: Vec<Vec<SwitchId>>,
}

impl FlowTree {
    fn new(switches: usize) -> Self {
        Self { at: vec![0.0; switches], by_distance: Vec::new() }
    }

    fn add(&mut self, switch: SwitchId, distance: usize, units: f64) {
        if self.by_distance.len() <= distance {
            self.by_distance.resize(distance + 1, Vec::new());
        }
        if self.at[switch.index()] == 0.0 {
            self.by_distance[distance].push(switch);
        }
        self.at[switch.index()] += units;
    }

    /// Divides all flow units over the next hops towards the edge switch of `dst`. The farthest
    /// switch comes first, so that a switch has received all of its units before it divides them.
    fn drain(&mut self, topology: &Topology, routes: &Routes, dst: HostId, units: &mut [f64]) {
        for distance in (0..self.by_distance.len()).rev() {
            for switch in std::mem::take(&mut self.by_distance[distance]) {
                let here = std::mem::take(&mut self.at[switch.index()]);
                if distance == 0 {
                    continue;
                }
                let ports: &[PortId] = routes.next_hops(switch, dst);
                let each = here / ports.len() as f64;
                for port in ports {
                    units[port.index()] += each;
                    if let Some(next) = topology.ends_of(*port).1.switch() {
                        self.add(next, distance - 1, each);
                    }
                }
            }
        }
    }
}
