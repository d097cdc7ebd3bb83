//! The ports of GPUs on the scale-up networks of their servers.
//!
//! Each port carries, at its rate, the bytes of all messages inside its server and of messages that
//! are relayed there. \[inferred: the bound of any link\]

use super::BoundInputs;
use super::load::{Load, latest_first};
use crate::topology::{HostPath, Topology};

/// Returns the earliest time at which the busiest port has carried its traffic and the last message
/// is complete, in picoseconds from the first start; 0 without scale-up networks.
pub(super) fn bound_ps(topology: &Topology, inputs: BoundInputs<'_>) -> u128 {
    let Some(scale_up) = topology.scale_up() else { return 0 };
    let BoundInputs { workload, starts, .. } = inputs;
    let mut ports = vec![[Load::NONE; 2]; topology.host_count() as usize];
    let (bps, tail) = (scale_up.rate.as_bps().into(), 2 * u128::from(scale_up.latency.as_ps()));
    let mut latest = 0;
    for group in latest_first(starts) {
        for id in group {
            let message = &workload.messages[id];
            let to = match scale_up.host_path(message.src, message.dst) {
                HostPath::ScaleUp => message.dst,
                HostPath::Relayed(by) => by,
                HostPath::Fabric => continue,
            };
            let bytes = u128::from(message.bytes.get());
            for (host, direction) in [(message.src, 0), (to, 1)] {
                let port = &mut ports[host.index()][direction];
                port.add(bytes, starts[id], tail);
                latest = latest.max(port.end(bps, 0));
            }
        }
    }
    latest
}

#[cfg(test)]
mod tests {
    use crate::bound::fixtures::{OFAN, flow, flows, leaf_spine};
    use crate::bound::{Bound, bound};
    use crate::topology::{CrossRail, Routes, ScaleUp};
    use crate::units::{BitRate, Span};
    use crate::workload::Message;

    /// Returns the bound on two leaves of 4 hosts at 800 Gbps, with servers of 4 GPUs at 3.6 Tbps.
    fn bound_of(cross_rail: CrossRail, messages: &[Message]) -> Bound {
        let rate = BitRate::from_gbps(3_600);
        let scale_up = ScaleUp { gpus: 4, rate, latency: Span::from_ns(600), cross_rail };
        let topology = leaf_spine(2, 2, 4, BitRate::from_gbps(800));
        let topology = topology.with_scale_up(scale_up).unwrap();
        let workload = flows(messages.iter().copied());
        bound(&topology, &Routes::new(&topology, &|_| true), &workload, &OFAN)
    }

    #[test]
    fn messages_inside_a_server_are_bound_by_scale_up_ports() {
        // 450 bytes per nanosecond.
        let alone = bound_of(CrossRail::Fabric, &[flow(0, 1, 4_500_000)]);
        assert_eq!(
            (alone.time, alone.binding),
            (Span::from_us(10) + Span::from_ns(1_200), { "idle path" })
        );
        assert_eq!(alone.rho_max, 1.0);
        let shared = bound_of(CrossRail::Fabric, &[1, 2, 3].map(|dst| flow(0, dst, 4_500_000)));
        assert_eq!(
            (shared.time, shared.binding),
            (Span::from_us(30) + Span::from_ns(1_200), { "scale-up port" })
        );
    }

    #[test]
    fn a_relayed_message_loads_the_nic_of_its_relay() {
        // Hosts 0 and 1 send to rail 2 of the other server, over the NIC of host 2.
        let to_rail = [flow(0, 6, 40_960_000), flow(1, 6, 40_960_000)];
        let [direct, relayed] =
            [CrossRail::Fabric, CrossRail::Relay].map(|it| bound_of(it, &to_rail));
        assert_eq!((direct.binding, relayed.binding), ("host NIC", "host NIC"));
        // The transfer to the relay comes first.
        let first = Span::from_ps(40_960_000 * 20 / 9) + Span::from_ns(600);
        assert!(relayed.time >= direct.time + first, "{direct:?} {relayed:?}");
        let one = bound_of(CrossRail::Relay, &to_rail[..1]);
        let plain = bound_of(CrossRail::Relay, &[flow(2, 6, 40_960_000)]);
        assert_eq!(one.time, plain.time + first + Span::from_ns(600));
    }
}
