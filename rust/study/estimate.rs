//! Estimates of a run's memory and CPU time, made before the run.

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

/// Memory of the program without a run: its own pages and its allocator's.
const PROGRAM: u64 = 20 << 20;

/// Memory per host, including its share of the fabric, on fat-trees of 1,024 to 131,072 hosts.
const PER_HOST: u64 = 12 << 10;

/// Memory per message and its flow: 2.1 million messages of a ring of 1,024 take 546 MB.
const PER_MESSAGE: u64 = 260;

/// Memory per queue pair, both ends. An all-to-all of 1,024 with a million queue pairs takes 1.37
/// GB with its messages under a policy with little state; other policies keep more.
const PER_QUEUE_PAIR: u64 = 1_400;

/// Memory per queued or in-flight packet and its event: 3.9 million of an incast take 790 MB.
const PER_PACKET: u64 = 200;

/// Ids of discarded messages per byte: two tables with 8 bytes per 64 ids each.
const PER_BYTE: u64 = 4;

/// Number of times of discarded messages that are kept for exact percentiles, and the memory of
/// each one and its copy.
const EXACT_TIMES: u64 = 1 << 20;
const PER_TIME: u64 = 16;

/// CPU time per packet-hop and per message. For the former, `docs/speed.md` has measurements by
/// size of the fabric.
const HOP: Duration = Duration::from_nanos(400);
const MESSAGE: Duration = Duration::from_micros(2);

/// CPU time per entry of the next-hop table (one per switch and edge switch), including all other
/// set-up. A ring of 16 takes 0.3 to 8 s on fat-trees of 8,192 to 65,536 hosts, which is 0.4 to 0.8
/// us per entry. On a torus of 4,096 switches it is 0.2 us.
const ENTRY: Duration = Duration::from_nanos(500);

/// Number of messages that are sampled for the mean path length.
const SAMPLE: usize = 1_000;

/// Estimated resources of a run, accurate within a factor of two if no packets are lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    /// Messages of the workload.
    pub messages: u64,
    /// Number of distinct pairs of hosts with a message stream. Each has one queue pair, or several
    /// where messages are split.
    pub streams: u64,
    /// Links crossed by all packets, including acknowledgements.
    pub packet_hops: u64,
    /// Memory of the run on one thread.
    pub memory: Bytes,
    /// CPU time of the run on one core.
    pub cpu: Duration,
}

impl Estimate {
    /// Returns the message for a system with only `available` memory.
    pub fn shortage(&self, available: Bytes) -> String {
        format!(
            "the run needs about {} of memory ({}, {} queue pairs or more), and {} is available: \
             use fewer hosts, or fewer or longer messages",
            human::bytes(self.memory.get() as f64),
            human::plural(self.messages, "message"),
            self.streams,
            human::bytes(available.get() as f64)
        )
    }
}

/// Estimates the run of a scenario. Returns `None` for fluid runs and for traces that are read
/// during the run.
pub fn estimate_scenario(scenario: &Scenario) -> Option<Estimate> {
    let is_estimated = scenario.traces.is_none() && scenario.fidelity == Fidelity::Packet;
    is_estimated.then(|| estimate(&scenario.setup(), scenario.messages()))
}

/// Rejects a run whose estimated memory exceeds `limit`. Without a limit every run passes.
///
/// # Errors
/// Returns the estimate and the limit in words. The text does not say how to run it regardless.
pub fn expect_memory(scenario: &Scenario, limit: Option<Bytes>) -> Result<(), String> {
    let Some(limit) = limit else { return Ok(()) };
    match estimate_scenario(scenario).filter(|run| run.memory > limit) {
        Some(run) => Err(run.shortage(limit)),
        None => Ok(()),
    }
}

/// Estimates a packet-level run with `messages` messages. That is more than the workload of `setup`
/// has if messages are generated during the run.
pub fn estimate(setup: &Setup, messages: u64) -> Estimate {
    let workload = &setup.workload;
    let mut streams: Vec<_> = workload.messages.iter().map(stream).collect();
    streams.sort_unstable();
    streams.dedup();
    let hosts = u64::from(setup.topology.host_count());
    let held = workload.messages.len() as u64;
    let streams = streams.len() as u64;
    let packets = packets(setup, messages);
    let routes = setup.topology.routes();
    let path = mean_path(setup, routes);
    let packet_hops = (packets as f64 * path.hops) as u64;
    let in_flight = packets_in_flight(setup, path.delay);
    let (held, max_in_flight, streams, discarded) = match generated_messages(setup) {
        // Messages and queue pairs are discarded on completion; only ids and times are kept.
        Some(chains) => {
            let times = messages.min(EXACT_TIMES) * PER_TIME;
            (chains.max_in_flight(), chains.max_in_flight(), messages, messages / PER_BYTE + times)
        }
        None => (held, streams, streams, 0),
    };
    let of_messages = held * PER_MESSAGE + max_in_flight * PER_QUEUE_PAIR + discarded;
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

/// Returns the messages that are generated during the run, if their queue pairs are discarded with
/// them.
fn generated_messages(setup: &Setup) -> Option<&Chains> {
    setup.workload.chains.as_deref().filter(|_| uses_queue_pairs_once(setup))
}

/// Returns true if each message that is generated during the run has a queue pair of its own that
/// shares no state with others. A relay sends the messages of its whole server to a host on one
/// queue pair. If host ports can fail, what a queue pair learns about its peer's ports also serves
/// the reverse direction.
pub(super) fn uses_queue_pairs_once(setup: &Setup) -> bool {
    let has_relays = setup.topology.scale_up().is_some_and(|it| it.cross_rail == CrossRail::Relay);
    let may_lose_ports = setup.topology.planes().count() > 1 && !setup.fabric.failures.is_empty();
    let chains = setup.workload.chains.as_deref();
    !has_relays && !may_lose_ports && chains.is_some_and(Chains::uses_queue_pairs_once)
}

fn stream(message: &Message) -> (HostId, HostId, u32) {
    (message.src, message.dst, message.stream)
}

/// Estimates the number of data packets and acknowledgements.
fn packets(setup: &Setup, messages: u64) -> u64 {
    let payload = setup.nic.payload.get().max(1);
    let of_message = |message: &Message| message.bytes.get().div_ceil(payload);
    let data = match generated_messages(setup) {
        Some(chains) => messages * chains.longest().get().div_ceil(payload).max(1),
        None => setup.workload.messages.iter().map(of_message).sum::<u64>().max(messages),
    };
    data + (data / u64::from(setup.nic.ack.every.max(1))).max(messages)
}

/// Mean path of a packet.
#[derive(Debug, Clone, Copy, Default)]
struct MeanPath {
    /// Links on the path.
    hops: f64,
    /// Sum of the link delays, in picoseconds.
    delay: f64,
}

/// Returns the mean path of a packet over an evenly spaced sample of the messages.
fn mean_path(setup: &Setup, routes: &Routes) -> MeanPath {
    let first = |chains: &Chains| chains.sent_by(&|host| host == chains.ranks[0]);
    let of_first = generated_messages(setup).and_then(first);
    let messages = &of_first.as_ref().unwrap_or(&setup.workload).messages;
    let step = messages.len().div_ceil(SAMPLE).max(1);
    let (mut sum, mut count) = (MeanPath::default(), 0.0f64);
    for message in messages.iter().step_by(step) {
        let ports = routes.path_ports(message.src, message.dst, 0);
        let delay = |port: &PortId| setup.topology.link(port.link()).delay.as_ps() as f64;
        sum.hops += ports.len() as f64;
        sum.delay += ports.iter().map(delay).sum::<f64>();
        count += 1.0;
    }
    let count = count.max(1.0);
    MeanPath { hops: sum.hops / count, delay: sum.delay / count }
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
        // 320 switches and 128 edge switches, and a message or two.
        let entries = ENTRY * 320 * 128;
        assert!(cpu(16) > entries && cpu(16) < entries * 2, "{:?} of {entries:?}", cpu(16));
        assert!(cpu(4) < Duration::from_millis(1));
    }
}
