//! Trees: a chain within each server, and a binary tree over the first GPUs of the chains. Half of
//! the channels use the second of two trees, in which inner servers of the first are leaves.

use super::build::{NcclError, Node, Program};
use super::ring::rank_at;
use super::tables::Protocol;
use crate::collective::tree_edges;
use crate::units::Span;
use crate::workload::Lane;

/// Most chunks of a channel; more run as fewer, larger ones.
const MAX_CHUNKS: u64 = 64;

/// Adds a tree per channel.
pub(super) fn add(program: &mut Program) -> Result<(), NcclError> {
    let (system, run) = (program.system, program.run);
    let share = run.bytes.get().div_ceil(u64::from(run.channels)).max(8);
    let count = share.div_ceil(chunk_bytes(program)).clamp(1, MAX_CHUNKS);
    let chunk = share.div_ceil(count).max(8);
    let messages = 2 * u64::from(system.ranks - 1) * count * u64::from(run.channels);
    program.expect(messages)?;
    for channel in 0..run.channels {
        let second = channel >= program.layout.found;
        for _ in 0..count {
            Chunk { channel, second, bytes: chunk }.add(program);
        }
    }
    Ok(())
}

/// Returns the size of a chunk (`calcCollChunking`).
fn chunk_bytes(program: &Program) -> u64 {
    let (system, run) = (&program.system, &program.run);
    let mut chunk = run.protocol.step_bytes();
    if run.protocol != Protocol::Ll128 {
        return chunk;
    }
    let server = f64::from(system.server);
    let steps = 1.0 + f64::from(system.servers().ilog2()) + 0.1 * server;
    let count = |chunk: u64| run.bytes.get() / (u64::from(run.channels) * chunk);
    for (most, least) in [(64.0, 131_072), (16.0, 32_768)] {
        while (count(chunk) as f64) < steps * most / server && chunk > least {
            chunk /= 2;
        }
    }
    chunk
}

/// A chunk of a channel.
struct Chunk {
    channel: u32,
    second: bool,
    bytes: u64,
}

impl Chunk {
    fn add(&self, program: &mut Program) {
        let servers = program.system.servers();
        let edges = tree_edges(servers as usize, self.second);
        let mut arrived: Vec<Vec<Node>> =
            (0..servers).map(|server| vec![self.up_chain(program, server)]).collect();
        // The deepest servers come last.
        for &(child, parent) in edges.iter().rev() {
            let after = std::mem::take(&mut arrived[child]);
            let ends = (self.rank(program, child, 0), self.rank(program, parent, 0));
            let sent = self.step(program, ends, &after);
            arrived[parent].push(sent);
        }
        let root = edges.first().map_or(0, |&(_, root)| root);
        let head = self.rank(program, root, 0);
        // A channel's ceiling holds the chunks back one after another, at the root.
        let ceiling = program.ceiling_delay_of_tree(self.bytes);
        let lane = (ceiling > Span::ZERO).then_some(Lane(self.channel));
        let after = std::mem::take(&mut arrived[root]);
        let reduced = program.delay_in(head, ceiling, lane, &after);
        let mut done = vec![reduced; servers as usize];
        for &(child, parent) in &edges {
            let ends = (self.rank(program, parent, 0), self.rank(program, child, 0));
            done[child] = self.step(program, ends, &[done[parent]]);
        }
        for (server, &reduced) in done.iter().enumerate() {
            self.down_chain(program, server, reduced);
        }
    }

    /// Returns the rank at a position of a server's chain.
    fn rank(&self, program: &Program, server: usize, position: u32) -> u32 {
        let first = server as u32 * program.system.server;
        rank_at(program, self.channel, first + position)
    }

    fn step(&self, program: &mut Program, ends: (u32, u32), after: &[Node]) -> Node {
        program.step(ends, (self.bytes, Span::ZERO), self.channel, after)
    }

    /// Adds the reduction towards the first GPU of a server, and returns its end.
    fn up_chain(&self, program: &mut Program, server: u32) -> Node {
        let (size, server) = (program.system.server, server as usize);
        let last = self.rank(program, server, size - 1);
        let launch = program.launch();
        let mut before = program.delay(last, launch, &[]);
        for position in (1..size).rev() {
            let ends =
                (self.rank(program, server, position), self.rank(program, server, position - 1));
            before = self.step(program, ends, &[before]);
        }
        before
    }

    /// Adds the broadcast from the first GPU of a server.
    fn down_chain(&self, program: &mut Program, server: usize, mut before: Node) {
        for position in 1..program.system.server {
            let ends =
                (self.rank(program, server, position - 1), self.rank(program, server, position));
            before = self.step(program, ends, &[before]);
        }
    }
}
