//! Scale-up networks within servers: closed forms.

use super::*;
use crate::ids::MessageId;
use crate::topology::{CrossRail, RailOptimized, ScaleUp};

/// 3.6 Tbps: 9 bytes take 20 ps.
const NVLINK: BitRate = BitRate::from_gbps(3_600);
const LATENCY_PS: u64 = 600_000;

pub(super) fn scale_up(gpus: u32) -> ScaleUp {
    let (latency, cross_rail) = (Span::from_ps(LATENCY_PS), CrossRail::Fabric);
    ScaleUp { gpus, rate: NVLINK, latency, cross_rail }
}

/// Servers of 4 GPUs on 4 rails of 400 Gbps, with 8 servers per unit.
pub(super) fn rails(scale_up: ScaleUp) -> Topology {
    let rate = BitRate::from_gbps(400);
    let shape = RailOptimized {
        rails: 4,
        servers: 8,
        units: 1,
        spines: 4,
        host_rate: rate,
        fabric_rate: rate,
        delay: Span::from_ns(500),
        parallel_links: 1,
    };
    shape.build().unwrap().with_scale_up(scale_up).unwrap()
}

fn relaying() -> ScaleUp {
    ScaleUp { cross_rail: CrossRail::Relay, ..scale_up(4) }
}

/// Time of `bytes` at 3.6 Tbps, rounded up.
fn sending_ps(bytes: u64) -> u64 {
    NVLINK.time_for(Bytes::new(bytes)).as_ps()
}

#[test]
fn a_message_inside_a_server_takes_its_bytes_and_the_latency_there_and_back() {
    for bytes in [1, 4_096, 1_000_003, 450_000_000] {
        let setup = setup(rails(scale_up(4)), "ecmp", messages(&[(1, 3)], bytes));
        let outcome = complete(&setup);
        let flow = outcome.flows[0];
        let delivered = sending_ps(bytes) + LATENCY_PS;
        assert_eq!(flow.delivered, Time::from_ps(delivered), "{bytes}");
        assert_eq!(flow.completed, Time::from_ps(delivered + LATENCY_PS), "{bytes}");
        assert_eq!((outcome.qps.total, outcome.counters.sent, flow.source_port), (0, 0, 0));
        assert_eq!(outcome.link_bytes_max, Bytes::ZERO);
    }
}

#[test]
fn messages_share_the_port_of_a_gpu_fairly() {
    // Host 0 sends to two others, and one of them also receives from host 3. Each of the three
    // messages has half a port. The short one leaves its half to the message that shares its port.
    let mut shared = messages(&[(0, 1), (0, 2), (3, 2)], 900_000);
    shared[0].bytes = Bytes::new(450_000);
    let outcome = complete(&setup(rails(scale_up(4)), "spray", shared));
    let sent = |index: usize| outcome.flows[index].delivered.as_ps() - LATENCY_PS;
    // 1.8 Tbps: 225 bytes per nanosecond.
    assert_eq!((sent(0), sent(1), sent(2)), (2_000_000, 4_000_000, 4_000_000));
    let carried = outcome.scale_up.unwrap();
    assert_eq!((carried.inside, carried.relayed), (3, 0));
    assert_eq!(carried.ports[0].sent, Bytes::new(1_350_000));
    assert_eq!(carried.ports[2].received, Bytes::new(1_800_000));
}

#[test]
fn scale_up_does_not_change_messages_between_servers() {
    let between = [(0, 4), (1, 6), (5, 9)];
    for policy in ["ecmp", "spray", "ethereal"] {
        let alone = setup(rails(scale_up(4)), policy, messages(&between, 300_000));
        let plain = {
            let shape = Topology::clone(&alone.topology);
            let (hosts, switches) = (shape.host_names().to_vec(), shape.switches().to_vec());
            Topology::new(hosts, switches, shape.links().to_vec()).unwrap()
        };
        let without = complete(&setup(plain, policy, messages(&between, 300_000)));
        let mixed = [&between[..], &[(0, 1), (6, 7)]].concat();
        let mixed = complete(&setup(rails(scale_up(4)), policy, messages(&mixed, 300_000)));
        assert_eq!(complete(&alone).flows, without.flows, "{policy}");
        assert_eq!(mixed.flows[..without.flows.len()], without.flows[..], "{policy}");
        assert_eq!(mixed.qps, without.qps, "{policy}");
    }
}

#[test]
fn a_relayed_message_leaves_from_the_receivers_rail() {
    let bytes = 10 * PAYLOAD;
    let outcome = complete(&setup(rails(relaying()), "ecmp", messages(&[(0, 6)], bytes)));
    let flow = outcome.flows[0];
    // Host 2 is on the rail of host 6: two links, one leaf.
    assert_eq!((flow.src, flow.dst), (HostId(2), HostId(6)));
    let first = sending_ps(bytes) + LATENCY_PS;
    let over_fabric = idle_path_ps(10, PAYLOAD, 2, 20, 500_000);
    assert_eq!(flow.start, Time::from_ps(first));
    assert_eq!(outcome.cct, Some(Span::from_ps(first + over_fabric + LATENCY_PS)));
    assert_eq!((outcome.qps.total, outcome.scale_up.unwrap().relayed), (1, 1));
}

#[test]
fn relays_keep_an_all_to_all_off_the_spines() {
    let to_all: Vec<(u32, u32)> =
        (0..32).flat_map(|a| (0..32).map(move |b| (a, b))).filter(|(a, b)| a != b).collect();
    let spines = |outcome: &Outcome, topology: &Topology| -> u64 {
        let of_fabric = |port: &u32| topology.is_fabric_link(PortId(*port).link());
        let ports = (0..outcome.link_bytes.len() as u32).filter(of_fabric);
        ports.map(|port| outcome.link_bytes[port as usize].get()).sum()
    };
    let run = |scale_up: ScaleUp| {
        let setup = setup(rails(scale_up), "spray", messages(&to_all, 20_000));
        let outcome = complete(&setup);
        (spines(&outcome, &setup.topology), outcome)
    };
    let ((across, direct), (none, relayed)) = (run(scale_up(4)), run(relaying()));
    assert!(across > 0 && none == 0, "{across} {none}");
    // 28 peers in other servers, 7 of them on the same rail.
    assert_eq!((direct.qps.per_nic_max, relayed.qps.per_nic_max), (28, 28));
    assert_eq!(relayed.scale_up.unwrap().relayed, 32 * 21);
    let peers = relayed.flows.iter().filter(|flow| flow.source_port > 0 && flow.src == HostId(0));
    assert!(peers.clone().count() == 28 && peers.into_iter().all(|flow| flow.dst.0 % 4 == 0));
}

/// An all-reduce over 8 servers of 4. A GPU sends a quarter to each other GPU of its server, then
/// 14 steps of 1/32 to the next server of its rail, then a quarter to each other GPU again. Each
/// step waits for the data that the GPU received in the previous one.
fn hierarchical_all_reduce(bytes: u64) -> Workload {
    let (mut all, mut waits) = (Vec::new(), Vec::new());
    let mut before: Vec<Vec<u32>> = vec![Vec::new(); 32];
    for step in 0..16 {
        let mut received = vec![Vec::new(); 32];
        for src in 0..32 {
            let inside = [0, 15].contains(&step);
            let server = (src / 4 * 4..src / 4 * 4 + 4).filter(|dst| inside && *dst != src);
            let next = (!inside).then_some((src + 4) % 32);
            for dst in server.chain(next) {
                let index = all.len() as u32;
                all.extend(messages(&[(src, dst)], if inside { bytes / 4 } else { bytes / 32 }));
                waits.extend(
                    before[src as usize].iter().map(|it| (MessageId(*it), MessageId(index))),
                );
                received[dst as usize].push(index);
            }
        }
        before = received;
    }
    Workload::with_dependencies(all, &waits)
}

#[test]
fn a_hierarchical_all_reduce_takes_its_closed_form() {
    // 8 servers of 4: reduce-scatter of quarters, a ring of 14 steps of 1/32 on each rail, and an
    // all-gather of quarters.
    let bytes = 32 * 10 * PAYLOAD;
    let mut setup = setup(rails(scale_up(4)), "ecmp", Vec::new());
    setup.workload = Arc::new(hierarchical_all_reduce(bytes));
    let outcome = complete(&setup);
    let inside = sending_ps(3 * bytes / 4) + LATENCY_PS;
    // Every GPU's step on its rail takes equally long, and the next step begins with the delivery.
    let step = idle_path_ps(10, PAYLOAD, 2, 20, 500_000);
    let acknowledgement = 2 * (ACK * 20 + 500_000);
    let between = 14 * (step - acknowledgement);
    let expected = inside + between + inside + LATENCY_PS;
    // Data on a link wait for the acknowledgements that cross it, 10 per step.
    let waiting = 14 * 10 * (ACK + GAP) * 20;
    let cct = outcome.cct.unwrap().as_ps();
    assert!((expected..=expected + waiting).contains(&cct), "{cct} {expected}");
    assert_eq!(outcome.qps.per_nic_max, 1);
    // Over the fabric alone, all data leave by the NICs.
    let plain = Setup { topology: Arc::new(leaf_spine(4, 4, 8, 400)), ..setup };
    assert!(complete(&plain).cct.unwrap().as_ps() > 2 * cct);
}

#[test]
fn tasks_can_depend_on_messages_inside_servers() {
    // 0 sends to 1, which sends to 5 over the fabric, which sends to 6.
    let chain = messages(&[(0, 1), (1, 5), (5, 6)], 40_960);
    let ids = [0, 1, 2].map(MessageId);
    let pairs = [(ids[0], ids[1]), (ids[1], ids[2])];
    let mut setup = setup(rails(scale_up(4)), "ecmp", Vec::new());
    setup.workload = Arc::new(Workload::with_dependencies(chain, &pairs));
    let outcome = complete(&setup);
    let [first, second, third] = outcome.flows[..] else { panic!("three flows") };
    assert_eq!((second.start, third.start), (first.delivered, second.delivered));
    let inside = sending_ps(40_960) + LATENCY_PS;
    assert_eq!(first.delivered, Time::from_ps(inside));
    assert_eq!(third.completed, third.start + Span::from_ps(inside + LATENCY_PS));
}

#[test]
fn a_run_with_scale_up_uses_one_thread() {
    let setup = setup(rails(scale_up(4)), "ecmp", messages(&[(0, 1), (0, 4)], 10_000));
    let refused = Partitioning::new(&setup, 2, Cut::default()).unwrap_err();
    assert!(refused.to_string().contains("scale-up"), "{refused}");
}
