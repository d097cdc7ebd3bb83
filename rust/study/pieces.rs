//! Estimates into how many pieces splitters divide messages.

use std::collections::BTreeMap;

use super::queue_pairs::paths;
use crate::fabric::Setup;
use crate::ids::{HostId, MessageId};
use crate::split::{Request, Split, SplitterContext};
use crate::units::{Bytes, Time};
use crate::workload::Message;

/// Number of senders that are sampled.
const SENDERS: u32 = 64;

/// Maximum number of timeouts of a splitter that are followed.
const TIMEOUTS: usize = 1_000;

/// Bytes and messages of a sender, by peer and stream.
type Peers = BTreeMap<(HostId, u32), (u64, u64)>;

/// Returns the mean number of pieces of a message on the fabric, over a sample of the senders. A
/// sender is taken to begin one message of mean length to each of its peers at the same time.
/// `load` has the messages, or their totals, and their numbers.
pub(super) fn pieces_per_message(setup: &Setup, load: impl Iterator<Item = (Message, u64)>) -> f64 {
    // An odd step, so that the sample has all positions in servers and below leaves.
    let step = setup.topology.host_count().div_ceil(SENDERS) | 1;
    let mut by_host: BTreeMap<HostId, Peers> = BTreeMap::new();
    for (message, count) in load.filter(|(message, _)| message.src.0.is_multiple_of(step)) {
        let peers = by_host.entry(message.src).or_default();
        let (bytes, messages) = peers.entry((message.dst, message.stream)).or_default();
        *bytes += message.bytes.get();
        *messages += count;
    }
    let messages: usize = by_host.values().map(BTreeMap::len).sum();
    let pieces: usize = by_host.iter().map(|(&host, peers)| pieces_of(setup, host, peers)).sum();
    (pieces as f64 / messages.max(1) as f64).max(1.0)
}

/// Splits one message to each peer. `peers` has their bytes and numbers of messages.
fn pieces_of(setup: &Setup, src: HostId, peers: &BTreeMap<(HostId, u32), (u64, u64)>) -> usize {
    let (routes, policies) = (setup.topology.routes(), setup.policies());
    let context = SplitterContext { host: src, seed: setup.seed, payload: setup.nic.payload };
    let all = policies.all().iter();
    let mut splitters: Vec<_> = all.map(|policy| policy.scheme.split.build(&context)).collect();
    for (id, (&(dst, stream), &(bytes, count))) in (0..).map(MessageId).zip(peers) {
        let (bytes, start) = (Bytes::new(bytes / count.max(1)), Time::ZERO);
        let message = Message { src, dst, bytes, stream, start };
        let index = policies.index_of(stream);
        let request = Request {
            message: id,
            dst,
            edge: routes.edge_of(dst),
            bytes,
            paths: paths(policies.all()[index].scheme.forwarding, routes, &message),
        };
        splitters[index].handle_message(start, &request);
    }
    let mut pieces = 0;
    for splitter in &mut splitters {
        let mut now = Time::ZERO;
        for _ in 0..TIMEOUTS {
            pieces += std::iter::from_fn(|| splitter.poll_flow(now)).count();
            let Some(due) = splitter.poll_timeout() else { break };
            now = now.max(due);
            splitter.handle_timeout(now);
        }
    }
    pieces
}
