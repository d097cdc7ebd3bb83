//! Spectrum-X: a `multi-plane` of four planes.

use super::multi_plane::{MultiPlaneSection, preset};
use super::{
    BitRate, BuiltFabric, Context, Family, Generated, Key, LinksSection, ScenarioError, Span,
    section,
};

section! {
    /// `kind = "spectrum-x"`: `multi-plane` with Spectrum-X's four planes of 200 Gbps,
    /// rail-optimised (arXiv 2605.21187). The size is that of its cluster of 1,152 GPUs in servers
    /// of 4. The number of spines is not published. The default gives every leaf as much capacity
    /// to spines as to hosts.
    pub struct SpectrumXSection {
        /// Disjoint planes, each with a `host_rate` port per host.
        planes: u32 = 4,
        /// GPUs per server, each at its own leaf; 1 fills leaves in host order.
        rails: u32 = 4,
        /// Leaf switches per plane.
        leaves: u32 = 16,
        /// Spine switches per plane.
        spines: u32 = 72,
        /// Hosts per leaf.
        hosts_per_leaf: u32 = 72,
        /// Rate of each host port.
        host_rate: BitRate = BitRate::from_gbps(200),
        /// Rate of links between switches.
        fabric_rate: BitRate = BitRate::from_gbps(200),
        /// One-way propagation delay per link.
        delay: Span = Span::from_ns(500),
        /// Links per pair of switches.
        parallel_links: u32 = 1,
    }
}

preset! { SpectrumXSection }

impl Family for SpectrumXSection {
    const NAME: &'static str = "spectrum-x";
    const SUMMARY: &'static str = "Spectrum-X: four planes, rail-optimised";
    const SOURCE: &'static str = "Spectrum-X's multi-plane fabrics, arXiv 2605.21187";

    fn build(&self, context: &Context<'_>, kind: &Key) -> Result<BuiltFabric, ScenarioError> {
        Generated::<MultiPlaneSection>::from(self).build(context, kind)
    }

    fn rails(&self) -> Option<u32> {
        Some(*self.rails)
    }
}
