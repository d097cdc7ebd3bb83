//! Packet-hops of a single flow, of flows that share a link, and of a small fat-tree with each
//! policy and transport.

use std::sync::Arc;

use divan::Bencher;
use divan::counter::ItemsCount;
use evenkeel::balance::presets;
use evenkeel::fabric::{FixedWorkload, Observers, Outcome, Setup, Verdict, World, drive};
use evenkeel::ids::HostId;
use evenkeel::units::{Bytes, Time};
use evenkeel::workload::{Message, Workload};

use crate::cases::{Case, LINES, Line, Transport, setup};

/// 16 hosts that each send 256 KiB.
const SMALL: Case = Case { k: 4, kib: 256 };

fn finish(world: World) -> Outcome {
    let observers = Observers { watch: None, progress: &mut |_| {} };
    drive(world, &mut FixedWorkload, observers)
}

/// Measures a run per packet-hop, without its set-up.
fn measure(bencher: Bencher<'_, '_>, setup: &Setup) {
    let outcome = finish(World::new(setup));
    assert_eq!(outcome.verdict, Verdict::Completed);
    bencher
        .counter(ItemsCount::new(outcome.counters.packet_hops))
        .with_inputs(|| World::new(setup))
        .bench_local_values(finish);
}

/// Measures 1 MiB messages over six links from `senders` hosts of another pod to one host. With one
/// sender no packet waits for another: this is the shortest path of a hop through the code.
#[divan::bench(args = [1, 4])]
fn to_one_host(bencher: Bencher<'_, '_>, senders: u32) {
    let mut setup = setup("ecmp", Transport::LineRate, SMALL);
    let messages = (1..=senders).map(|host| Message {
        src: HostId(setup.topology.host_count() - host),
        dst: HostId(0),
        bytes: Bytes::new(1 << 20),
        stream: host,
        start: Time::ZERO,
    });
    setup.workload = Arc::new(Workload::independent(messages.collect()));
    measure(bencher, &setup);
}

/// Every policy at line rate.
#[divan::bench(args = presets().map(|preset| preset.name))]
fn policy(bencher: Bencher<'_, '_>, name: &str) {
    measure(bencher, &setup(name, Transport::LineRate, SMALL));
}

/// The policies and transports of `docs/speed.md`.
#[divan::bench(args = LINES)]
fn transport(bencher: Bencher<'_, '_>, line: Line) {
    measure(bencher, &line.setup(SMALL));
}
