//! Servers whose GPUs are connected by a scale-up network, such as NVLink.
//!
//! Source: NVIDIA, "NVLink and NVSwitch" (a non-blocking, credit-based and therefore lossless
//! switch between the GPUs of a server); Wang et al., "Rail-only: A Low-Cost High-Performance
//! Network for Training LLMs with Trillion Parameters" (HotI 2024), section 2 (high-bandwidth
//! domains). Relaying a message between rails over a GPU of the sender's server is PXN of NCCL 2.12
//! (NVIDIA technical blog, "Doubling all2all Performance with NVIDIA Collective Communication
//! Library 2.12", 2022).

use super::TopologyError;
use crate::ids::HostId;
use crate::units::{BitRate, Bytes, Span};

/// Route of a message to a GPU of another server on another rail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CrossRail {
    /// Over the fabric, from the sender's NIC.
    #[default]
    Fabric,
    /// Over the scale-up domain to the GPU of the sender's server on the receiver's rail, then over
    /// the fabric from that GPU's NIC (PXN).
    Relay,
}

/// Servers of consecutive hosts, each a GPU with a NIC, and the network within each server.
///
/// The network of a server (its *domain*) is a non-blocking switch. Each GPU sends and receives at
/// `rate`, and messages share the GPUs' ports with max-min fairness. The domain is lossless and has
/// neither queue pairs nor alternative paths. Host `h` is GPU `h % gpus` of server `h / gpus`; the
/// GPU index is its rail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScaleUp {
    /// GPUs per server; at least 2.
    pub gpus: u32,
    /// Payload rate of a GPU's port in each direction.
    pub rate: BitRate,
    /// Time from the last bit leaving a GPU to its arrival at the receiver. The completion takes
    /// the same time back to the sender.
    pub latency: Span,
    /// Route of messages to GPUs on other rails of other servers.
    pub cross_rail: CrossRail,
}

/// Route of a message between two hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostPath {
    /// Over the fabric.
    Fabric,
    /// Within the domain of the server that contains both hosts.
    ScaleUp,
    /// Within the sender's domain to this GPU, and from there over the fabric.
    Relayed(HostId),
}

impl ScaleUp {
    /// Fails unless the hosts form whole servers and the rate is positive.
    pub(super) fn check(&self, hosts: u32) -> Result<(), TopologyError> {
        if self.rate.as_bps() == 0 {
            return Err(TopologyError::Zero { field: "scale_up.rate" });
        }
        if self.gpus < 2 || !hosts.is_multiple_of(self.gpus) {
            return Err(TopologyError::FractionalServer { gpus: self.gpus, hosts });
        }
        Ok(())
    }

    /// Returns the server of a host.
    #[inline]
    pub const fn server_of(&self, host: HostId) -> u32 {
        host.0 / self.gpus
    }

    /// Returns the last GPU of a host's server.
    pub const fn last_of_server(&self, host: HostId) -> HostId {
        HostId((self.server_of(host) + 1) * self.gpus - 1)
    }

    /// Returns the route of a message from `src` to `dst`.
    pub const fn host_path(&self, src: HostId, dst: HostId) -> HostPath {
        if src.0 == dst.0 {
            return HostPath::Fabric;
        }
        if self.server_of(src) == self.server_of(dst) {
            return HostPath::ScaleUp;
        }
        let on_rail = HostId(self.server_of(src) * self.gpus + dst.0 % self.gpus);
        match self.cross_rail {
            CrossRail::Relay if on_rail.0 != src.0 => HostPath::Relayed(on_rail),
            _ => HostPath::Fabric,
        }
    }

    /// Returns the delivery time, in picoseconds rounded down, of a message alone in its domain.
    pub fn delivery(&self, bytes: Bytes) -> u128 {
        let ps = u128::from(bytes.get()) * 8_000_000_000_000 / u128::from(self.rate.as_bps());
        ps + u128::from(self.latency.as_ps())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOUR: ScaleUp = ScaleUp {
        gpus: 4,
        rate: BitRate::from_gbps(3_600),
        latency: Span::from_ns(600),
        cross_rail: CrossRail::Fabric,
    };

    #[test]
    fn only_messages_between_servers_use_the_fabric() {
        let path = |src, dst| FOUR.host_path(HostId(src), HostId(dst));
        assert_eq!((path(4, 7), path(4, 3), path(0, 4), path(5, 5)), {
            (HostPath::ScaleUp, HostPath::Fabric, HostPath::Fabric, HostPath::Fabric)
        });
    }

    #[test]
    fn the_relay_is_in_the_senders_server_on_the_receivers_rail() {
        let relay = ScaleUp { cross_rail: CrossRail::Relay, ..FOUR };
        let path = |src, dst| relay.host_path(HostId(src), HostId(dst));
        assert_eq!(path(5, 2), HostPath::Relayed(HostId(6)));
        assert_eq!((path(5, 1), path(5, 6)), (HostPath::Fabric, HostPath::ScaleUp));
    }

    #[test]
    fn an_uncontended_message_takes_transmission_time_plus_latency() {
        assert_eq!(FOUR.delivery(Bytes::new(450_000)), 1_000_000 + 600_000);
    }

    #[test]
    fn hosts_must_form_whole_servers() {
        assert_eq!(FOUR.check(8), Ok(()));
        assert_eq!(FOUR.check(9), Err(TopologyError::FractionalServer { gpus: 4, hosts: 9 }));
        let idle = ScaleUp { rate: BitRate::from_bps(0), ..FOUR };
        assert_eq!(idle.check(8), Err(TopologyError::Zero { field: "scale_up.rate" }));
    }
}
