//! The links that flows share: single ports, or groups of ports.
//!
//! If all traffic over the uplinks of a switch is spread evenly, the uplinks saturate at the same
//! time. One link with their total capacity can then represent them. In a fat-tree of 128,000
//! hosts, a path then has 6 links instead of 3,000.
//!
//! A group is valid while every flow that uses one of its ports uses all of them, in proportion to
//! their capacities. [`Ungrouped`] reports a flow that does not; the run then restarts without
//! groups.

use crate::ids::PortId;
use crate::sharing::{Service, Sharing, Use};
use crate::topology::Topology;
use crate::units::{BitRate, Bytes};

/// Relative difference up to which the loads of two ports count as equal.
const ROUNDING: f64 = 1e-9;
/// Marks a port that no flow has used yet.
const UNUSED: u32 = u32::MAX;

/// Whether ports may be grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grouping {
    /// Ports that are used together become one link.
    Allowed,
    /// Each port is a separate link.
    Off,
}

/// The error for a flow that uses only part of a group, or loads its ports unevenly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ungrouped;

/// Maps ports to links. The first links are the ports themselves, with the same indices; groups
/// follow.
#[derive(Debug)]
pub(super) struct Links {
    grouping: Grouping,
    /// By port: its link, or [`UNUSED`] before its first use.
    of_port: Vec<u32>,
    /// The ports of each group; empty for a pacing link.
    groups: Vec<Vec<PortId>>,
    /// By port: capacity in bytes per picosecond.
    capacities: Vec<f64>,
    /// By link: bytes carried so far.
    carried: Vec<f64>,
}

/// Returns the use of a link by data, which is served fairly.
const fn data(link: u32, share: f64) -> Use {
    Use { link, share, service: Service::Fair }
}

/// Converts a rate to bytes per picosecond.
pub(super) fn bytes_per_ps(rate: BitRate) -> f64 {
    rate.as_bps() as f64 / 8e12
}

impl Links {
    /// Adds one link per port to `sharing`, which must be empty.
    pub(super) fn new(topology: &Topology, grouping: Grouping, sharing: &mut Sharing) -> Self {
        let rates = topology.links().iter().map(|link| bytes_per_ps(link.rate));
        let capacities: Vec<f64> = rates.flat_map(|rate| [rate; 2]).collect();
        for &capacity in &capacities {
            sharing.add_link(capacity);
        }
        let of_port = match grouping {
            Grouping::Allowed => vec![UNUSED; capacities.len()],
            Grouping::Off => (0u32..).take(capacities.len()).collect(),
        };
        Self {
            grouping,
            of_port,
            groups: Vec::new(),
            carried: capacities.iter().map(|_| 0.0).collect(),
            capacities,
        }
    }

    /// Changes the capacity of a port.
    ///
    /// # Panics
    /// If grouping is allowed: the capacity of a group is constant.
    pub(super) fn set_rate(&mut self, port: PortId, rate: BitRate, sharing: &mut Sharing) {
        assert_eq!(self.grouping, Grouping::Off, "groups have constant capacities");
        self.capacities[port.index()] = bytes_per_ps(rate);
        sharing.set_capacity(port.0, bytes_per_ps(rate));
    }

    /// Returns the use of a single port, outside any group.
    pub(super) fn one(&mut self, port: PortId, share: f64) -> Result<Use, Ungrouped> {
        let link = &mut self.of_port[port.index()];
        if *link == UNUSED {
            *link = port.0;
        }
        // A port that belongs to a group cannot be used alone.
        if *link == port.0 { Ok(data(port.0, share)) } else { Err(Ungrouped) }
    }

    /// Adds a link that limits one queue pair to its pacing rate.
    pub(super) fn pace(&mut self, rate: f64, sharing: &mut Sharing) -> Use {
        // A pacing link has no ports, but keeps the index of groups aligned with that of links.
        self.groups.push(Vec::new());
        self.carried.push(0.0);
        data(sharing.add_link(rate), 1.0)
    }

    /// Appends to `to` the uses of ports that one flow uses together, each with its share.
    pub(super) fn all(
        &mut self,
        ports: &[(PortId, f64)],
        sharing: &mut Sharing,
        to: &mut Vec<Use>,
    ) -> Result<(), Ungrouped> {
        if self.grouping == Grouping::Off || ports.len() == 1 {
            for &(port, share) in ports {
                to.push(self.one(port, share)?);
            }
            return Ok(());
        }
        // A group stays valid only while all of its ports are equally loaded.
        let load = |&(port, share): &(PortId, f64)| share / self.capacities[port.index()];
        let first = load(&ports[0]);
        if ports.iter().any(|port| (load(port) - first).abs() > ROUNDING * first) {
            return Err(Ungrouped);
        }
        let share = ports.iter().map(|(_, share)| share).sum();
        to.push(data(self.group(ports, sharing)?, share));
        Ok(())
    }

    /// Returns the link that represents all of these ports.
    fn group(&mut self, ports: &[(PortId, f64)], sharing: &mut Sharing) -> Result<u32, Ungrouped> {
        let link = self.of_port[ports[0].0.index()];
        if ports.iter().any(|(port, _)| self.of_port[port.index()] != link) {
            return Err(Ungrouped);
        }
        if link == UNUSED {
            let capacity = ports.iter().map(|(port, _)| self.capacities[port.index()]).sum();
            let link = sharing.add_link(capacity);
            ports.iter().for_each(|(port, _)| self.of_port[port.index()] = link);
            self.groups.push(ports.iter().map(|&(port, _)| port).collect());
            self.carried.push(0.0);
            return Ok(link);
        }
        // All ports map to `link`; the group must not have more ports than these.
        let group = (link as usize).checked_sub(self.capacities.len());
        let whole = group.is_some_and(|group| self.groups[group].len() == ports.len());
        if whole { Ok(link) } else { Err(Ungrouped) }
    }

    /// Adds to the bytes that a link has carried.
    pub(super) fn count(&mut self, link: u32, bytes: f64) {
        self.carried[link as usize] += bytes;
    }

    /// Returns the bytes that each port has carried. A group's bytes are divided in proportion to
    /// the capacities of its ports.
    pub(super) fn bytes(&self) -> Vec<Bytes> {
        let mut bytes: Vec<f64> = self.carried[..self.capacities.len()].to_vec();
        for (group, carried) in self.groups.iter().zip(&self.carried[self.capacities.len()..]) {
            let capacity: f64 = group.iter().map(|port| self.capacities[port.index()]).sum();
            for port in group {
                bytes[port.index()] += carried * self.capacities[port.index()] / capacity;
            }
        }
        bytes.into_iter().map(|bytes| Bytes::new(bytes.round() as u64)).collect()
    }
}
