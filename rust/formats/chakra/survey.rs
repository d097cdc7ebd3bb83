//! A survey of the files of all ranks before their replay: the members of each group, the total
//! load, and errors within the files.
//!
//! The survey reads every node and keeps none. Its memory grows by one bit per node, plus an entry
//! for each node that is referenced before it is read.

use std::collections::BTreeMap;

use super::assemble::{COLLECTIVE_STREAMS, too_many_bytes};
use super::error::{ChakraError, ChakraFault, Dependency, NodeFault, RankFault};
use super::expand::expand;
use super::groups::RankGroups;
use super::id_set::IdSet;
use super::node::{NodeAction, NodeReader, ParsedNode};
use super::tally::Tally;
use super::{Options, TraceSource, open};
use crate::ids::HostId;
use crate::units::{Bytes, Span, Time};
use crate::workload::graph::at_least_a_byte;
use crate::workload::{Delay, Message, Workload};

/// The result of a survey.
#[derive(Debug)]
pub(super) struct Survey {
    /// Names of the groups.
    pub groups: RankGroups,
    /// Ranks of each group, in ascending order.
    pub members: Vec<Vec<u32>>,
    /// The total load, see [`super::Streaming::load`].
    pub load: Workload,
    /// Number of messages of all ranks, including those of collectives.
    pub messages: u64,
    /// Size of the largest message.
    pub longest: Bytes,
    pub tally: Tally,
}

/// The position of a node.
#[derive(Debug, Clone, Copy)]
struct NodePosition {
    rank: u32,
    id: u64,
    offset: u64,
}

impl NodePosition {
    fn fault(self, fault: ChakraFault) -> NodeFault {
        NodeFault::of_node(self.id, self.offset, fault)
    }
}

/// A sender, a receiver and a stream.
type StreamKey = (u32, u32, u32);

/// A survey in progress.
struct Surveyor<'a> {
    options: &'a Options,
    ranks: u32,
    survey: Survey,
    /// Number of calls and the last one, by group and rank.
    calls: BTreeMap<(u32, u32), (u64, NodePosition)>,
    /// Number of calls of all ranks and the first one, by group, operation and bytes.
    kinds: BTreeMap<(u32, u8, u64), (u64, NodePosition)>,
    bytes: BTreeMap<StreamKey, u128>,
    /// Ranks that are a peer: the attribute that names them, and the first node that does.
    peers: BTreeMap<u32, (&'static str, NodePosition)>,
    /// Computation in picoseconds, by rank and lane.
    lanes: BTreeMap<(u32, u32), u128>,
}

/// Surveys the files of `ranks` ranks.
pub(super) fn survey(
    source: &dyn TraceSource,
    ranks: u32,
    options: &Options,
) -> Result<Survey, ChakraError> {
    let survey = Survey {
        groups: RankGroups::new(),
        members: Vec::new(),
        load: Workload::default(),
        messages: 0,
        longest: Bytes::ZERO,
        tally: Tally::default(),
    };
    let mut surveyor = Surveyor {
        options,
        ranks,
        survey,
        calls: BTreeMap::new(),
        kinds: BTreeMap::new(),
        bytes: BTreeMap::new(),
        peers: BTreeMap::new(),
        lanes: BTreeMap::new(),
    };
    // With dimensions, the groups of ranks differ even where ranks share a file.
    let is_shared = |rank: u32| {
        rank > 0 && options.dimensions.is_empty() && source.name(rank) == source.name(0)
    };
    let in_file = |rank: u32| move |fault: NodeFault| fault.in_file(source.name(rank), rank);
    for rank in (0..ranks).filter(|&rank| !is_shared(rank)) {
        surveyor.read_file(source, rank).map_err(in_file(rank))?;
    }
    for rank in (0..ranks).filter(|&rank| is_shared(rank)) {
        surveyor.repeat_first(rank).map_err(in_file(rank))?;
    }
    surveyor.finish().map_err(|RankFault { rank, fault }| in_file(rank)(fault))
}

impl Surveyor<'_> {
    fn read_file(&mut self, source: &dyn TraceSource, rank: u32) -> Result<(), NodeFault> {
        let mut nodes = NodeReader::open(open(source, rank)?, rank, self.ranks)?;
        let mut ids = IdSet::default();
        // The first node that depends on each id that has not been read yet.
        let mut unread: BTreeMap<u64, (NodePosition, Dependency)> = BTreeMap::new();
        while let Some(node) = nodes.next(self.options, &mut self.survey.groups)? {
            if !ids.insert(node.id) {
                return Err(node.fault(ChakraFault::SameId { first: None }));
            }
            unread.remove(&node.id);
            let position = NodePosition { rank, id: node.id, offset: node.offset };
            for &(on, dependency) in &node.dependencies {
                if on == node.id {
                    return Err(node.fault(ChakraFault::Cyclic { by: on, dependency }));
                }
                if !ids.contains(on) {
                    unread.entry(on).or_insert((position, dependency));
                }
            }
            self.add(position, &node).map_err(|fault| node.fault(fault))?;
        }
        match unread.iter().min_by_key(|(_, (by, _))| by.offset) {
            None => Ok(()),
            Some((&on, &(by, dependency))) => {
                Err(by.fault(ChakraFault::Dangling { on, dependency }))
            }
        }
    }

    fn add(&mut self, position: NodePosition, node: &ParsedNode) -> Result<(), ChakraFault> {
        let rank = position.rank;
        self.survey.tally.count(node);
        match node.action {
            NodeAction::Delay { span, lane: Some(lane) } => {
                *self.lanes.entry((rank, lane.0)).or_default() += u128::from(span.as_ps());
            }
            NodeAction::Delay { lane: None, .. } => {}
            NodeAction::Send { peer, .. } if peer == rank => {
                return Err(ChakraFault::Itself("comm_dst"));
            }
            NodeAction::Receive { peer, .. } if peer == rank => {
                return Err(ChakraFault::Itself("comm_src"));
            }
            NodeAction::Send { peer, tag, bytes } => {
                self.peers.entry(peer).or_insert(("comm_dst", position));
                self.survey.messages += 1;
                self.add_bytes((rank, peer, tag), at_least_a_byte(bytes), 1);
            }
            NodeAction::Receive { peer, .. } => {
                self.peers.entry(peer).or_insert(("comm_src", position));
            }
            NodeAction::Collective(call) => {
                let calls = self.calls.entry((call.group, rank)).or_insert((0, position));
                *calls = (calls.0 + 1, position);
                let kind = (call.group, call.operation, call.bytes);
                self.kinds.entry(kind).or_insert((0, position)).0 += 1;
            }
        }
        Ok(())
    }

    fn add_bytes(&mut self, pair: StreamKey, bytes: Bytes, times: u64) {
        self.survey.longest = self.survey.longest.max(bytes);
        *self.bytes.entry(pair).or_default() += u128::from(bytes.get()) * u128::from(times);
    }

    /// Adds a rank that shares the file of the first rank.
    fn repeat_first(&mut self, rank: u32) -> Result<(), NodeFault> {
        if let Some(&(name, position)) = self.peers.get(&rank) {
            return Err(position.fault(ChakraFault::Itself(name)));
        }
        let of_first = |&(&(_, of), _): &(&(u32, u32), _)| of == 0;
        let calls: Vec<_> = self.calls.iter().filter(of_first).map(|it| (*it.0, *it.1)).collect();
        for ((group, _), (count, position)) in calls {
            self.calls.insert((group, rank), (count, NodePosition { rank, ..position }));
        }
        // The `rank` earlier ranks have identical calls, so this rank adds 1/`rank` of the count.
        self.kinds.values_mut().for_each(|(count, _)| *count += *count / u64::from(rank));
        let lanes: Vec<_> = self.lanes.range((0, 0)..(1, 0)).map(|it| (it.0.1, *it.1)).collect();
        self.lanes.extend(lanes.into_iter().map(|(lane, ps)| ((rank, lane), ps)));
        Ok(())
    }

    fn finish(mut self) -> Result<Survey, RankFault> {
        self.find_members()?;
        let ranks = |group: u32, members: &[Vec<u32>]| -> Vec<HostId> {
            members[group as usize].iter().copied().map(HostId).collect()
        };
        for ((group, operation, bytes), (calls, first)) in std::mem::take(&mut self.kinds) {
            let hosts = ranks(group, &self.survey.members);
            if hosts.len() < 2 {
                continue;
            }
            let messages = expand(operation, bytes, &hosts, &self.options.algorithms)
                .map_err(|error| ChakraFault::Collective(Box::new(error)))
                .map_err(|fault| first.fault(fault).of_rank(first.rank))?;
            let times = calls / hosts.len() as u64;
            let count = messages.messages.len() as u64;
            self.survey.messages = self.survey.messages.saturating_add(count * times);
            for message in &messages.messages {
                let pair = (message.src.0, message.dst.0, COLLECTIVE_STREAMS | group);
                self.add_bytes(pair, message.bytes, times);
            }
        }
        self.load().map_err(|fault| NodeFault::of_file(fault).of_rank(0))
    }

    /// Finds the members of each group and checks that all have the same number of calls.
    fn find_members(&mut self) -> Result<(), RankFault> {
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
            let Some(&(_, last)) = first.and_then(|&rank| calls(rank)) else { continue };
            let (number, group) = (most as usize, self.survey.groups.name(group));
            let fault = ChakraFault::Absent { missing, number, group };
            return Err(last.fault(fault).of_rank(last.rank));
        }
        Ok(())
    }

    /// Completes the survey with its total load.
    fn load(self) -> Result<Survey, ChakraFault> {
        let total: u128 = self.bytes.values().sum();
        u64::try_from(total).map_err(|_| too_many_bytes())?;
        let message = |(&(src, dst, stream), &bytes): (&StreamKey, &u128)| Message {
            src: HostId(src),
            dst: HostId(dst),
            bytes: Bytes::new(bytes as u64),
            stream,
            start: Time::ZERO,
        };
        let span = |ps: u128| Span::from_ps(u64::try_from(ps).unwrap_or(u64::MAX));
        let delay =
            |(&(rank, _), &ps): (&(u32, u32), &u128)| Delay { host: HostId(rank), span: span(ps) };
        let messages = self.bytes.iter().map(message).collect();
        let delays = self.lanes.iter().map(delay).collect();
        let load = Workload::with_delays(messages, delays, &[]);
        Ok(Survey { load, ..self.survey })
    }
}
