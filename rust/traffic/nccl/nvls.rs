//! NVLS: NVSwitches reduce and multicast, round after round of chunks. The ports of GPUs are the
//! limit. A message to the next GPU carries the load of each round, for the bandwidth of NCCL's
//! model.

use super::build::{NcclError, Node, Program, micros};
use super::{Gpu, System, model};
use crate::collective::tree_edges;
use crate::units::{Bytes, Span};

/// Most rounds; more run as fewer, larger ones.
const MAX_ROUNDS: u64 = 128;

/// Rounds in progress at once: steps of a channel's buffer.
const IN_FLIGHT: usize = 8;

/// Time of a round of one server beyond its transmission, in us: fitted to 8 MiB to 1 GiB of a
/// published table of one DGX H100 (N01 in the study `nccl`).
const ROUND: f64 = 5.0;

/// Rate of the rounds of one server by NCCL's model, fitted to the same table: 299 GB/s for 272 of
/// the model, which counts the pauses.
const RATE: f64 = 1.099;

/// Rate of the rounds within several servers by NCCL's model, pauses included: 251 GB/s for 254,
/// fitted to 128 MiB to 16 GiB of a table of two HGX H100 (N02).
const TREE_RATE: f64 = 0.988;

/// Rounds that fill the pipeline of several servers, fitted to 32 MiB to 512 MiB of the same table.
const TREE_DEPTH: u64 = 2;

/// The rounds of a run.
struct Rounds {
    count: u64,
    /// Bytes of the vector in a round.
    bytes: u64,
    /// Rounds of NCCL in each.
    merged: f64,
    /// Time until the pipeline of chunks is full.
    fill: Span,
}

impl Rounds {
    /// Divides a vector; each byte loads a port with `load` bytes. The pipeline is full after
    /// `depth` rounds of NCCL.
    fn of(program: &Program, chunk: u64, load: f64, depth: u64) -> Self {
        let (run, heads) = (&program.run, u64::from(program.layout.heads));
        let bytes = run.bytes.get();
        let operation = u64::from(run.channels) * heads * chunk;
        let loops = bytes.div_ceil(operation);
        let count = loops.clamp(1, MAX_ROUNDS);
        let filling = operation * depth.min(loops - 1);
        let fill = program.system.scale_up.time_for(Bytes::new(scaled(filling, load)));
        let merged = loops as f64 / count as f64;
        Self { count, bytes: bytes.div_ceil(count).max(8), merged, fill }
    }
}

/// Returns the bytes on a port for each byte of the vector, at `rate` of the model's bandwidth.
fn port_load(program: &Program, rate: f64) -> f64 {
    let (system, operation) = (&program.system, program.run.operation);
    let model = model::nvls_algorithm_bandwidth(system, &program.layout, operation);
    system.scale_up_gbytes() / (rate * model)
}

fn scaled(bytes: u64, factor: f64) -> u64 {
    (bytes as f64 * factor).round() as u64
}

/// Adds the rounds of one server.
pub(super) fn add(program: &mut Program) -> Result<(), NcclError> {
    let (system, run) = (program.system, program.run);
    let heads = u64::from(program.layout.heads);
    let operations = u64::from(run.channels) * heads;
    let mut chunk = 131_072;
    for (factor, smaller) in [(64, 65_536), (8, 32_768), (2, 16_384)] {
        if run.bytes.get() < factor * operations * chunk && chunk > smaller {
            chunk = smaller;
        }
    }
    let factor = port_load(program, RATE);
    let rounds = Rounds::of(program, chunk, factor, 1);
    program.expect(rounds.count * u64::from(system.server))?;
    let load = scaled(rounds.bytes, factor);
    let launch = program.launch() + rounds.fill;
    let pause = micros(ROUND * rounds.merged);
    for gpu in 0..system.server {
        let mut before = program.delay(gpu, launch, &[]);
        for _ in 0..rounds.count {
            let ready = program.delay(gpu, pause, &[before]);
            before = program.send((gpu, (gpu + 1) % system.server), load, gpu, &[ready]);
        }
    }
    Ok(())
}

/// Adds the rounds of several servers: reduction in each, two trees over the servers with half of
/// the vector each, and multicast in each.
pub(super) fn add_tree(program: &mut Program) -> Result<(), NcclError> {
    let (system, run) = (program.system, program.run);
    let heads = u64::from(program.layout.heads);
    let operations = u64::from(run.channels) * heads;
    let mut chunk = tree_chunk(&system);
    for (factor, smaller) in [(16, 131_072), (4, 65_536), (1, 32_768)] {
        if run.bytes.get() < factor * operations * chunk && chunk > smaller {
            chunk = smaller;
        }
    }
    let factor = port_load(program, TREE_RATE);
    let rounds = Rounds::of(program, chunk, factor, TREE_DEPTH);
    let between = 4 * u64::from(system.servers() - 1) * heads;
    program.expect(rounds.count * (2 * u64::from(system.ranks) + between))?;
    let trees = [false, true].map(|second| tree_edges(system.servers() as usize, second));
    let mut tree_rounds = TreeRounds {
        launch: program.launch() + rounds.fill,
        // Reduction and multicast each take half of a port's load.
        load: scaled(rounds.bytes, 0.5 * factor),
        share: rounds.bytes.div_ceil(2 * heads).max(8),
        trees: &trees,
        reduced: Vec::new(),
        finished: Vec::new(),
    };
    for _ in 0..rounds.count {
        tree_rounds.add(program);
    }
    Ok(())
}

/// Returns the channels that NVLS uses (`transport/nvls.cc`).
pub(super) fn channels(system: &System) -> u32 {
    let fast = system.nic_gbytes() >= 96.0;
    match (system.gpu, system.servers()) {
        (Gpu::Blackwell, 1) => 24,
        (Gpu::Blackwell, 2) => 32,
        (Gpu::Blackwell, _) if fast && system.server > 8 => 32,
        (Gpu::Blackwell, _) if system.nic_gbytes() >= 48.0 => 24,
        (Gpu::Blackwell, _) => 32,
        _ => 16,
    }
}

/// Returns the largest chunk of several servers, in bytes.
fn tree_chunk(system: &System) -> u64 {
    let (servers, server) = (system.servers(), system.server);
    let fast = system.nic_gbytes() >= 96.0;
    match system.gpu {
        Gpu::Blackwell if server <= 4 || server <= 8 && fast => 262_144,
        Gpu::Blackwell if servers == 2 && server >= 16 => 65_536,
        _ if servers >= 4 => 65_536,
        _ => 131_072,
    }
}

/// Rounds over trees, one after another.
struct TreeRounds<'a> {
    launch: Span,
    /// Bytes on a port in each phase within a server.
    load: u64,
    /// Bytes of a head in each tree.
    share: u64,
    trees: &'a [Vec<(usize, usize)>; 2],
    /// Reductions that arrived at each rank in the last round.
    reduced: Vec<Node>,
    /// Multicasts that arrived at each rank, by round.
    finished: Vec<Vec<Node>>,
}

impl TreeRounds<'_> {
    fn add(&mut self, program: &mut Program) {
        let ranks = program.system.ranks;
        let mut reduced = vec![Node::Delay(0); ranks as usize];
        for rank in 0..ranks {
            let mut after = match self.reduced.get(rank as usize) {
                Some(&before) => vec![before],
                None => vec![program.delay(rank, self.launch, &[])],
            };
            // Buffers limit the rounds in progress.
            let done = self.finished.len().checked_sub(IN_FLIGHT).map(|it| &self.finished[it]);
            after.extend(done.map(|done| done[rank as usize]));
            let to = next_gpu(program, rank);
            reduced[to as usize] = program.send((rank, to), self.load, rank, &after);
        }
        let mut combined: Vec<Vec<Node>> = reduced.iter().map(|&node| vec![node]).collect();
        for tree in 0..2 {
            for head in 0..program.layout.heads {
                self.add_head(program, (tree, head), &reduced, &mut combined);
            }
        }
        let mut finished = vec![Node::Delay(0); ranks as usize];
        for rank in 0..ranks {
            let to = next_gpu(program, rank);
            let after = std::mem::take(&mut combined[rank as usize]);
            finished[to as usize] = program.send((rank, to), self.load, ranks + rank, &after);
        }
        self.reduced = reduced;
        self.finished.push(finished);
    }

    /// Adds the ways up and down of a head's share, and what each rank waits for before multicast.
    fn add_head(
        &self,
        program: &mut Program,
        (tree, head): (usize, u32),
        reduced: &[Node],
        combined: &mut [Vec<Node>],
    ) {
        let (size, heads) = (program.system.server, program.layout.heads);
        let gpu = |server: usize| server as u32 * size + head * size / heads;
        let edges = &self.trees[tree];
        let mut arrived: Vec<Vec<Node>> = (0..program.system.servers() as usize)
            .map(|it| vec![reduced[gpu(it) as usize]])
            .collect();
        let stream = tree as u32 * heads + head;
        for &(child, parent) in edges.iter().rev() {
            let after = std::mem::take(&mut arrived[child]);
            let ends = (gpu(child), gpu(parent));
            let sent = program.step(ends, (self.share, Span::ZERO), stream, &after);
            arrived[parent].push(sent);
        }
        let root = edges.first().map_or(0, |&(_, root)| root);
        let mut done: Vec<Vec<Node>> = vec![Vec::new(); arrived.len()];
        done[root] = std::mem::take(&mut arrived[root]);
        for &(child, parent) in edges {
            let ends = (gpu(parent), gpu(child));
            let after = done[parent].clone();
            done[child] = vec![program.step(ends, (self.share, Span::ZERO), stream, &after)];
        }
        for (server, done) in done.into_iter().enumerate() {
            combined[gpu(server) as usize].extend(done);
        }
    }
}

/// Returns the next GPU of a rank's server.
fn next_gpu(program: &Program, rank: u32) -> u32 {
    let size = program.system.server;
    rank / size * size + (rank + 1) % size
}
