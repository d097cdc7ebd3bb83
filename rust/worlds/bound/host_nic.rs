//! The hosts' own links: each must carry its data and its acknowledgements.
//!
//! Assumes only that a link carries one packet at a time, each followed by the gap, and that every
//! `ack_every` packets are acknowledged once. Three times are added to the work of the link: the
//! first packet's time to reach it, the last packet's time from there to its destination, and the
//! return of the acknowledgement. With several paths, a downlink is charged with one
//! acknowledgement per message. The last one may overtake the others, and the message completes
//! without them.
//!
//! \[inferred: "Load Balancing for AI Training Workloads" (arXiv 2507.21372) names it as the
//! natural bound for all-to-all, without a formula\]

use super::load::{Loads, latest_first};
use super::{BoundInputs, Wire};
use crate::topology::Topology;

/// Returns the earliest time at which the busiest host's link has carried its traffic, in
/// picoseconds from the first start.
pub(super) fn bound_ps(
    topology: &Topology,
    wire: &Wire,
    BoundInputs { workload, starts, paths }: BoundInputs<'_>,
) -> u128 {
    let hosts = topology.host_count() as usize;
    let mut up = vec![Loads::NONE; hosts];
    let mut down = vec![Loads::NONE; hosts];
    let ack_bytes = u128::from((wire.ack + wire.gap).get());
    let gap = u128::from(wire.gap.get());
    let mut latest = 0;
    for group in latest_first(starts) {
        let mut touched = Vec::with_capacity(2 * group.len());
        for id in group {
            let Some(idle) = paths.get(id) else { continue };
            let message = &workload.messages[id];
            let (sender, before) = paths.sender(message);
            let (src, dst) = (sender.index(), message.dst.index());
            let start = starts[id] + before;
            let [acks_up, acks_down] =
                [idle.acks, idle.acks_through].map(|acks| u128::from(acks) * ack_bytes);
            let [data_up, .., data_down] = idle.data;
            let [ack_down, .., ack_up] = idle.ack;
            up[src].add_data(idle.wire_bytes, start + data_up.head, data_up.tail);
            down[dst].add_data(idle.wire_bytes, start + data_down.head, data_down.tail);
            up[dst].add_acks(acks_up, start + ack_up.head, ack_up.tail);
            down[src].add_acks(acks_down, start + ack_down.head, ack_down.tail);
            touched.extend([sender, message.dst]);
        }
        touched.sort_unstable();
        touched.dedup();
        // Other hosts have no new load since the last group, so their bounds are unchanged.
        for host in touched {
            let link = topology.link(topology.host_port(host).link());
            let bps = u128::from(link.rate.as_bps());
            let ends = [&up, &down].map(|loads| loads[host.index()].end(bps, gap));
            latest = latest.max(ends[0]).max(ends[1]);
        }
    }
    latest
}
