//! The lower bound of a run's completion time.

use crate::bound::{Bound, Wire, bound};
use crate::fabric::Setup;
use crate::topology::Routes;

/// Computes a completion time that no scheme can beat on this fabric without failures. It does not
/// depend on the scheme, the seed and the congestion control of `setup`.
///
/// Times are exact: a run that truncates them ([`crate::fabric::Rounding`]) may beat the bound by
/// the sum of the truncations.
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
