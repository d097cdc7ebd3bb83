//! Two NICs under any sequence of packets, valid or not, timeouts, posts and polls.
//!
//! Queue pair 0 and queue pairs that do not exist receive forged packets; queue pair 1 receives
//! only its own packets, some of them lost, duplicated or late. Its messages must complete.

use std::collections::{BTreeSet, VecDeque};
use std::path::Path;
use std::sync::{Arc, LazyLock};

use evenkeel::balance::sender::{NetworkParameters, PathSpace, QpContext};
use evenkeel::ids::{HostId, QpId};
use evenkeel::nic::congestion::CONTROLS;
use evenkeel::nic::{Delivery, Nic, NicEvent, Owner, PortFacts, SendHalf};
use evenkeel::packet::Packet;
use evenkeel::scenario::{Overrides, Scenario};
use evenkeel::units::{BitRate, Bytes, Span, Time};

use super::forged::{CLEAN, Input};

const PORT: PortFacts =
    PortFacts { line_rate: BitRate::from_gbps(100), base_rtt: Span::from_us(5) };

/// The maximum number of steps in which the clean queue pair completes over a pipe without loss.
const MOST_STEPS: usize = 400_000;

/// The most messages of an input, of up to 64 KiB each.
const MOST_POSTS: u32 = 24;

/// Every pair of recovery and congestion control, and both orders of delivery.
static SCENARIOS: LazyLock<Vec<Scenario>> = LazyLock::new(|| {
    let recoveries = [
        ("go-back-n", "auto"),
        ("per-packet", "auto"),
        ("sack", "auto"),
        ("erasure", "auto"),
        ("per-packet", "unordered"),
        ("sack", "unordered"),
        ("erasure", "ordered"),
        ("mrc", "auto"),
        ("rod", "auto"),
        ("rudi", "auto"),
    ];
    let all = recoveries.iter().flat_map(|(recovery, delivery)| {
        CONTROLS.iter().filter_map(move |control| {
            let text = format!(
                "[topology]\nleaves = 2\nspines = 1\nhosts_per_leaf = 1\n[transport]\n\
                 payload = \"1000B\"\nretransmit_timeout = \"200us\"\nrecovery = \"{recovery}\"\n\
                 congestion_control = \"{}\"\ndelivery = \"{delivery}\"\n\
                 [policy]\nname = \"spray\"\n",
                control.name
            );
            Scenario::parse(&text, "fuzz", Path::new(""), &Overrides::default()).ok()
        })
    });
    let all: Vec<Scenario> = all.collect();
    assert!(all.len() >= 8, "the scenarios are wrong");
    all
});

/// Two NICs, the packets between them, and the messages of the clean queue pair.
struct Rig {
    now: Time,
    nics: [Nic; 2],
    /// Packets in flight to the other side.
    pipes: [VecDeque<Packet>; 2],
    posts: u32,
    posted: u32,
    delivered: u32,
    completed: u32,
    /// The messages that were delivered.
    arrived: BTreeSet<u32>,
}

/// The fuzz target.
pub fn nic(data: &[u8]) {
    let mut input = Input::new(data);
    let mut rig = Rig::new(&mut input);
    while let Some(choice) = input.next() {
        rig.act(choice, &mut input);
    }
    rig.finish();
}

impl Rig {
    fn new(input: &mut Input) -> Self {
        let scenario = &SCENARIOS[usize::from(input.byte()) % SCENARIOS.len()];
        let mut config = scenario.nic.clone();
        let limits = input.byte();
        config.ack.every = u32::from(limits % 8 + 1);
        // Ordered messages may be WRITEs with immediate data, some of which wait for others.
        if limits & 192 == 192 && config.delivery() == Delivery::Ordered {
            config.queue_pairs.immediate_messages = Some(u32::from(limits >> 4 & 3) + 1);
        }
        let config = Arc::new(config);
        let mut nics = [0, 1].map(|host| Nic::new(HostId(host), PORT, Arc::clone(&config)));
        for number in 0..=CLEAN.0 {
            let context = QpContext {
                seed: 1,
                src: HostId(0),
                dst: HostId(1),
                stream: number,
                qp_index: 0,
                paths: PathSpace::SINGLE,
                path: 0,
                network: NetworkParameters::default(),
            };
            let policy = scenario.scheme.sender.build(&context);
            let (peer, label, cookie) = (HostId(1), number, number);
            let half = SendHalf { peer, label, cookie, extra: false, policy };
            let qp = nics[0].open_sender(half);
            let receiver = nics[1].open_receiver(HostId(0), qp, number, number);
            assert_eq!((qp, receiver), (QpId(number), QpId(number)));
            nics[0].connect(qp, receiver);
        }
        Self {
            now: Time::ZERO,
            nics,
            pipes: Default::default(),
            posts: 0,
            posted: 0,
            delivered: 0,
            completed: 0,
            arrived: BTreeSet::new(),
        }
    }

    fn act(&mut self, choice: u8, input: &mut Input) {
        let side = usize::from(choice >> 7);
        match choice % 8 {
            0 => self.nics[side].handle_packet(self.now, &input.packet()),
            1 => self.now += Span::from_ps(input.number() % (1 << 30)),
            2 => self.nics[side].handle_timeout(self.now),
            3 => {
                self.transmit(side);
            }
            4 => self.deliver(side),
            5 => drop(self.pipes[side].pop_front()),
            6 => self.post(QpId(u32::from(choice >> 6 & 1)), input.number()),
            _ => self.mix(side),
        }
        self.poll_events();
    }

    /// Moves the first packet to the end, or appends a copy of it.
    fn mix(&mut self, side: usize) {
        let pipe = &mut self.pipes[side];
        let Some(&first) = pipe.front() else { return };
        pipe.push_back(first);
        if pipe.len().is_multiple_of(2) {
            pipe.pop_front();
        }
    }

    fn post(&mut self, qp: QpId, bytes: u64) {
        if self.posts == MOST_POSTS {
            return;
        }
        self.posts += 1;
        self.posted += u32::from(qp == CLEAN);
        self.nics[0].post(qp, Bytes::new(bytes % (1 << 16)), u64::from(self.posts), 0);
    }

    fn transmit(&mut self, side: usize) -> bool {
        let Some(packet) = self.nics[side].poll_transmit(self.now) else { return false };
        self.now += PORT.line_rate.time_for(Bytes::new(u64::from(packet.wire_bytes)));
        self.pipes[side].push_back(packet);
        true
    }

    fn deliver(&mut self, side: usize) {
        if let Some(packet) = self.pipes[side].pop_front() {
            self.nics[1 - side].handle_packet(self.now, &packet);
        }
    }

    fn poll_events(&mut self) {
        // The receiver first: a message may be delivered and complete at the same time.
        for nic in self.nics.iter_mut().rev() {
            while let Some(event) = nic.poll_event() {
                match event {
                    NicEvent::Delivered { owner: Owner::World(cookie), message }
                        if cookie == CLEAN.0 =>
                    {
                        // Unordered delivery promises no order.
                        assert!(self.arrived.insert(message), "each message once");
                        self.delivered += 1;
                    }
                    NicEvent::Completed { owner: Owner::World(cookie), .. }
                        if cookie == CLEAN.0 =>
                    {
                        self.completed += 1;
                        assert!(self.completed <= self.delivered, "complete and not delivered");
                    }
                    _ => {}
                }
            }
        }
        assert!(self.delivered <= self.posted);
    }

    /// With a perfect pipe from here on, the clean queue pair completes.
    fn finish(&mut self) {
        for _ in 0..MOST_STEPS {
            if self.completed == self.posted {
                return;
            }
            let mut idle = true;
            for side in [0, 1] {
                idle &= !self.transmit(side);
                while !self.pipes[side].is_empty() {
                    self.deliver(side);
                    idle = false;
                }
            }
            if idle {
                self.wait();
            }
            self.poll_events();
        }
        panic!("{} of {} messages complete: it spins", self.completed, self.posted);
    }

    /// Advances time to the next timeout.
    fn wait(&mut self) {
        let next = self.nics.iter().filter_map(Nic::poll_timeout).min();
        let next = next.expect("the clean queue pair is not done and waits for nothing: it stalls");
        self.now = self.now.max(next);
        for nic in &mut self.nics {
            nic.handle_timeout(self.now);
        }
    }
}
