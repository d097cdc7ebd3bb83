//! Choosers: the load-balancing policy of one switch, for simulators with their own switches.
//!
//! A chooser uses policies and ids; it knows no fabric, no scenario and no ns-3.
//!
//! Packets of other senders (TCP, the NIC of another simulator) carry no entropy value chosen by an
//! evenkeel policy. For sender policies that need no feedback, the switch then chooses it. It keeps
//! the sender's state by flow, in a table of bounded size indexed by the flow's hash, as switches
//! do for flowlets (see [`Senders::Other`]).

mod flows;
mod unsupported;
mod view;

use evenkeel_engine::balance::sender::SenderConfig;
use evenkeel_engine::balance::switch::hash::Hash;
use evenkeel_engine::balance::switch::{PortSelector, SwitchConfig, SwitchContext};
use evenkeel_engine::balance::{self, Parameters, Scheme, SchemeError, Weights};
use evenkeel_engine::ids::SwitchId;
use evenkeel_engine::packet::{Packet, PacketKind};
use evenkeel_engine::units::{BitRate, Bytes, Span, Time};

use super::panic_guard::{Failure, catch_panic};

use flows::Flows;
use unsupported::{ChooserError, unknown_policy, unsupported_reason};
use view::{PortView, Schedules};

#[allow(
    unsafe_code,
    unreachable_pub,
    reason = "cxx generates the calls across the language border, and their visibility"
)]
#[cxx::bridge(namespace = "evenkeel::contract")]
mod contract {
    /// The constant properties of a switch.
    struct SwitchFacts {
        /// The seed of the run.
        seed: u64,
        /// The buffer of one port, in bytes.
        port_buffer_bytes: u64,
        /// The longest round-trip time of an idle network, in picoseconds.
        base_rtt_ps: u64,
        /// The id of the switch, unique in a run.
        switch_id: u32,
        /// The number of ports; port numbers are taken modulo this number.
        ports: u32,
        /// The number of switch tiers between it and the hosts: 0 at the edge.
        tier: u8,
        /// True if senders put the policy's entropy values into packets. If false, the switch
        /// chooses them.
        own_senders: bool,
        /// True if acknowledgements and other control packets are hashed, regardless of the policy.
        hash_control: bool,
    }

    /// A packet that needs an output port, as the switch sees it.
    struct Arrival {
        /// The time, in picoseconds. A time before that of an earlier packet is raised to that
        /// time.
        now_ps: u64,
        /// A hash of the flow: the 5-tuple without the field in `entropy`.
        label: u32,
        /// Length on the wire, in bytes.
        wire_bytes: u32,
        /// The edge switch of the packet's destination; taken modulo 65,536.
        edge: u32,
        /// The pod of the packet's destination; taken modulo 65,536.
        pod: u32,
        /// The header field that the sender varies, such as the UDP source port.
        entropy: u16,
        /// True for an acknowledgement or another packet without a payload.
        control: bool,
    }

    extern "Rust" {
        type SwitchChooser;

        #[cxx_name = "switch_chooser"]
        fn try_switch_chooser(
            policy: &str,
            parameters: &str,
            facts: &SwitchFacts,
        ) -> Result<Box<SwitchChooser>>;
        fn choose(
            self: &mut SwitchChooser,
            arrival: &Arrival,
            ports: &[u32],
            queue_bytes: &[u64],
            weights: &[u32],
        ) -> u32;
        fn routing_changed(self: &mut SwitchChooser);
        fn looks_at_queues(self: &SwitchChooser) -> bool;
        fn uses_weights(self: &SwitchChooser) -> bool;
        fn flowlet_gap_ps(self: &SwitchChooser) -> u64;
        fn state_bits(self: &SwitchChooser) -> u64;
        fn version() -> &'static str;
    }
}

use contract::{Arrival, SwitchFacts};

/// Maximum number of ports with policy state, and of candidate ports.
const MOST_PORTS: u32 = 1 << 16;

/// The load-balancing policy of one switch: picks one of the equal-cost ports for each packet.
#[derive(Debug)]
struct SwitchChooser {
    chooser: PortSelector,
    /// The sender's part of the policy, if the switch acts for senders.
    flows: Option<Flows>,
    /// The hash for control packets, if the policy does not route them.
    control: Option<Hash>,
    /// The time of the latest packet.
    now: Time,
    schedules: Schedules,
    epoch: u32,
    ports: u32,
    looks_at_queues: bool,
    uses_weights: bool,
    flowlet_gap: Span,
}

impl SwitchChooser {
    /// Returns the index in `ports` of the packet's output port; 0 without ports.
    ///
    /// `queue_bytes` are the bytes queued at each port, and `weights` the weights from routing.
    /// Each is either as long as `ports`, or empty for empty queues and weights of 1.
    fn choose(
        &mut self,
        arrival: &Arrival,
        ports: &[u32],
        queue_bytes: &[u64],
        weights: &[u32],
    ) -> u32 {
        let ports = &ports[..ports.len().min(MOST_PORTS as usize)];
        // Nothing to choose, and the policy must not draw.
        if ports.len() < 2 {
            return 0;
        }
        if let (Some(hash), true) = (self.control, arrival.control) {
            return hash.pick(arrival.label, arrival.entropy, ports.len() as u32);
        }
        // Policies measure intervals, which would be negative if the caller's clock went back.
        self.now = self.now.max(Time::from_ps(arrival.now_ps));
        let now = self.now;
        let mut packet = Packet {
            label: arrival.label,
            entropy: arrival.entropy,
            wire_bytes: u16::try_from(arrival.wire_bytes).unwrap_or(u16::MAX),
            kind: if arrival.control { PacketKind::Ack } else { PacketKind::Data },
            ..Packet::default()
        };
        if let Some(flows) = &mut self.flows {
            flows.stamp(now, &mut packet);
        }
        // Calls must not fail, so weights of a wrong length count as equal.
        let weights = if weights.len() == ports.len() { weights } else { &[] };
        let schedule = self.schedules.find(weights);
        let (epoch, switch_ports) = (self.epoch, self.ports);
        let mut view =
            PortView { arrival, ports, queue_bytes, weights, schedule, epoch, switch_ports };
        self.chooser.choose(now, &packet, &mut view)
    }

    /// Invalidates what the policy derived from candidates and weights, which may have changed.
    fn routing_changed(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
    }

    /// True if the policy uses `queue_bytes`. If false, callers may leave them empty.
    fn looks_at_queues(&self) -> bool {
        self.looks_at_queues
    }

    /// True if the policy defines weights by capacity; other policies use weights too if given.
    fn uses_weights(&self) -> bool {
        self.uses_weights
    }

    /// Returns the flowlet gap in picoseconds; 0 if the policy has no flowlets.
    fn flowlet_gap_ps(&self) -> u64 {
        self.flowlet_gap.as_ps()
    }

    /// Returns the size of the policy's state, without its configuration, in bits.
    fn state_bits(&self) -> u64 {
        self.chooser.state_size().bits + self.flows.as_ref().map_or(0, Flows::state_bits)
    }
}

/// Builds the chooser of a switch. `parameters` are lines of TOML, as in a scenario's `[policy]`.
/// Seed and switch id determine its random draws, as in the fabric.
fn switch_chooser(
    policy: &str,
    parameters: &str,
    facts: &SwitchFacts,
) -> Result<Box<SwitchChooser>, ChooserError> {
    let parameters: Parameters = parameters.parse().map_err(|error: toml::de::Error| {
        ChooserError::Parameters(error.message().to_owned(), parameters.to_owned())
    })?;
    let senders = if facts.own_senders { Senders::Evenkeel } else { Senders::Other };
    let scheme = balance::build_scheme(policy, &parameters).map_err(|error| match error {
        SchemeError::Unknown { name, .. } => unknown_policy(&name, senders),
        error => error.into(),
    })?;
    if let Some(error) = unsupported_reason(&scheme, senders) {
        return Err(error);
    }
    let ports = facts.ports.clamp(1, MOST_PORTS);
    let context = SwitchContext {
        seed: facts.seed,
        id: SwitchId(facts.switch_id),
        tier: facts.tier,
        ports,
        // Unused: only policies that write headers need the rate, and those are rejected above.
        port_rate: BitRate::from_gbps(1),
        port_buffer: Bytes::new(facts.port_buffer_bytes),
    };
    let flows = match senders {
        Senders::Evenkeel => None,
        Senders::Other => Flows::new(&scheme.sender, &context, Span::from_ps(facts.base_rtt_ps)),
    };
    Ok(Box::new(SwitchChooser {
        chooser: scheme.switch.build(&context),
        flows,
        control: facts.hash_control.then(|| Hash::of(facts.seed, context.id)),
        now: Time::ZERO,
        schedules: Schedules::default(),
        epoch: 0,
        ports,
        looks_at_queues: scheme.switch.uses_queue_lengths(),
        uses_weights: scheme.weights == Weights::Capacity,
        flowlet_gap: flowlet_gap(&scheme, Span::from_ps(facts.base_rtt_ps)),
    }))
}

/// Calls [`switch_chooser`] for C++, with panics as errors.
fn try_switch_chooser(
    policy: &str,
    parameters: &str,
    facts: &SwitchFacts,
) -> Result<Box<SwitchChooser>, Failure<ChooserError>> {
    catch_panic(|| switch_chooser(policy, parameters, facts))
}

/// Returns the flowlet gap; zero without flowlets.
fn flowlet_gap(scheme: &Scheme, base_rtt: Span) -> Span {
    match (&scheme.sender, &scheme.switch) {
        (SenderConfig::Flowlet(config), _) => config.gap.span(base_rtt),
        (_, SwitchConfig::LetFlow(config)) => config.gap,
        _ => Span::ZERO,
    }
}

/// The senders of the traffic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Senders {
    /// Senders that put the policy's entropy values into packets, such as evenkeel's.
    Evenkeel,
    /// Senders without the policy: the switch chooses entropy values by flow.
    Other,
}

/// Returns the version of the linked evenkeel library.
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

#[cfg(test)]
mod tests;
