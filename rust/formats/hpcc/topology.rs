//! The topology files of the HPCC family of ns-3 simulators (HPCC, ConWeave, PowerTCP, ASTRA-sim's
//! network, SimAI), with every dialect of their first line.
//!
//! ```text
//! 6 2 5                     nodes, switches, links; in PowerTCP 'nodes switches tors links'
//! 4 5                       ids of the switches; every other node is a host
//! 0 4 100Gbps 1us 0         a link: two nodes, rate, delay, error rate
//! ...
//! ```
//!
//! The ids of the switches may span several lines. Exactly the announced number of links is read,
//! because real files have further lines and comments after them. Switches inside servers, which
//! SimAI's dialect counts, become scale-up networks (`servers`). Ids of hosts and switches are in
//! order of the file's node ids, which remain in their names (`host5`, `switch128`).

mod error;
mod servers;
mod write;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::ids::{HostId, SwitchId};
use crate::topology::{Link, MAX_HOSTS, MAX_LINKS, MAX_SWITCHES, Node, Switch, Topology};
use crate::units::{BitRate, Span};
use error::HpccTopologyFault as Fault;
pub use error::{HpccTopologyError, HpccTopologyFault};
use servers::Servers;
pub use write::write;

/// The contents of a topology file.
#[derive(Debug, Clone, PartialEq)]
pub struct HpccTopology {
    /// The fabric that the file describes; hosts and switches are in order of node ids.
    pub topology: Topology,
    /// The host of each node of the file; `None` for switches.
    pub host_of_node: Vec<Option<HostId>>,
    /// The file's node id of each host.
    pub node_of_host: Vec<u32>,
    /// The file's node id of each switch.
    pub node_of_switch: Vec<u32>,
    /// Probability that a packet is lost, by link id (the index of the link in the file).
    pub error_rate: Vec<f64>,
    /// Differences from the simulators of the family that a user should be aware of.
    pub warnings: Vec<String>,
}

/// Parses the text of a topology file; `file` is its name in errors.
pub fn read(text: &str, file: &str) -> Result<HpccTopology, HpccTopologyError> {
    let at = |line: usize| {
        move |fault| HpccTopologyError {
            file: file.to_owned(),
            line: Some(line),
            fault: Box::new(fault),
        }
    };
    // The simulators of this family read tokens, so blank lines have no meaning.
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()).peekable();
    let (first, line) = lines.next().ok_or_else(|| at(1)(Fault::Empty))?;
    let counts = Counts::read(line).map_err(at(first))?;
    let mut is_switch = BTreeSet::new();
    let mut found = 0;
    while found < counts.switches {
        let next = lines.next_if(|(_, line)| are_ids(line));
        let (number, line) = next.or_else(|| lines.peek().copied()).unwrap_or((first + 1, ""));
        found += line.split_whitespace().count() as u64;
        if next.is_none() || found > counts.switches {
            let found = if next.is_none() { is_switch.len() as u64 } else { found };
            return Err(at(number)(Fault::SwitchIds { found, announced: counts.switches }));
        }
        add_switch_ids(line, &counts, &mut is_switch).map_err(at(number))?;
    }
    let mut links = Vec::new();
    let announced = usize::try_from(counts.links).unwrap_or(usize::MAX);
    for (number, line) in lines.by_ref().take(announced) {
        links.push(FileLink::read(line, counts.nodes).map_err(at(number))?);
    }
    if links.len() < announced {
        let fault = Fault::MissingLinks { announced: counts.links, found: links.len() };
        return Err(at(first)(fault));
    }
    check_hosts(&counts, &is_switch, &links).map_err(at(first))?;
    // Surplus link lines are ignored as in the simulators, but they cause a warning.
    let spare = lines.filter(|(_, line)| FileLink::read(line, counts.nodes).is_ok()).count();
    let extract = |servers| servers::extract(servers, &mut is_switch, &mut links);
    let inside = counts.servers.map(extract).transpose().map_err(at(first))?;
    let (scale_up, inside) = inside.unzip();
    let is_inside = |id: &u32| inside.as_ref().is_some_and(|inside| inside.contains(id));
    let of_file =
        |fault| HpccTopologyError { file: file.to_owned(), line: None, fault: Box::new(fault) };
    let read = build(&counts, &is_switch, is_inside, &links, spare).map_err(of_file)?;
    let Some(scale_up) = scale_up else { return Ok(read) };
    let topology = read.topology.with_scale_up(scale_up);
    Ok(HpccTopology { topology: topology.map_err(|error| of_file(Fault::Graph(error)))?, ..read })
}

/// The counts in the first line.
struct Counts {
    nodes: u64,
    /// Number of switches, including those inside servers (NVSwitch).
    switches: u64,
    links: u64,
    /// Servers with switches inside, if there are any.
    servers: Option<Servers>,
}

impl Counts {
    fn read(line: &str) -> Result<Self, Fault> {
        let tokens: Vec<&str> = line.split_whitespace().collect();
        let named = |index: usize| tokens[index].starts_with(|c: char| c.is_ascii_alphabetic());
        let mut servers = None;
        let (switches, links) = match tokens.len() {
            // SimAI, which differs from the others by the name of its GPU in the first line.
            6.. if named(5) => {
                let inside = count(tokens[2], "NVSwitches")?;
                let outside = count(tokens[3], "switches")?;
                let gpus = count(tokens[1], "accelerators of a server")?;
                let gpus = u32::try_from(gpus).unwrap_or(u32::MAX);
                servers = (inside > 0).then_some(Servers { gpus, switches: inside });
                (inside.saturating_add(outside), count(tokens[4], "links")?)
            }
            // HPCC, ConWeave, ASTRA-sim; Ethereal's fork has four more values.
            3 | 7 => (count(tokens[1], "switches")?, count(tokens[2], "links")?),
            // PowerTCP; Reverie has two more values, capacities.
            4 | 6 => (count(tokens[1], "switches")?, count(tokens[3], "links")?),
            found => return Err(Fault::FirstLine { text: line.trim().into(), tokens: found }),
        };
        let nodes = count(tokens[0], "nodes")?;
        // Checked before these numbers determine the size of an allocation.
        let limits = [
            ("nodes", nodes, MAX_HOSTS + MAX_SWITCHES),
            ("switches", switches, MAX_SWITCHES),
            ("links", links, MAX_LINKS),
        ];
        if let Some(&(what, count, limit)) = limits.iter().find(|(_, n, limit)| n > limit) {
            return Err(Fault::TooMany { what, count, limit });
        }
        if switches > nodes {
            return Err(Fault::MoreSwitchesThanNodes { switches, nodes });
        }
        Ok(Self { nodes, switches, links, servers })
    }
}

fn count(token: &str, what: &'static str) -> Result<u64, Fault> {
    token.parse().map_err(|_| Fault::InvalidCount { token: token.into(), what })
}

fn node(token: &str, nodes: u64) -> Result<u32, Fault> {
    match token.parse::<u32>() {
        Ok(id) if u64::from(id) < nodes => Ok(id),
        _ => Err(Fault::UnknownNode { token: token.into(), nodes }),
    }
}

/// True if a line may hold ids: a link has a rate and a delay with units.
fn are_ids(line: &str) -> bool {
    line.split_whitespace().all(|token| token.parse::<u64>().is_ok())
}

fn add_switch_ids(line: &str, counts: &Counts, ids: &mut BTreeSet<u32>) -> Result<(), Fault> {
    for token in line.split_whitespace() {
        let id = node(token, counts.nodes)?;
        if !ids.insert(id) {
            return Err(Fault::SwitchTwice { node: id });
        }
    }
    Ok(())
}

/// The longest delay, 100,000 s, so that sums of a few delays fit 64 bits of picoseconds.
const MAX_DELAY: Span = Span::from_ms(100_000_000);

/// The values of a link line.
struct FileLink {
    ends: [u32; 2],
    rate: BitRate,
    delay: Span,
    error_rate: f64,
}

impl FileLink {
    fn read(line: &str, nodes: u64) -> Result<Self, Fault> {
        let tokens: Vec<&str> = line.split_whitespace().collect();
        let &[a, b, rate, delay, error_rate] = tokens.as_slice() else {
            return Err(Fault::LinkTokens { text: line.trim().into(), tokens: tokens.len() });
        };
        let ends = [node(a, nodes)?, node(b, nodes)?];
        if ends[0] == ends[1] {
            return Err(Fault::LinkToItself { node: ends[0] });
        }
        let link = Self {
            ends,
            rate: read_rate(rate)?,
            delay: delay.parse().map_err(|source| Fault::Delay { source })?,
            error_rate: error_rate.parse().unwrap_or(f64::NAN),
        };
        if link.rate.as_bps() == 0 {
            return Err(Fault::RateZero { token: rate.into() });
        }
        if link.delay > MAX_DELAY {
            return Err(Fault::DelayTooLong { token: delay.into() });
        }
        if !(0.0..=1.0).contains(&link.error_rate) {
            return Err(Fault::ErrorRate { token: error_rate.into() });
        }
        Ok(link)
    }
}

/// Parses a rate: `100Gbps`, or bits per second as a bare number, with or without decimals.
fn read_rate(token: &str) -> Result<BitRate, Fault> {
    let bare = token.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let rate = if bare { format!("{token}bps").parse() } else { token.parse() };
    rate.map_err(|source| Fault::Rate { source })
}

/// Checks that each host is on a link line. This precedes allocation by the announced number of
/// nodes: a node on no line means that the number is wrong.
fn check_hosts(counts: &Counts, switches: &BTreeSet<u32>, links: &[FileLink]) -> Result<(), Fault> {
    let mut seen = switches.clone();
    seen.extend(links.iter().flat_map(|link| link.ends));
    let missing = (0u64..).zip(&seen).find(|(expected, id)| *expected != u64::from(**id));
    let first_missing = missing.map_or(seen.len() as u64, |(expected, _)| expected);
    if first_missing < counts.nodes {
        return Err(Fault::HostWithoutLink { node: first_missing });
    }
    Ok(())
}

fn build(
    counts: &Counts,
    switch_ids: &BTreeSet<u32>,
    is_inside: impl Fn(&u32) -> bool,
    links: &[FileLink],
    spare: usize,
) -> Result<HpccTopology, Fault> {
    let node_of_switch: Vec<u32> = switch_ids.iter().copied().collect();
    let (mut host_of_node, mut node_of_host) = (Vec::new(), Vec::new());
    let (mut nodes, mut hosts, mut switches) = (BTreeMap::new(), 0u32.., 0u32..);
    for id in (0u32..).take_while(|id| u64::from(*id) < counts.nodes) {
        if is_inside(&id) {
            host_of_node.push(None);
            continue;
        }
        let is_switch = switch_ids.contains(&id);
        let next = if is_switch { switches.next() } else { hosts.next() };
        let next = next.expect("fewer nodes than 32 bits hold");
        host_of_node.push((!is_switch).then_some(HostId(next)));
        let node = if is_switch { Node::Switch(SwitchId(next)) } else { Node::Host(HostId(next)) };
        nodes.insert(id, node);
        if !is_switch {
            node_of_host.push(id);
        }
    }
    let graph_links: Vec<Link> = links
        .iter()
        .map(|link| {
            let ends = link.ends.map(|end| nodes[&end]);
            Link { ends, rate: link.rate, delay: link.delay }
        })
        .collect();
    let tiers = tiers(node_of_switch.len(), &graph_links);
    let named = node_of_switch.iter().zip(tiers);
    let topology = Topology::new(
        node_of_host.iter().map(|id| format!("host{id}")).collect(),
        named.map(|(id, tier)| Switch { name: format!("switch{id}"), tier }).collect(),
        graph_links,
    )
    .map_err(Fault::Graph)?;
    let warnings = warnings(&topology, links.len(), spare);
    let error_rate = links.iter().map(|link| link.error_rate).collect();
    Ok(HpccTopology { topology, host_of_node, node_of_host, node_of_switch, error_rate, warnings })
}

/// Returns the tier of each switch: the number of switches between it and its nearest host.
pub fn tiers(switches: usize, links: &[Link]) -> Vec<u8> {
    let mut neighbours = vec![Vec::new(); switches];
    let mut tier = vec![None; switches];
    for link in links {
        match link.ends {
            [Node::Switch(a), Node::Switch(b)] => {
                neighbours[a.index()].push(b.index());
                neighbours[b.index()].push(a.index());
            }
            [Node::Switch(edge), _] | [_, Node::Switch(edge)] => {
                tier[edge.index()] = Some(0u8);
            }
            _ => {}
        }
    }
    // Breadth-first search from all edge switches together: the first to reach a switch is nearest.
    let mut queue: VecDeque<usize> = (0..switches).filter(|s| tier[*s].is_some()).collect();
    while let Some(switch) = queue.pop_front() {
        let above = tier[switch].unwrap_or(0).saturating_add(1);
        for &next in &neighbours[switch] {
            if tier[next].is_none() {
                tier[next] = Some(above);
                queue.push_back(next);
            }
        }
    }
    // The tier of a switch that no host reaches is irrelevant: it carries no traffic.
    tier.into_iter().map(|tier| tier.unwrap_or(0)).collect()
}

fn warnings(topology: &Topology, links: usize, spare: usize) -> Vec<String> {
    let mut warnings = Vec::new();
    if spare > 0 {
        warnings.push(format!(
            "{spare} more lines after the {links} announced links look like links but are \
             ignored, as in the simulators of this family"
        ));
    }
    if let Some(name) = topology.link_names().iter().find(|name| name.contains('#')) {
        warnings.push(format!(
            "parallel links ({name}) are all used; the simulators of this family use one of them"
        ));
    }
    warnings
}

#[cfg(test)]
mod tests;
