//! The lower bound of a run's completion time.

use crate::bound::{Bound, Cuts, Wire, bound};
use crate::fabric::Setup;
use crate::split::SmallestPiece;
use crate::topology::Routes;

/// Computes a completion time that no scheme can beat on this fabric without failures. Of the
/// scheme of `setup` it depends on how messages may be cut alone, and not on the seed or the
/// congestion control.
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
        cuts: match setup.scheme.split.smallest_piece() {
            None => Cuts::Never,
            Some(SmallestPiece::Packet) => Cuts::BetweenPackets,
            Some(SmallestPiece::Bytes(least)) => Cuts::Anywhere { least },
        },
    };
    let routes = Routes::new(&setup.topology, &|_| true);
    bound(&setup.topology, &routes, &setup.workload, &wire)
}
