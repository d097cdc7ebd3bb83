//! The network between the NICs: ports, wires, and the packets on them.
//!
//! A port decides lazily which packet starts when (see [`port`]). A port is therefore settled
//! before it is read, and armed after it has changed if no arrival will look after it. This rule is
//! local to [`Network`], to which ports are private. A world passes it events and gets their
//! results: [`Network::handle_arrival`] returns an [`Arrival`].
//!
//! # Speed
//!
//! A packet costs one event a hop, and a hop touches few cache lines: the event, one line of the
//! packet, one of the port behind it, one of the port before it, and the ends of queues. What was
//! tried, and what it changed in the instructions of a packet-hop (a permutation of 128 hosts,
//! `spray`, counted by callgrind; 1,019 before):
//!
//! - the event has the packet, which is therefore in no list of its wire, and queues are rings
//!   beside their port; an event is one word: none by itself, but a third less time with 1,024
//!   hosts, since a port is no longer read to find the packet and the events take half the memory;
//! - the loop of a run leaves the world alone until a host has something to report, the candidates
//!   of a forwarding decision are looked up once, no marker is looked up below the smallest
//!   threshold: to 891;
//! - a port is looked up once a step ([`output`]), what an arrival does is inlined, ports without
//!   a due packet are not settled: to 760;
//! - where neither flow control nor trimming has a say, a packet is enqueued with one check of the
//!   buffer (decided once for a run): to 695;
//! - what a run has is decided once, at its start: one byte of a port says what sets it apart
//!   ([`port::Special`]), queues without flow control start in a loop of their own, and a point at
//!   which no port marks has a threshold that no queue reaches. The hash of ECMP is computed
//!   without the view of a switch that other policies have, and a host is looked at again only
//!   after something has changed. Hosts with several ports, link-level retry and telemetry had cost
//!   37; this step: from 739 (compiled as one unit, as all that follows) to 629;
//! - routing and hashes decide in one step where nothing else has a say; the calendar takes events
//!   from the end of a bucket, sorted upwards and then reversed, since events are mostly added
//!   upwards (sorted downwards at once: 6 more); bits are counted without a loop where there is
//!   one; a packet is injected, and a host followed up, without calls between: to 608;
//! - what a queue needs of a packet is read once, and what waits is made up only for packets that
//!   wait: to 602;
//! - where there are many queue pairs, the memory of hosts and of the halves that coming packets
//!   are for is fetched ahead like that of ports, in steps of which each reads what the one before
//!   has fetched: 0.70 of the time with 65,536 queue pairs on 1,024 hosts, 0.93 with one on each
//!   of 8,192.
//! - with flow control a packet is enqueued and started by paths of their own, each with one look
//!   at its port; starts are told apart before all other events but arrivals, and a threshold of
//!   PFC is computed once, in 64 bits: 90 less with PFC, and 7 less without, since the loop of a
//!   run has no part in it any more;
//! - splitters, timers and pauses of pacing are looked at once their first time has come, which is
//!   kept beside them: 10 less;
//! - a port is two cache lines in place of three: what its queues hold of a packet is one word, and
//!   their places are a power of two in number. A bucket of the calendar is taken from its front,
//!   which spares the reversal: 10 less;
//! - what each packet passes in a NIC is compiled as one, apart from what only shared windows, lost
//!   packets and short timers need: 42 less;
//! - queue pairs are found without the library's hash, and a plain buffer is checked with one
//!   comparison: 7 less, 16 with `ethereal`, whose messages go on many queue pairs;
//! - halves of queue pairs are whole cache lines, with what each packet touches first and the
//!   oldest message in the sending half itself, and hosts have theirs in front too, so that 5 lines
//!   of a sending half are fetched ahead in place of 8 and one that was not, and 11 of a host in
//!   place of 19: 0.80 of the time with 65,536 queue pairs on 1,024 hosts (medians of three to five
//!   pairs on a loaded machine), no difference beside the noise with one on each of 8,192;
//! - the allocator of the program asks for pages of 2 MiB: 0.67 of the time with `spray` and 0.70
//!   with `ethereal` on 1,024 hosts, 0.93 with `spray` on 128 (medians of three pairs);
//! - where ports take more than 1 MiB, the port that a packet goes to next is fetched ahead too, if
//!   a hash or its path says which, and then the ends of its queue: 0.85 of the time with `spray`
//!   and 0.70 with `ecmp` on 8,192 hosts (medians of three pairs on a loaded machine);
//! - a half that sends takes 7 lines in place of 8, queue pairs share what they only read of their
//!   congestion control, and a connection has its only flow in itself: 2.4 GB in place of 3.2 GB
//!   and 0.82 of the time with `ethereal` on 8,192 hosts, which has 2.1 million queue pairs there
//!   (median of three pairs). The records that the end of a flow writes fetched ahead: 0.92;
//! - there, each event fetches for one event of the next bucket and for one 24 events ahead, in
//!   place of a whole bucket at once, of which the processor can wait for a few lines at a time
//!   (`ahead`): 0.81 of the time with `spray` and 0.87 with `ethereal`, by the shortest of three
//!   times each; the entry of the forwarding table before that: 0.85 and 0.9. With 1,024 hosts that
//!   takes 1.0 to 1.2 of the time, and with 128 hosts 1.3 to 1.6. On 8,192 hosts a path's next
//!   port, the smaller halves and this take 0.58 of the time together with `ethereal` and `dcqcn`,
//!   and 0.79 and 0.84 with `spray` (two pairs each);
//! - where thousands of hosts start flows at the same time, each fetches for those after it what
//!   they start, both hosts of it and the ends of their lists; room for the queue pairs of a
//!   message is made at once, and the flows that wait are a list in order: 0.89 of the time with
//!   `ethereal` on 8,192 hosts (median of three pairs). Paths are looked up once for queue pairs
//!   that have the same. Memory that is freed stays with the program: 0.77 and 0.86 there, and
//!   nothing where less of it is freed;
//! - choices of policies are calls of their own: inlined, they had cost other packets 25 wherever
//!   the compiler took that way, as in the benchmark of instructions;
//! - with flow control, the packet that starts next is fetched when its start is scheduled: 0.94
//!   and 1.00 of the time with PFC on 128 hosts (medians of 30 and of 12 pairs, loaded);
//! - a NIC writes a packet where it stays while it is in the fabric: copies of it, read whole just
//!   after it had been written in parts, waited for these parts, which were a third of what
//!   injecting it took. With the counts of arrivals free of a branch, 0.95 of the time with `spray`
//!   on 128 hosts (medians of 12 pairs, as all that follow; loaded);
//! - up to 64 events of a bucket are sorted by counting those that precede each, with keys of 32
//!   bits of which four are compared at once (`event_queue::sorting`): half the time of the sort of
//!   the library, which mispredicts about a branch for each of 17 events, and 0.93 of the time with
//!   `spray`;
//! - what hardly ever happens is said to be so, which leaves the registers to the rest: 0.95 of the
//!   time with PFC and with `ecmp`; what queues read of a packet is read at once, and an entry of
//!   the forwarding table has the number of its ports: 0.99. The last four steps were measured
//!   without optimisation across crates; with it they take 0.94 to 0.96 of the time together.
//!
//! Features had cost 21 since the step to 602; with the steps up to the hash of queue pairs
//! it was 554. It was 562 with the later ones and traffic classes, and with PFC 657 (638 before).
//! It is 575 and 682 with the sort by counting, which takes less time all the same.
//!
//! Narrower buckets of the calendar with 1,024 hosts cost 5 % of the time: more of them hold memory
//! that is hardly used. With 128 hosts they gain nothing: sorting costs 7 instructions less, and
//! the buckets as much more, since the packets of a permutation arrive at the same times. A pass by
//! the upper bits of times before sorting a bucket cost 60 instructions more than the library's
//! sort. One reference to all that ports share, in place of one to each part of it, gained nothing
//! by itself, nor did a copy less of each delivered packet. Rings of our own cost 2 more than the
//! library's as long as their places were structures, which were read field by field. Looking
//! ahead costs 23 instructions, and with 128 hosts too it is worth them: without it the same run
//! takes 1.1 to 1.3 of the time (medians of seven pairs on a loaded machine).
//!
//! Of a packet-hop 2.6 branches are mispredicted by callgrind's model (3.4 with `ecmp`). Conditions
//! of ports without branches between them take away 0.2 of these and cost 7 instructions, which did
//! not show in the time; sorting by counting gained nothing as long as the keys had 64 bits, which
//! not every processor compares at once. With pages of 4 KiB the port that comes next, fetched
//! ahead, was worth 3 to 5 % with 1,024 and 8,192 hosts; with those of 2 MiB it is worth nothing
//! with 1,024, and costs 6 % with 128. Found an event ahead and kept, so that nothing is looked up
//! twice, it costs 1 to 3 % there, and 7 to 10 % with PFC. Hosts of the next bucket fetched ahead
//! on 128 hosts cost 2 to 5 %, the packet at the front of a queue kept in its port 2 to 3 %, and
//! fetched ahead with its port 4 to 9 %. A compiler that has the profile of such runs takes away 6
//! to 8 %, of the yardstick too, so that the ratio stays as it is. Addresses for all packets from
//! the start, so that their memory is never copied to a larger place, gained nothing with `ecmp` on
//! 128 hosts (0.99, median of six pairs). What recoveries keep outside the sending half fetched
//! ahead is worth 1 to 2 % with 8,192 hosts and nothing with 1,024.

mod ahead;
mod arrival;
mod border;
mod class_table;
mod classes;
mod failing_links;
mod forwarding;
mod held;
mod host_wire;
mod output;
mod pfc;
mod planes;
mod pool;
mod port;
mod readings;
mod remainder;
mod settling;
mod telemetry;
mod tracing;

use std::sync::Arc;

use ahead::Ahead;
pub(super) use arrival::{Arrival, DeliveredPacket};
pub(super) use border::Crossing;
pub(super) use held::cycle;
pub(super) use pfc::LinkOrder;
pub(super) use pool::SlotId;
pub(super) use readings::PortCounters;
pub(super) use remainder::Remainder;

use super::counters::NetworkCounters;
use super::event::{Event, MOST_PACKETS, Word};
use super::event_queue::EventQueue;
use super::outcome::PauseRecord;
use super::setup::Setup;
use crate::endpoint::Endpoints;
use crate::ids::PortId;
use crate::packet::Packet;
use crate::switching::{FabricConfig, Switching};
use crate::topology::{Node, Topology};
use crate::units::{Span, Time};
use failing_links::LinkRates;
use output::Shared;
use planes::Wires;
use pool::Pool;
use port::{Port, PortParts, Special};

/// The size of a second-level cache, bytes: on smaller fabrics looking ahead only costs.
const NEAR_CACHE: usize = 1 << 16;
/// Where ports take more bytes, each event fetches for one that comes soon. On a fat-tree of 1,024
/// hosts, where they take 0.8 MB, that costs as much as it saves or more.
const FAR_CACHE: usize = 1 << 20;

/// The network between the NICs.
#[derive(Debug)]
pub(super) struct Network {
    ports: Vec<Port>,
    /// Whether its ports do not fit a cache that is near.
    is_large: bool,
    /// Whether they do not fit one that is larger.
    is_very_large: bool,
    shared: Shared,
    /// The wires of hosts with several ports.
    wires: Wires,
    rates: LinkRates,
    /// The time from a packet's arrival at a switch until it can leave.
    forwarding_delay: Span,
    /// What is fetched ahead.
    ahead: Ahead,
    /// Ports whose wires end in other parts of a divided run.
    borders: Vec<PortId>,
    /// PFC frames that took effect, and pauses that expired.
    pauses: Vec<PauseRecord>,
    /// How long a pause lasts without another frame, if it expires at all.
    pause_time: Option<Span>,
    /// When the pause of each port expires, where pauses do; by port id, and then by class.
    pause_ends: Vec<Time>,
}

impl Network {
    /// The network of a setup, idle, with its failures scheduled.
    pub(in crate::fabric) fn new(setup: &Setup) -> Self {
        let Setup { topology, fabric, .. } = setup;
        let ids =
            (0..u32::try_from(2 * topology.links().len()).expect("ids are 32 bits")).map(PortId);
        let ports: Vec<Port> = ids.map(|id| port(topology, fabric, id)).collect();
        // Most events are arrivals, at most the time of flight of a large packet ahead.
        let horizon = ports.iter().map(|port| port.flight(1 << 14).as_ps()).max().unwrap_or(0);
        let switching = setup.switching();
        let telemetry = telemetry::Table::of(setup, &switching);
        let shared = Shared {
            telemetry,
            classes: class_table::Classes::of(setup),
            pool: Pool::new(MOST_PACKETS),
            queue: EventQueue::new(2 * topology.links().len(), horizon),
            counters: NetworkCounters::default(),
            switching,
            trace: None,
        };
        let port_bytes = ports.len() * size_of::<Port>();
        let mut network = Self {
            is_large: port_bytes > NEAR_CACHE,
            is_very_large: port_bytes > FAR_CACHE,
            ports,
            shared,
            wires: Wires::new(topology),
            rates: LinkRates::default(),
            forwarding_delay: fabric.forwarding_delay,
            ahead: Ahead::default(),
            borders: Vec::new(),
            pauses: Vec::new(),
            pause_time: None,
            pause_ends: Vec::new(),
        };
        // Every step of the plan is in the queue from the start; none is rescheduled.
        network.schedule_failures(&fabric.failures);
        network.mark_writing_ports();
        network.mark_credit_ports();
        network.mark_class_ports();
        if let Some(time) = fabric.switch.pfc.and_then(|pfc| pfc.pause_time) {
            network.expire_pauses_after(time);
        }
        network
    }

    pub(in crate::fabric) fn switching(&self) -> &Switching {
        &self.shared.switching
    }

    /// The counters so far.
    pub(in crate::fabric) fn counters(&self) -> &NetworkCounters {
        &self.shared.counters
    }

    pub(in crate::fabric) fn schedule(&mut self, at: Time, event: Event) {
        self.shared.queue.push(at, event);
    }

    /// The time of the next event.
    #[inline]
    pub(in crate::fabric) fn next_time(&mut self) -> Option<Time> {
        self.shared.queue.next_time()
    }

    /// Takes the next event, if it is not later than `by`.
    #[inline(always)]
    pub(in crate::fabric) fn pop_event(
        &mut self,
        by: Time,
        endpoints: &Endpoints,
    ) -> Option<(Time, Word)> {
        if self.shared.queue.is_bucket_done() {
            self.take_bucket(endpoints);
        } else if self.is_very_large {
            self.look_ahead(endpoints);
        }
        self.shared.queue.pop_of_bucket(by)
    }

    /// Makes the next bucket of the calendar the current one, and fetches memory ahead.
    #[inline(never)]
    fn take_bucket(&mut self, endpoints: &Endpoints) {
        if self.is_very_large {
            self.catch_up();
            if self.shared.queue.advance() {
                self.fetch_first_ways(endpoints);
            }
        } else if self.shared.queue.advance() && self.is_large {
            self.prefetch_bucket(endpoints);
        }
    }

    /// Every packet in a queue or on a wire.
    pub(in crate::fabric) fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.shared.pool.packets()
    }

    /// PFC frames that took effect, by time.
    pub(in crate::fabric) fn pauses(&self) -> &[PauseRecord] {
        &self.pauses
    }

    /// The same, taken.
    pub(in crate::fabric) fn take_pauses(&mut self) -> Vec<PauseRecord> {
        std::mem::take(&mut self.pauses)
    }
}

#[cfg(test)]
impl Network {
    /// Fetches memory ahead as with that many bytes of ports.
    pub(in crate::fabric) fn fetch_ahead_as_with(&mut self, port_bytes: usize) {
        self.is_large = port_bytes > NEAR_CACHE;
        self.is_very_large = port_bytes > FAR_CACHE;
    }
}

fn port(topology: &Arc<Topology>, config: &FabricConfig, id: PortId) -> Port {
    let (start, end) = topology.ends_of(id);
    let link = topology.link(id.link());
    // The forwarding delay counts as a part of the wire: a packet arrives when its switch may
    // decide about it, which spares an event for each packet and hop.
    let forwarding = match end {
        Node::Switch(_) => config.forwarding_delay,
        Node::Host(_) => Span::ZERO,
    };
    let mut port = Port::new(&PortParts {
        start,
        end,
        rate: config.llr.map_or(link.rate, |llr| llr.left_of(link.rate)),
        delay: link.delay + forwarding,
        gap: config.gap,
        rounding: config.rounding,
    });
    if matches!(start, Node::Host(_)) && topology.planes().count() > 1 {
        port.special = port.special.with(Special::PLANES);
    }
    if config.switch.pfc.is_some() || config.switch.cbfc.is_some() {
        port.special = port.special.with(Special::FLOW_CONTROL);
    }
    port
}
