//! MP-RDMA: each acknowledgement clocks out a packet on the path that it came back from.
//!
//! Source: Lu et al., "Multi-Path Transport for RDMA in Datacenters" (NSDI 2018), section 3, known
//! from its abstract, a public port to ns-3 (Cherries-Man/NS3-MP-RDMA, `mp-rdma-hw.cc`) and its
//! form in the artifact of REPS (tommasobo/REPS_EuroSys_Artifact, `uec.cpp`). The text itself was
//! not available, so rules that none of these states are \[inferred\]. This is the transport of
//! that name, not [`crate::split::k_way`], which Ethereal's simulator calls so.
//!
//! - A virtual path (VP) is an entropy value; in the source, the UDP source port. When a message
//!   finds its queue pair idle, its first window is sent on random VPs.
//! - Later packets follow acknowledgements. An unmarked one clocks out one packet on its own VP;
//!   two marked ones clock out one packet, since each cuts the window by half a packet. When the
//!   window grows by a packet, the additional packet takes the VP of the last acknowledgement. VPs
//!   whose packets cannot be sent immediately are queued (`waiting`). The artifact of REPS
//!   remembers only one VP: of two acknowledgements between two packets it forgets the first, and
//!   the number of paths shrinks.
//! - Once per round trip, with probability `probe`, a packet takes a new random VP instead.
//! - An acknowledgement overtaken by those of `out_of_order` later packets belongs to a slow path
//!   and clocks nothing. Its packet is sent on the VP of the last acknowledgement that did: the
//!   window is not cut, as in the port. An acknowledgement tells how long ago its packet was sent,
//!   and thus the packet's position in sending order.
//!
//! The window is the congestion control `mp-rdma`, which `[transport]` names. Every packet has its
//! own acknowledgement (`ack_every = 1`): a shared one would carry only the last VP. Three
//! mechanisms are not modelled. Without the burst timer, an open window is used immediately.
//! Without the bound of 64 packets on the receiver's bitmap, packets beyond it are accepted; a
//! packet counts as lost when 64 beyond it have arrived. Synchronised packets are left out because
//! they order memory, not the network.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::entropy_space::EntropySpace;
use super::{FailedPath, Feedback, PathSignal, QpContext, SenderConfig, SenderPolicy};
use crate::balance::{Preset, Scheme, SchemeError, parse_config};
use crate::nic::Recovery;
use crate::nic::recovery::sack;
use crate::packet::Stamp;
use crate::rng::{Purpose, Stream};
use crate::units::{Fraction, Span, Time};

/// The parameters of `mp-rdma`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Number of VPs to draw from. Default 65,536, all source ports \[inferred\].
    pub entropies: EntropySpace,
    /// Probability that a packet probes a new VP, once per base round-trip time. Default 1/100 (the
    /// port).
    pub probe: Fraction,
    /// Number of later packets, at least 1, whose earlier acknowledgement makes a path slow.
    /// Default 64 (the paper's Δ in the port).
    pub out_of_order: u32,
    /// Maximum number of VPs, at least 1, queued while the wire is busy; beyond it the oldest is
    /// dropped. Default 64 \[inferred\]; 1 in the artifact of REPS.
    pub waiting: u32,
}

impl Default for Config {
    fn default() -> Self {
        let probe = Fraction::new(1, 100).expect("not zero");
        Self { entropies: EntropySpace::ALL, probe, out_of_order: 64, waiting: 64 }
    }
}

/// The state of one queue pair.
#[derive(Debug, Clone)]
pub struct MpRdma(Box<State>);

#[derive(Debug, Clone)]
struct State {
    config: Config,
    base_rtt: Span,
    random: Stream,
    /// VPs of acknowledgements whose packets are not sent yet, oldest first.
    clocked: VecDeque<u16>,
    /// VP of the last acknowledgement that clocked; `None` in the first window.
    last: Option<u16>,
    /// True if a marked acknowledgement has clocked half a packet.
    half: bool,
    /// No packet probes before this time.
    next_probe: Time,
    order: SendOrder,
}

/// Recent packets in sending order.
#[derive(Debug, Clone, Default)]
struct SendOrder {
    /// Send times, starting with the oldest packet whose path would not be slow if it were
    /// acknowledged now.
    sent: VecDeque<Time>,
}

impl SendOrder {
    /// Records the acknowledgement of a packet. Returns true if fewer than `most` packets have
    /// overtaken it.
    fn acknowledge(&mut self, now: Time, rtt: Span, most: u32) -> bool {
        // Stamps have steps of 1,024 ps, so the packet's stamp is recovered exactly.
        let step = |ps: u64| ps >> Stamp::STEP_BITS;
        let stamp = step(now.as_ps()).saturating_sub(step(rtt.as_ps()));
        // Send times ascend, so a binary search finds the packet.
        let place = self.sent.partition_point(|sent| step(sent.as_ps()) < stamp);
        let is_known = self.sent.front().is_some_and(|sent| step(sent.as_ps()) <= stamp);
        // Forget the packets that `most` later ones have overtaken: their paths are slow.
        self.sent.drain(..place.saturating_sub(most as usize - 1));
        is_known
    }

    fn clear(&mut self) {
        self.sent.clear();
    }
}

/// The preset `mp-rdma`: hashing switches, and selective repeat that counts a packet as lost when
/// 64 beyond it have arrived.
pub const PRESETS: &[Preset] = &[Preset {
    name: "mp-rdma",
    summary: "each acknowledgement clocks a packet out on its own path (MP-RDMA)",
    source: "Lu et al., Multi-Path Transport for RDMA in Datacenters (NSDI 2018), section 3",
    build: |parameters| {
        let config: Config = parse_config("mp-rdma", parameters)?;
        for (key, value) in [("out_of_order", config.out_of_order), ("waiting", config.waiting)] {
            if value == 0 {
                let reason = format!("{key} = 0: it must be at least 1");
                return Err(SchemeError::Parameter { name: "mp-rdma", reason });
            }
        }
        let sender = SenderConfig::MpRdma(config);
        let window = sack::Window::Off;
        let recovery = sack::Config { reordering: 64, flow_control: window, ..Default::default() };
        Ok(Scheme { recovery: Recovery::Sack(recovery), ..Scheme::new("mp-rdma", sender) })
    },
}];

impl MpRdma {
    pub(super) fn new(config: &Config, qp: &QpContext) -> Self {
        Self(Box::new(State {
            config: *config,
            base_rtt: qp.network.base_rtt,
            random: qp.random(Purpose::Entropy),
            clocked: VecDeque::new(),
            last: None,
            half: false,
            next_probe: Time::ZERO,
            order: SendOrder::default(),
        }))
    }
}

impl State {
    /// Returns true if this packet probes a new VP.
    fn probes(&mut self, now: Time) -> bool {
        if now < self.next_probe {
            return false;
        }
        // One draw per base round trip, whether or not it leads to a probe.
        self.next_probe = now.saturating_add(self.base_rtt);
        f64::from(self.random.next_u32()) < self.config.probe.as_f64() * 4_294_967_296.0
    }

    /// Clocks a packet, or half of one if marked, on the path of an acknowledgement that is not
    /// slow.
    fn clock(&mut self, vp: u16, signal: PathSignal) {
        self.last = Some(vp);
        if signal == PathSignal::Marked {
            // Each mark cuts the window by half a packet, so two marks clock one packet.
            self.half = !self.half;
            if self.half {
                return;
            }
        }
        if self.clocked.len() >= self.config.waiting as usize {
            self.clocked.pop_front();
        }
        self.clocked.push_back(vp);
    }
}

impl SenderPolicy for MpRdma {
    #[inline]
    fn entropy(&mut self, now: Time) -> u16 {
        let state = &mut *self.0;
        state.order.sent.push_back(now);
        let clocked = state.clocked.pop_front().or(state.last);
        match clocked {
            Some(vp) if !state.probes(now) => vp,
            _ => state.config.entropies.draw(&mut state.random),
        }
    }

    #[inline]
    fn handle_feedback(&mut self, now: Time, feedback: Feedback) {
        let state = &mut *self.0;
        let Feedback { entropy, signal, rtt, .. } = feedback;
        if matches!(signal, PathSignal::Good | PathSignal::Marked)
            && state.order.acknowledge(now, rtt, state.config.out_of_order)
        {
            state.clock(entropy, signal);
        }
    }

    /// Ignores the timeout: no acknowledgement of the packet can clock another one, and its VP
    /// simply goes unused.
    fn handle_timeout(&mut self, _now: Time, _entropy: u16) -> Option<FailedPath> {
        None
    }

    /// Resets the clock: a message starts on an idle queue pair.
    fn set_path(&mut self, _path: u16) {
        let state = &mut *self.0;
        (state.last, state.half) = (None, false);
        state.clocked.clear();
        state.order.clear();
    }

    /// The queued VPs, the VP of the last acknowledgement and the half packet, the highest
    /// acknowledged PSN, and the time of the next probe. A NIC derives the sending order from PSNs.
    fn state_bits(&self) -> u64 {
        16 * self.0.clocked.len() as u64 + 17 + 24 + 32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(config: Config) -> MpRdma {
        MpRdma::new(&config, &QpContext::for_test())
    }

    /// A policy without probes.
    fn clocked() -> MpRdma {
        policy(Config { probe: Fraction::ZERO, ..Config::default() })
    }

    fn at(ns: u64) -> Time {
        Time::ZERO + Span::from_ns(ns)
    }

    /// Sends a packet at each of these times, in nanoseconds.
    fn send(policy: &mut MpRdma, times: &[u64]) -> Vec<u16> {
        times.iter().map(|&ns| policy.entropy(at(ns))).collect()
    }

    /// Delivers at `now` the acknowledgement of the packet that was sent at `sent`.
    fn ack(policy: &mut MpRdma, [sent, now]: [u64; 2], entropy: u16, signal: PathSignal) {
        let rtt = Span::from_ps(Stamp::at(at(sent)).ps_until(at(now)));
        policy.handle_feedback(at(now), Feedback { entropy, signal, packets: 1, marked: 0, rtt });
    }

    #[test]
    fn the_first_window_is_random_and_then_each_acknowledgement_clocks_a_packet_on_its_path() {
        let mut policy = clocked();
        let first = send(&mut policy, &[0, 100, 200, 300]);
        assert!(first.windows(2).all(|pair| pair[0] != pair[1]), "{first:?}");
        ack(&mut policy, [100, 8_000], first[1], PathSignal::Good);
        ack(&mut policy, [0, 8_050], first[0], PathSignal::Good);
        // The third packet is the window's growth: it follows the last acknowledgement.
        let next = send(&mut policy, &[8_100, 8_200, 8_300]);
        assert_eq!(next, [first[1], first[0], first[0]]);
    }

    #[test]
    fn two_marks_clock_one_packet() {
        let mut policy = clocked();
        send(&mut policy, &[0, 100, 200, 300]);
        ack(&mut policy, [0, 8_000], 10, PathSignal::Good);
        for (sent, vp) in [(100, 11), (200, 12), (300, 13)] {
            ack(&mut policy, [sent, 8_400], vp, PathSignal::Marked);
        }
        assert_eq!(policy.state_bits(), 2 * 16 + 73);
        assert_eq!(send(&mut policy, &[8_500, 8_600, 8_700]), [10, 12, 13]);
    }

    #[test]
    fn an_acknowledgement_overtaken_by_delta_packets_clocks_nothing() {
        let mut policy = clocked();
        policy.0.config.out_of_order = 3;
        send(&mut policy, &[0, 100, 200, 300, 400, 500]);
        ack(&mut policy, [200, 8_000], 20, PathSignal::Good);
        ack(&mut policy, [0, 8_010], 21, PathSignal::Good);
        assert_eq!(send(&mut policy, &[8_020, 8_030]), [20, 21], "overtaken by two places");
        ack(&mut policy, [400, 8_100], 22, PathSignal::Good);
        ack(&mut policy, [100, 8_200], 23, PathSignal::Good);
        ack(&mut policy, [300, 8_300], 24, PathSignal::Marked);
        assert_eq!(send(&mut policy, &[8_400, 8_500]), [22, 24], "23 is slow, 24 has a half");
        ack(&mut policy, [8_500, 16_500], 25, PathSignal::Good);
        ack(&mut policy, [500, 16_600], 26, PathSignal::Good);
        assert_eq!(send(&mut policy, &[16_700, 16_800]), [25, 25]);
    }

    #[test]
    fn a_probe_replaces_a_clocked_packet_once_per_round_trip() {
        let mut policy = policy(Config { probe: Fraction::ONE, ..Config::default() });
        send(&mut policy, &[0, 100, 200, 300]);
        for sent in [0, 100, 200, 300] {
            ack(&mut policy, [sent, 8_400], 7, PathSignal::Good);
        }
        let next = send(&mut policy, &[8_500, 8_600, 16_499, 16_500]);
        assert!(next[0] != 7 && next[3] != 7, "{next:?}");
        assert_eq!(next[1..3], [7, 7], "the base round-trip time is 8 us");
    }

    #[test]
    fn a_message_on_an_idle_queue_pair_starts_on_random_paths() {
        let mut policy = clocked();
        send(&mut policy, &[0]);
        ack(&mut policy, [0, 8_000], 7, PathSignal::Good);
        policy.set_path(0);
        assert_ne!(send(&mut policy, &[9_000, 9_100]), [7, 7]);
    }

    #[test]
    fn with_room_for_one_vp_only_the_last_acknowledgement_counts() {
        let mut policy = policy(Config { waiting: 1, probe: Fraction::ZERO, ..Config::default() });
        send(&mut policy, &[0, 100, 200]);
        for (sent, vp) in [(0, 5), (100, 6), (200, 7)] {
            ack(&mut policy, [sent, 8_200], vp, PathSignal::Good);
        }
        assert_eq!(send(&mut policy, &[8_300, 8_400]), [7, 7]);
    }

    #[test]
    fn losses_and_timeouts_clock_nothing() {
        let mut policy = clocked();
        send(&mut policy, &[0, 100]);
        ack(&mut policy, [0, 8_000], 7, PathSignal::Good);
        ack(&mut policy, [100, 8_100], 8, PathSignal::Nack);
        assert_eq!(policy.handle_timeout(at(8_200), 8), None);
        assert_eq!(send(&mut policy, &[8_300, 8_400]), [7, 7]);
    }

    #[test]
    fn each_acknowledgement_of_a_later_packet_makes_earlier_ones_slow() {
        let mut policy = clocked();
        policy.0.config.out_of_order = 3;
        send(&mut policy, &[0, 100, 200, 300, 400, 500, 600, 700, 800, 900]);
        for (sent, vp) in [(500, 20), (800, 21), (400, 22), (600, 23)] {
            ack(&mut policy, [sent, 8_000], vp, PathSignal::Good);
        }
        // 800 is three positions after 500, and two after 600.
        assert_eq!(send(&mut policy, &[8_100, 8_200, 8_300]), [20, 21, 23]);
    }

    #[test]
    fn an_acknowledgement_of_an_earlier_message_clocks_nothing() {
        let mut policy = clocked();
        send(&mut policy, &[0, 100]);
        policy.set_path(0);
        send(&mut policy, &[9_000]);
        ack(&mut policy, [100, 9_050], 7, PathSignal::Good);
        assert_eq!(policy.state_bits(), 73);
        assert!(!send(&mut policy, &[9_100, 9_200]).contains(&7));
    }
}
