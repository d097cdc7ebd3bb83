//! Pods: which switches hang together below the top tier.

use super::{Node, Topology};
use crate::ids::SwitchId;

impl Topology {
    /// The pod of each switch, numbered from 0 in order of their first switches: switches that
    /// reach each other without a switch of the top tier share one. In a fat-tree these are its
    /// pods, in a leaf-spine each leaf is one; each switch of the top tier is one by itself.
    pub fn pods(&self) -> Vec<u32> {
        let top = self.switches().iter().map(|switch| switch.tier).max().unwrap_or(0);
        let mut pods = vec![u32::MAX; self.switches().len()];
        let mut next = 0;
        for first in (0u32..).zip(self.switches()).map(|(id, _)| SwitchId(id)) {
            if pods[first.index()] != u32::MAX {
                continue;
            }
            pods[first.index()] = next;
            let mut open = vec![first];
            while let Some(switch) = open.pop() {
                for neighbour in self.neighbours_below(switch, top) {
                    if pods[neighbour.index()] == u32::MAX {
                        pods[neighbour.index()] = next;
                        open.push(neighbour);
                    }
                }
            }
            next += 1;
        }
        pods
    }

    /// The switches that `switch` is wired to, if it and they are below tier `top`.
    fn neighbours_below(&self, switch: SwitchId, top: u8) -> impl Iterator<Item = SwitchId> + '_ {
        let below = move |id: SwitchId| self.switches()[id.index()].tier < top;
        let ports = self.ports_of(switch).iter().filter(move |_| below(switch));
        ports.filter_map(move |&port| match self.ends_of(port).1 {
            Node::Switch(next) if below(next) => Some(next),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::topology::{FatTree, LeafSpine};
    use crate::units::{BitRate, Fraction, Span};

    #[test]
    fn a_fat_tree_has_its_pods_and_a_leaf_spine_its_leaves() {
        let rate = BitRate::from_gbps(400);
        let fat_tree = FatTree {
            k: 4,
            tiers: 3,
            oversubscription: Fraction::ONE,
            host_rate: rate,
            fabric_rate: rate,
            delay: Span::from_ns(500),
            parallel_links: 1,
        };
        let topology = fat_tree.build().unwrap();
        let pods = topology.pods();
        for (switch, pod) in topology.switches().iter().zip(&pods) {
            match switch.name.strip_prefix("pod").and_then(|rest| rest.split('-').next()) {
                Some(number) => assert_eq!(number, pod.to_string(), "{}", switch.name),
                None => assert_eq!(pods.iter().filter(|other| *other == pod).count(), 1),
            }
        }
        let leaf_spine = LeafSpine {
            leaves: 3,
            spines: 2,
            hosts_per_leaf: 2,
            host_rate: rate,
            fabric_rate: rate,
            delay: Span::from_ns(500),
            parallel_links: 1,
        };
        assert_eq!(leaf_spine.build().unwrap().pods(), [0, 1, 2, 3, 4]);
    }
}
