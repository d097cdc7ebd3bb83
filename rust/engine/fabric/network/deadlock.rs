//! Packets held back by pauses at the end of a run, and cycles of paused ports that never resume.
//!
//! A paused port waits until its far end has forwarded the packets that came over it. If these wait
//! at another paused port, the first port waits for the second. A cycle of such ports never moves
//! again (a PFC deadlock: Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section
//! 4.2). Traffic classes are paused separately, so a cycle is within one class.

use std::collections::{BTreeMap, BTreeSet};

use super::Network;
use crate::ids::{LinkClass, PortId};

impl Network {
    /// Returns, for each paused port with held-back data, the ports over which that data arrived:
    /// pairs of such a port and the paused one, each with the class of the data.
    pub(in crate::fabric) fn held_back(&self) -> Vec<(LinkClass, LinkClass)> {
        let mut held = BTreeSet::new();
        for (id, port) in (0u32..).map(PortId).zip(&self.ports) {
            let all = port.data_slots().filter(|_| port.is_paused());
            for slot in all.chain(self.held_class_slots(id)) {
                let slot = self.shared.pool.get(slot);
                let class = slot.packet.class();
                let from = slot.state.ingress().map(|link| LinkClass { link, class });
                held.extend(from.map(|from| (from, LinkClass { link: id, class })));
            }
        }
        held.into_iter().collect()
    }
}

/// Returns the ports of a cycle in which each port waits for the next. The lowest port comes first;
/// empty without a cycle.
pub(in crate::fabric) fn cycle(held: &[(LinkClass, LinkClass)]) -> Vec<PortId> {
    let mut next: BTreeMap<LinkClass, Vec<LinkClass>> = BTreeMap::new();
    for &(from, to) in held {
        next.entry(from).or_default().push(to);
    }
    let mut finished: BTreeSet<LinkClass> = BTreeSet::new();
    for &first in next.keys() {
        // Depth-first search with an explicit stack: paths may be long.
        let mut path = vec![first];
        let mut branches = vec![next[&first].iter()];
        while let Some(branch) = branches.last_mut() {
            // All branches explored: no cycle passes through this port.
            let Some(&port) = branch.next() else {
                branches.pop();
                finished.extend(path.pop());
                continue;
            };
            if let Some(begin) = path.iter().position(|&it| it == port) {
                let mut cycle = path.split_off(begin);
                // Rotated, so that the result does not depend on where the search began.
                let lowest = (0..cycle.len()).min_by_key(|&at| cycle[at]).unwrap_or(0);
                cycle.rotate_left(lowest);
                return cycle.into_iter().map(|it| it.link).collect();
            }
            if let Some(successors) = next.get(&port).filter(|_| !finished.contains(&port)) {
                path.push(port);
                branches.push(successors.iter());
            }
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::ClassId;

    fn cycle_of(held: &[(u32, u32)]) -> Vec<u32> {
        let at = |link| LinkClass { link: PortId(link), class: ClassId(0) };
        let held: Vec<_> = held.iter().map(|&(a, b)| (at(a), at(b))).collect();
        cycle(&held).iter().map(|port| port.0).collect()
    }

    #[test]
    fn a_cycle_is_found_behind_a_chain_and_a_tree_has_none() {
        assert_eq!(cycle_of(&[]), [0; 0]);
        assert_eq!(cycle_of(&[(1, 2), (1, 3), (2, 4), (3, 4), (5, 1)]), [0; 0]);
        assert_eq!(cycle_of(&[(9, 7), (7, 5), (5, 3), (3, 7), (5, 1)]), [3, 7, 5]);
        assert_eq!(cycle_of(&[(2, 2)]), [2]);
    }

    #[test]
    fn the_cycle_with_the_lowest_port_is_found_first() {
        assert_eq!(cycle_of(&[(1, 4), (4, 1), (2, 3), (3, 2)]), [1, 4]);
        assert_eq!(cycle_of(&[(1, 3), (3, 1), (2, 4), (4, 2)]), [1, 3]);
    }

    #[test]
    fn a_ring_of_different_classes_is_no_cycle() {
        let at = |link, class| LinkClass { link: PortId(link), class: ClassId(class) };
        let of = |classes: [u32; 3]| {
            let [a, b, c] = classes;
            cycle(&[(at(1, a), at(2, a)), (at(2, b), at(3, b)), (at(3, c), at(1, c))])
        };
        assert_eq!(of([0, 0, 1]), []);
        assert_eq!(of([0, 1, 2]), []);
        assert_eq!(of([1, 1, 1]), [1, 2, 3].map(PortId));
    }
}
