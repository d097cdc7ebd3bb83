//! Pods: sets of switches that are connected below the top tier.

use super::{Node, Topology};
use crate::ids::SwitchId;

impl Topology {
    /// Returns the pod index of each switch, numbering pods by their first switch.
    ///
    /// Switches that reach each other without crossing the top tier share a pod. In a leaf-spine
    /// fabric each leaf is a pod. Each switch of the top tier is a pod of its own.
    pub fn pods(&self) -> Vec<u32> {
        let top = self.switches().iter().map(|switch| switch.tier).max().unwrap_or(0);
        let mut pods = vec![u32::MAX; self.switches().len()];
        let mut next = 0;
        for first in (0u32..).zip(self.switches()).map(|(id, _)| SwitchId(id)) {
            if pods[first.index()] != u32::MAX {
                continue;
            }
            pods[first.index()] = next;
            let mut pending = vec![first];
            while let Some(switch) = pending.pop() {
                // The search never enters the top tier: it connects all pods.
                for neighbour in self.neighbours_below(switch, top) {
                    if pods[neighbour.index()] == u32::MAX {
                        pods[neighbour.index()] = next;
                        pending.push(neighbour);
                    }
                }
            }
            next += 1;
        }
        pods
    }

    /// Returns the neighbours of `switch` below tier `top`, or nothing if `switch` is in that tier.
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
    use crate::topology::fixtures;

    #[test]
    fn fat_trees_have_k_pods_and_leaf_spines_one_per_leaf() {
        let topology = fixtures::fat_tree(4).build().unwrap();
        let pods = topology.pods();
        for (switch, pod) in topology.switches().iter().zip(&pods) {
            match switch.name.strip_prefix("pod").and_then(|rest| rest.split('-').next()) {
                Some(number) => assert_eq!(number, pod.to_string(), "{}", switch.name),
                None => assert_eq!(pods.iter().filter(|other| *other == pod).count(), 1),
            }
        }
        assert_eq!(fixtures::leaf_spine(3, 2, 2).build().unwrap().pods(), [0, 1, 2, 3, 4]);
    }
}
