//! What splitters that pin their pieces have in common: gathering, orders, delays and a memory of
//! failed paths.
//!
//! Source: Addanki, Goyal, Marinos, Schmid, "Ethereal: Divide and Conquer Network Load Balancing
//! in Large-Scale Distributed Training" (arXiv 2407.00550 v2, 2025), with batching, orders, delays
//! and path memory as in its public simulator. A sending host acts alone, on its own flows, by
//! destination edge switch. How the flows of one destination are cut is what splitters differ in:
//! [`Divide`].
//!
//! \[inferred\] Where a batch holds flows of several sizes (the paper assumes one), flows of each
//! size are a group of their own. Sizes that differ by a byte are one size: the blocks of a
//! collective do where its bytes do not divide, and its messages should not be cut apart for that.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Debug;
use std::marker::PhantomData;

use serde::{Deserialize, Serialize};

use super::{Flow, Request, Split};
use crate::ids::{HostId, SwitchId};
use crate::rng::{Purpose, Stream};
use crate::units::{Bytes, Span, Time};

/// Parameters; the defaults are those of the authors' public simulator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// How long messages are gathered before they are split together: 100 ns.
    pub batch_timer: Span,
    /// Each flow starts after a further uniform delay of up to this: 50 ns.
    pub start_jitter: Span,
    /// How long a failed path is left out for a destination edge switch: 100 ms.
    pub path_memory: Span,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            batch_timer: Span::from_ns(100),
            start_jitter: Span::from_ns(50),
            path_memory: Span::from_ms(100),
        }
    }
}

/// Flows of one size, give or take a byte, to hosts below one edge switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group<'a> {
    /// The length of each flow, in bytes; there is at least one.
    pub lengths: &'a [u64],
    /// Over how many paths; at least one.
    pub paths: u32,
}

impl Group<'_> {
    /// How many flows.
    pub fn flows(&self) -> u32 {
        u32::try_from(self.lengths.len()).expect("ids are 32 bits")
    }
}

/// A flow, or a piece of one, and the path that it goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Which of the group's flows, from 0.
    pub flow: u32,
    /// Bytes.
    pub bytes: u64,
    /// Which of the group's paths, from 0.
    pub path: u32,
}

/// How a group is divided over its paths.
pub trait Divide: Debug {
    /// The parts of all flows, flow by flow; those of one flow are on paths of their own.
    fn divide(group: &Group<'_>) -> Vec<Part>;
}

/// The splitter of one sending host that divides by `D`.
#[derive(Debug)]
pub struct Batch<D> {
    config: Config,
    random: Stream,
    /// Messages gathered, by destination edge switch.
    batch: BTreeMap<SwitchId, Vec<Request>>,
    /// When the batch is split; `None` while it is empty.
    batch_due: Option<Time>,
    /// Failed paths by destination edge switch, with the time to forget each.
    /// ([`crate::nic::Timer::PathMemory`]): a list, because there may be any number. It wakes
    /// nobody; what is over is found when the next batch is split.
    failed: BTreeMap<SwitchId, Vec<(u16, Time)>>,
    /// Flows not yet started, by start time; equal times in the order made.
    pending: BTreeMap<(Time, u64), Flow>,
    /// Flows that never wait: those within the rack.
    at_once: VecDeque<Flow>,
    made: u64,
    by: PhantomData<D>,
}

impl<D: Divide> Batch<D> {
    pub(super) fn new(config: &Config, seed: u64, host: HostId) -> Self {
        Self {
            config: *config,
            random: Stream::new(seed, Purpose::Split, u64::from(host.0)),
            batch: BTreeMap::new(),
            batch_due: None,
            failed: BTreeMap::new(),
            pending: BTreeMap::new(),
            at_once: VecDeque::new(),
            made: 0,
            by: PhantomData,
        }
    }

    fn split_batch(&mut self, now: Time) {
        let mut groups: Vec<_> = std::mem::take(&mut self.batch).into_iter().collect();
        // Different senders visit destinations in different orders: no common first target.
        self.random.shuffle(&mut groups);
        for (edge, mut requests) in groups {
            self.random.shuffle(&mut requests);
            let mut paths = self.good_paths(now, edge, &requests[0]);
            self.random.shuffle(&mut paths);
            // A stable sort keeps the shuffled order within each size.
            let sizes = sizes(&requests);
            let size = |request: &Request| sizes.partition_point(|&size| size <= request.bytes);
            requests.sort_by_key(size);
            for group in requests.chunk_by(|a, b| size(a) == size(b)) {
                self.split_group(now, group, &paths);
            }
        }
    }

    fn good_paths(&mut self, now: Time, edge: SwitchId, request: &Request) -> Vec<u16> {
        let count = request.paths.count();
        let all = (0..count).map(|path| u16::try_from(path).expect("65,536 paths at most"));
        let Some(failed) = self.failed.get_mut(&edge) else { return all.collect() };
        failed.retain(|&(_, forget)| forget > now);
        let good: Vec<u16> =
            all.clone().filter(|path| failed.iter().all(|(bad, _)| bad != path)).collect();
        // With every path failed there is nothing to avoid.
        if good.is_empty() { all.collect() } else { good }
    }

    fn split_group(&mut self, now: Time, requests: &[Request], paths: &[u16]) {
        let lengths: Vec<u64> = requests.iter().map(|request| request.bytes.get()).collect();
        let group =
            Group { lengths: &lengths, paths: u32::try_from(paths.len()).expect("65,536 at most") };
        let parts = D::divide(&group);
        for parts in parts.chunk_by(|a, b| a.flow == b.flow) {
            let request = &requests[parts[0].flow as usize];
            let pieces = u32::try_from(parts.len()).expect("a piece a path at most");
            for (piece, part) in (0..).zip(parts) {
                let path = paths[part.path as usize];
                let flow = Flow {
                    message: request.message,
                    dst: request.dst,
                    bytes: Bytes::new(part.bytes),
                    piece,
                    pieces,
                    path,
                    // A queue pair for each path that pieces take: it need not leave its path for
                    // those of the next message.
                    qp_index: if pieces > 1 { u32::from(path) } else { 0 },
                };
                self.start_later(now, flow);
            }
        }
    }

    fn start_later(&mut self, now: Time, flow: Flow) {
        // Whole nanoseconds, as in the authors' simulator; beyond 2 s, as few of them as it takes
        // to stay within a draw of 32 bits.
        let longest = self.config.start_jitter.as_ps() / 1_000;
        let step = (longest >> 31) + 1;
        let steps = u32::try_from(longest / step).expect("less than 2^31 steps");
        let delay = Span::from_ns(u64::from(self.random.below(steps + 1)) * step);
        self.pending.insert((now + delay, self.made), flow);
        self.made += 1;
    }
}

/// The sizes that there are, each by its shortest; those that differ from it by a byte are the same.
fn sizes(requests: &[Request]) -> Vec<Bytes> {
    let mut sizes: Vec<Bytes> = requests.iter().map(|request| request.bytes).collect();
    sizes.sort_unstable();
    sizes.dedup_by(|longer, shortest| longer.get() - shortest.get() <= 1);
    sizes
}

impl<D: Divide> Split for Batch<D> {
    fn handle_message(&mut self, now: Time, request: &Request) {
        if request.paths.count() == 1 {
            self.at_once.push_back(Flow::whole(request));
            return;
        }
        self.batch.entry(request.edge).or_default().push(*request);
        self.batch_due.get_or_insert(now + self.config.batch_timer);
    }

    fn handle_failed_path(&mut self, now: Time, edge: SwitchId, path: u16) {
        let failed = self.failed.entry(edge).or_default();
        failed.retain(|&(known, forget)| known != path && forget > now);
        failed.push((path, now.saturating_add(self.config.path_memory)));
    }

    fn handle_timeout(&mut self, now: Time) {
        if self.batch_due.is_some_and(|due| due <= now) {
            self.batch_due = None;
            self.split_batch(now);
        }
    }

    fn poll_flow(&mut self, now: Time) -> Option<Flow> {
        if let Some(flow) = self.at_once.pop_front() {
            return Some(flow);
        }
        let first = self.pending.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }

    fn poll_timeout(&self) -> Option<Time> {
        let start = self.pending.first_key_value().map(|(&(start, _), _)| start);
        [start, self.batch_due].into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests;
