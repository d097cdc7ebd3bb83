//! HPN: a `multi-plane` of two planes.

use super::multi_plane::{MultiPlaneSection, preset};
use super::{
    BitRate, BuiltFabric, Context, Family, Generated, Key, LinksSection, ScenarioError, Span,
    section,
};

section! {
    /// `kind = "hpn"`: `multi-plane` with the numbers of HPN (SIGCOMM 2024): 2 × 200 Gbps per NIC
    /// and 8 rails. A ToR has 128 ports to hosts and 60 of 400 Gbps to spines. The default is one
    /// segment of 1,024 GPUs.
    pub struct HpnSection {
        /// Disjoint planes, each with a `host_rate` port per host.
        planes: u32 = 2,
        /// GPUs per server, each at its own leaf; 1 fills leaves in host order.
        rails: u32 = 8,
        /// Leaf switches per plane: 8 per segment.
        leaves: u32 = 8,
        /// Spine switches per plane.
        spines: u32 = 60,
        /// Hosts per leaf.
        hosts_per_leaf: u32 = 128,
        /// Rate of each host port.
        host_rate: BitRate = BitRate::from_gbps(200),
        /// Rate of links between switches.
        fabric_rate: BitRate = BitRate::from_gbps(400),
        /// One-way propagation delay per link.
        delay: Span = Span::from_ns(500),
        /// Links per pair of switches.
        parallel_links: u32 = 1,
    }
}

preset! { HpnSection }

impl Family for HpnSection {
    const NAME: &'static str = "hpn";
    const SUMMARY: &'static str = "HPN: two planes, rail-optimised";
    const SOURCE: &'static str = "Qian et al., Alibaba HPN, 2024";

    fn build(&self, context: &Context<'_>, kind: &Key) -> Result<BuiltFabric, ScenarioError> {
        Generated::<MultiPlaneSection>::from(self).build(context, kind)
    }

    fn rails(&self) -> Option<u32> {
        Some(*self.rails)
    }
}
