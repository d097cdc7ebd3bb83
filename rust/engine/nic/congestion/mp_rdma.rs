//! MP-RDMA's window: one for all paths of a queue pair, updated by each acknowledgement.
//!
//! Source: Lu et al., "Multi-Path Transport for RDMA in Datacenters" (NSDI 2018), section 3.1, in
//! the form of a public port to ns-3 (Cherries-Man/NS3-MP-RDMA, `mp-rdma-hw.cc`). In packets: an
//! unmarked acknowledged packet adds 1 / window, a marked one takes off one half. The paper's text
//! was not available. First window and losses are \[inferred\]: a bandwidth-delay product, and one
//! packet per loss, as in the artifact of REPS (tommasobo/REPS_EuroSys_Artifact, `uec.cpp`). The
//! burst timer is not modelled.
//!
//! The sender policy `mp-rdma` chooses the paths. `dctcp-window` is the form of this window in the
//! artifact of REPS: a mark takes off a quarter, and the window has a maximum.

use serde::{Deserialize, Serialize};

use super::{AckSample, CongestionController, ControlConfig, Loss, PathFacts};
use crate::nic::parameters::{Configuration, InvalidValue, at_most_one, positive};
use crate::units::{Fraction, Time};

/// Parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The first window, in bandwidth-delay products: 1 \[inferred\].
    pub start_window: Fraction,
    /// Packets taken off by a mark: 1/2 (the paper).
    pub cut: Fraction,
}

impl Default for Config {
    fn default() -> Self {
        let cut = Fraction::new(1, 2).expect("not zero");
        Self { start_window: Fraction::ONE, cut }
    }
}

impl Configuration for Config {
    const NAME: &'static str = "mp-rdma";
    const SUMMARY: &'static str = "MP-RDMA: one window for all paths, updated by each mark";
    const SOURCE: &'static str =
        "Lu et al., Multi-Path Transport for RDMA in Datacenters, 2018, section 3.1";

    fn check(&self) -> Result<(), InvalidValue> {
        positive("start_window", self.start_window)?;
        at_most_one("cut", self.cut)
    }
}

impl ControlConfig for Config {}

/// The control of one queue pair. Its window is at least one packet.
#[derive(Debug, Clone)]
pub struct MpRdma {
    /// The window in packets.
    window: f64,
    /// Size of a full packet on the wire, in bytes.
    packet: f64,
    cut: f64,
}

impl MpRdma {
    pub(super) fn new(config: &Config, path: &PathFacts) -> Self {
        let packet = path.packet.get() as f64;
        let window = config.start_window.as_f64() * path.bdp().get() as f64 / packet;
        Self { window: window.max(1.0), packet, cut: config.cut.as_f64() }
    }
}

impl CongestionController for MpRdma {
    #[inline]
    fn window(&self) -> u64 {
        (self.window * self.packet) as u64
    }

    #[inline]
    fn handle_ack(&mut self, _now: Time, sample: AckSample) {
        // An acknowledgement can be marked and yet cover no new packet.
        let marked = sample.marked.min(sample.packets);
        let grown = self.window + f64::from(sample.packets - marked) / self.window;
        self.window = (grown - self.cut * f64::from(marked)).max(1.0);
    }

    fn handle_loss(&mut self, _now: Time, _loss: Loss) {
        // At least one packet: a window of 0 would stop the queue pair.
        self.window = (self.window - 1.0).max(1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acked(control: &mut MpRdma, packets: u32, marked: u32) -> u64 {
        let sample = AckSample { packets, marked, ..AckSample::for_test(0, 0, 0) };
        control.handle_ack(Time::ZERO, sample);
        control.window()
    }

    #[test]
    fn unmarked_adds_a_packet_per_window_and_a_mark_takes_half_a_packet() {
        let mut control = MpRdma::new(&Config::default(), &PathFacts::FOR_TEST);
        assert_eq!(control.window(), 100_000, "100 packets of 1,000 B");
        assert!(control.rate(Time::ZERO) >= PathFacts::FOR_TEST.line_rate);
        assert_eq!(acked(&mut control, 1, 0), 100_010);
        assert_eq!(acked(&mut control, 1, 1), 99_510);
        assert_eq!(acked(&mut control, 0, 1), 99_510, "a duplicate acknowledges nothing");
        control.handle_loss(Time::ZERO, Loss::Trimmed);
        assert_eq!(control.window(), 98_510);
        (0..300).for_each(|_| control.handle_loss(Time::ZERO, Loss::Timeout));
        assert_eq!(control.window(), 1_000, "one packet is the minimum");
    }

    #[test]
    fn constant_marking_leads_to_its_equilibrium_window() {
        // The gain (1 − m) / w and the loss m / 2 per packet balance at w = 2 (1 − m) / m: a tenth
        // of marks yields 18 packets.
        let mut control = MpRdma::new(&Config::default(), &PathFacts::FOR_TEST);
        let (mut sum, mut count) = (0, 0);
        for n in 0..100_000 {
            let window = acked(&mut control, 1, u32::from(n % 10 == 0));
            if n >= 10_000 {
                (sum, count) = (sum + window, count + 1);
            }
        }
        assert!((17_500..18_500).contains(&(sum / count)), "{}", sum / count);
    }
}
