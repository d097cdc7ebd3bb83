//! A first look through the files of all ranks before any of it is replayed: who is in which
//! group, how much is sent, and whatever is wrong with the files themselves.
//!
//! It reads every node and keeps none: what grows with the files is a bit a node, and what is
//! waited for ahead.

use std::collections::BTreeMap;

use super::error::{ChakraError, ChakraFault, Dependency};
use super::expand::expand;
use super::id_set::IdSet;
use super::assemble::{COLLECTIVE_STREAMS, too_many_bytes};
use super::node::{Action, Groups, Nodes, Placed, Read};
use super::{Options, Source, open, placed_in};
use crate::ids::HostId;
use crate::units::{Bytes, Span, Time};
use crate::workload::graph::at_least_a_byte;
use crate::workload::{Delay, Message, Workload};

/// What the files come to.
#[derive(Debug)]
pub(super) struct Survey {
    /// The groups' names.
    pub groups: Groups,
    /// By group, the ranks that are in it, in order.
    pub members: Vec<Vec<u32>>,
    /// What is sent, a message for each pair and stream, and what each lane of a rank computes:
    /// for bounds.
    pub load: Workload,
    /// How many messages there are.
    pub messages: u64,
    /// The longest of them.
    pub longest: Bytes,
    /// Nodes that give the number of their operations and no duration.
    pub timeless: usize,
    /// Sends of no bytes.
    pub empty_sends: usize,
}

/// A node of a rank: the rank, the node's id, where it begins.
type Place = (u32, u64, u64);

/// What is known so far.
struct Look<'a> {
    options: &'a Options,
    ranks: u32,
    survey: Survey,
    /// By group and rank: how many calls of it there are, and the last one.
    calls: BTreeMap<(u32, u32), (u64, Place)>,
    /// By group, operation and bytes: how many calls, of all ranks, and the first one.
    kinds: BTreeMap<(u32, u8, u64), (u64, Place)>,
    /// Bytes by sender, receiver and stream.
    pairs: BTreeMap<(u32, u32, u32), u128>,
    /// By rank that is somebody's peer: the attribute that names it, and the first such node.
    peers: BTreeMap<u32, (&'static str, u64, u64)>,
    /// Picoseconds by rank and lane.
    lanes: BTreeMap<(u32, u32), u128>,
}

/// Looks through the files of `ranks` ranks.
pub(super) fn survey(
    source: &dyn Source,
    ranks: u32,
    options: &Options,
) -> Result<Survey, ChakraError> {
    let survey = Survey {
        groups: Groups::new(),
        members: Vec::new(),
        load: Workload::default(),
        messages: 0,
        longest: Bytes::ZERO,
        timeless: 0,
        empty_sends: 0,
    };
    let mut look = Look {
        options,
        ranks,
        survey,
        calls: BTreeMap::new(),
        kinds: BTreeMap::new(),
        pairs: BTreeMap::new(),
        peers: BTreeMap::new(),
        lanes: BTreeMap::new(),
    };
    // With dimensions, a rank's groups are its own.
    let is_shared = |rank: u32| {
        rank > 0 && options.dimensions.is_empty() && source.name(rank) == source.name(0)
    };
    for rank in (0..ranks).filter(|&rank| !is_shared(rank)) {
        look.rank(source, rank).map_err(|placed| placed_in(source, rank, placed))?;
    }
    for rank in (0..ranks).filter(|&rank| is_shared(rank)) {
        look.repeat(rank).map_err(|placed| placed_in(source, rank, placed))?;
    }
    look.finish().map_err(|(rank, placed)| placed_in(source, rank, placed))
}

impl Look<'_> {
    fn rank(&mut self, source: &dyn Source, rank: u32) -> Result<(), Placed> {
        let mut nodes = Nodes::open(open(source, rank)?, (rank, self.ranks))?;
        let mut ids = IdSet::default();
        // What is waited for and has not been seen: by whom, first.
        let mut ahead: BTreeMap<u64, (u64, u64, Dependency)> = BTreeMap::new();
        while let Some(node) = nodes.next(self.options, &mut self.survey.groups)? {
            if !ids.insert(node.id) {
                return Err(node.at(ChakraFault::SameId { first: None }));
            }
            ahead.remove(&node.id);
            for &(on, dependency) in &node.waits {
                if on == node.id {
                    return Err(node.at(ChakraFault::Cyclic { by: on, dependency }));
                }
                if !ids.contains(on) {
                    ahead.entry(on).or_insert((node.offset, node.id, dependency));
                }
            }
            self.node(rank, &node).map_err(|fault| node.at(fault))?;
        }
        match ahead.iter().min_by_key(|(_, by)| by.0) {
            None => Ok(()),
            Some((&on, &(offset, id, dependency))) => {
                Err((Some(id), Some(offset), ChakraFault::Dangling { on, dependency }))
            }
        }
    }

    fn node(&mut self, rank: u32, node: &Read) -> Result<(), ChakraFault> {
        self.survey.timeless += usize::from(node.is_timeless);
        match node.action {
            Action::Delay { span, lane: Some(lane) } => {
                *self.lanes.entry((rank, lane.0)).or_default() += u128::from(span.as_ps());
            }
            Action::Delay { lane: None, .. } => {}
            Action::Send { peer, .. } if peer == rank => {
                return Err(ChakraFault::Itself("comm_dst"));
            }
            Action::Receive { peer, .. } if peer == rank => {
                return Err(ChakraFault::Itself("comm_src"));
            }
            Action::Send { peer, tag, bytes } => {
                self.peers.entry(peer).or_insert(("comm_dst", node.id, node.offset));
                self.survey.empty_sends += usize::from(bytes == 0);
                self.survey.messages += 1;
                self.send((rank, peer, tag), at_least_a_byte(bytes), 1);
            }
            Action::Receive { peer, .. } => {
                self.peers.entry(peer).or_insert(("comm_src", node.id, node.offset));
            }
            Action::Collective(call) => {
                let place = (rank, node.id, node.offset);
                let calls = self.calls.entry((call.group, rank)).or_insert((0, place));
                *calls = (calls.0 + 1, place);
                let kind = (call.group, call.operation, call.bytes);
                self.kinds.entry(kind).or_insert((0, place)).0 += 1;
            }
        }
        Ok(())
    }

    fn send(&mut self, pair: (u32, u32, u32), bytes: Bytes, times: u64) {
        self.survey.longest = self.survey.longest.max(bytes);
        *self.pairs.entry(pair).or_default() += u128::from(bytes.get()) * u128::from(times);
    }

    /// The file of the first rank, read by another.
    fn repeat(&mut self, rank: u32) -> Result<(), Placed> {
        if let Some(&(name, id, offset)) = self.peers.get(&rank) {
            return Err((Some(id), Some(offset), ChakraFault::Itself(name)));
        }
        let of_first = |&(&(_, of), _): &(&(u32, u32), _)| of == 0;
        let calls: Vec<_> = self.calls.iter().filter(of_first).map(|it| (*it.0, *it.1)).collect();
        for ((group, _), (count, (_, id, offset))) in calls {
            self.calls.insert((group, rank), (count, (rank, id, offset)));
        }
        // All so far are of ranks that read the same.
        self.kinds.values_mut().for_each(|(count, _)| *count += *count / u64::from(rank));
        let lanes: Vec<_> = self.lanes.range((0, 0)..(1, 0)).map(|it| (it.0.1, *it.1)).collect();
        self.lanes.extend(lanes.into_iter().map(|(lane, ps)| ((rank, lane), ps)));
        Ok(())
    }

    fn finish(mut self) -> Result<Survey, (u32, Placed)> {
        self.join()?;
        let ranks = |group: u32, members: &[Vec<u32>]| -> Vec<HostId> {
            members[group as usize].iter().copied().map(HostId).collect()
        };
        for ((group, operation, bytes), (calls, place)) in std::mem::take(&mut self.kinds) {
            let hosts = ranks(group, &self.survey.members);
            if hosts.len() < 2 {
                continue;
            }
            let (rank, id, offset) = place;
            let messages = expand((operation, bytes), &hosts, &self.options.algorithms)
                .map_err(|error| ChakraFault::Collective(Box::new(error)))
                .map_err(|fault| (rank, (Some(id), Some(offset), fault)))?;
            let times = calls / hosts.len() as u64;
            let count = messages.messages.len() as u64;
            self.survey.messages = self.survey.messages.saturating_add(count * times);
            for message in &messages.messages {
                let pair = (message.src.0, message.dst.0, COLLECTIVE_STREAMS | group);
                self.send(pair, message.bytes, times);
            }
        }
        self.load().map_err(|fault| (0, (None, None, fault)))
    }

    /// Who is in which group; all must call as often.
    fn join(&mut self) -> Result<(), (u32, Placed)> {
        let groups = self.calls.keys().map(|&(group, _)| group + 1).max().unwrap_or(0).max(1);
        self.survey.members = vec![Vec::new(); groups as usize];
        self.survey.members[0] = (0..self.ranks).collect();
        for &(group, rank) in self.calls.keys().filter(|(group, _)| *group > 0) {
            self.survey.members[group as usize].push(rank);
        }
        for (group, members) in (0u32..).zip(&self.survey.members) {
            let calls = |rank: u32| self.calls.get(&(group, rank));
            let count = |rank: u32| calls(rank).map_or(0, |calls| calls.0);
            let most = members.iter().map(|&rank| count(rank)).max().unwrap_or(0);
            let Some(&missing) = members.iter().find(|&&rank| count(rank) < most) else {
                continue;
            };
            let first = members.iter().find(|&&rank| count(rank) == most);
            let Some(&(_, (rank, id, offset))) = first.and_then(|&rank| calls(rank)) else {
                continue;
            };
            let (number, group) = (most as usize, self.survey.groups.name(group));
            let fault = ChakraFault::Absent { missing, number, group };
            return Err((rank, (Some(id), Some(offset), fault)));
        }
        Ok(())
    }

    fn load(self) -> Result<Survey, ChakraFault> {
        let total: u128 = self.pairs.values().sum();
        u64::try_from(total).map_err(|_| too_many_bytes())?;
        let message = |(&(src, dst, stream), &bytes): (&(u32, u32, u32), &u128)| Message {
            src: HostId(src),
            dst: HostId(dst),
            bytes: Bytes::new(bytes as u64),
            stream,
            start: Time::ZERO,
        };
        let span = |ps: u128| Span::from_ps(u64::try_from(ps).unwrap_or(u64::MAX));
        let delay =
            |(&(rank, _), &ps): (&(u32, u32), &u128)| Delay { host: HostId(rank), span: span(ps) };
        let messages = self.pairs.iter().map(message).collect();
        let delays = self.lanes.iter().map(delay).collect();
        let load = Workload::with_delays(messages, delays, &[]);
        Ok(Survey { load, ..self.survey })
    }
}
