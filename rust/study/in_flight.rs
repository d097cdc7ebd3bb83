//! Estimates the number of packets that are queued or in flight, and therefore in memory.

use crate::fabric::{Buffer, Setup};
use crate::ids::HostId;
use crate::nic::congestion::CongestionControl;
use crate::workload::Message;

/// Round trips for which senders that share a receiver continue at line rate before they slow down
/// \[inferred\].
const ROUND_TRIPS: f64 = 2.0;

/// Bytes that a host sends and receives.
#[derive(Debug, Clone, Copy, Default)]
struct Load {
    sent: f64,
    received: f64,
    /// Mean number of concurrent senders, if each divides its rate among its receivers.
    senders: f64,
}

/// Estimates the packets in flight of the messages on the fabric, where `delay` is the mean one-way
/// delay in picoseconds. Counts data on links, and data queued at receivers of several senders.
pub(super) fn packets_in_flight(setup: &Setup, messages: &[Message], delay: f64) -> u64 {
    let (topology, nic) = (&setup.topology, &setup.nic);
    let mut loads = vec![Load::default(); topology.host_count() as usize];
    for message in messages {
        loads[message.src.index()].sent += message.bytes.get() as f64;
        loads[message.dst.index()].received += message.bytes.get() as f64;
    }
    let bytes_per_ps = |host: HostId| topology.host_rate(host).as_bps() as f64 / 8e12;
    for Message { src, dst, bytes, .. } in messages {
        let part = bytes.get() as f64 / loads[src.index()].sent.max(1.0);
        loads[dst.index()].senders += part * bytes_per_ps(*src) / bytes_per_ps(*dst);
    }
    let all = || (0u32..).map(HostId).zip(&loads);
    // A timer below the round trip retransmits packets that are still in flight.
    let timeout = (nic.retransmit_timeout.as_ps() as f64).max(1.0);
    let copies = (2.0 * delay / timeout).max(1.0);
    let in_transit =
        all().map(|(host, load)| (load.sent * copies).min(2.0 * delay * bytes_per_ps(host)));
    let never_slows = matches!(nic.congestion, CongestionControl::LineRate(_));
    let (Buffer::Shared(buffer) | Buffer::PerPort(buffer)) = setup.fabric.switch.buffer;
    let waiting = all().map(|(host, load)| {
        let excess = load.received * (1.0 - 1.0 / load.senders.max(1.0));
        let window = ROUND_TRIPS * 2.0 * delay * bytes_per_ps(host);
        let most = if never_slows { f64::INFINITY } else { load.senders * window };
        excess.min(most).min(buffer.get() as f64)
    });
    let bytes = in_transit.chain(waiting).sum::<f64>();
    (bytes / nic.payload.get().max(1) as f64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;

    /// Estimates the packets in flight on 64 hosts. A packet has 1,000 bytes and takes 2 us.
    fn in_flight(control: &str, workload: &str) -> u64 {
        let text = format!(
            "[topology]\nleaves = 8\nspines = 8\nhosts_per_leaf = 8\n\
             [transport]\npayload = \"1000B\"\ncongestion_control = \"{control}\"\n\
             [workload]\n{workload}\n"
        );
        let folder = std::path::Path::new("");
        let scenario = Scenario::parse(&text, "test", folder, &Default::default()).unwrap();
        let setup = scenario.setup();
        packets_in_flight(&setup, &setup.workload.messages, 2e6)
    }

    #[test]
    fn data_queues_at_an_oversubscribed_receiver() {
        // 400 Gbps for a round trip of 4 us is 200 packets.
        let shift = in_flight("line-rate", "kind = \"shift\"\nbytes = \"10MB\"");
        let all_to_all = in_flight("line-rate", "kind = \"all-to-all\"\nbytes = \"64MB\"");
        assert_eq!((shift, all_to_all), (64 * 200, 64 * 200));
        let incast = "kind = \"incast\"\nfan_in = 10\nbytes = \"1MB\"";
        assert_eq!(in_flight("line-rate", incast), 10 * 200 + 9_000);
        assert_eq!(in_flight("nscc", incast), 10 * 200 + 2 * 10 * 200);
    }
}
