//! Estimates of a run's memory and CPU time, made before the run.

use std::borrow::Cow;
use std::time::Duration;

use super::in_flight::packets_in_flight;
use super::pieces::pieces_per_message;
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

/// CPU time per packet-hop among 16 hosts, and its growth each time the hosts double, since less of
/// their memory is cached. `docs/speed.md` has 100 to 145 ns among 128 hosts, 160 to 280 among
/// 1,024, and `docs/reproduce/speed.txt` 230 to 370 among 8,192.
const HOP: Duration = Duration::from_nanos(80);
const HOP_GROWTH: Duration = Duration::from_nanos(30);
const HOP_HOSTS: f64 = 16.0;

/// CPU time per message.
const MESSAGE: Duration = Duration::from_micros(2);

/// CPU time per entry of the next-hop table (one per switch and edge switch), including all other
/// set-up. A ring of 16 takes 0.3 to 8 s on fat-trees of 8,192 to 65,536 hosts, which is 0.4 to 0.8
/// us per entry. On a torus of 4,096 switches it is 0.2 us.
const ENTRY: Duration = Duration::from_nanos(500);

/// Number of messages that are sampled for the mean path length.
const SAMPLE: usize = 1_000;

/// Memory per flow of a fluid run. Two million pieces of a permutation under `ethereal` take 4.7
/// GB.
const PER_FLUID_FLOW: u64 = 2_200;

/// CPU time per flow of a fluid run among [`FLUID_HOSTS`] hosts. It grows with the square root of
/// the hosts: 5 to 270 us per flow among 128 to 8,192 hosts, and 500 us among 65,536.
const FLUID_FLOW: Duration = Duration::from_micros(5);
const FLUID_HOSTS: f64 = 16.0;

/// Estimated resources of a run. Those of a packet run are accurate within a factor of two if no
/// packets are lost, the time of a fluid run within a factor of five.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    /// Messages of the workload.
    pub messages: u64,
    /// Number of distinct pairs of hosts with a message stream on the fabric. Each has one queue
    /// pair, or several where messages are split.
    pub streams: u64,
    /// Links crossed by all packets, including acknowledgements; 0 for a fluid run.
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

/// Estimates the run of a scenario. Returns `None` for traces that are read during the run.
pub fn estimate_scenario(scenario: &Scenario) -> Option<Estimate> {
    if scenario.traces.is_some() {
        return None;
    }
    let setup = scenario.setup();
    let load = Load::of(&setup, scenario);
    Some(match scenario.fidelity {
        Fidelity::Packet => of_packets(&setup, &load),
        Fidelity::Fluid => of_flows(&setup, &load),
    })
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

/// Messages of a run by their way: inside servers they are no packets.
#[derive(Debug)]
struct Load<'a> {
    /// All messages.
    messages: u64,
    /// Those that cross the fabric, from the NIC that sends them: one for each message, or one for
    /// each pair of hosts and stream if the workload has only totals.
    on_fabric: Cow<'a, [Message]>,
    /// Number of messages of each entry of `on_fabric`; empty if each is one.
    counts: Vec<u64>,
    /// Data packets on the fabric.
    packets: u64,
    /// Messages on the fabric.
    fabric_messages: u64,
}

impl<'a> Load<'a> {
    fn of(setup: &'a Setup, scenario: &Scenario) -> Self {
        let payload = setup.nic.payload.get().max(1);
        let longest = generated_messages(setup).map(|chains| chains.longest().get().max(1));
        let counts = scenario.tally.as_ref().map(|tally| &tally.counts);
        let count = |index: usize, message: &Message| match (counts, longest) {
            (Some(counts), _) => counts[index],
            (None, Some(longest)) => message.bytes.get().div_ceil(longest).max(1),
            (None, None) => 1,
        };
        let messages = scenario.messages();
        let has_totals = counts.is_some() || longest.is_some();
        let (mut packets, mut fabric_messages, mut of_entries) = (0, 0, Vec::new());
        let all = &setup.workload.messages;
        let mut on_fabric = Cow::Borrowed(&all[..]);
        if setup.topology.scale_up().is_some() {
            on_fabric = Cow::Owned(Vec::new());
        }
        for (index, message) in all.iter().enumerate() {
            let sender = setup.topology.sender_over_fabric(message.src, message.dst);
            let Some(src) = sender else { continue };
            if let Cow::Owned(on_fabric) = &mut on_fabric {
                on_fabric.push(Message { src, ..*message });
            }
            let count = count(index, message);
            fabric_messages += count;
            if has_totals {
                of_entries.push(count);
            }
            // Messages of one pair and stream have nearly the same length.
            packets += count * (message.bytes.get() / count).div_ceil(payload).max(1);
        }
        Self { messages, on_fabric, counts: of_entries, packets, fabric_messages }
    }

    /// Iterates over the entries of `on_fabric` and their numbers of messages.
    fn counted(&self) -> impl Iterator<Item = (Message, u64)> {
        let counts = self.counts.iter().copied().chain(std::iter::repeat(1));
        self.on_fabric.iter().copied().zip(counts)
    }

    /// Returns the number of distinct pairs of hosts and stream.
    fn streams(&self) -> u64 {
        let mut streams: Vec<_> = self.on_fabric.iter().map(stream).collect();
        streams.sort_unstable();
        streams.dedup();
        streams.len() as u64
    }
}

/// Estimates a packet-level run.
fn of_packets(setup: &Setup, load: &Load<'_>) -> Estimate {
    let hosts = u64::from(setup.topology.host_count());
    let streams = load.streams();
    let every = u64::from(setup.nic.ack.every.max(1));
    let packets = load.packets + (load.packets / every).max(load.fabric_messages);
    let routes = setup.topology.routes();
    let path = mean_path(setup, routes, load);
    let packet_hops = (packets as f64 * path.hops) as u64;
    let in_flight = packets_in_flight(setup, &load.on_fabric, path.delay);
    let messages = load.messages;
    let (held, max_in_flight, streams, discarded) = match generated_messages(setup) {
        // Messages and queue pairs are discarded on completion; only ids and times are kept.
        Some(chains) => {
            let times = messages.min(EXACT_TIMES) * PER_TIME;
            let most = chains.max_in_flight();
            (most, most, load.fabric_messages, messages / PER_BYTE + times)
        }
        None => (messages, streams, streams, 0),
    };
    let of_messages = held * PER_MESSAGE + max_in_flight * PER_QUEUE_PAIR + discarded;
    let memory = PROGRAM + hosts * PER_HOST + of_messages + in_flight * PER_PACKET;
    let doublings = (hosts as f64 / HOP_HOSTS).log2().max(0.0);
    let hop = HOP + HOP_GROWTH.mul_f64(doublings);
    let counted = [(hop, packet_hops), (MESSAGE, messages), (ENTRY, routes.entries())];
    Estimate { messages, streams, packet_hops, memory: Bytes::new(memory), cpu: sum(&counted) }
}

/// Estimates a fluid run, whose flows are the pieces of messages.
fn of_flows(setup: &Setup, load: &Load<'_>) -> Estimate {
    let hosts = u64::from(setup.topology.host_count());
    let (messages, streams) = (load.messages, load.streams());
    let pieces = pieces_per_message(setup, load.counted());
    let kept = (streams as f64 * pieces) as u64;
    let flows = (messages as f64 * pieces) as u64;
    let memory = PROGRAM + hosts * PER_HOST + messages * PER_MESSAGE + kept * PER_FLUID_FLOW;
    let flow = FLUID_FLOW.mul_f64((hosts as f64 / FLUID_HOSTS).sqrt().max(1.0));
    let cpu = sum(&[(flow, flows), (ENTRY, setup.topology.routes().entries())]);
    Estimate { messages, streams, packet_hops: 0, memory: Bytes::new(memory), cpu }
}

fn sum(counted: &[(Duration, u64)]) -> Duration {
    let all = counted.iter().map(|(each, count)| each.as_secs_f64() * *count as f64);
    Duration::from_secs_f64(all.sum())
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

/// Mean path of a packet.
#[derive(Debug, Clone, Copy, Default)]
struct MeanPath {
    /// Links on the path.
    hops: f64,
    /// Sum of the link delays, in picoseconds.
    delay: f64,
}

/// Returns the mean path of a packet over an evenly spaced sample of the messages.
fn mean_path(setup: &Setup, routes: &Routes, load: &Load<'_>) -> MeanPath {
    let messages = &load.on_fabric;
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
    use crate::scenario::Overrides;

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

    fn estimated(text: &str) -> Estimate {
        let (folder, forecast) = (std::path::Path::new(""), Overrides::default());
        let forecast = Overrides { is_forecast: true, ..forecast };
        estimate_scenario(&Scenario::parse(text, "test", folder, &forecast).unwrap()).unwrap()
    }

    #[test]
    fn messages_inside_servers_are_no_packets() {
        let hops = |group: u32, keys: &str| {
            let text = format!(
                "[topology]\nleaves = 4\nspines = 4\nhosts_per_leaf = 8\n{keys}\n[workload]\n\
                 kind = \"hierarchical-all-reduce\"\nbytes = \"4MB\"\ngroup = {group}\n"
            );
            estimated(&text).packet_hops
        };
        let nvlink = "scale_up = { gpus = 8 }";
        // With NVLink, 12/16 MB per rank along its rail remain; 28/8 MB stay inside the server.
        let (without, with) = (hops(8, ""), hops(8, nvlink));
        assert!(with * 4 < without, "{with} of {without}");
        let relayed = "scale_up = { gpus = 8, cross_rail = \"relay\" }";
        assert_eq!(hops(8, relayed), with, "rails need no relay");
    }

    #[test]
    fn totals_of_many_messages_give_the_forecast_of_all() {
        let text = "[topology]\nleaves = 128\nspines = 16\nhosts_per_leaf = 16\n\
                    [workload]\nkind = \"hierarchical-all-reduce\"\nbytes = \"64MB\"\n";
        let folder = std::path::Path::new("");
        let all = Scenario::parse(text, "test", folder, &Overrides::default()).unwrap();
        assert_eq!((all.messages(), all.tally.is_some()), (1_073_152, false));
        let (all, totals) = (estimate_scenario(&all).unwrap(), estimated(text));
        assert_eq!((all.messages, all.streams), (totals.messages, totals.streams));
        let ratio = |a: u64, b: u64| a as f64 / b as f64;
        let memory = ratio(totals.memory.get(), all.memory.get());
        let hops = ratio(totals.packet_hops, all.packet_hops);
        assert!((0.9..1.1).contains(&memory) && (0.7..1.3).contains(&hops), "{memory} {hops}");
    }

    #[test]
    fn fluid_runs_have_forecasts_that_count_pieces() {
        let of = |policy: &str| {
            let text = format!(
                "fidelity = \"fluid\"\n[topology]\nkind = \"fat-tree\"\nk = 16\n[policy]\n\
                 name = \"{policy}\"\n[workload]\nkind = \"permutation\"\nbytes = \"16MB\"\n"
            );
            estimated(&text)
        };
        let (spray, ethereal) = (of("spray"), of("ethereal"));
        assert_eq!((spray.messages, spray.packet_hops), (1_024, 0));
        // 61,721 flows took 1.2 s and 149 MB.
        assert!((0.3..6.0).contains(&ethereal.cpu.as_secs_f64()), "{ethereal:?}");
        assert!((75..300).contains(&(ethereal.memory.get() / 1_000_000)), "{ethereal:?}");
        assert!(spray.cpu < ethereal.cpu / 10, "{spray:?}");
    }
}
