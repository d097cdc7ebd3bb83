//! Weights of explicit paths, for senders that choose paths.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::ids::{HostId, LinkId, SwitchId};
use crate::topology::{Routes, Topology, path_shares};
use crate::units::BitRate;

/// Path shares, computed on first use for each pair of edge switches.
#[derive(Debug)]
pub(super) struct PathWeights {
    topology: Arc<Topology>,
    /// Next hops without failures.
    intact: Arc<Routes>,
    shares: BTreeMap<(SwitchId, SwitchId), Vec<u32>>,
}

impl PathWeights {
    pub(super) fn new(topology: &Arc<Topology>, intact: &Arc<Routes>) -> Self {
        let (topology, intact) = (topology.clone(), intact.clone());
        Self { topology, intact, shares: BTreeMap::new() }
    }

    /// Discards all cached shares, because routing has changed.
    pub(super) fn clear(&mut self) {
        self.shares.clear();
    }

    /// Returns the shares of the paths between two hosts. `left` is the remaining rate of each link
    /// as routing knows it.
    pub(super) fn between(
        &mut self,
        src: HostId,
        dst: HostId,
        left: &dyn Fn(LinkId) -> BitRate,
    ) -> &[u32] {
        // Hosts at the same edge switch share their paths.
        let edges = (self.intact.edge_of(src), self.intact.edge_of(dst));
        let compute = || path_shares(&self.topology, &self.intact, src, dst, left);
        self.shares.entry(edges).or_insert_with(compute)
    }
}
