//! HPN: a `multi-plane` of two planes.

use super::multi_plane::{MultiPlaneSection, preset};
use super::{
    BitRate, Built, Context, Family, Generated, Key, LinksSection, ScenarioError, Span, section,
};

section! {
    /// `kind = "hpn"`: `multi-plane` with the numbers of HPN (SIGCOMM 2024): 2 × 200 Gbps a NIC, 8
    /// rails, 128 ports of a ToR to hosts and 60 of 400 Gbps to spines; one segment of 1,024 GPUs.
    pub struct HpnSection {
        /// Planes, which share no switch; each host has a port in each, of `host_rate`.
        planes: u32 = 2,
        /// GPUs of a server, each at a leaf of its own; 1 if hosts follow each other at a leaf.
        rails: u32 = 8,
        /// Leaf switches of a plane: 8 in each segment.
        leaves: u32 = 8,
        /// Spine switches of a plane.
        spines: u32 = 60,
        /// Hosts at each leaf.
        hosts_per_leaf: u32 = 128,
        /// Rate of each port of a host.
        host_rate: BitRate = BitRate::from_gbps(200),
        /// Rate of links between switches.
        fabric_rate: BitRate = BitRate::from_gbps(400),
        /// One-way propagation delay of each link.
        delay: Span = Span::from_ns(500),
        /// Links between two neighbouring switches.
        parallel_links: u32 = 1,
    }
}

preset! { HpnSection }

impl Family for HpnSection {
    const NAME: &'static str = "hpn";
    const SUMMARY: &'static str = "HPN: two planes, rail-optimised";
    const SOURCE: &'static str = "Qian et al., Alibaba HPN, 2024";

    fn build(&self, context: &Context<'_>, kind: &Key) -> Result<Built, ScenarioError> {
        Generated::<MultiPlaneSection>::from(self).build(context, kind)
    }

    fn rails(&self) -> Option<u32> {
        Some(*self.rails)
    }
}
