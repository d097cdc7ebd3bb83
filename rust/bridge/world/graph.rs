//! Graphs: the hosts, switches and links of a topology, as they cross the language boundary.

use evenkeel_engine::topology::{Link, Switch, Topology, TopologyError};
use evenkeel_engine::units::{BitRate, Span};
use evenkeel_formats::hpcc;

use super::contract::Graph;
use super::experiment::ExperimentError;
use super::records::{FabricEnd, FabricLink};

/// The longest delay of a link. Paths of hundreds of such links are within the range of times.
const LONGEST_DELAY: Span = Span::from_ms(3_600_000);

/// Builds the topology of a graph. Several links of a host are its ports, one per plane.
pub(super) fn topology(graph: &Graph) -> Result<Topology, ExperimentError> {
    let links = graph.links.iter().map(|link| Link {
        ends: [link.a.into(), link.b.into()],
        rate: BitRate::from_bps(link.rate_bps),
        delay: Span::from_ps(link.delay_ps),
    });
    let links: Vec<Link> = links.collect();
    if let Some(link) = links.iter().position(|link| link.delay > LONGEST_DELAY) {
        let (delay, most) = (links[link].delay, LONGEST_DELAY);
        return Err(ExperimentError::Delay { link, delay, most });
    }
    let names = graph.switches.iter().zip(tiers(graph, &links));
    let switches = names.map(|(name, tier)| Switch { name: name.clone(), tier }).collect();
    let hosts = graph.hosts.clone();
    let ports = ports_of_hosts(graph);
    let made = match graph.joined_ports {
        true => Topology::with_host_ports(ports, hosts, switches, links),
        false => Topology::with_planes(ports, hosts, switches, links),
    };
    made.map_err(|error| named(graph, error))
}

/// Returns the tier of each switch; 0 if a link ends at a switch that does not exist.
fn tiers(graph: &Graph, links: &[Link]) -> Vec<u8> {
    let switches = graph.switches.len();
    let mut ends = graph.links.iter().flat_map(|link| [link.a, link.b]);
    match ends.all(|end| end.is_host || (end.number as usize) < switches) {
        true => hpcc::topology::tiers(switches, links),
        false => vec![0; switches],
    }
}

/// Returns the names of the links of a graph.
pub(super) fn link_names(graph: &Graph) -> Result<Vec<String>, ExperimentError> {
    Ok(topology(graph)?.link_names().to_vec())
}

/// Returns the most links that a host has; all hosts must have the same number.
fn ports_of_hosts(graph: &Graph) -> u32 {
    let mut links = vec![0u32; graph.hosts.len()];
    for end in graph.links.iter().flat_map(|link| [link.a, link.b]).filter(|end| end.is_host) {
        if let Some(links) = links.get_mut(end.number as usize) {
            *links += 1;
        }
    }
    links.into_iter().max().unwrap_or(0).max(1)
}

/// Adds the name of the affected link to an error of a graph.
fn named(graph: &Graph, error: TopologyError) -> ExperimentError {
    let (TopologyError::SharedPlane { host, plane } | TopologyError::PlanesDiffer { host, plane }) =
        &error
    else {
        return error.into();
    };
    let is_its = |end: FabricEnd| {
        end.is_host && graph.hosts.get(end.number as usize).is_some_and(|name| name == host)
    };
    let links = graph.links.iter().filter(|link| is_its(link.a) || is_its(link.b));
    let edge = links.map(|link| if link.a.is_host { link.b } else { link.a }).nth(*plane as usize);
    let edge = edge.and_then(|edge| graph.switches.get(edge.number as usize));
    let link = format!("{host}-{}", edge.map_or("", String::as_str));
    ExperimentError::Planes { error: Box::new(error), link }
}

/// Builds the graph of a topology.
pub(super) fn graph(topology: &Topology) -> Graph {
    let links = topology.links().iter().map(|link| {
        let [a, b] = link.ends.map(Into::into);
        FabricLink { a, b, rate_bps: link.rate.as_bps(), delay_ps: link.delay.as_ps() }
    });
    Graph {
        hosts: topology.host_names().to_vec(),
        switches: topology.switches().iter().map(|switch| switch.name.clone()).collect(),
        links: links.collect(),
        joined_ports: topology.planes().share_fabric(),
    }
}
