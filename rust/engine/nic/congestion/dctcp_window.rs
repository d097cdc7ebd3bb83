//! DCTCP by window, as used in the evaluation of REPS.
//!
//! Source: "REPS: Recycled Entropy Packet Spraying for Adaptive Load Balancing and Failure
//! Mitigation" (arXiv 2407.21625, EuroSys 2026), evaluation set-up, and its public artifact
//! (tommasobo/REPS_EuroSys_Artifact, `uec.cpp`, which calls it MP-RDMA's control). An
//! acknowledgement of an unmarked packet adds acked · MTU / window. That of a marked packet takes
//! off a quarter of the bytes it acknowledges, and each loss one MTU.
//!
//! All sizes are bytes on the wire. An MTU is a full packet with its headers, and the last packet
//! of a message counts as a full one. An acknowledgement that covers several packets counts as
//! marked for all of them if any is marked, as in the artifact. There, a receiver acknowledges a
//! marked packet immediately, and the mark of the last packet stands for all that waited. A mark
//! then takes off one quarter packet per waiting packet. With `marks = "packets"`, each packet
//! counts by its own mark.

use serde::{Deserialize, Serialize};

use super::{AckSample, CongestionController, ControlConfig, Loss, PathFacts};
use crate::nic::parameters::{Configuration, InvalidValue, at_most_one, positive};
use crate::units::{Fraction, Time};

/// Parameters; the defaults are those of REPS' evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The first window, in bandwidth-delay products: 3/2.
    pub start_window: Fraction,
    /// The largest window, in bandwidth-delay products: 3/2 (the artifact's limit).
    pub max_window: Fraction,
    /// The cut by a mark, as a fraction of the bytes acknowledged with it: 1/4.
    pub cut: Fraction,
    /// The packets that a mark stands for if an acknowledgement covers several: all of them.
    pub marks: Marks,
    /// Limit for the last packet in flight: inside the window (as in Ultra Ethernet's simulator).
    pub last_packet: LastPacket,
}

/// Limit for the last packet in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LastPacket {
    /// The whole packet must fit into the window.
    #[default]
    Inside,
    /// It may end beyond the window if it starts inside. REPS' artifact sends while less than the
    /// window is in flight. It matters for windows of a few packets.
    Beyond,
}

/// The packets that a mark stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Marks {
    /// Every packet of its acknowledgement.
    #[default]
    Acknowledgement,
    /// Only the marked packet.
    Packets,
}

impl Default for Config {
    fn default() -> Self {
        let fraction = |above, below| Fraction::new(above, below).expect("not zero");
        Self {
            start_window: fraction(3, 2),
            max_window: fraction(3, 2),
            cut: fraction(1, 4),
            marks: Marks::default(),
            last_packet: LastPacket::default(),
        }
    }
}

impl Configuration for Config {
    const NAME: &'static str = "dctcp-window";
    const SUMMARY: &'static str = "window-based DCTCP, as in the evaluation of REPS";
    const SOURCE: &'static str = "REPS, 2026 (arXiv 2407.21625), evaluation set-up and artifact";

    fn check(&self) -> Result<(), InvalidValue> {
        positive("start_window", self.start_window)?;
        positive("max_window", self.max_window)?;
        at_most_one("cut", self.cut)
    }
}

impl ControlConfig for Config {}

/// The control of one queue pair. Its window is at least one MTU.
#[derive(Debug, Clone)]
pub struct DctcpWindow {
    /// The window in bytes on the wire.
    window: f64,
    max_window: f64,
    packet: f64,
    cut: f64,
    marks: Marks,
    /// How far a packet that starts inside the window may end beyond it, in bytes.
    beyond: u64,
}

impl DctcpWindow {
    pub(super) fn new(config: &Config, path: &PathFacts) -> Self {
        let packet = path.packet.get() as f64;
        let bdp = path.bdp().get() as f64;
        let max_window = (config.max_window.as_f64() * bdp).max(packet);
        Self {
            window: (config.start_window.as_f64() * bdp).clamp(packet, max_window),
            max_window,
            packet,
            cut: config.cut.as_f64(),
            marks: config.marks,
            beyond: match config.last_packet {
                LastPacket::Inside => 0,
                // One byte less than a packet: it must start inside.
                LastPacket::Beyond => path.packet.get().saturating_sub(1),
            },
        }
    }
}

impl CongestionController for DctcpWindow {
    #[inline]
    fn window(&self) -> u64 {
        self.window as u64 + self.beyond
    }

    #[inline]
    fn handle_ack(&mut self, _now: Time, sample: AckSample) {
        let marked = match self.marks {
            Marks::Acknowledgement if sample.marked > 0 => sample.packets,
            // An acknowledgement can be marked and yet cover no new packet.
            _ => sample.marked.min(sample.packets),
        };
        let acked = f64::from(sample.packets - marked) * self.packet;
        let window = self.window + acked * self.packet / self.window;
        // The limit applies before the cut, so a mark also shrinks a window that is at its limit.
        let cut = self.cut * f64::from(marked) * self.packet;
        self.window = (window.min(self.max_window) - cut).max(self.packet);
    }

    fn handle_loss(&mut self, _now: Time, _loss: Loss) {
        // At least one packet: a window of 0 would stop the queue pair.
        self.window = (self.window - self.packet).max(self.packet);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: PathFacts = PathFacts::FOR_TEST;

    fn control(start: u32) -> DctcpWindow {
        let start_window = Fraction::new(start, 100).expect("not zero");
        DctcpWindow::new(&Config { start_window, ..Config::default() }, &PATH)
    }

    fn acked(control: &mut DctcpWindow, packets: u32, marked: u32) -> u64 {
        let sample = AckSample { packets, marked, ..AckSample::for_test(0, 0, 0) };
        control.handle_ack(Time::ZERO, sample);
        control.window()
    }

    #[test]
    fn the_first_window_is_one_and_a_half_bdp() {
        let mut control = DctcpWindow::new(&Config::default(), &PATH);
        assert_eq!(control.window(), 150_000);
        assert!(control.rate(Time::ZERO) >= PATH.line_rate, "only the window limits");
        assert_eq!(acked(&mut control, 1, 0), 150_000, "and no more than that");
    }

    #[test]
    fn unmarked_adds_a_packet_per_window_and_marked_takes_a_quarter_packet() {
        let mut control = control(10);
        assert_eq!(acked(&mut control, 1, 0), 10_100);
        assert_eq!(acked(&mut control, 1, 1), 9_850);
        assert_eq!(acked(&mut control, 0, 1), 9_850, "a duplicate acknowledges nothing");
        control.handle_loss(Time::ZERO, Loss::Trimmed);
        assert_eq!(control.window(), 8_850);
    }

    #[test]
    fn a_mark_counts_for_its_acknowledgement_or_its_packet() {
        assert_eq!(acked(&mut control(40), 16, 1), 36_000, "16 quarters of a packet");
        let start_window = Fraction::new(40, 100).expect("not zero");
        let config = Config { start_window, marks: Marks::Packets, ..Config::default() };
        let mut control = DctcpWindow::new(&config, &PATH);
        assert_eq!(acked(&mut control, 16, 1), 40_125, "15 of 16 add 375 B, one takes away 250");
    }

    #[test]
    fn the_last_packet_may_end_beyond_the_window() {
        let start_window = Fraction::new(1, 40).expect("not zero");
        let open = |last_packet, in_flight: u64| {
            let config = Config { start_window, last_packet, ..Config::default() };
            // The check of the requester, with packets of 1000 B and a window of 2500 B.
            (in_flight + 1) * 1_000 <= DctcpWindow::new(&config, &PATH).window()
        };
        assert_eq!([1, 2, 3].map(|out| open(LastPacket::Inside, out)), [true, false, false]);
        assert_eq!([1, 2, 3].map(|out| open(LastPacket::Beyond, out)), [true, true, false]);
    }

    #[test]
    fn unmarked_windows_follow_the_square_root_law() {
        // w' = w + p² / w for each packet: w² grows by 2p² and a little, so after n packets
        // w = sqrt(w0² + 2np²).
        let mut control = control(10);
        for n in 1..=4_000u32 {
            let window = acked(&mut control, 1, 0) as f64;
            let closed = (1e8 + 2e6 * f64::from(n)).sqrt();
            assert!((window / closed - 1.0).abs() < 0.005, "{n}: {window} {closed}");
        }
    }

    #[test]
    fn constant_marking_leads_to_its_equilibrium_window() {
        // The gain p·(1 − m)/w and the loss m/4 per packet balance at w = 4p(1 − m)/m: a tenth of
        // marks yields 36 packets.
        let mut control = control(100);
        let (mut sum, mut count) = (0, 0);
        for n in 0..100_000 {
            let window = acked(&mut control, 1, u32::from(n % 10 == 0));
            if n >= 10_000 {
                (sum, count) = (sum + window, count + 1);
            }
        }
        let mean = sum / count;
        assert!((35_500..36_500).contains(&mean), "{mean}");
    }

    #[test]
    fn the_window_never_falls_below_one_packet() {
        let mut control = control(10);
        for _ in 0..100 {
            acked(&mut control, 1, 1);
            control.handle_loss(Time::ZERO, Loss::Timeout);
        }
        assert_eq!(control.window(), 1_000);
    }
}
