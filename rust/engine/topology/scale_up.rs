//! Servers whose GPUs are joined by a scale-up network of their own, such as NVLink.
//!
//! Source: NVIDIA, "NVLink and NVSwitch" (a non-blocking switch between the GPUs of a server, with
//! credits, so that it loses nothing); Wang et al., "Rail-only: A Low-Cost High-Performance Network
//! for Training LLMs with Trillion Parameters" (HotI 2024), section 2 (high-bandwidth domains).
//! Messages between rails over a GPU of the sender's server are PXN of NCCL 2.12 (NVIDIA technical
//! blog, "Doubling all2all Performance with NVIDIA Collective Communication Library 2.12", 2022).

use super::TopologyError;
use crate::ids::HostId;
use crate::units::{BitRate, Bytes, Span};

/// How a message reaches a GPU of another server on another rail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CrossRail {
    /// Over the fabric, from the NIC of its sender.
    #[default]
    Fabric,
    /// Over the scale-up domain to the GPU of the sender's server that is on the receiver's rail,
    /// and from that GPU's NIC over the fabric (PXN).
    Relay,
}

/// Servers of consecutive hosts, each a GPU with a NIC, and the network within each of them.
///
/// The network of a server (its *domain*) is a non-blocking switch: each GPU sends and receives at
/// `rate`, and messages share the GPUs' ports with max-min fairness. It loses nothing, and has
/// neither queue pairs nor paths to choose from. Host `h` is GPU `h % gpus` of server `h / gpus`,
/// which is its rail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScaleUp {
    /// GPUs of a server; at least 2.
    pub gpus: u32,
    /// Rate of a GPU's port in each direction, of payload.
    pub rate: BitRate,
    /// Time from the last bit that leaves a GPU until the receiver has it, and until the sender
    /// then knows of that.
    pub latency: Span,
    /// How messages reach GPUs on other rails of other servers.
    pub cross_rail: CrossRail,
}

/// How a message goes from host to host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Over the fabric.
    Fabric,
    /// Over the domain of the server that both are in.
    Inside,
    /// Over the domain of the sender's server to this GPU, and from there over the fabric.
    Relayed(HostId),
}

impl ScaleUp {
    /// Fails unless `hosts` are whole servers.
    pub(super) fn check(&self, hosts: u32) -> Result<(), TopologyError> {
        if self.rate.as_bps() == 0 {
            return Err(TopologyError::Zero { field: "scale_up.rate" });
        }
        if self.gpus < 2 || !hosts.is_multiple_of(self.gpus) {
            return Err(TopologyError::PartOfAServer { gpus: self.gpus, hosts });
        }
        Ok(())
    }

    /// The server of a host.
    #[inline]
    pub const fn server_of(&self, host: HostId) -> u32 {
        host.0 / self.gpus
    }

    /// The last GPU of the server of a host.
    pub const fn last_of_server(&self, host: HostId) -> HostId {
        HostId((self.server_of(host) + 1) * self.gpus - 1)
    }

    /// How a message goes from `src` to `dst`.
    pub const fn way(&self, src: HostId, dst: HostId) -> Way {
        if src.0 == dst.0 {
            return Way::Fabric;
        }
        if self.server_of(src) == self.server_of(dst) {
            return Way::Inside;
        }
        let on_rail = HostId(self.server_of(src) * self.gpus + dst.0 % self.gpus);
        match self.cross_rail {
            CrossRail::Relay if on_rail.0 != src.0 => Way::Relayed(on_rail),
            _ => Way::Fabric,
        }
    }

    /// The time until a message alone in its domain has been delivered, without rounding up.
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
        let way = |src, dst| FOUR.way(HostId(src), HostId(dst));
        assert_eq!((way(4, 7), way(4, 3), way(0, 4), way(5, 5)), {
            (Way::Inside, Way::Fabric, Way::Fabric, Way::Fabric)
        });
    }

    #[test]
    fn a_relay_is_the_gpu_of_the_sender_s_server_on_the_receiver_s_rail() {
        let relay = ScaleUp { cross_rail: CrossRail::Relay, ..FOUR };
        let way = |src, dst| relay.way(HostId(src), HostId(dst));
        assert_eq!(way(5, 2), Way::Relayed(HostId(6)));
        assert_eq!((way(5, 1), way(5, 6)), (Way::Fabric, Way::Inside));
    }

    #[test]
    fn a_message_alone_takes_its_bytes_and_the_latency() {
        assert_eq!(FOUR.delivery(Bytes::new(450_000)), 1_000_000 + 600_000);
    }

    #[test]
    fn hosts_are_whole_servers() {
        assert_eq!(FOUR.check(8), Ok(()));
        assert_eq!(FOUR.check(9), Err(TopologyError::PartOfAServer { gpus: 4, hosts: 9 }));
        let idle = ScaleUp { rate: BitRate::from_bps(0), ..FOUR };
        assert_eq!(idle.check(8), Err(TopologyError::Zero { field: "scale_up.rate" }));
    }
}
