//! The lower bound of what a run is given.

use crate::bound::{Bound, Wire, bound};
use crate::fabric::Setup;
use crate::topology::Routes;

/// What no scheme can beat on this fabric, were nothing to fail on it. The scheme, the seed and
/// the congestion control of `setup` play no part.
///
/// Times are exact: where a run truncates them ([`crate::fabric::Rounding`]), it may come out
/// ahead of the bound by that much.
pub fn lower_bound(setup: &Setup) -> Bound {
    let (nic, fabric) = (&setup.nic, &setup.fabric);
    let wire = Wire {
        payload: nic.payload,
        header: nic.header,
        ack: nic.ack.bytes,
        ack_every: nic.ack.every,
        ack_priority: nic.ack.priority,
        gap: fabric.gap,
        forwarding_delay: fabric.forwarding_delay,
    };
    let routes = Routes::new(&setup.topology, &|_| true);
    bound(&setup.topology, &routes, &setup.workload, &wire)
}
