//! The links of a fabric as flows share them: one by one, or in groups.
//!
//! Where all traffic over the uplinks of a switch is spread over them evenly, they are full at the
//! same time, and one link of their total capacity stands for them. A fat-tree of 128,000 hosts
//! then has six links on a path in place of 3,000. A group is valid as long as every flow that uses
//! one of its ports uses all of them, in proportion to their capacities. [`Ungrouped`] says that a
//! flow does not; the run then begins again with every port by itself.

use crate::ids::PortId;
use crate::sharing::{Service, Sharing, Use};
use crate::topology::Topology;
use crate::units::{BitRate, Bytes};

/// Shares of ports that differ by this part of themselves are equal.
const ROUNDING: f64 = 1e-9;
/// The link of a port that has not been used yet.
const UNUSED: u32 = u32::MAX;

/// Whether ports may be grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grouping {
    /// Ports that are used together are one link.
    Allowed,
    /// Each port is a link.
    Off,
}

/// A flow uses a part of the ports of a group, or loads them unevenly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ungrouped;

/// Links that stand for ports. Each port has a link of its own, with the index of the port; groups
/// follow.
#[derive(Debug)]
pub(super) struct Links {
    grouping: Grouping,
    /// By port: its link; [`UNUSED`] before its first use.
    of_port: Vec<u32>,
    /// The ports of each group, and none of a pace.
    groups: Vec<Vec<PortId>>,
    /// By port: bytes per picosecond.
    capacities: Vec<f64>,
    /// By link: bytes that it has carried.
    carried: Vec<f64>,
}

/// The use of a link by data.
const fn data(link: u32, share: f64) -> Use {
    Use { link, share, service: Service::Fair }
}

/// A rate in bytes per picosecond.
pub(super) fn bytes_per_ps(rate: BitRate) -> f64 {
    rate.as_bps() as f64 / 8e12
}

impl Links {
    /// The links of a fabric, which are added to an empty `sharing`.
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

    /// Changes the capacity of a port; only without groups.
    pub(super) fn set_rate(&mut self, port: PortId, rate: BitRate, sharing: &mut Sharing) {
        assert_eq!(self.grouping, Grouping::Off, "groups have constant capacities");
        self.capacities[port.index()] = bytes_per_ps(rate);
        sharing.set_capacity(port.0, bytes_per_ps(rate));
    }

    /// The use of one port by itself.
    pub(super) fn one(&mut self, port: PortId, share: f64) -> Result<Use, Ungrouped> {
        let link = &mut self.of_port[port.index()];
        if *link == UNUSED {
            *link = port.0;
        }
        if *link == port.0 { Ok(data(port.0, share)) } else { Err(Ungrouped) }
    }

    /// A link for one queue pair, as fast as it paces its packets.
    pub(super) fn pace(&mut self, rate: f64, sharing: &mut Sharing) -> Use {
        self.groups.push(Vec::new());
        self.carried.push(0.0);
        data(sharing.add_link(rate), 1.0)
    }

    /// The uses of ports that a flow uses together, each with its share; they are added to `to`.
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
        let load = |&(port, share): &(PortId, f64)| share / self.capacities[port.index()];
        let first = load(&ports[0]);
        if ports.iter().any(|port| (load(port) - first).abs() > ROUNDING * first) {
            return Err(Ungrouped);
        }
        let share = ports.iter().map(|(_, share)| share).sum();
        to.push(data(self.group(ports, sharing)?, share));
        Ok(())
    }

    /// The link that stands for all of these ports.
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
        let group = (link as usize).checked_sub(self.capacities.len());
        let whole = group.is_some_and(|group| self.groups[group].len() == ports.len());
        if whole { Ok(link) } else { Err(Ungrouped) }
    }

    /// Counts bytes that a link has carried.
    pub(super) fn count(&mut self, link: u32, bytes: f64) {
        self.carried[link as usize] += bytes;
    }

    /// The bytes that each port has carried.
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
