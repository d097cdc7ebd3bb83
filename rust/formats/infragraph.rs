//! InfraGraph's descriptions of infrastructure, in YAML or JSON.
//!
//! Source: Keysight's InfraGraph (package 3.1.0, 2701fa5), message `Infrastructure`:
//!
//! ```text
//! devices: [{name: server, components: [{name: xpu, count: 8, choice: xpu}, {name: nic, ...}]}]
//! links: [{name: eth, physical: {bandwidth: {gigabits_per_second: 400}, latency: {ns: 500}}}]
//! instances: [{name: host, device: server, count: 4}, {name: leaf, device: switch, count: 2}]
//! edges: [{ep1: {instance: 'host[0:2]', component: nic}, ep2: {instance: 'leaf[0]', ...}, ...}]
//! ```
//!
//! An instance of a device with an `xpu` is a server: each of its components with an edge, such as
//! a NIC or one of its ports, is a host. All components of any other instance are one switch. Each
//! edge in `edges` becomes links. Connections within a device are inside a server or a switch and
//! are not modelled. Endpoints expand as in InfraGraph: `leaf` and `leaf[:]` are all of them,
//! `leaf[1]` is one, `leaf[0:8:2]` is every second one; instances vary slowest. The scheme
//! `one2one` connects the first end of `ep1` with the first of `ep2`, the second with the second,
//! and so on; `many2many` connects every end of `ep1` with every end of `ep2`. Hosts are in order
//! of their instances and components. The caller supplies rates and delays that the file lacks
//! ([`Defaults`]).

mod error;
mod expand;
mod physical;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::hpcc::topology::tiers;
use crate::ids::{HostId, SwitchId};
use crate::topology::{Link, MAX_LINKS, Node, Switch, Topology, TopologyError};
use crate::units::{BitRate, Span};
pub use error::{InfragraphError, InfragraphFault};
use expand::{Component, Device, End, Endpoint, Ends, Instance};
use physical::LinkKind;
pub use write::write;

/// Rate and delay of links for which the file gives none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Defaults {
    /// Rate of links without a bandwidth.
    pub rate: Option<BitRate>,
    /// Delay of links without a latency.
    pub delay: Option<Span>,
}

/// A fabric that was read from a description.
#[derive(Debug, Clone, PartialEq)]
pub struct InfragraphTopology {
    /// The hosts, switches and links.
    pub topology: Topology,
    /// Notes for the user about the file.
    pub warnings: Vec<String>,
}

/// Parses a description; `file` is its name in errors.
///
/// # Errors
/// Fails with the first error and its position.
pub fn read(
    text: &str,
    file: &str,
    defaults: Defaults,
) -> Result<InfragraphTopology, InfragraphError> {
    let at = |(place, fault)| InfragraphError { file: file.to_owned(), place, fault };
    if let Some(line) = nested_too_deeply(text) {
        let fault = InfragraphFault::TooMany("nested brackets", MAX_NESTING as u64);
        return Err(at((format!("line {line}"), fault)));
    }
    let described: Infrastructure = yaml_serde::from_str(text).map_err(|error| {
        let place = error.location().map_or(String::new(), |it| format!("line {}", it.line()));
        at((place, InfragraphFault::Yaml(error.to_string())))
    })?;
    described.topology(defaults).map_err(at)
}

/// Maximum nesting depth of brackets; a description needs four. \[inferred\]
const MAX_NESTING: usize = 64;

/// Returns the first line, from 1, where brackets are nested too deeply. The parser's time grows
/// with the square of the depth. Brackets in strings and comments count too.
fn nested_too_deeply(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (index, line) in text.lines().enumerate() {
        for byte in line.bytes() {
            match byte {
                b'[' | b'{' => depth += 1,
                b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth > MAX_NESTING {
                return Some(index + 1);
            }
        }
    }
    None
}

/// An error with its position in the file.
type PlacedFault = (String, InfragraphFault);

/// The parts of a description that define a fabric.
#[derive(Debug, Deserialize)]
struct Infrastructure {
    #[serde(default)]
    devices: Vec<Device>,
    #[serde(default)]
    links: Vec<LinkKind>,
    #[serde(default)]
    instances: Vec<Instance>,
    #[serde(default)]
    edges: Vec<Edge>,
    /// The wrapper of responses from InfraGraph's service.
    infrastructure: Option<IgnoredAny>,
}

#[derive(Debug, Deserialize)]
struct Edge {
    ep1: Endpoint,
    ep2: Endpoint,
    scheme: Option<String>,
    link: String,
}

/// The wires of all edges.
#[derive(Debug, Default)]
struct Wires {
    wires: Vec<Wire>,
    /// The index of each wire by its ends, the lower end first.
    pairs: BTreeMap<[End; 2], usize>,
    warnings: Vec<String>,
    /// The first node with a link to itself, for a warning.
    to_itself: Option<String>,
}

#[derive(Debug)]
struct Wire {
    ends: [End; 2],
    rate: BitRate,
    delay: Span,
}

impl Infrastructure {
    fn topology(&self, defaults: Defaults) -> Result<InfragraphTopology, PlacedFault> {
        if self.infrastructure.is_some() {
            return Err((String::new(), InfragraphFault::Response));
        }
        let parts = [("instances", self.instances.len()), ("edges", self.edges.len())];
        if let Some(&(what, _)) = parts.iter().find(|(_, count)| *count == 0) {
            return Err((String::new(), InfragraphFault::Nothing(what)));
        }
        let mut all = Wires::default();
        let ends = Ends::of(&self.devices, &self.instances);
        for (index, edge) in self.edges.iter().enumerate() {
            let place = format!("edges[{index}]");
            self.add_edge(&ends, edge, Target { place: &place, defaults, all: &mut all })?;
        }
        let Wires { wires, mut warnings, to_itself, .. } = all;
        warnings.extend(to_itself.map(|name| {
            format!(
                "links from an instance to itself, such as those of {name}, are ignored: no \
                 shortest path uses them"
            )
        }));
        let nodes: BTreeSet<End> =
            wires.iter().flat_map(|wire| &wire.ends).map(End::node).collect();
        warnings.extend(ends.unconnected_warnings(&nodes));
        warnings.extend(self.nics_of_switches(&ends, &wires));
        let topology = graph(&ends, &nodes, &wires)
            .map_err(|error| ("edges".to_owned(), InfragraphFault::Graph(Box::new(error))))?;
        Ok(InfragraphTopology { topology, warnings })
    }

    /// Adds the wires of an edge.
    fn add_edge(&self, ends: &Ends<'_>, edge: &Edge, to: Target<'_>) -> Result<(), PlacedFault> {
        let Target { place, defaults, all } = to;
        let at = |fault| (place.to_owned(), fault);
        let expand = |endpoint, name: &str| {
            ends.expand(endpoint).map_err(|fault| (format!("{place}.{name}"), fault))
        };
        let (first, second) = (expand(&edge.ep1, "ep1")?, expand(&edge.ep2, "ep2")?);
        let (rate, delay) = physical::of(&self.links, &edge.link, defaults)?;
        let pairs: Vec<[&End; 2]> = match edge.scheme.as_deref() {
            Some("one2one") => {
                if first.len() != second.len() {
                    all.warnings.push(format!(
                        "{place}: one2one of {} and {} ends; the rest of the longer list is not \
                         connected, as in InfraGraph",
                        first.len(),
                        second.len()
                    ));
                }
                first.iter().zip(&second).map(|(a, b)| [a, b]).collect()
            }
            Some("many2many") => {
                if first.len() as u64 * second.len() as u64 > MAX_LINKS {
                    return Err(at(InfragraphFault::TooMany("links", MAX_LINKS)));
                }
                first.iter().flat_map(|a| second.iter().map(move |b| [a, b])).collect()
            }
            other => return Err(at(InfragraphFault::Scheme(other.unwrap_or("").to_owned()))),
        };
        for [a, b] in pairs.into_iter().filter(|[a, b]| a != b) {
            let wire = Wire { ends: [a.clone(), b.clone()], rate, delay };
            all.add(ends, wire).map_err(at)?;
        }
        Ok(())
    }

    /// Warns about each kind of instance that counts as a switch although a NIC connects it.
    fn nics_of_switches(&self, ends: &Ends<'_>, wires: &[Wire]) -> Vec<String> {
        let by_nic =
            |end: &&End| !end.is_server && ends.component(end).is_some_and(Component::is_nic);
        let wired = wires.iter().flat_map(|wire| &wire.ends).filter(by_nic);
        let places: BTreeSet<u32> = wired.map(|end| end.path[0].0).collect();
        let warning = |place: u32| {
            format!(
                "instances '{}' have a nic but no xpu; they are treated as switches",
                self.instances[place as usize].name
            )
        };
        places.into_iter().map(warning).collect()
    }
}

/// The destination of an edge's wires.
struct Target<'a> {
    /// The position of the edge in the file.
    place: &'a str,
    defaults: Defaults,
    all: &'a mut Wires,
}

impl Wires {
    /// Adds a wire unless it already exists.
    fn add(&mut self, ends: &Ends<'_>, wire: Wire) -> Result<(), InfragraphFault> {
        let [a, b] = &wire.ends;
        if a.node() == b.node() {
            // No shortest path uses a link from a node to itself.
            self.to_itself.get_or_insert_with(|| ends.name(&a.node()));
            return Ok(());
        }
        let mut sorted = wire.ends.clone();
        sorted.sort_unstable();
        if let Some(&earlier) = self.pairs.get(&sorted) {
            let earlier = &self.wires[earlier];
            if (earlier.rate, earlier.delay) != (wire.rate, wire.delay) {
                return Err(InfragraphFault::Twice(wire.ends.each_ref().map(|end| ends.name(end))));
            }
            return Ok(());
        }
        if self.wires.len() as u64 == MAX_LINKS {
            return Err(InfragraphFault::TooMany("links", MAX_LINKS));
        }
        self.pairs.insert(sorted, self.wires.len());
        self.wires.push(wire);
        Ok(())
    }
}

/// Builds the topology of nodes and wires.
fn graph(
    ends: &Ends<'_>,
    nodes: &BTreeSet<End>,
    wires: &[Wire],
) -> Result<Topology, TopologyError> {
    let (hosts, switches): (Vec<&End>, Vec<&End>) = nodes.iter().partition(|node| node.is_server);
    let (mut host_ids, mut switch_ids) = (0u32.., 0u32..);
    let ids: BTreeMap<&End, Node> = nodes
        .iter()
        .map(|node| {
            let ids = if node.is_server { &mut host_ids } else { &mut switch_ids };
            let id = ids.next().expect("fewer wires than 32 bits hold");
            let id =
                if node.is_server { Node::Host(HostId(id)) } else { Node::Switch(SwitchId(id)) };
            (node, id)
        })
        .collect();
    let link = |wire: &Wire| {
        let ends = wire.ends.each_ref().map(|end| ids[&end.node()]);
        Link { ends, rate: wire.rate, delay: wire.delay }
    };
    let links: Vec<Link> = wires.iter().map(link).collect();
    let tiers = tiers(switches.len(), &links);
    let named = switches.iter().zip(tiers);
    let switches = named.map(|(end, tier)| Switch { name: ends.name(end), tier }).collect();
    let hosts = hosts.iter().map(|end| ends.name(end)).collect();
    Topology::new(hosts, switches, links)
}

#[cfg(test)]
mod tests;
