//! What ranks do one after the other, put into a graph: computation, collectives, messages.

use std::collections::BTreeMap;

use super::Training;
use super::error::TrainingError;
use crate::collective::{CollectiveKind, Plan};
use crate::ids::{HostId, MessageId};
use crate::units::{Bytes, Span, Time};
use crate::workload::graph::{Graph, GraphFault, Task};
use crate::workload::{Message, Workload};

/// Most messages, and most delays, of a training: 2^25, whose records take some gigabytes.
pub(super) const MOST_TASKS: usize = 1 << 25;

/// Kinds of traffic, each on streams of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Activations among those that share matrices.
    Tensor,
    /// Activations to the next stage.
    Forward,
    /// Their gradients to the one before.
    Backward,
    /// Tokens to their experts and back.
    Expert,
    /// Gradients among replicas.
    Gradients,
    /// Parameters among replicas.
    Parameters,
    /// Gradients among those that have the same experts.
    ExpertGradients,
    /// Parameters among those.
    ExpertParameters,
}

impl Class {
    /// The stream of a channel of this class.
    pub fn stream(self, channel: u32) -> u32 {
        (self as u32) << 24 | channel
    }

    /// The class of a stream.
    pub fn of_stream(stream: u32) -> Option<Self> {
        let all = [
            Self::Tensor,
            Self::Forward,
            Self::Backward,
            Self::Expert,
            Self::Gradients,
            Self::Parameters,
            Self::ExpertGradients,
            Self::ExpertParameters,
        ];
        all.get((stream >> 24) as usize).copied()
    }

    fn name(self) -> &'static str {
        match self {
            Self::Tensor => "among tensor-parallel ranks",
            Self::Forward | Self::Backward => "between stages",
            Self::Expert => "among expert-parallel ranks",
            Self::Gradients | Self::Parameters => "among replicas",
            Self::ExpertGradients | Self::ExpertParameters => "among replicas of experts",
        }
    }
}

/// A collective of some group.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call {
    pub class: Class,
    pub operation: CollectiveKind,
    /// As [`Plan::bytes`].
    pub bytes: Bytes,
}

/// Programs of ranks in the making.
pub(super) struct Program<'a> {
    training: &'a Training,
    graph: Graph,
    /// What the next step of each rank's program waits for.
    pub front: Vec<Option<Task>>,
    /// The last collective of each class at each rank: those of a communicator follow each other.
    tails: BTreeMap<(Class, u32), Task>,
    /// Collectives that were laid out before, by class, operation, ranks and bytes.
    laid_out: BTreeMap<(Class, u8, usize, Bytes), Workload>,
}

impl<'a> Program<'a> {
    pub fn new(training: &'a Training) -> Self {
        Self {
            training,
            graph: Graph::default(),
            front: vec![None; training.degrees.ranks() as usize],
            tails: BTreeMap::new(),
            laid_out: BTreeMap::new(),
        }
    }

    /// Each of `ranks` computes so many operations.
    pub fn compute(&mut self, ranks: impl Iterator<Item = u32>, operations: u128) {
        let span = self.training.flops.time_for(operations);
        if span == Span::ZERO {
            return;
        }
        for rank in ranks {
            let task = self.graph.delay(HostId(rank), span);
            if let Some(before) = self.front[rank as usize] {
                self.graph.wait(before, task);
            }
            self.front[rank as usize] = Some(task);
        }
    }

    /// So many messages there are.
    pub fn messages(&self) -> usize {
        self.graph.counts().0
    }

    /// The next step of `rank` waits for this too.
    pub fn meet(&mut self, rank: u32, other: Option<Task>) {
        self.front[rank as usize] = self.both(rank, [self.front[rank as usize], other]);
    }

    /// The end of the last collective of that class at `rank`.
    pub fn tail(&self, class: Class, rank: u32) -> Option<Task> {
        self.tails.get(&(class, rank)).copied()
    }

    /// A message that goes when `src` has come so far, and does not hold it up.
    pub fn send(&mut self, class: Class, (src, dst): (u32, u32), bytes: Bytes) -> Task {
        let (from, to) = (HostId(src), HostId(dst));
        let stream = class.stream(0);
        let message = Message { src: from, dst: to, bytes, stream, start: Time::ZERO };
        let task = self.graph.message(message);
        if let Some(before) = self.front[src as usize] {
            self.graph.wait(before, task);
        }
        task
    }

    /// A collective in each group, which its ranks wait for.
    pub fn blocking(&mut self, call: Call, groups: &[Vec<u32>]) -> Result<(), TrainingError> {
        for group in groups {
            let begins: Vec<_> = group.iter().map(|&rank| self.front[rank as usize]).collect();
            let ends = self.collective(call, group, &begins)?;
            for (&rank, end) in group.iter().zip(ends) {
                self.front[rank as usize] = end;
            }
        }
        Ok(())
    }

    /// A collective in each group, which begins at each rank when `begin` says (by rank) and the
    /// one before it is over. Nobody waits for it yet.
    pub fn aside(
        &mut self,
        call: Call,
        groups: &[Vec<u32>],
        begin: &[Option<Task>],
    ) -> Result<(), TrainingError> {
        if call.bytes == Bytes::ZERO {
            return Ok(());
        }
        for group in groups {
            let mut begins = Vec::with_capacity(group.len());
            for &rank in group {
                let tail = self.tail(call.class, rank);
                begins.push(self.both(rank, [begin[rank as usize], tail]));
            }
            let ends = self.collective(call, group, &begins)?;
            for (&rank, end) in group.iter().zip(ends) {
                if let Some(end) = end {
                    self.tails.insert((call.class, rank), end);
                }
            }
        }
        Ok(())
    }

    pub fn finish(self) -> Result<Workload, TrainingError> {
        self.graph.finish().map_err(|fault| match fault {
            GraphFault::TooManyTasks => TrainingError::TooManyMessages,
            GraphFault::TooManyBytes => TrainingError::TooManyBytes,
            GraphFault::Circle(_) => unreachable!("each step waits for earlier ones"),
        })
    }

    /// Lays out a collective; what each rank begins with, and what it is over with, in order of
    /// the group. One rank alone has nothing to do.
    fn collective(
        &mut self,
        call: Call,
        group: &[u32],
        begins: &[Option<Task>],
    ) -> Result<Vec<Option<Task>>, TrainingError> {
        if group.len() < 2 || call.bytes == Bytes::ZERO {
            return Ok(begins.to_vec());
        }
        let key = (call.class, call.operation as u8, group.len(), call.bytes);
        let laid_out = match self.laid_out.remove(&key) {
            Some(known) => known,
            None => self.lay_out(call, group.len())?,
        };
        if self.graph.len() + laid_out.messages.len() > MOST_TASKS {
            return Err(TrainingError::TooManyMessages);
        }
        let host = |place: HostId| HostId(group[place.index()]);
        let ends: Vec<Task> =
            group.iter().map(|&rank| self.graph.delay(HostId(rank), Span::ZERO)).collect();
        let place = self.graph.append_at(&laid_out, (&|channel| call.class.stream(channel), &host));
        for (id, message) in (0u32..).map(MessageId).zip(&laid_out.messages) {
            let task = place.task(id);
            // Whoever sends on has to have come so far itself.
            if let Some(begin) = begins[message.src.index()] {
                self.graph.wait(begin, task);
            }
            self.graph.wait(task, ends[message.src.index()]);
            // What is sent on is over at its receiver before that is.
            let dependents = laid_out.dependents_of(id).iter();
            let mut hosts = dependents.map(|&after| laid_out.host_of(after));
            if !hosts.any(|host| host == message.dst) {
                self.graph.wait(task, ends[message.dst.index()]);
            }
        }
        for (begin, &end) in begins.iter().zip(&ends) {
            if let Some(begin) = *begin {
                self.graph.wait(begin, end);
            }
        }
        self.laid_out.insert(key, laid_out);
        Ok(ends.into_iter().map(Some).collect())
    }

    /// The messages of a collective among ranks 0, 1, and so on.
    fn lay_out(&self, call: Call, ranks: usize) -> Result<Workload, TrainingError> {
        let algorithms = &self.training.algorithms;
        let hosts = (0..ranks as u32).map(HostId).collect();
        let mut plan = Plan::new(hosts, call.bytes);
        (plan.channels, plan.group) = (self.training.channels, algorithms.group);
        let collective = algorithms.of(call.operation);
        let messages = (collective.cost)(&plan).messages;
        if messages > MOST_TASKS as u128 {
            return Err(TrainingError::TooManyMessages);
        }
        let class = call.class.name();
        collective.build(&plan).map_err(|error| TrainingError::Collective { class, error })
    }

    /// Both of what a rank waits for.
    fn both(&mut self, rank: u32, tasks: [Option<Task>; 2]) -> Option<Task> {
        match tasks {
            [Some(one), Some(other)] if one != other => {
                let join = self.graph.delay(HostId(rank), Span::ZERO);
                self.graph.wait(one, join);
                self.graph.wait(other, join);
                Some(join)
            }
            [one, other] => one.or(other),
        }
    }
}
