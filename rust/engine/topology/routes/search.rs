//! Shortest-path search for the neighbours of a switch that are closer to an edge switch.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::ids::{PortId, SwitchId};
use crate::topology::{Direct, Node, Topology};

/// Distance of an unreached switch.
const FAR: u32 = u32::MAX;

/// The usable ports between switches, with the switch at their other end, grouped by owner.
pub(super) struct Neighbours {
    /// The ports of switch `s` are `ports[first[s]..first[s + 1]]`.
    first: Vec<usize>,
    ports: Vec<(SwitchId, PortId)>,
    /// Link costs, or `None` if every link costs 1.
    direct: Option<Direct>,
}

impl Neighbours {
    pub(super) fn of(topology: &Topology, usable: &[bool]) -> Self {
        let mut first = vec![0];
        let mut ports: Vec<(SwitchId, PortId)> = Vec::new();
        for switch in 0..topology.switches().len() {
            let id = SwitchId(u32::try_from(switch).expect("ids are 32 bits"));
            let from = ports.len();
            let neighbour = |&port: &PortId| match topology.ends_of(port).1 {
                Node::Switch(next) if usable[port.link().index()] => Some((next, port)),
                _ => None,
            };
            ports.extend(topology.ports_of(id).iter().filter_map(neighbour));
            // By neighbour, then by link: the order of candidates everywhere. Path digits, hashes
            // and weights index into it, so changing the order changes every result.
            ports[from..].sort_unstable();
            first.push(ports.len());
        }
        let direct = topology.direct().filter(|direct| direct.global_cost != 1).cloned();
        Self { first, ports, direct }
    }

    /// Returns the cost of a link between two neighbouring switches.
    #[inline]
    fn cost(&self, a: usize, b: usize) -> u32 {
        self.direct.as_ref().map_or(1, |direct| direct.cost(a, b))
    }

    fn of_switch(&self, switch: usize) -> &[(SwitchId, PortId)] {
        &self.ports[self.first[switch]..self.first[switch + 1]]
    }
}

/// Shortest-path search over switches; its buffers are reused between searches.
pub(super) struct Search {
    distance: Vec<u32>,
    queue: VecDeque<SwitchId>,
    closer: Vec<PortId>,
}

impl Search {
    pub(super) fn new(switches: usize) -> Self {
        Self { distance: vec![FAR; switches], queue: VecDeque::new(), closer: Vec::new() }
    }

    /// Computes the distance of every switch from `edge`.
    pub(super) fn run(&mut self, neighbours: &Neighbours, edge: SwitchId) {
        self.distance.fill(FAR);
        self.distance[edge.index()] = 0;
        if neighbours.direct.is_some() {
            return self.run_by_cost(neighbours, edge);
        }
        self.queue.push_back(edge);
        self.spread(neighbours);
    }

    /// Computes the distance of every switch from the nearest of `edges`.
    pub(super) fn run_from(&mut self, neighbours: &Neighbours, edges: &[SwitchId]) {
        self.distance.fill(FAR);
        edges.iter().for_each(|edge| self.distance[edge.index()] = 0);
        self.queue.extend(edges);
        self.spread(neighbours);
    }

    fn spread(&mut self, neighbours: &Neighbours) {
        while let Some(switch) = self.queue.pop_front() {
            let next = self.distance[switch.index()] + 1;
            for &(neighbour, _) in neighbours.of_switch(switch.index()) {
                if self.distance[neighbour.index()] == FAR {
                    self.distance[neighbour.index()] = next;
                    self.queue.push_back(neighbour);
                }
            }
        }
    }

    /// Computes the distances where links differ in cost, by Dijkstra's algorithm.
    fn run_by_cost(&mut self, neighbours: &Neighbours, edge: SwitchId) {
        let mut open = BinaryHeap::from([Reverse((0, edge))]);
        while let Some(Reverse((distance, switch))) = open.pop() {
            // Stale entry: a shorter distance was found after it was pushed.
            if distance > self.distance[switch.index()] {
                continue;
            }
            for &(neighbour, _) in neighbours.of_switch(switch.index()) {
                let next = distance + neighbours.cost(switch.index(), neighbour.index());
                if next < self.distance[neighbour.index()] {
                    self.distance[neighbour.index()] = next;
                    open.push(Reverse((next, neighbour)));
                }
            }
        }
    }

    /// Returns the ports of `switch` that lie on a shortest path, in order of the neighbours' ids.
    pub(super) fn closer(&mut self, neighbours: &Neighbours, switch: usize) -> &[PortId] {
        self.closer.clear();
        let own = self.distance[switch];
        if own != FAR {
            let nearer = neighbours.of_switch(switch).iter();
            let nearer = nearer.filter(|(next, _)| {
                let cost = neighbours.cost(switch, next.index());
                self.distance[next.index()].saturating_add(cost) == own
            });
            self.closer.extend(nearer.map(|(_, port)| *port));
        }
        &self.closer
    }
}
