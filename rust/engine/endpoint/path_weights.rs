//! The weights of explicit paths, for hosts that choose them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::ids::{HostId, LinkId, SwitchId};
use crate::topology::{Routes, Topology, path_shares};
use crate::units::BitRate;

/// Shares of paths, computed once for each two edge switches that are asked about.
#[derive(Debug)]
pub(super) struct PathWeights {
    topology: Arc<Topology>,
    /// Next hops while nothing has failed.
    intact: Arc<Routes>,
    shares: BTreeMap<(SwitchId, SwitchId), Vec<u32>>,
}

impl PathWeights {
    pub(super) fn new(topology: &Arc<Topology>, intact: &Arc<Routes>) -> Self {
        let (topology, intact) = (topology.clone(), intact.clone());
        Self { topology, intact, shares: BTreeMap::new() }
    }

    /// Discards what was computed: routing has changed.
    pub(super) fn clear(&mut self) {
        self.shares.clear();
    }

    /// The shares of the paths from host to host, with what routing knows to be left of the rate
    /// of each link.
    pub(super) fn between(
        &mut self,
        src: HostId,
        dst: HostId,
        left: &dyn Fn(LinkId) -> BitRate,
    ) -> &[u32] {
        let edges = (self.intact.edge_of(src), self.intact.edge_of(dst));
        let compute = || path_shares(&self.topology, &self.intact, src, dst, left);
        self.shares.entry(edges).or_insert_with(compute)
    }
}
