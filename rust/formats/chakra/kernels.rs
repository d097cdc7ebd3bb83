//! Finds the kernels of an accelerator's streams that lack the order of their stream.
//!
//! A stream of an accelerator runs its kernels one after the other. Converters of recorded traces
//! write that order as dependencies only where they see its cause. Without them, kernels of a
//! stream, collectives among them, would start concurrently.

use super::trace::RankTrace;

/// Maximum number of streams per pass, which bounds memory: 4 bytes per node and stream.
const STREAMS_OF_A_PASS: usize = 8;

/// A node that runs on a stream of the accelerator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Kernel {
    /// Number of its stream.
    pub stream: i128,
    /// Its recorded start in microseconds; 0 if it is unknown.
    pub start: u64,
    /// Index of the node in the trace.
    pub node: u32,
}

/// Two neighbours in a stream without a dependency between them.
#[derive(Debug, Clone, Copy)]
pub(super) struct UnorderedPair {
    pub before: u32,
    pub after: u32,
    /// True if recorded times show which of the two runs first. A time of 0 is unknown.
    pub is_timed: bool,
}

/// The kernels of a stream in the order in which it ran them.
type Stream<'a> = &'a [Kernel];

/// Returns the neighbours in a rank's streams that no path connects, and the number of all
/// neighbours. In `order`, every node comes after its dependencies.
pub(super) fn unordered(trace: &RankTrace, order: &[u32]) -> (Vec<UnorderedPair>, usize) {
    let mut kernels = trace.kernels.clone();
    kernels.sort_unstable();
    let streams: Vec<Stream<'_>> =
        kernels.chunk_by(|one, next| one.stream == next.stream).filter(|it| it.len() > 1).collect();
    let pairs = streams.chunks(STREAMS_OF_A_PASS).flat_map(|some| pass(trace, order, some));
    (pairs.collect(), streams.iter().map(|stream| stream.len() - 1).sum())
}

/// Returns the unordered pairs of some streams.
fn pass(trace: &RankTrace, order: &[u32], streams: &[Stream<'_>]) -> Vec<UnorderedPair> {
    let width = streams.len();
    // Per node and stream, the position (from 1) of the last kernel that the node depends on,
    // itself included; 0 for none.
    let mut reached = vec![0u32; trace.nodes.len() * width];
    let mut place = vec![None; trace.nodes.len()];
    for (number, stream) in streams.iter().enumerate() {
        for (kernel, at) in stream.iter().zip(1u32..) {
            place[kernel.node as usize] = Some((number, at));
        }
    }
    // Per kernel, the position of the last kernel of its own stream that it depends on.
    let mut before = vec![0u32; trace.nodes.len()];
    for &node in order {
        let own = node as usize * width;
        for &(on, _) in trace.dependencies(node) {
            for stream in 0..width {
                let theirs = reached[on as usize * width + stream];
                reached[own + stream] = reached[own + stream].max(theirs);
            }
        }
        if let Some((stream, at)) = place[node as usize] {
            before[node as usize] = reached[own + stream];
            reached[own + stream] = reached[own + stream].max(at);
        }
    }
    let pairs_of = |stream: &Stream<'_>| {
        let neighbours = stream.windows(2).zip(1u32..);
        // Dependencies may run against the recorded times, so both directions are checked.
        let unordered = neighbours.filter(|(pair, at)| {
            let [one, next] = [0, 1].map(|which| before[pair[which].node as usize]);
            next < *at && one <= *at
        });
        let pair = |(pair, _): (&[Kernel], u32)| UnorderedPair {
            before: pair[0].node,
            after: pair[1].node,
            is_timed: (1..pair[1].start).contains(&pair[0].start),
        };
        unordered.map(pair).collect::<Vec<_>>()
    };
    streams.iter().flat_map(pairs_of).collect()
}
