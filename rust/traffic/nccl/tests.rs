use super::*;
use crate::ids::TaskId;
use crate::workload::{Task, Workload};

fn h100(ranks: u32) -> System {
    System {
        ranks,
        server: ranks.min(8),
        scale_up: BitRate::from_gbps(2_966),
        nic: BitRate::from_gbps(400),
        delay: Span::ZERO,
        gpu: Gpu::Hopper,
        cpu: Cpu::Intel,
        nvls: true,
        relay: true,
    }
}

fn a100(ranks: u32) -> System {
    let (scale_up, nic) = (BitRate::from_gbps(1_920), BitRate::from_gbps(200));
    System { scale_up, nic, gpu: Gpu::Ampere, cpu: Cpu::Amd, ..h100(ranks) }
}

fn gb200(ranks: u32, server: u32) -> System {
    let scale_up = BitRate::from_gbps(5_774);
    System { server, scale_up, gpu: Gpu::Blackwell, cpu: Cpu::Arm, ..h100(ranks) }
}

fn run_of(system: &System, operation: NcclOperation, bytes: u64) -> Run {
    Run::choose(system, (operation, Bytes::new(bytes)), None, None, None).unwrap()
}

fn forced(system: &System, algorithm: Algorithm, protocol: Protocol, bytes: u64) -> Run {
    let work = (NcclOperation::AllReduce, Bytes::new(bytes));
    Run::choose(system, work, Some(algorithm), Some(protocol), None).unwrap()
}

/// Returns the longest sum of delays along dependencies, in microseconds.
fn longest_delays(workload: &Workload) -> f64 {
    let mut waits: Vec<u32> = workload.waits_for.clone();
    waits.resize(workload.task_count(), 0);
    let mut ends = vec![0u64; workload.task_count()];
    let mut ready: Vec<TaskId> = workload.tasks().filter(|task| waits[task.index()] == 0).collect();
    let mut longest = 0;
    while let Some(task) = ready.pop() {
        let own = match workload.task(task) {
            Task::Message(..) => 0,
            Task::Delay(delay) => delay.span.as_ps(),
        };
        let end = ends[task.index()] + own;
        longest = longest.max(end);
        for &next in workload.dependents_of(task) {
            ends[next.index()] = ends[next.index()].max(end);
            waits[next.index()] -= 1;
            if waits[next.index()] == 0 {
                ready.push(next);
            }
        }
    }
    longest as f64 / 1e6
}

#[test]
fn layouts_are_those_that_the_search_finds() {
    let layout = |system: System| {
        let it = Layout::of(&system);
        (it.found, it.speed, it.channels)
    };
    assert_eq!(layout(h100(8)), (12, 30.0, 24));
    // A public log of two such servers has 16 channels.
    assert_eq!(layout(h100(16)), (8, 45.0, 16));
    assert_eq!(layout(a100(8)), (12, 20.0, 24));
    assert_eq!(layout(a100(64)), (8, 24.0, 16));
    assert_eq!(layout(gb200(72, 72)), (16, 45.0, 32));
    assert_eq!(layout(gb200(144, 72)), (16, 45.1, 32));
    assert_eq!(Layout::of(&h100(8)).head_speed, 40.0);
}

#[test]
fn the_cost_model_has_the_values_of_its_formulas() {
    let estimate = |system: &System, algorithm, protocol, bytes| {
        let all = estimates(system, NcclOperation::AllReduce, Bytes::new(bytes));
        let found = all.into_iter().find(|it| (it.algorithm, it.protocol) == (algorithm, protocol));
        found.unwrap()
    };
    let one = estimate(&h100(8), Algorithm::Ring, Protocol::Ll, 8);
    assert!((one.latency - (6.6 + 14.0 * 0.6)).abs() < 1e-9, "{one:?}");
    let two = estimate(&h100(16), Algorithm::Tree, Protocol::Ll, 8);
    assert!((two.latency - (6.8 + 2.0 * (7.0 * 0.6 + 5.0))).abs() < 1e-9, "{two:?}");
    let bus = |it: Estimate, ranks: f64| it.bandwidth * 2.0 * (ranks - 1.0) / ranks;
    let nvls = bus(estimate(&h100(8), Algorithm::Nvls, Protocol::Simple, 1 << 34), 8.0);
    let tree = bus(estimate(&h100(16), Algorithm::NvlsTree, Protocol::Simple, 1 << 34), 16.0);
    assert!((nvls - 476.0).abs() < 0.1 && (tree - 461.6).abs() < 0.1, "{nvls} {tree}");
}

#[test]
fn small_sizes_choose_latency_and_large_ones_bandwidth() {
    let chosen = |system: &System, bytes| {
        let run = run_of(system, NcclOperation::AllReduce, bytes);
        (run.algorithm, run.protocol, run.channels)
    };
    assert_eq!(chosen(&h100(8), 8), (Algorithm::Ring, Protocol::Ll, 1));
    assert_eq!(chosen(&h100(8), 1 << 30), (Algorithm::Nvls, Protocol::Simple, 16));
    assert_eq!(chosen(&h100(16), 8), (Algorithm::Tree, Protocol::Ll, 1));
    assert_eq!(chosen(&h100(16), 1 << 30), (Algorithm::NvlsTree, Protocol::Simple, 16));
    assert_eq!(chosen(&a100(16), 1 << 30), (Algorithm::Ring, Protocol::Simple, 16));
}

#[test]
fn the_delays_of_a_run_are_the_latencies_of_the_model() {
    for system in [h100(8), h100(16), h100(64), a100(32), gb200(144, 72)] {
        for operation in
            [NcclOperation::AllReduce, NcclOperation::AllGather, NcclOperation::ReduceScatter]
        {
            for estimate in estimates(&system, operation, Bytes::new(8)) {
                let work = (operation, Bytes::new(8));
                let (algorithm, protocol) = (estimate.algorithm, estimate.protocol);
                let run =
                    Run::choose(&system, work, Some(algorithm), Some(protocol), None).unwrap();
                let workload = build(&system, &run).unwrap();
                let delays = longest_delays(&workload);
                let round = if algorithm == Algorithm::Nvls { 5.0 } else { 0.0 };
                let off = delays - round - estimate.latency;
                // A block on a ring of full servers can cross up to two boundaries more than the
                // model counts. Ceilings of a few bytes take nanoseconds.
                let (local, network) = model::step_latencies(&system, algorithm, protocol);
                let most = match algorithm {
                    Algorithm::Ring if system.servers() > 1 => 2.0 * (network - local),
                    _ => 0.0,
                };
                assert!(
                    (-0.1..=most + 0.1).contains(&off),
                    "{algorithm:?} {protocol:?} {system:?}: {delays} for {}",
                    estimate.latency
                );
            }
        }
    }
}

#[test]
fn rings_use_every_nic_alike_and_carry_the_bytes_of_the_closed_form() {
    let system = h100(32);
    let bytes = 1 << 26;
    let run = forced(&system, Algorithm::Ring, Protocol::Simple, bytes);
    let workload = build(&system, &run).unwrap();
    let total = workload.total_bytes().get();
    assert_eq!(total, 2 * 31 * bytes);
    let mut sent = [0u64; 8];
    for message in &workload.messages {
        if message.src.0 / 8 != message.dst.0 / 8 {
            // The receiver's rail carries the message (PXN).
            sent[message.dst.index() % 8] += message.bytes.get();
        }
    }
    assert!(sent.iter().all(|bytes| *bytes == sent[0] && *bytes > 0), "{sent:?}");
}

#[test]
fn an_all_to_all_sends_each_pair_one_block() {
    for ranks in [4, 8, 12, 16, 64] {
        let system = System { server: if ranks % 8 == 0 { 8 } else { 4 }, ..h100(ranks) };
        let run = run_of(&system, NcclOperation::AllToAll, 1 << 20);
        let workload = build(&system, &run).unwrap();
        let mut pairs: Vec<(u32, u32)> =
            workload.messages.iter().map(|message| (message.src.0, message.dst.0)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        assert_eq!((pairs.len(), workload.messages.len()), {
            let all = (ranks * (ranks - 1)) as usize;
            (all, all)
        });
    }
}

#[test]
fn every_rank_sends_or_receives_and_roots_begin_or_end() {
    for system in [h100(2), h100(8), h100(24), a100(16), System { server: 1, ..h100(5) }] {
        for operation in NcclOperation::ALL {
            for bytes in [1, 1 << 10, 1 << 22] {
                let run = run_of(&system, operation, bytes);
                let workload = build(&system, &run).unwrap();
                let ranks = system.ranks as usize;
                let (mut sends, mut receives) = (vec![false; ranks], vec![false; ranks]);
                for message in &workload.messages {
                    sends[message.src.index()] = true;
                    receives[message.dst.index()] = true;
                }
                let what = format!("{operation:?} of {bytes} B on {ranks}");
                let others = |them: &[bool]| them[1..].iter().all(|it| *it);
                match operation {
                    NcclOperation::Broadcast => {
                        assert!(!receives[0] && others(&receives), "{what}")
                    }
                    NcclOperation::Reduce => assert!(!sends[0] && others(&sends), "{what}"),
                    _ => assert!(sends.iter().chain(&receives).all(|it| *it), "{what}"),
                }
            }
        }
    }
}

#[test]
fn a_ceiling_is_shared_by_the_channels_that_run() {
    let system = h100(16);
    let run = forced(&system, Algorithm::Ring, Protocol::Ll, 1 << 26);
    let program = build::Program::new(system, run);
    let delay = |bytes, channels| program.ceiling_delay(bytes, channels).as_ps();
    assert!(delay(1 << 20, 16) > 0);
    assert!(delay(1 << 20, 16).abs_diff(delay(1 << 21, 8)) < 2_000);
    // All channels together have the bandwidth of the model: 39 GB/s.
    let links = 2.0 / 360e9;
    let whole = (1u64 << 20) as f64 * (1.0 / 39e9 - links) * 1e12;
    assert!((delay(1 << 20, 1) as f64 - whole).abs() < 1e3, "{whole}");
}

#[test]
fn a_ring_without_nvls_or_with_slow_links_is_left() {
    let slow = System { scale_up: BitRate::from_gbps(100), ..h100(8) };
    assert_eq!(run_of(&slow, NcclOperation::AllReduce, 1 << 30).algorithm, Algorithm::Ring);
    let work = (NcclOperation::AllReduce, Bytes::new(1 << 30));
    let none = Run::choose(&slow, work, Some(Algorithm::Nvls), None, None).unwrap_err();
    assert!(none.to_string().contains("it has"), "{none}");
    // One GPU a server has LL128 too.
    let alone = System { server: 1, ..h100(4) };
    assert!(estimates(&alone, work.0, work.1).iter().any(|it| it.protocol == Protocol::Ll128));
}

#[test]
fn errors_name_what_exists() {
    let work = (NcclOperation::AllGather, Bytes::new(8));
    let tree = Run::choose(&a100(16), work, Some(Algorithm::Tree), None, None).unwrap_err();
    assert_eq!(
        tree.to_string(),
        "all-gather has no tree with any protocol here; it has ring ll, ring simple"
    );
    let one = Run::choose(&h100(1), work, None, None, None).unwrap_err();
    assert_eq!(one, NcclError::TooFewRanks { ranks: 1 });
    let part = System { ranks: 12, ..h100(8) };
    let part = Run::choose(&part, work, None, None, None).unwrap_err();
    assert_eq!(part, NcclError::PartServer { ranks: 12, server: 8 });
    let run = forced(&h100(8_192), Algorithm::Ring, Protocol::Simple, 1 << 30);
    assert!(matches!(build(&h100(8_192), &run), Err(NcclError::TooManyMessages { .. })));
}
