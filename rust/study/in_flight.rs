//! An estimate of the packets that wait or fly at one time, which a run has in memory.

use crate::fabric::{Buffer, Setup};
use crate::ids::HostId;
use crate::nic::congestion::CongestionControl;

/// Round trips for which senders that share a receiver go on sending before they slow down
/// \[inferred\].
const ROUND_TRIPS: f64 = 2.0;

/// The bytes that a host sends and receives.
#[derive(Debug, Clone, Copy, Default)]
struct Load {
    sent: f64,
    received: f64,
    /// The hosts that send to it.
    senders: f64,
}

/// The packets in flight between `pairs` of sender and receiver, each once, where `delay` is the
/// mean time of a packet on its way, in picoseconds: data that flies, and data that waits before
/// receivers that several hosts send to.
pub(super) fn packets_in_flight(setup: &Setup, pairs: &[(HostId, HostId)], delay: f64) -> u64 {
    let (topology, nic) = (&setup.topology, &setup.nic);
    let mut loads = vec![Load::default(); topology.host_count() as usize];
    for message in &setup.workload.messages {
        loads[message.src.index()].sent += message.bytes.get() as f64;
        loads[message.dst.index()].received += message.bytes.get() as f64;
    }
    for &(_, dst) in pairs {
        loads[dst.index()].senders += 1.0;
    }
    let all = || (0u32..).map(HostId).zip(&loads);
    let bytes_per_ps = |host: HostId| topology.host_rate(host).as_bps() as f64 / 8e12;
    // A timer below the round trip sends again what flies.
    let timeout = (nic.retransmit_timeout.as_ps() as f64).max(1.0);
    let copies = (2.0 * delay / timeout).max(1.0);
    let flying =
        all().map(|(host, load)| (load.sent * copies).min(2.0 * delay * bytes_per_ps(host)));
    let never_slows = matches!(nic.congestion, CongestionControl::LineRate(_));
    let (Buffer::Shared(buffer) | Buffer::PerPort(buffer)) = setup.fabric.switch.buffer;
    let waiting = all().map(|(host, load)| {
        let excess = load.received * (1.0 - 1.0 / load.senders.max(1.0));
        let window = ROUND_TRIPS * 2.0 * delay * bytes_per_ps(host);
        let most = if never_slows { f64::INFINITY } else { load.senders * window };
        excess.min(most).min(buffer.get() as f64)
    });
    let bytes = flying.chain(waiting).sum::<f64>();
    (bytes / nic.payload.get().max(1) as f64) as u64
}
