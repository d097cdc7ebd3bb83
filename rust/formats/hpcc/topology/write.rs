//! Writes a fabric as a topology file: hosts are the first nodes, switches follow.

use std::fmt::Write;

use crate::read_back::expect_same;
use crate::topology::{Node, Topology};

/// Writes the topology file of a fabric. The file has no names; hosts and switches are numbered in
/// order of their ids.
///
/// # Errors
/// Explains why the file would not be read as this fabric: for example, a host has several links.
pub fn write(topology: &Topology) -> Result<String, String> {
    let text = text(topology);
    let read = super::read(&text, "topology.txt").map_err(|error| error.fault.to_string())?;
    expect_same(topology, &read.topology)?;
    Ok(text)
}

fn text(topology: &Topology) -> String {
    let (hosts, switches) = (topology.host_count(), topology.switches().len());
    let number = |node: Node| match node {
        Node::Host(host) => host.0,
        Node::Switch(switch) => hosts + switch.0,
    };
    let nodes = hosts as usize + switches;
    let mut text = format!("{nodes} {switches} {}\n", topology.links().len());
    let ids: Vec<String> = (hosts as usize..nodes).map(|id| id.to_string()).collect();
    // Writing into a string cannot fail.
    let _ = writeln!(text, "{}", ids.join(" "));
    for link in topology.links() {
        let [a, b] = link.ends.map(number);
        let _ = writeln!(text, "{a} {b} {} {} 0", link.rate, link.delay);
    }
    text
}
