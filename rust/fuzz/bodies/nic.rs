//! Two NICs under arbitrary sequences of packets, valid or not, timeouts, posts and polls.
//!
//! Queue pair 0 and nonexistent queue pairs receive forged packets. Queue pair 1 receives only its
//! own packets, some of them lost, duplicated or late. Its messages must complete. The NICs have
//! one port, or one in each of four planes; the ports go down and up.

use std::collections::{BTreeSet, VecDeque};
use std::path::Path;
use std::sync::{Arc, LazyLock};

use evenkeel::balance::sender::{NetworkParameters, PathSpace, QpContext};
use evenkeel::ids::{HostId, QpId};
use evenkeel::nic::congestion::CONTROLS;
use evenkeel::nic::{Delivery, FreePorts, Nic, NicEvent, Owner, PortFacts, SendHalf};
use evenkeel::packet::{Packet, PlaneMask};
use evenkeel::scenario::{Overrides, Scenario};
use evenkeel::units::{BitRate, Bytes, Span, Time};

use super::input::{CLEAN, Input};

const PORT: PortFacts =
    PortFacts { line_rate: BitRate::from_gbps(100), base_rtt: Span::from_us(5) };

/// Maximum number of steps within which the clean queue pair completes over a lossless pipe.
const MOST_STEPS: usize = 400_000;

/// Maximum number of messages of an input, of up to 64 KiB each.
const MOST_POSTS: u32 = 24;

/// Ports per NIC in the scenarios with several planes.
const PLANES: u32 = 4;

/// Pairs of recovery and delivery order.
const RECOVERIES: [(&str, &str); 10] = [
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

/// Returns the scenario with these settings if the combination is valid.
fn scenario(topology: &str, policy: &str, transport: &str) -> Option<Scenario> {
    let text = format!(
        "[topology]\n{topology}\nleaves = 2\nspines = 1\nhosts_per_leaf = 1\n[transport]\n\
         payload = \"1000B\"\nretransmit_timeout = \"200us\"\n{transport}\n\
         [policy]\nname = \"{policy}\"\n"
    );
    Scenario::parse(&text, "fuzz", Path::new(""), &Overrides::default()).ok()
}

/// Every combination of recovery and congestion control, both orders of delivery, and windows
/// shared by queue pairs.
static SCENARIOS: LazyLock<Vec<Scenario>> = LazyLock::new(|| {
    let transports = RECOVERIES.iter().flat_map(|(recovery, delivery)| {
        let shared = "nscc\"\nparameters = { scope = \"destination\" } #";
        CONTROLS.iter().map(|control| control.name).chain([shared]).map(move |control| {
            format!(
                "recovery = \"{recovery}\"\ncongestion_control = \"{control}\"\n\
                 delivery = \"{delivery}\""
            )
        })
    });
    let all: Vec<Scenario> = transports.filter_map(|it| scenario("", "spray", &it)).collect();
    assert!(all.len() >= 8, "the scenarios are wrong");
    all
});

/// Every policy that chooses among planes, and one that does not, with every congestion control.
/// Windows are per plane, per queue pair, and shared.
static OF_PLANES: LazyLock<Vec<Scenario>> = LazyLock::new(|| {
    let topology = format!("kind = \"multi-plane\"\nplanes = {PLANES}");
    let of_each = ["plane", "destination", "destination-plane"].map(|scope| {
        format!("congestion_control = \"nscc\"\nparameters = {{ scope = \"{scope}\" }}")
    });
    let controls = CONTROLS.iter().map(|it| format!("congestion_control = \"{}\"", it.name));
    let transports: Vec<String> = controls.chain(of_each).collect();
    let policies = ["mrc", "plane-jsq", "spray"].into_iter();
    let pairs = policies.flat_map(|policy| transports.iter().map(move |it| (policy, it)));
    let all: Vec<Scenario> =
        pairs.filter_map(|(policy, transport)| scenario(&topology, policy, transport)).collect();
    assert!(all.len() >= 2 * CONTROLS.len(), "the scenarios of planes are wrong: {}", all.len());
    all
});

/// Two NICs, the packets between them, and the messages of the clean queue pair.
struct Rig {
    now: Time,
    /// Ports per NIC.
    planes: u32,
    nics: [Nic; 2],
    /// Packets in flight to the other side.
    pipes: [VecDeque<Packet>; 2],
    posts: u32,
    posted: u32,
    delivered: u32,
    completed: u32,
    /// Delivered messages.
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
        let (choice, limits) = (usize::from(input.byte()), input.byte());
        let (scenarios, planes) =
            if limits & 8 == 0 { (&SCENARIOS, 1) } else { (&OF_PLANES, PLANES) };
        let scenario = &scenarios[choice % scenarios.len()];
        let mut config = scenario.nic.clone();
        config.ack.every = u32::from(limits % 8 + 1);
        // Ordered messages may be WRITEs with immediate data, some of which wait for others.
        if limits & 192 == 192 && config.delivery() == Delivery::Ordered {
            config.queue_pairs.immediate_messages = Some(u32::from(limits >> 4 & 3) + 1);
        }
        let config = Arc::new(config);
        let mut nics = [0, 1].map(|host| Nic::new(HostId(host), PORT, Arc::clone(&config)));
        for nic in &mut nics {
            nic.set_planes(planes, scenario.scheme.control_paths, 1);
        }
        for number in 0..=CLEAN.0 {
            let context = QpContext {
                seed: 1,
                src: HostId(0),
                dst: HostId(1),
                stream: number,
                qp_index: 0,
                paths: PathSpace::SINGLE,
                path: 0,
                network: NetworkParameters { planes, ..NetworkParameters::default() },
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
            planes,
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
            2 if choice & 32 != 0 => {
                let (plane, is_up) = (u32::from(choice >> 3 & 3), choice & 64 != 0);
                self.nics[side].handle_plane(self.now, plane, is_up);
            }
            2 => self.nics[side].handle_timeout(self.now),
            3 => {
                self.transmit(side, PlaneMask::from_bits(u32::from(choice >> 3 & 15)));
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

    /// Sends a packet by one of the free ports.
    fn transmit(&mut self, side: usize, free: PlaneMask) -> bool {
        let nic = &mut self.nics[side];
        let packet = match self.planes {
            1 => nic.poll_transmit(self.now),
            _ => {
                let free = FreePorts { data: free, control: free };
                nic.poll_transmit_on(self.now, free).map(|(packet, _)| packet)
            }
        };
        let Some(packet) = packet else { return false };
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
                    NicEvent::Delivered { owner: Owner::Driver(cookie), message }
                        if cookie == CLEAN.0 =>
                    {
                        // No check of the order: unordered delivery does not guarantee one.
                        assert!(self.arrived.insert(message), "each message once");
                        self.delivered += 1;
                    }
                    NicEvent::Completed { owner: Owner::Driver(cookie), .. }
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

    /// Checks that the clean queue pair completes once the pipe is perfect.
    fn finish(&mut self) {
        for _ in 0..MOST_STEPS {
            if self.completed == self.posted {
                return;
            }
            let mut idle = true;
            for side in [0, 1] {
                idle &= !self.transmit(side, PlaneMask::all(self.planes));
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
        panic!("{} of {} messages complete: no progress", self.completed, self.posted);
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
