//! Names of links, built from the names of the nodes that they connect.

use super::{Link, Node, Switch};

/// Returns the name of a host or switch.
pub(super) fn of_node<'a>(hosts: &'a [String], switches: &'a [Switch], node: Node) -> &'a str {
    match node {
        Node::Host(host) => &hosts[host.index()],
        Node::Switch(switch) => &switches[switch.index()].name,
    }
}

/// Returns the name of a link without the suffix for parallel links.
pub(super) fn of_link(hosts: &[String], switches: &[Switch], link: &Link) -> String {
    let [a, b] = in_order(switches, link);
    format!("{}-{}", of_node(hosts, switches, a), of_node(hosts, switches, b))
}

/// Returns the names of all links.
pub(super) fn of_links(hosts: &[String], switches: &[Switch], links: &[Link]) -> Vec<String> {
    let mut by_ends: Vec<usize> = (0..links.len()).collect();
    let ends = |index: &usize| in_order(switches, &links[*index]);
    // Parallel links are numbered by id, wherever they are in the list.
    by_ends.sort_by_key(|index| (ends(index), *index));
    let mut names: Vec<String> = links.iter().map(|link| of_link(hosts, switches, link)).collect();
    for parallel in by_ends.chunk_by(|a, b| ends(a) == ends(b)).filter(|group| group.len() > 1) {
        for (suffix, &index) in parallel.iter().enumerate() {
            names[index].push_str(&format!("#{suffix}"));
        }
    }
    names
}

/// Returns a link's ends, the lower tier first; within a tier, the lower id first.
fn in_order(switches: &[Switch], link: &Link) -> [Node; 2] {
    let height = |node: Node| match node {
        Node::Host(host) => (0, host.0),
        Node::Switch(switch) => (1 + u32::from(switches[switch.index()].tier), switch.0),
    };
    let [a, b] = link.ends;
    if height(a) <= height(b) { [a, b] } else { [b, a] }
}
