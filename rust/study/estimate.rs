//! What a run will take, estimated before it is made.

use std::time::Duration;

use super::in_flight::packets_in_flight;
use crate::fabric::Setup;
use crate::fluid::Fidelity;
use crate::ids::{HostId, PortId};
use crate::report::human;
use crate::scenario::Scenario;
use crate::topology::{CrossRail, Routes};
use crate::units::Bytes;
use crate::workload::{Chains, Message};

/// Memory of a program without a run: its own pages and those of its allocator.
const PROGRAM: u64 = 20 << 20;

/// Memory of a host with its share of the fabric, on fat-trees of 1,024 to 131,072 hosts.
const PER_HOST: u64 = 12 << 10;

/// Memory of a message with its flow: 2.1 million messages of a ring of 1,024 take 546 MB.
const PER_MESSAGE: u64 = 260;

/// Memory of both ends of a queue pair: an all-to-all of 1,024 with a million of them takes 1.37 GB
/// with its messages under a policy with little state, and other policies keep more.
const PER_QUEUE_PAIR: u64 = 1_400;

/// Memory of a packet that waits or flies, with its event: 3.9 million of an incast take 790 MB.
const PER_PACKET: u64 = 200;

/// How many numbers of messages that are discarded take a byte: two tables have 8 bytes for 64.
const PER_BYTE: u64 = 4;

/// How many times of discarded messages are kept for exact percentiles, and memory of one, with a
/// copy.
const EXACT_TIMES: u64 = 1 << 20;
const PER_TIME: u64 = 16;

/// Time for a packet to cross a link, and for a message: see `docs/speed.md` for the former, by the
/// size of the fabric.
const HOP: Duration = Duration::from_nanos(400);
const MESSAGE: Duration = Duration::from_micros(2);

/// Time for an entry of the table of next hops, of each switch towards each edge switch, with all
/// else that is made before a run: a ring of 16 takes 0.3 to 8 s on fat-trees of 8,192 to 65,536
/// hosts, 0.4 to 0.8 us an entry, and on a torus of 4,096 switches 0.2 us.
const ENTRY: Duration = Duration::from_nanos(500);

/// How many messages are looked at for the mean length of a path.
const SAMPLE: usize = 1_000;

/// What a run will take, to within a factor of two where nothing is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    /// Messages of the workload.
    pub messages: u64,
    /// Pairs of hosts and message streams, each with a queue pair or, where messages are split,
    /// several.
    pub streams: u64,
    /// Packets that cross a link, acknowledgements among them.
    pub packet_hops: u64,
    /// Memory on one thread.
    pub memory: Bytes,
    /// Time of one processor.
    pub cpu: Duration,
}

impl Estimate {
    /// What to say where only `available` memory is there.
    pub fn shortage(&self, available: Bytes) -> String {
        format!(
            "the run needs about {} of memory ({}, {} queue pairs or more), and {} is available: \
             take fewer hosts, fewer or longer messages",
            human::bytes(self.memory.get() as f64),
            human::plural(self.messages, "message"),
            self.streams,
            human::bytes(available.get() as f64)
        )
    }
}

/// What a run of a scenario will take; `None` where that is not estimated: of traces that are read
/// during the run, and of a fluid run.
pub fn estimate_scenario(scenario: &Scenario) -> Option<Estimate> {
    let is_estimated = scenario.traces.is_none() && scenario.fidelity == Fidelity::Packet;
    is_estimated.then(|| estimate(&scenario.setup(), scenario.messages()))
}

/// Refuses a run that is not expected to fit into `limit`; any does without a limit.
///
/// # Errors
/// What the run takes and what there is, without how to run it all the same.
pub fn expect_memory(scenario: &Scenario, limit: Option<Bytes>) -> Result<(), String> {
    let Some(limit) = limit else { return Ok(()) };
    match estimate_scenario(scenario).filter(|run| run.memory > limit) {
        Some(run) => Err(run.shortage(limit)),
        None => Ok(()),
    }
}

/// Estimates a run of packets. Its workload has `messages` messages, more than those of the setup
/// if they come to be during the run.
pub fn estimate(setup: &Setup, messages: u64) -> Estimate {
    let workload = &setup.workload;
    let mut streams: Vec<_> = workload.messages.iter().map(stream).collect();
    streams.sort_unstable();
    streams.dedup();
    let hosts = u64::from(setup.topology.host_count());
    let planned = workload.messages.len() as u64;
    let streams = streams.len() as u64;
    let packets = packets(setup, messages);
    let routes = setup.topology.routes();
    let way = mean_way(setup, routes);
    let packet_hops = (packets as f64 * way.hops) as u64;
    let in_flight = packets_in_flight(setup, way.delay);
    let (planned, live, streams, discarded) = match exchange(setup) {
        // Its messages and queue pairs are discarded, but for places among the numbers and times.
        Some(chains) => {
            let times = messages.min(EXACT_TIMES) * PER_TIME;
            (chains.live(), chains.live(), messages, messages / PER_BYTE + times)
        }
        None => (planned, streams, streams, 0),
    };
    let of_messages = planned * PER_MESSAGE + live * PER_QUEUE_PAIR + discarded;
    let memory = PROGRAM + hosts * PER_HOST + of_messages + in_flight * PER_PACKET;
    let counted = [(HOP, packet_hops), (MESSAGE, messages), (ENTRY, routes.entries())];
    let cpu: f64 = counted.iter().map(|(each, count)| each.as_secs_f64() * *count as f64).sum();
    Estimate {
        messages,
        streams,
        packet_hops,
        memory: Bytes::new(memory),
        cpu: Duration::from_secs_f64(cpu),
    }
}

/// The messages that are generated during the run, if queue pairs are discarded with them.
fn exchange(setup: &Setup) -> Option<&Chains> {
    setup.workload.chains.as_deref().filter(|_| uses_queue_pairs_once(setup))
}

/// Whether no two messages that are generated during the run share a queue pair, and none needs
/// another's. A relay sends those of its whole server to a host; and where ports of hosts fail,
/// what a queue pair has learned of its peer's ports serves the other way too.
pub(super) fn uses_queue_pairs_once(setup: &Setup) -> bool {
    let has_relays = setup.topology.scale_up().is_some_and(|it| it.cross_rail == CrossRail::Relay);
    let may_lose_ports = setup.topology.planes().count() > 1 && !setup.fabric.failures.is_empty();
    let chains = setup.workload.chains.as_deref();
    !has_relays && !may_lose_ports && chains.is_some_and(Chains::uses_queue_pairs_once)
}

fn stream(message: &Message) -> (HostId, HostId, u32) {
    (message.src, message.dst, message.stream)
}

/// Data packets and acknowledgements.
fn packets(setup: &Setup, messages: u64) -> u64 {
    let payload = setup.nic.payload.get().max(1);
    let of_message = |message: &Message| message.bytes.get().div_ceil(payload);
    let data = match exchange(setup) {
        Some(chains) => messages * chains.longest().get().div_ceil(payload).max(1),
        None => setup.workload.messages.iter().map(of_message).sum::<u64>().max(messages),
    };
    data + (data / u64::from(setup.nic.ack.every.max(1))).max(messages)
}

/// The way of a packet.
#[derive(Debug, Clone, Copy, Default)]
struct MeanWay {
    /// Links that it crosses.
    hops: f64,
    /// Their delays together, in picoseconds.
    delay: f64,
}

/// The way of a packet on average over some messages from the first to the last.
fn mean_way(setup: &Setup, routes: &Routes) -> MeanWay {
    let first = |chains: &Chains| chains.sent_by(&|host| host == chains.ranks[0]);
    let of_first = exchange(setup).and_then(first);
    let messages = &of_first.as_ref().unwrap_or(&setup.workload).messages;
    let step = messages.len().div_ceil(SAMPLE).max(1);
    let (mut sum, mut count) = (MeanWay::default(), 0.0f64);
    for message in messages.iter().step_by(step) {
        let ports = routes.path_ports(message.src, message.dst, 0);
        let delay = |port: &PortId| setup.topology.link(port.link()).delay.as_ps() as f64;
        sum.hops += ports.len() as f64;
        sum.delay += ports.iter().map(delay).sum::<f64>();
        count += 1.0;
    }
    let count = count.max(1.0);
    MeanWay { hops: sum.hops / count, delay: sum.delay / count }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn building_a_large_fabric_takes_time() {
        let cpu = |k: u32| {
            let text = format!(
                "[topology]\nkind = \"fat-tree\"\nk = {k}\n[workload]\nkind = \"ring-all-reduce\"\n\
                 ranks = 2\nbytes = \"4KB\"\n"
            );
            let folder = std::path::Path::new("");
            let scenario = Scenario::parse(&text, "test", folder, &Default::default()).unwrap();
            estimate_scenario(&scenario).unwrap().cpu
        };
        // 320 switches and 128 edge switches, and a message or two beside them.
        let entries = ENTRY * 320 * 128;
        assert!(cpu(16) > entries && cpu(16) < entries * 2, "{:?} of {entries:?}", cpu(16));
        assert!(cpu(4) < Duration::from_millis(1));
    }
}
