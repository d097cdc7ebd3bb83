//! Rings: ring c begins at GPU c of each server, so that as many NICs as channels work.

use super::build::{NcclError, Node, Program};
use super::{NcclOperation, Protocol};
use crate::units::Span;
use crate::workload::Lane;

/// Most chunks of a channel; more run as fewer, larger ones.
const MAX_CHUNKS: u64 = 64;

/// Messages above which channels with the same ring become one, and loops are not divided.
const MANY_MESSAGES: u64 = 1 << 20;

/// Most loops of a ring; more run as fewer, larger ones.
const MAX_LOOPS: u64 = 16;

/// Adds a ring per channel.
pub(super) fn add(program: &mut Program) -> Result<(), NcclError> {
    let (system, run) = (program.system, program.run);
    let ranks = u64::from(system.ranks);
    let is_chain = matches!(run.operation, NcclOperation::Broadcast | NcclOperation::Reduce);
    let share = |channels: u32| run.bytes.get().div_ceil(u64::from(channels));
    let of_channel = match is_chain {
        true => (ranks - 1) * chunks(share(run.channels), run.protocol),
        false => ranks * u64::from(run.operation.ring_steps(system.ranks)),
    };
    let mut rings = run.channels;
    if of_channel * u64::from(rings) > MANY_MESSAGES {
        rings = rings.min(system.server);
    }
    program.expect(of_channel * u64::from(rings))?;
    for ring in 0..rings {
        if is_chain {
            add_chain(program, ring, share(rings), rings);
            continue;
        }
        let loops = share(run.channels).div_ceil(ranks * chunk_bytes(run.protocol));
        let most = MANY_MESSAGES / 4 / (of_channel * u64::from(rings));
        let loops = loops.min(most.min(MAX_LOOPS)).max(1);
        for _ in 0..loops {
            add_loop(program, ring, share(rings).div_ceil(loops), rings);
        }
    }
    Ok(())
}

/// Returns the bytes of a rank's block in a loop: four steps of a buffer with Simple, else one
/// (`collectives.h`).
const fn chunk_bytes(protocol: Protocol) -> u64 {
    match protocol {
        Protocol::Simple => 4 * protocol.step_bytes(),
        _ => protocol.step_bytes(),
    }
}

/// Returns the rank at a position of a ring.
pub(super) fn rank_at(program: &Program, ring: u32, position: u32) -> u32 {
    let server = program.system.server;
    position / server * server + (position + ring) % server
}

fn chunks(share: u64, protocol: Protocol) -> u64 {
    share.div_ceil(protocol.step_bytes()).clamp(1, MAX_CHUNKS)
}

/// Adds a loop of a ring: each rank forwards what the rank before it sent one step earlier.
fn add_loop(program: &mut Program, ring: u32, share: u64, rings: u32) {
    let ranks = program.system.ranks;
    let steps = program.run.operation.ring_steps(ranks);
    // The smallest transfer of a step is one line of 8 bytes.
    let block = share.div_ceil(u64::from(ranks)).max(8);
    let extra = program.ceiling_delay(block, rings);
    let launch = program.launch();
    let rank = |program: &Program, position: u32| rank_at(program, ring, position % ranks);
    let mut arrived: Vec<Node> = Vec::new();
    for step in 0..steps {
        let mut sent = Vec::with_capacity(ranks as usize);
        for position in 0..ranks {
            let ends = (rank(program, position), rank(program, position + 1));
            let before = match step {
                0 => program.delay(ends.0, launch, &[]),
                _ => arrived[((position + ranks - 1) % ranks) as usize],
            };
            sent.push(program.step(ends, (block, extra), ring, &[before]));
        }
        arrived = sent;
    }
}

/// Adds a chain from the root, or to it, with chunks in a row.
fn add_chain(program: &mut Program, ring: u32, share: u64, rings: u32) {
    let (ranks, operation) = (program.system.ranks, program.run.operation);
    let count = chunks(share, program.run.protocol);
    let chunk = share.div_ceil(count).max(8);
    // A channel's ceiling holds the chunks back one after another, where they begin.
    let ceiling = program.occupancy(chunk, rings);
    let lane = (ceiling > Span::ZERO).then_some(Lane(ring));
    let launch = program.launch();
    let place = |program: &Program, step: u32| match operation {
        NcclOperation::Reduce => from_root(program, ring, ranks - 1 - step),
        _ => from_root(program, ring, step),
    };
    for _ in 0..count {
        let first = place(program, 0);
        let called = program.delay(first, launch, &[]);
        let mut before = program.delay_in(first, ceiling, lane, &[called]);
        for step in 0..ranks - 1 {
            let ends = (place(program, step), place(program, step + 1));
            before = program.step(ends, (chunk, Span::ZERO), ring, &[before]);
        }
    }
}

/// Returns the rank a number of positions after rank 0 on a ring.
fn from_root(program: &Program, ring: u32, steps: u32) -> u32 {
    let (ranks, server) = (program.system.ranks, program.system.server);
    let root = (server - ring % server) % server;
    rank_at(program, ring, (root + steps) % ranks)
}
