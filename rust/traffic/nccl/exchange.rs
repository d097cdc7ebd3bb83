//! Sends and receives: an all-to-all, and each rank to the next.

use super::build::{NcclError, Node, Program};
use super::{Layout, NcclOperation, System};
use crate::units::Span;

/// Ranks of a group, and rounds of a batch that run at once (`P2P_PER_BATCH`).
const BATCH: u32 = 8;

/// Bytes of a chunk between servers.
const CHUNK: u64 = 131_072;

/// Most chunks of a message; more run as fewer, larger ones.
const MAX_CHUNKS: u64 = 32;

/// Chunks of a message in flight.
const IN_FLIGHT: usize = 4;

/// Adds the messages of the operation.
pub(super) fn add(program: &mut Program) -> Result<(), NcclError> {
    match program.run.operation {
        NcclOperation::AllToAll => all_to_all(program),
        _ => to_the_next(program),
    }
}

/// Adds the messages of an all-to-all: in each batch, every rank sends to one group of ranks.
/// Channels take batches in turn, and each completes one before the next.
fn all_to_all(program: &mut Program) -> Result<(), NcclError> {
    let ranks = program.system.ranks;
    program.expect(u64::from(ranks) * u64::from(ranks - 1))?;
    let block = program.run.bytes.get().div_ceil(u64::from(ranks)).max(1);
    let launch = program.launch();
    let size = if ranks.is_multiple_of(BATCH) { BATCH } else { 1 };
    let channels = program.run.channels as usize;
    let batches = group_deltas(ranks / size);
    // Groups of one rank share batches.
    let per_batch = (BATCH / size) as usize;
    for rank in 0..ranks {
        let started = program.delay(rank, launch, &[]);
        let mut before: Vec<Vec<Node>> = vec![vec![started]; channels];
        for (batch, deltas) in batches.chunks(per_batch).enumerate() {
            let channel = batch % channels;
            let mut sent = Vec::new();
            for (delta, local) in
                deltas.iter().flat_map(|&it| (0..size).map(move |local| (it, local)))
            {
                let group = (rank / size + delta) % (ranks / size);
                let to = group * size + (rank + local) % size;
                if to != rank {
                    let after = before[channel].clone();
                    sent.push(program.step(
                        (rank, to),
                        (block, Span::ZERO),
                        channel as u32,
                        &after,
                    ));
                }
            }
            if !sent.is_empty() {
                before[channel] = sent;
            }
        }
    }
    Ok(())
}

/// Returns the number of channels of an all-to-all: those of collectives, rounded up to a power of
/// two, but no more than batches.
pub(super) fn channels(system: &System) -> u32 {
    let all = Layout::of(system).channels.next_power_of_two();
    all.min(system.ranks.div_ceil(BATCH)).max(1)
}

/// Returns the distances between groups in NCCL's order: triangular numbers modulo the next power
/// of two (`init.cc`).
fn group_deltas(groups: u32) -> Vec<u32> {
    let modulus = u64::from(groups.next_power_of_two());
    let triangular = (0..modulus).map(|x| (x * (x + 1) / 2 % modulus) as u32);
    triangular.filter(|delta| *delta < groups).collect()
}

/// Adds a message from each rank to the next.
fn to_the_next(program: &mut Program) -> Result<(), NcclError> {
    let ranks = program.system.ranks;
    let (bytes, launch) = (program.run.bytes.get(), program.launch());
    // Chunks pass a relay one after another.
    let chunks = bytes.div_ceil(CHUNK).clamp(1, MAX_CHUNKS);
    program.expect(u64::from(ranks) * chunks)?;
    for rank in 0..ranks {
        let ready = program.delay(rank, launch, &[]);
        let mut sent: Vec<Node> = Vec::new();
        for _ in 0..chunks {
            let ends = (rank, (rank + 1) % ranks);
            let mut after = vec![ready];
            after.extend(sent.iter().rev().nth(IN_FLIGHT - 1));
            sent.push(program.step(ends, (bytes.div_ceil(chunks), Span::ZERO), 0, &after));
        }
    }
    Ok(())
}
