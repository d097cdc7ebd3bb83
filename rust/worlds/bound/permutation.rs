//! The bound for permutations: the acknowledgements that a host sends delay its own data.
//!
//! It applies if every host sends and receives at most one message, each packet is acknowledged,
//! and acknowledgements have priority over data.
//!
//! For flows with equal lengths, rates and hop counts H it is the bound of "Load Balancing for AI
//! Training Workloads" (arXiv 2507.21372, appendix B):
//! `i1·d + (m − i1)·(d + a) + 2·p + (H − 1)·T_d + H·T_a`, with `i1 = ceil((p + (H−1)·T_d)/d) + 1`.
//! The paper gives inputs and result; \[inferred\]: this closed form.
//!
//! \[inferred\]: the argument here, which does not need equal hop counts or lengths. Suppose that n
//! acknowledgements leave a host before its last data packet starts. A larger n delays that packet,
//! and with it the host's own message (`sent`). A smaller n leaves more packets of the inbound
//! message to arrive after it, one at a time (`received`). For each n the later of the two counts;
//! their minimum over n bounds any schedule.
//!
//! If acknowledgements delay the last data packet, the paper also counts the gap after it. That is
//! one gap (0.2 ns at 800 Gbps) more than the argument proves, and more than a run can take. It is
//! not counted here.

use super::idle_path::IdlePath;
use super::{BoundInputs, Wire};
use crate::ids::HostId;
use crate::topology::{HostPath, Topology};
use crate::units::BitRate;

/// Returns the earliest completion of the slowest host, in picoseconds from the first start; 0 if
/// this bound does not apply.
pub(super) fn bound_ps(
    topology: &Topology,
    wire: &Wire,
    BoundInputs { workload, starts, paths }: BoundInputs<'_>,
) -> u128 {
    if wire.ack_every != 1 || !wire.ack_priority {
        return 0;
    }
    let hosts = topology.host_count() as usize;
    let (mut sends, mut receives) = (vec![None; hosts], vec![None; hosts]);
    for (id, message) in workload.messages.iter().enumerate() {
        if topology.host_path(message.src, message.dst) == HostPath::ScaleUp {
            continue;
        }
        let sent = sends[paths.sender(message).0.index()].replace(id);
        let received = receives[message.dst.index()].replace(id);
        // A host with a second message: this is not a permutation.
        if sent.is_some() || received.is_some() {
            return 0;
        }
    }
    let ends = (0..topology.host_count()).map(HostId).filter_map(|host| {
        let (out, into) = (sends[host.index()]?, receives[host.index()]?);
        // An acknowledgement that leaves before the host's own message starts delays nothing.
        let start_of = |id: usize| starts[id] + paths.sender(&workload.messages[id]).1;
        let start = start_of(out);
        if start != start_of(into) {
            return None;
        }
        let (out, into) = (paths.get(out)?, paths.get(into)?);
        // The argument counts packets back from the last one, which therefore has to leave last.
        if out.is_reordered || into.is_reordered {
            return None;
        }
        let rate = topology.link(topology.host_port(host).link()).rate;
        Some(start + HostExchange { rate, wire, out, into }.end())
    });
    ends.max().unwrap_or(0)
}

/// The outbound and the inbound message of a host on its link.
struct HostExchange<'a> {
    rate: BitRate,
    wire: &'a Wire,
    out: &'a IdlePath,
    into: &'a IdlePath,
}

impl HostExchange<'_> {
    /// Returns the earliest completion of the later message, minimised over the number of
    /// acknowledgements that precede the last data packet.
    fn end(&self) -> u128 {
        // `sent` grows with n faster than `received`, so they cross once.
        let (mut low, mut high) = (0, self.into.packets);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.sent(middle) >= self.received(middle) {
                high = middle
            } else {
                low = middle + 1
            }
        }
        let crossing = self.sent(low);
        if low == 0 {
            return crossing;
        }
        // Below the crossing, `received` is the later one. It is linear except for a shorter last
        // packet, so its minimum is at an end of a linear part.
        let later = [low - 1, low.saturating_sub(2), 0].map(|acks| self.received(acks));
        later.into_iter().fold(crossing, u128::min)
    }

    /// Returns the earliest start of the last data packet after `acks` acknowledgements.
    fn last_start(&self, acks: u64) -> u128 {
        let ack = u128::from((self.wire.ack + self.wire.gap).get());
        self.ps(self.out.wire_bytes_before_last + u128::from(acks) * ack)
    }

    /// Returns the earliest completion of the outbound message after `acks` acknowledgements.
    fn sent(&self, acks: u64) -> u128 {
        let last = self.out.wire_bytes - self.out.wire_bytes_before_last;
        let gap = u128::from(self.wire.gap.get());
        self.last_start(acks) + self.ps(last - gap) + self.out.data[0].tail
    }

    /// Returns the earliest completion of the inbound message after `acks` acknowledgements. Its
    /// next packet arrives after the last data packet has started; otherwise it would have been
    /// acknowledged earlier. The remaining packets follow it.
    fn received(&self, acks: u64) -> u128 {
        let rest = self.into.packets - acks;
        if rest == 0 {
            return 0;
        }
        let full = u128::from((self.wire.payload + self.wire.header + self.wire.gap).get());
        let last = self.into.wire_bytes - self.into.wire_bytes_before_last;
        let after = if rest == 1 { 0 } else { u128::from(rest - 2) * full + last };
        self.last_start(acks) + self.ps(after) + self.into.ack_delay
    }

    fn ps(&self, bytes: u128) -> u128 {
        bytes.saturating_mul(8_000_000_000_000) / u128::from(self.rate.as_bps())
    }
}

#[cfg(test)]
mod tests {
    use crate::bound::fixtures::{OFAN, fat_tree, flow, flows};
    use crate::bound::{Bound, bound};
    use crate::topology::Routes;
    use crate::units::{BitRate, Span};
    use crate::workload::Workload;

    /// Returns messages of `packets` full packets, from each host to the host at distance `shift`.
    fn shifted(shift: u32, packets: u64) -> Workload {
        flows((0..128).map(|src| flow(src, (src + shift) % 128, packets * 4_096)))
    }

    fn bound_of(workload: &Workload) -> Bound {
        let topology = fat_tree(8, BitRate::from_gbps(800));
        bound(&topology, &Routes::new(&topology, &|_| true), workload, &OFAN)
    }

    /// The gap of 20 bytes at 800 Gbps that the paper counts after the last packet.
    const GAP: Span = Span::from_ps(200);

    #[test]
    fn the_bound_equals_the_paper_s_minus_a_gap() {
        for (packets, ps) in [(256, 17_056_940), (2_048, 93_431_980), (4_096, 180_717_740)] {
            let bound = bound_of(&shifted(64, packets));
            assert_eq!(bound.time + GAP, Span::from_ps(ps), "{packets} packets");
            assert_eq!((bound.binding, bound.rho_max), ("permutation", 1.0));
        }
    }

    #[test]
    fn one_flow_across_the_pods_in_each_direction_gives_the_same_bound() {
        let pairs = [flow(0, 64, 256 * 4_096), flow(64, 0, 256 * 4_096), flow(1, 2, 4_096)];
        assert_eq!(bound_of(&flows(pairs.into_iter())).time + GAP, Span::from_ps(17_056_940));
    }

    #[test]
    fn acknowledgements_that_come_too_late_delay_nothing() {
        // 78 packets have left before the first acknowledgement can (i1 of the paper).
        let idle = |packets: u64| 41_780 * packets - 200 + 5 * 41_580 + 6_000_000 + 6 * 640;
        for packets in [1, 2, 77, 78] {
            assert_eq!(bound_of(&shifted(64, packets)).time, Span::from_ps(idle(packets)));
        }
        assert_eq!(bound_of(&shifted(64, 79)).time, Span::from_ps(idle(79) + 840));
    }

    #[test]
    fn a_nearer_flow_is_acknowledged_sooner_but_its_slack_is_counted() {
        // Host 0 sends to another pod and receives from its own edge switch.
        let far = flow(0, 64, 256 * 4_096);
        let mixed = bound_of(&flows([far, flow(1, 0, 256 * 4_096)].into_iter())).time;
        let idle = bound_of(&flows([far].into_iter())).time;
        let both_far = Span::from_ps(17_056_940);
        assert!(idle < mixed && mixed < both_far, "{idle} {mixed} {both_far}");
    }
}
