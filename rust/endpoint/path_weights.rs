//! What routing tells hosts that route: the worth of each path.

use std::collections::BTreeMap;

use crate::ids::{HostId, LinkId, SwitchId};
use crate::topology::capacity::path_shares;
use crate::topology::{Routes, Topology};
use crate::units::BitRate;

/// Shares of paths, made once for each two edge switches that ask.
#[derive(Debug, Default)]
pub(super) struct PathWeights(BTreeMap<(SwitchId, SwitchId), Vec<u32>>);

impl PathWeights {
    /// Routing has changed.
    pub fn forget(&mut self) {
        self.0.clear();
    }

    /// The shares of the paths from host to host, with what routing knows to be `left` of links.
    pub fn between(
        &mut self,
        (topology, intact): (&Topology, &Routes),
        (src, dst): (HostId, HostId),
        left: &dyn Fn(LinkId) -> BitRate,
    ) -> &[u32] {
        let edges = (intact.edge_of(src), intact.edge_of(dst));
        let made = || path_shares(topology, intact, src, dst, left);
        self.0.entry(edges).or_insert_with(made)
    }
}
