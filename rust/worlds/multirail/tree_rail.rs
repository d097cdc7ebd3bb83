//! A rail whose switches add: an aggregation tree, in the manner of SHARP.
//!
//! Source: Graham et al., "Scalable Hierarchical Aggregation Protocol (SHARP): A Hardware
//! Architecture for Efficient Data Reduction" (COMHPC 2016), sections III and IV, for the tree, its
//! segments and the multicast of its result. \[inferred\]: the sizes, the credits, and that a link
//! automatically retransmits a transmission that an outage interrupts.
//!
//! Hosts are the leaves; each switch has up to `radix` children. A chunk is sent in segments. A
//! host sends its numbers up. A switch adds those of all its children in one of its slots and sends
//! the sum up. The root sends the sum down, and each switch forwards it to all its children. A slot
//! is free again when the sum has left. A child may have as many segments in flight as there are
//! slots.
//!
//! Without contention and with enough slots, n segments of s bytes through h tiers take
//! `overhead + 2h·(s/β + p) + (2h − 1)·l + (n − 1)·s/β`. That is the textbook's `2αh + x/β` with
//! `α = s/β + p + l`, minus the terms that the first segment and the root would count twice.

use std::collections::VecDeque;

use super::config::{RailSetup, TreeConfig};
use super::cpu::Cpu;
use super::events::Events;
use super::numbers::{ELEMENT, Inputs, Range};
use super::outage::Wires;
use super::plane::{Attempt, ControlMessage, Plane, RailDelivery, Sums};
use crate::rail::handler::ChunkKey;
use crate::units::{Bytes, Span, Time};

/// An event in the tree.
#[derive(Debug, Clone)]
enum TreeEvent {
    /// A host starts a chunk.
    Begun { rank: u32, attempt: Attempt },
    /// A segment of a child arrives at its parent.
    Up { child: u32, sum: i64 },
    /// A switch has added the segments of all its children.
    Summed { switch: u32 },
    /// The upward wire of a child is free.
    Free { child: u32 },
    /// A credit arrives at a child: its parent has one more free slot.
    Credit { child: u32 },
    /// A sum arrives at a child.
    Down { child: u32, segment: u64, sum: i64 },
    /// A switch forwards a sum down.
    Forward { switch: u32, segment: u64, sum: i64 },
    /// A control message arrives.
    Control(ControlMessage),
}

/// A host or a switch. Indices: hosts first, the root last.
#[derive(Debug, Default)]
struct TreeNode {
    parent: Option<u32>,
    children: Vec<u32>,
    /// When the wire to its parent is free.
    up_free: Time,
    /// When the wire from its parent is free.
    down_free: Time,
    /// Number of segments sent up.
    sent: u64,
    /// Number of segments that the parent has received.
    received: u64,
    /// Number of segments whose slot at the parent is free again.
    credited: u64,
    /// Switch only: sums in progress, in order, with the number of children added to each.
    sums: VecDeque<(u32, i64)>,
    /// Switch only: number of complete sums.
    summed: u64,
    /// Switch only: complete sums to be sent up. A host computes its numbers when it sends them.
    ready: VecDeque<i64>,
    /// Host only: number of segments of the chunks that it has started.
    begun: u64,
}

/// The simulation of an aggregation tree.
#[derive(Debug)]
pub(super) struct TreeRail {
    config: TreeConfig,
    seed: u64,
    ranks: u32,
    delay: Span,
    wires: Wires,
    nodes: Vec<TreeNode>,
    /// The attempt and the elements of each segment, in order.
    segments: Vec<(ChunkKey, Range)>,
    events: Events<TreeEvent>,
    bytes: Bytes,
}

impl TreeRail {
    /// Creates the rail at `index` of a setup, in its initial state.
    pub(super) fn new(setup: &RailSetup, index: u32, config: &TreeConfig) -> Self {
        let &RailSetup { ranks, seed, .. } = setup;
        let rail = &setup.rails[index as usize];
        Self {
            config: *config,
            seed,
            ranks,
            delay: rail.delay,
            wires: Wires::new(rail.rate, setup.failures_of(index).copied().collect()),
            nodes: nodes(ranks, config.radix),
            segments: Vec::new(),
            events: Events::new(),
            bytes: Bytes::ZERO,
        }
    }

    /// Returns the number of switch tiers.
    fn height(&self) -> u32 {
        let parent = |node: u32| self.nodes[node as usize].parent;
        (std::iter::successors(Some(0), |&node| parent(node)).count() - 1) as u32
    }

    /// Appends the segments of a chunk that a host starts.
    fn handle_begun(&mut self, now: Time, rank: u32, attempt: Attempt) {
        let node = &mut self.nodes[rank as usize];
        for range in attempt.range.cut(self.config.segment.get() / ELEMENT.get()) {
            // All hosts start the same chunks in the same order; the first one adds the segments.
            if node.begun == self.segments.len() as u64 {
                self.segments.push((attempt.key, range));
            }
            debug_assert_eq!(self.segments[node.begun as usize], (attempt.key, range));
            node.begun += 1;
            self.bytes += range.bytes();
        }
        self.pump(now, rank);
    }

    /// Returns the index of a node's upward wire, if that wire can fail.
    fn wire(&self, node: u32) -> Option<u32> {
        let parent = self.nodes[node as usize].parent;
        // The failure of a switch affects all links of the root.
        let below_root = parent.is_some_and(|parent| parent as usize == self.nodes.len() - 1);
        match (node < self.ranks, below_root) {
            (true, _) => Some(node),
            (false, true) => Some(Wires::ROOT),
            (false, false) => None,
        }
    }

    fn wire_bytes(&self, segment: u64) -> Bytes {
        self.segments[segment as usize].1.bytes() + self.config.header
    }

    /// Sends the next segment of a node up, if its wire is free and its parent has a free slot.
    fn pump(&mut self, now: Time, child: u32) {
        let wire = self.wire(child);
        let node = &mut self.nodes[child as usize];
        let has_credit = node.sent < node.credited + u64::from(self.config.slots);
        if node.up_free > now || !has_credit || node.parent.is_none() {
            return;
        }
        let segment = node.sent;
        let sum = if child < self.ranks {
            if segment == node.begun {
                return;
            }
            let (key, range) = self.segments[segment as usize];
            Inputs::new(self.seed, key.operation).of(child, range)
        } else {
            match node.ready.pop_front() {
                Some(sum) => sum,
                None => return,
            }
        };
        node.sent += 1;
        let bytes = self.wire_bytes(segment);
        let end = self.wires.end(wire, now, bytes);
        self.nodes[child as usize].up_free = end.unwrap_or(Time::NEVER);
        let Some(end) = end else { return };
        self.events.push(end.saturating_add(self.delay), TreeEvent::Up { child, sum });
        self.events.push(end, TreeEvent::Free { child });
        if child >= self.ranks {
            // The slot of a switch is free once its sum has left. Hosts have no slots.
            self.free_slot(end, child);
        }
    }

    /// Returns credits to the children of a switch after a sum has left it.
    fn free_slot(&mut self, at: Time, switch: u32) {
        for child in self.nodes[switch as usize].children.clone() {
            self.events.push(at.saturating_add(self.delay), TreeEvent::Credit { child });
        }
    }

    /// Adds a segment of `child` to the segments of its siblings at their parent.
    fn receive(&mut self, now: Time, child: u32, sum: i64) {
        let Some(switch) = self.nodes[child as usize].parent else { return };
        let segment = self.nodes[child as usize].received;
        self.nodes[child as usize].received += 1;
        let node = &mut self.nodes[switch as usize];
        // Children send in order, so the difference is the index among the open sums.
        let slot = (segment - node.summed) as usize;
        if slot == node.sums.len() {
            node.sums.push_back((0, 0));
        }
        let (added, total) = &mut node.sums[slot];
        (*added, *total) = (*added + 1, total.wrapping_add(sum));
        if *added == node.children.len() as u32 {
            debug_assert_eq!(slot, 0, "children send in order");
            let Some((_, total)) = node.sums.pop_front() else { return };
            node.summed += 1;
            node.ready.push_back(total);
            let at = now.saturating_add(self.config.switch_latency);
            self.events.push(at, TreeEvent::Summed { switch });
        }
    }

    /// Sends a complete sum up, or down if the switch is the root.
    fn pass_up(&mut self, now: Time, switch: u32) {
        let node = &mut self.nodes[switch as usize];
        if node.parent.is_some() {
            self.pump(now, switch);
            return;
        }
        let Some(sum) = node.ready.pop_front() else { return };
        let segment = node.sent;
        node.sent += 1;
        let end = self.multicast(now, switch, segment, sum);
        if let Some(end) = end {
            self.free_slot(end, switch);
        }
    }

    /// Sends a sum to all children. Returns the end of the last transmission, if all of them end.
    fn multicast(&mut self, now: Time, switch: u32, segment: u64, sum: i64) -> Option<Time> {
        let bytes = self.wire_bytes(segment);
        let mut last = Some(now);
        for child in self.nodes[switch as usize].children.clone() {
            let start = now.max(self.nodes[child as usize].down_free);
            let end = self.wires.end(self.wire(child), start, bytes);
            self.nodes[child as usize].down_free = end.unwrap_or(Time::NEVER);
            last = last.zip(end).map(|(last, end)| last.max(end));
            if let Some(end) = end {
                let at = end.saturating_add(self.delay);
                self.events.push(at, TreeEvent::Down { child, segment, sum });
            }
        }
        last
    }

    /// Forwards a sum at a switch, or delivers it at a host.
    fn handle_down(
        &mut self,
        now: Time,
        child: u32,
        segment: u64,
        sum: i64,
    ) -> Option<RailDelivery> {
        if child >= self.ranks {
            let at = now.saturating_add(self.config.switch_latency);
            self.events.push(at, TreeEvent::Forward { switch: child, segment, sum });
            return None;
        }
        let (key, range) = self.segments[segment as usize];
        Some(RailDelivery::Sums(Sums { key, rank: child, range, sum }))
    }
}

impl Plane for TreeRail {
    fn next_time(&mut self) -> Option<Time> {
        self.events.next_time()
    }

    fn step(&mut self, _cpus: &mut [Cpu]) -> Option<RailDelivery> {
        let (now, event) = self.events.pop()?;
        match event {
            TreeEvent::Begun { rank, attempt } => self.handle_begun(now, rank, attempt),
            TreeEvent::Up { child, sum } => self.receive(now, child, sum),
            TreeEvent::Summed { switch } => self.pass_up(now, switch),
            TreeEvent::Free { child } => self.pump(now, child),
            TreeEvent::Credit { child } => {
                self.nodes[child as usize].credited += 1;
                self.pump(now, child);
            }
            TreeEvent::Down { child, segment, sum } => {
                return self.handle_down(now, child, segment, sum);
            }
            TreeEvent::Forward { switch, segment, sum } => {
                self.multicast(now, switch, segment, sum);
            }
            TreeEvent::Control(control) => return Some(RailDelivery::Control(control)),
        }
        None
    }

    fn begin(&mut self, now: Time, attempt: Attempt, rank: u32, cpus: &mut [Cpu]) {
        let done = cpus[rank as usize].run(now, self.config.chunk_overhead);
        self.events.push(done, TreeEvent::Begun { rank, attempt });
    }

    /// Resets the tree. Control messages stay in flight.
    fn discard(&mut self) {
        self.events.retain(|event| matches!(event, TreeEvent::Control(_)));
        self.nodes = nodes(self.ranks, self.config.radix);
        self.segments.clear();
    }

    /// Sends a control message up to the root and down again.
    fn send_control(&mut self, now: Time, control: ControlMessage, _cpus: &mut [Cpu]) {
        let bytes = control.message.bytes() + self.config.header;
        let inner = 2 * self.height() as usize - 2;
        let wires = [Some(control.from)].into_iter();
        let wires = wires.chain(std::iter::repeat_n(None, inner)).chain([Some(control.to)]);
        let mut at = now;
        for (hops, wire) in wires.enumerate() {
            if hops > 0 {
                at = at.saturating_add(self.config.switch_latency);
            }
            let Some(end) = self.wires.end(wire, at, bytes) else { return };
            at = end.saturating_add(self.delay);
        }
        self.events.push(at, TreeEvent::Control(control));
    }

    fn bytes(&self) -> Bytes {
        self.bytes
    }
}

/// Builds the nodes of the tree: hosts, then switches tier by tier, each with up to `radix`
/// children.
fn nodes(ranks: u32, radix: u32) -> Vec<TreeNode> {
    let mut nodes: Vec<TreeNode> = (0..ranks).map(|_| TreeNode::default()).collect();
    let mut tier: Vec<u32> = (0..ranks).collect();
    while tier.len() > 1 || tier[0] < ranks {
        let mut above = Vec::new();
        for children in tier.chunks(radix.max(2) as usize) {
            let switch = nodes.len() as u32;
            children.iter().for_each(|&child| nodes[child as usize].parent = Some(switch));
            nodes.push(TreeNode { children: children.to_vec(), ..TreeNode::default() });
            above.push(switch);
        }
        tier = above;
    }
    nodes
}
