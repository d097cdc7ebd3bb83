//! Fabric of a run, reconstructed from its link table.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::LinkLoad;

/// A host or a switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FabricNode {
    /// Name of the node.
    pub name: String,
    /// Tier: 0 for a host, 1 for a switch with hosts, and so on upwards.
    pub tier: usize,
}

/// A link between two nodes, the lower one first.
#[derive(Debug, Clone, PartialEq)]
pub struct FabricLink {
    /// Index of the node closer to the hosts.
    pub lower: usize,
    /// Index of the other node.
    pub upper: usize,
    /// Load from the lower to the upper node.
    pub up: LinkLoad,
    /// Load from the upper to the lower node.
    pub down: LinkLoad,
}

/// Graph of a fabric with the load of its links.
#[derive(Debug, Clone, PartialEq)]
pub struct FabricGraph {
    /// Nodes in the order in which links name them.
    pub nodes: Vec<FabricNode>,
    /// Links in the order of the file.
    pub links: Vec<FabricLink>,
}

impl FabricGraph {
    /// Builds the graph from the loads of both directions of each link. Nodes with a single link
    /// are hosts. If there are none, hosts have several ports, and are the nodes that no link has
    /// as its second end. The tier of a switch is its distance from the nearest host.
    pub fn of(loads: &[LinkLoad]) -> Self {
        let mut index: BTreeMap<&str, usize> = BTreeMap::new();
        let mut names: Vec<&str> = Vec::new();
        for name in loads.iter().flat_map(|load| [load.from.as_str(), load.to.as_str()]) {
            index.entry(name).or_insert_with(|| {
                names.push(name);
                names.len() - 1
            });
        }
        let pairs: Vec<&[LinkLoad]> = loads.chunks_exact(2).collect();
        let mut neighbours = vec![Vec::new(); names.len()];
        for pair in &pairs {
            let ends = [index[pair[0].from.as_str()], index[pair[0].to.as_str()]];
            neighbours[ends[0]].push(ends[1]);
            neighbours[ends[1]].push(ends[0]);
        }
        let mut hosts: Vec<usize> =
            (0..names.len()).filter(|&node| neighbours[node].len() == 1).collect();
        if hosts.is_empty() {
            let seconds: BTreeSet<&str> = pairs.iter().map(|pair| pair[0].to.as_str()).collect();
            hosts = (0..names.len()).filter(|&node| !seconds.contains(names[node])).collect();
        }
        let tiers = tiers(&neighbours, hosts);
        let links = pairs.iter().map(|pair| {
            let (a, b) = (index[pair[0].from.as_str()], index[pair[0].to.as_str()]);
            let is_upward = (tiers[a], a) <= (tiers[b], b);
            let (lower, upper) = if is_upward { (a, b) } else { (b, a) };
            let (up, down) = if is_upward { (0, 1) } else { (1, 0) };
            FabricLink { lower, upper, up: pair[up].clone(), down: pair[down].clone() }
        });
        let links = links.collect();
        let node = |(name, &tier): (&&str, &usize)| FabricNode { name: (*name).to_owned(), tier };
        Self { nodes: names.iter().zip(&tiers).map(node).collect(), links }
    }

    /// Returns the highest tier.
    pub fn top(&self) -> usize {
        self.nodes.iter().map(|node| node.tier).max().unwrap_or(0)
    }

    /// Returns the indices of a tier's nodes in natural order of their names: `leaf2` before
    /// `leaf10`.
    pub fn tier(&self, tier: usize) -> Vec<usize> {
        let of_tier = |index: &usize| self.nodes[*index].tier == tier;
        let mut nodes: Vec<usize> = (0..self.nodes.len()).filter(of_tier).collect();
        nodes.sort_by_cached_key(|&index| natural_key(&self.nodes[index].name));
        nodes
    }
}

/// Splits a name into letters and numbers, so that numbers sort by value.
fn natural_key(name: &str) -> Vec<(String, u64)> {
    let mut parts = vec![(String::new(), 0u64)];
    let mut in_number = false;
    for character in name.chars() {
        let last = parts.len() - 1;
        match character.to_digit(10) {
            Some(digit) => {
                parts[last].1 = parts[last].1.saturating_mul(10).saturating_add(digit.into());
                in_number = true;
            }
            None if in_number => {
                parts.push((character.to_string(), 0));
                in_number = false;
            }
            None => parts[last].0.push(character),
        }
    }
    parts
}

/// Returns the distance of each node from the nearest host.
fn tiers(neighbours: &[Vec<usize>], hosts: Vec<usize>) -> Vec<usize> {
    let mut tiers = vec![usize::MAX; neighbours.len()];
    let mut next = VecDeque::from(hosts);
    next.iter().for_each(|&host| tiers[host] = 0);
    while let Some(node) = next.pop_front() {
        for &other in &neighbours[node] {
            if tiers[other] == usize::MAX {
                tiers[other] = tiers[node] + 1;
                next.push_back(other);
            }
        }
    }
    tiers.iter().map(|&tier| if tier == usize::MAX { 1 } else { tier }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loads(links: &[(&str, &str)]) -> Vec<LinkLoad> {
        let one = |from: &str, to: &str| LinkLoad {
            link: format!("{from}-{to}"),
            from: from.to_owned(),
            to: to.to_owned(),
            bytes: 1.0,
            rate_bps: None,
            queue_bytes_max: None,
            marked: None,
        };
        links.iter().flat_map(|(a, b)| [one(a, b), one(b, a)]).collect()
    }

    #[test]
    fn tiers_count_from_the_hosts_and_links_point_upwards() {
        let wires = [("h0", "l0"), ("h1", "l1"), ("l0", "s0"), ("l1", "s0"), ("s1", "l0")];
        let graph = FabricGraph::of(&loads(&[&wires[..], &[("s1", "l1")]].concat()));
        let tier = |name: &str| graph.nodes.iter().find(|node| node.name == name).unwrap().tier;
        assert_eq!(["h0", "l1", "s0", "s1"].map(tier), [0, 1, 2, 2]);
        assert_eq!(graph.top(), 2);
        let last = &graph.links[4];
        assert_eq!((last.up.from.as_str(), last.down.from.as_str()), ("l0", "s1"));
    }

    #[test]
    fn hosts_with_several_ports_are_below_their_switches() {
        let wires = [("h0", "a0"), ("h0", "b0"), ("h1", "a0"), ("h1", "b0"), ("a0", "c0")];
        let graph = FabricGraph::of(&loads(&[&wires[..], &[("b0", "c0")]].concat()));
        assert_eq!([0, 1, 2].map(|tier| graph.tier(tier).len()), [2, 2, 1]);
    }

    #[test]
    fn names_sort_by_their_numbers() {
        let mut names = ["leaf10", "leaf2", "pod1-edge0", "leaf1"];
        names.sort_by_key(|name| natural_key(name));
        assert_eq!(names, ["leaf1", "leaf2", "leaf10", "pod1-edge0"]);
    }
}
