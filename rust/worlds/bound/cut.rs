//! The cut around an edge switch: all traffic between its hosts and the rest of the fabric crosses
//! its uplinks.
//!
//! Assumes that load is balanced perfectly over all links from an edge switch to other switches.
//! The bound is therefore the largest if the edge is oversubscribed. With several paths, only one
//! acknowledgement per message is counted, because it may overtake the others. \[inferred: the cut
//! bound of any network\]

use super::load::{Loads, latest_first};
use super::{BoundInputs, Wire};
use crate::ids::SwitchId;
use crate::topology::{Routes, Topology};

/// Returns the earliest time at which the uplinks of the busiest edge switch have carried their
/// traffic, in picoseconds from the first start.
pub(super) fn bound_ps(
    topology: &Topology,
    routes: &Routes,
    wire: &Wire,
    BoundInputs { workload, starts, paths }: BoundInputs<'_>,
) -> u128 {
    let bundles = uplinks(topology);
    let mut out = vec![Loads::NONE; bundles.len()];
    let mut into = vec![Loads::NONE; bundles.len()];
    let ack_bytes = u128::from((wire.ack + wire.gap).get());
    let mut latest = 0;
    for group in latest_first(starts) {
        let mut touched = Vec::with_capacity(2 * group.len());
        for id in group {
            let message = &workload.messages[id];
            let Some(idle) = paths.get(id) else { continue };
            // Hosts under the same switch use no uplink.
            let (sender, before) = paths.sender(message);
            if routes.same_edge(sender, message.dst) {
                continue;
            }
            let ends = [routes.edge_of(sender), routes.edge_of(message.dst)];
            let [src, dst] = ends.map(SwitchId::index);
            let acks = u128::from(idle.acks_through) * ack_bytes;
            let start = starts[id] + before;
            let [_, data_up, data_down, _] = idle.data;
            let [_, ack_down, ack_up, _] = idle.ack;
            out[src].add_data(idle.wire_bytes, start + data_up.head, data_up.tail);
            into[dst].add_data(idle.wire_bytes, start + data_down.head, data_down.tail);
            out[dst].add_acks(acks, start + ack_up.head, ack_up.tail);
            into[src].add_acks(acks, start + ack_down.head, ack_down.tail);
            touched.extend(ends);
        }
        touched.sort_unstable();
        touched.dedup();
        // Other switches have no new load since the last group, so their bounds are unchanged.
        for switch in touched {
            let Bundle { bps, links } = bundles[switch.index()];
            let gaps = links * u128::from(wire.gap.get());
            let ends = [&out, &into].map(|loads| loads[switch.index()].end(bps, gaps));
            latest = latest.max(ends[0]).max(ends[1]);
        }
    }
    latest
}

/// The links from a switch to other switches, merged into one link of their total rate.
#[derive(Clone, Copy, Default)]
struct Bundle {
    bps: u128,
    links: u128,
}

fn uplinks(topology: &Topology) -> Vec<Bundle> {
    let mut bundles = vec![Bundle::default(); topology.switches().len()];
    for link in topology.links() {
        let [Some(a), Some(b)] = link.ends.map(crate::topology::Node::switch) else { continue };
        for switch in [a, b] {
            let bundle = &mut bundles[switch.index()];
            bundle.bps += u128::from(link.rate.as_bps());
            bundle.links += 1;
        }
    }
    bundles
}
