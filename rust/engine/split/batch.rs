//! Common part of splitters that pin their pieces: batching, random orders, start delays and a
//! memory of failed paths.
//!
//! Source: Addanki, Goyal, Marinos, Schmid, "Ethereal: Divide and Conquer Network Load Balancing in
//! Large-Scale Distributed Training" (arXiv 2407.00550 v2, 2025), with batching, orders, delays and
//! path memory as in its public simulator. A sending host acts alone, on its own flows, by
//! destination edge switch. Splitters differ in how they cut the flows to one destination:
//! [`Divide`].
//!
//! Every flow, whole or a piece, has its own queue pair while it is in flight. The simulator opens
//! one for each flow and closes it afterwards. \[inferred\] Here an idle queue pair is reused with
//! the state of its congestion control, and moves to the path of its next flow.
//!
//! \[inferred\] If a batch holds flows of several sizes (the paper assumes one), the flows of each
//! size are a separate group. Sizes that differ by a byte count as one size, because the blocks of
//! a collective differ by a byte if its length does not divide evenly.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Debug;
use std::marker::PhantomData;

use serde::{Deserialize, Serialize};

use super::{Cutter, Flow, QueuePairChoice, Request, SmallestPiece, Split, SplitterContext};
use crate::ids::SwitchId;
use crate::rng::{Purpose, Stream};
use crate::units::{Bytes, Span, Time};

/// Parameters of a batching splitter; the defaults are those of the authors' public simulator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Time for which messages are gathered before they are split together. Default 100 ns.
    pub batch_timer: Span,
    /// Longest start delay of a flow after its batch was split; delays are uniform. Default 50 ns.
    pub start_jitter: Span,
    /// Time for which a failed path is avoided for a destination edge switch. Default 100 ms.
    pub path_memory: Span,
    /// Smallest piece: `"packet"` cuts between packets, a number of bytes anywhere. Default
    /// `"packet"` \[inferred\]; the authors' public simulator cuts as `"1B"` does.
    pub smallest_piece: SmallestPiece,
    /// Maximum number of a host's flows in flight. The flows to an edge switch wait, all together,
    /// while they and those in flight exceed it. They are tried again `batch_timer` after a flow
    /// has completed; without flows in flight they start in any case. Default 0, no limit. Later
    /// versions of the authors' public simulator have 16 to 1,024, try again every 100 ns, and end
    /// with an error if flows are cut.
    pub qp_window: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            batch_timer: Span::from_ns(100),
            start_jitter: Span::from_ns(50),
            path_memory: Span::from_ms(100),
            smallest_piece: SmallestPiece::Packet,
            qp_window: 0,
        }
    }
}

impl Config {
    pub(super) const fn smallest_piece(self) -> Option<SmallestPiece> {
        Some(self.smallest_piece)
    }
}

/// Flows of one size, within a byte, to hosts below one edge switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group<'a> {
    /// Length of each flow in bytes; at least one flow.
    pub lengths: &'a [u64],
    /// Number of paths, at least one.
    pub paths: u32,
    /// Positions at which flows may be cut.
    pub cutter: Cutter,
}

impl Group<'_> {
    /// Returns the number of flows.
    pub fn flows(&self) -> u32 {
        u32::try_from(self.lengths.len()).expect("ids are 32 bits")
    }
}

/// A flow, or a piece of one, and its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// Index of the flow within the group.
    pub flow: u32,
    /// Length of the piece in bytes.
    pub bytes: u64,
    /// Index of the path within the group's paths.
    pub path: u32,
}

/// Divides a group of flows over its paths.
pub trait Divide: Debug {
    /// Returns the pieces of all flows, flow by flow. No two pieces of a flow share a path.
    fn divide(group: &Group<'_>) -> Vec<Piece>;
}

/// The splitter of one sending host, which divides by `D`.
#[derive(Debug)]
pub struct Batch<D> {
    config: Config,
    cutter: Cutter,
    random: Stream,
    /// Gathered messages, by destination edge switch.
    batch: BTreeMap<SwitchId, Vec<Request>>,
    /// Time at which the batch is split; `None` while it is empty.
    batch_due: Option<Time>,
    /// Groups held back by the window of queue pairs, in the order in which they are tried.
    blocked: Vec<(SwitchId, Vec<Request>)>,
    /// Number of flows that were created and have not completed.
    in_flight: u64,
    /// Failed paths by destination edge switch, each with its expiry
    /// ([`crate::nic::Timer::PathMemory`]). A list, because their number is unbounded. No wake-up
    /// is scheduled; expired entries are removed when the next batch is split.
    failed: BTreeMap<SwitchId, Vec<(u16, Time)>>,
    /// Flows not yet started, by start time; equal times in the order of creation.
    pending: VecDeque<Pending>,
    /// Flows within the rack, which start immediately.
    unbatched: VecDeque<Flow>,
    divider: PhantomData<D>,
}

/// A flow that has not started.
#[derive(Debug, Clone, Copy)]
struct Pending {
    start: Time,
    flow: Flow,
}

impl<D: Divide> Batch<D> {
    pub(super) fn new(config: &Config, context: &SplitterContext) -> Self {
        let &SplitterContext { host, seed, payload } = context;
        Self {
            config: *config,
            cutter: config.smallest_piece.cutter(payload),
            random: Stream::new(seed, Purpose::Split, u64::from(host.0)),
            batch: BTreeMap::new(),
            batch_due: None,
            blocked: Vec::new(),
            in_flight: 0,
            failed: BTreeMap::new(),
            pending: VecDeque::new(),
            unbatched: VecDeque::new(),
            divider: PhantomData,
        }
    }

    fn split_batch(&mut self, now: Time) {
        let mut groups: Vec<_> = std::mem::take(&mut self.batch).into_iter().collect();
        // Different senders visit destinations in different orders, so they have no common first
        // target.
        self.random.shuffle(&mut groups);
        let blocked = std::mem::take(&mut self.blocked);
        for (edge, requests) in blocked.into_iter().chain(groups) {
            if self.fits_window(now, edge, &requests) {
                self.release(now, edge, requests);
            } else {
                self.blocked.push((edge, requests));
            }
        }
        // A stable sort keeps the order of creation among equal times.
        self.pending.make_contiguous().sort_by_key(|pending| pending.start);
    }

    /// Splits the flows to an edge switch and schedules their starts.
    fn release(&mut self, now: Time, edge: SwitchId, mut requests: Vec<Request>) {
        self.random.shuffle(&mut requests);
        let mut paths = self.good_paths(now, edge, &requests[0]);
        self.random.shuffle(&mut paths);
        for group in by_size(&mut requests) {
            self.split_group(now, group, &paths);
        }
    }

    /// Returns true if the flows to an edge switch, cut into pieces, fit in addition to those in
    /// flight.
    fn fits_window(&mut self, now: Time, edge: SwitchId, requests: &[Request]) -> bool {
        let window = u64::from(self.config.qp_window);
        if window == 0 || self.in_flight == 0 {
            return true;
        }
        let paths = self.good_paths(now, edge, &requests[0]);
        let mut requests = requests.to_vec();
        let pieces = by_size(&mut requests).map(|group| self.pieces(group, &paths).len() as u64);
        self.in_flight + pieces.sum::<u64>() <= window
    }

    fn good_paths(&mut self, now: Time, edge: SwitchId, request: &Request) -> Vec<u16> {
        let count = request.paths.count();
        let all = (0..count).map(|path| u16::try_from(path).expect("65,536 paths at most"));
        let Some(failed) = self.failed.get_mut(&edge) else { return all.collect() };
        failed.retain(|&(_, forget)| forget > now);
        let good: Vec<u16> =
            all.clone().filter(|path| failed.iter().all(|(bad, _)| bad != path)).collect();
        // If every path has failed, none can be avoided.
        if good.is_empty() { all.collect() } else { good }
    }

    fn pieces(&self, requests: &[Request], paths: &[u16]) -> Vec<Piece> {
        let lengths: Vec<u64> = requests.iter().map(|request| request.bytes.get()).collect();
        D::divide(&Group {
            lengths: &lengths,
            paths: u32::try_from(paths.len()).expect("65,536 at most"),
            cutter: self.cutter,
        })
    }

    fn split_group(&mut self, now: Time, requests: &[Request], paths: &[u16]) {
        let pieces = self.pieces(requests, paths);
        for pieces in pieces.chunk_by(|a, b| a.flow == b.flow) {
            let request = &requests[pieces[0].flow as usize];
            let count = u32::try_from(pieces.len()).expect("at most one piece per path");
            for (index, piece) in (0..).zip(pieces) {
                let path = paths[piece.path as usize];
                let flow = Flow {
                    message: request.message,
                    dst: request.dst,
                    bytes: Bytes::new(piece.bytes),
                    piece: index,
                    pieces: count,
                    path,
                    // A queue pair has one path at a time, so each flow needs its own.
                    queue_pair: QueuePairChoice::Idle,
                };
                self.start_later(now, flow);
            }
        }
    }

    fn start_later(&mut self, now: Time, flow: Flow) {
        // Whole nanoseconds, as in the authors' simulator. Beyond 2 s, a step of several
        // nanoseconds keeps the draw within 32 bits.
        let longest = self.config.start_jitter.as_ps() / 1_000;
        let step = (longest >> 31) + 1;
        let steps = u32::try_from(longest / step).expect("less than 2^31 steps");
        let delay = Span::from_ns(u64::from(self.random.below(steps + 1)) * step);
        self.pending.push_back(Pending { start: now + delay, flow });
        self.in_flight += 1;
    }
}

/// Groups the requests by size and keeps their order within each size.
fn by_size(requests: &mut [Request]) -> impl Iterator<Item = &[Request]> {
    let sizes = sizes(requests);
    let size = move |request: &Request| sizes.partition_point(|&size| size <= request.bytes);
    // A stable sort keeps the order within each size.
    requests.sort_by_key(&size);
    requests.chunk_by(move |a, b| size(a) == size(b))
}

/// Returns the distinct sizes, each represented by its shortest flow. Sizes that exceed it by at
/// most a byte count as the same.
fn sizes(requests: &[Request]) -> Vec<Bytes> {
    let mut sizes: Vec<Bytes> = requests.iter().map(|request| request.bytes).collect();
    sizes.sort_unstable();
    sizes.dedup_by(|longer, shortest| longer.get() - shortest.get() <= 1);
    sizes
}

impl<D: Divide> Split for Batch<D> {
    fn handle_message(&mut self, now: Time, request: &Request) {
        // With one path there is nothing to balance, so the flow skips the batch.
        if request.paths.count() == 1 {
            self.unbatched.push_back(Flow::whole(request));
            self.in_flight += 1;
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

    fn handle_completed_flow(&mut self, now: Time) {
        self.in_flight -= 1;
        if !self.blocked.is_empty() {
            self.batch_due.get_or_insert(now + self.config.batch_timer);
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        if self.batch_due.is_some_and(|due| due <= now) {
            self.batch_due = None;
            self.split_batch(now);
        }
    }

    fn poll_flow(&mut self, now: Time) -> Option<Flow> {
        if let Some(flow) = self.unbatched.pop_front() {
            return Some(flow);
        }
        let first = self.pending.front().filter(|pending| pending.start <= now)?.flow;
        self.pending.pop_front();
        Some(first)
    }

    #[inline]
    fn next_flow(&self) -> Option<&Flow> {
        self.pending.front().map(|pending| &pending.flow)
    }

    fn poll_timeout(&self) -> Option<Time> {
        let start = self.pending.front().map(|pending| pending.start);
        match (start, self.batch_due) {
            (Some(start), Some(due)) => Some(start.min(due)),
            (start, due) => start.or(due),
        }
    }
}

#[cfg(test)]
mod tests;
