//! A window that accompanies a rate, and the pacing of a control whose rate changes reschedule the
//! next packet.
//!
//! Source: the HPCC simulator (alibaba-edu/High-Precision-Congestion-Control), `HAS_WIN`, `VAR_WIN`
//! and `RATE_BOUND` (`RdmaQueuePair::GetWin`, `RdmaHw::ChangeRate`).

use serde::{Deserialize, Serialize};

use super::{AbsoluteOrFraction, PathFacts};
use crate::units::{BitRate, Bytes, Span, Time};

/// The window that accompanies a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WindowRule {
    /// No window.
    #[default]
    None,
    /// A bandwidth-delay product, W.
    Fixed,
    /// W times the rate, divided by line rate.
    ByRate,
}

impl WindowRule {
    /// True if there is no window.
    pub fn is_none(&self) -> bool {
        *self == Self::None
    }
}

/// A window of payload bytes that accompanies a rate.
#[derive(Debug, Clone, Copy)]
pub(super) struct RateWindow {
    rule: WindowRule,
    /// W, in bytes of payload.
    bytes: u64,
    payload: u64,
    /// Size of a full packet on the wire.
    packet: u64,
    line_rate: u64,
}

impl RateWindow {
    /// Creates the window by `rule`. W is `bytes`, absolute or as a fraction of the path's
    /// bandwidth-delay product.
    pub(super) fn new(
        rule: WindowRule,
        bytes: AbsoluteOrFraction<Bytes>,
        path: &PathFacts,
    ) -> Self {
        Self {
            rule,
            bytes: bytes.of(path.bdp()).get(),
            payload: path.payload.get().max(1),
            packet: path.packet.get(),
            line_rate: path.line_rate.as_bps().max(1),
        }
    }

    /// Bytes on the wire that may be in flight at `rate`. A packet may be sent while less payload
    /// than the window is in flight.
    pub(super) fn at(&self, rate: u64) -> u64 {
        let window = match self.rule {
            WindowRule::None => return u64::MAX,
            WindowRule::Fixed => self.bytes,
            WindowRule::ByRate => {
                // In 128 bits: W times a rate exceeds 64 bits on long, fast paths.
                let scaled = u128::from(self.bytes) * u128::from(rate) / u128::from(self.line_rate);
                u64::try_from(scaled).unwrap_or(u64::MAX).max(1)
            }
        };
        // Rounded up: the last packet needs only to start inside the window.
        window.div_ceil(self.payload).saturating_mul(self.packet)
    }
}

/// Window and pacing that may accompany a rate. Optional and boxed: most queue pairs have neither.
#[derive(Debug, Clone, Copy)]
pub(super) struct RateExtras {
    window: RateWindow,
    pacing: Pacing,
}

impl RateExtras {
    /// Creates the pair; `None` if the rate alone limits the sender.
    pub(super) fn of(window: RateWindow, pacing: Pacing) -> Option<Box<Self>> {
        let is_any = !window.rule.is_none() || !pacing.is_rate();
        is_any.then(|| Box::new(Self { window, pacing }))
    }

    /// Bytes on the wire that may be in flight at `rate`.
    pub(super) fn window(extras: Option<&Self>, rate: u64) -> u64 {
        extras.map_or(u64::MAX, |extras| extras.window.at(rate))
    }

    /// The rate that paces packets.
    pub(super) fn pace(extras: Option<&Self>, rate: BitRate) -> BitRate {
        match extras {
            Some(Self { pacing: Pacing::LineRate, .. }) => BitRate::MAX,
            _ => rate,
        }
    }
}

/// A rate whose changes reschedule the next packet, by as much as the last packet takes longer or
/// shorter at the new rate.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReschedulingPacer {
    rate: u64,
    line_rate: u64,
    /// Whether the rate or line rate paces packets.
    bound: Pacing,
    window: RateWindow,
    /// The window at the current rate.
    open: u64,
    unit: Span,
    last: Option<LastPacket>,
}

/// What paces packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pacing {
    /// The rate.
    #[default]
    Rate,
    /// Only the wire, so that the window alone limits the sender.
    LineRate,
}

impl Pacing {
    /// True if the rate paces packets.
    pub fn is_rate(&self) -> bool {
        *self == Self::Rate
    }
}

/// The packet that was sent last.
#[derive(Debug, Clone, Copy)]
struct LastPacket {
    at: Time,
    bytes: u32,
    /// The rate when it was sent.
    rate: u64,
}

impl ReschedulingPacer {
    pub(super) fn new(window: RateWindow, bound: Pacing, path: &PathFacts) -> Self {
        let line_rate = path.line_rate.as_bps().max(1);
        let (rate, unit, open) = (line_rate, path.pace_unit, window.at(line_rate));
        Self { rate, line_rate, bound, window, open, unit, last: None }
    }

    /// The rate that paces packets.
    pub(super) const fn pace(&self) -> BitRate {
        BitRate::from_bps(match self.bound {
            Pacing::Rate => self.rate,
            Pacing::LineRate => self.line_rate,
        })
    }

    /// Bytes on the wire that may be in flight.
    pub(super) const fn window(&self) -> u64 {
        self.open
    }

    /// Changes the rate, and the window with it.
    pub(super) fn set(&mut self, rate: u64) {
        self.rate = rate;
        // Cached: the window is read for every packet, but changes only with the rate.
        self.open = self.window.at(rate);
    }

    pub(super) fn handle_sent(&mut self, at: Time, bytes: u32) {
        self.last = Some(LastPacket { at, bytes, rate: self.rate });
    }

    /// When the next packet may start; `None` before the first.
    pub(super) fn next_start(&self) -> Option<Time> {
        let last = self.last?;
        let time = |rate| self.time(last.bytes, rate);
        Some(match self.bound {
            Pacing::Rate => last.at.saturating_add(time(self.rate)),
            // The simulator shifts the next packet by the difference of the rates, even though line
            // rate paces it.
            Pacing::LineRate => {
                // Added before subtracting, so that the difference cannot underflow.
                let later = last.at.saturating_add(time(self.line_rate) + time(self.rate));
                Time::from_ps(later.as_ps().saturating_sub(time(last.rate).as_ps()))
            }
        })
    }

    fn time(&self, bytes: u32, rate: u64) -> Span {
        let unit = self.unit.as_ps().max(1);
        // Rounded down to whole units, like the simulator's integer time.
        let exact = BitRate::from_bps(rate).time_for(Bytes::new(bytes.into())).as_ps();
        Span::from_ps(exact / unit * unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_may_start_while_less_than_the_window_is_in_flight() {
        // Packets of 1000 B with 940 B of payload.
        let path = PathFacts { payload: Bytes::new(940), ..PathFacts::FOR_TEST };
        let at = |rule, bytes, gbps: u64| {
            RateWindow::new(rule, AbsoluteOrFraction::Absolute(Bytes::new(bytes)), &path)
                .at(gbps * 1_000_000_000)
        };
        assert_eq!(at(WindowRule::None, 1, 1), u64::MAX);
        assert_eq!(at(WindowRule::Fixed, 9_400, 10), 10_000);
        assert_eq!(at(WindowRule::Fixed, 9_401, 10), 11_000);
        assert_eq!(at(WindowRule::ByRate, 9_400, 50), 5_000);
        assert_eq!(at(WindowRule::ByRate, 9_400, 0), 1_000, "at least one packet");
    }

    #[test]
    fn a_change_of_the_rate_moves_the_next_packet() {
        let window =
            RateWindow::new(WindowRule::None, AbsoluteOrFraction::WHOLE, &PathFacts::FOR_TEST);
        let mut pace = ReschedulingPacer::new(window, Pacing::Rate, &PathFacts::FOR_TEST);
        assert_eq!(pace.next_start(), None);
        pace.handle_sent(Time::from_ps(5_000), 1_000);
        assert_eq!(pace.next_start(), Some(Time::from_ps(85_000)));
        pace.set(50_000_000_000);
        assert_eq!(pace.next_start(), Some(Time::from_ps(165_000)));
        let path = PathFacts { pace_unit: Span::from_ns(1), ..PathFacts::FOR_TEST };
        let mut pace = ReschedulingPacer::new(window, Pacing::LineRate, &path);
        pace.handle_sent(Time::ZERO, 1_048);
        pace.set(50_000_000_000);
        // 83 ns at line rate, and 167 instead of 83 at the rate.
        assert_eq!(pace.next_start(), Some(Time::from_ps(167_000)));
    }

    #[test]
    fn only_a_window_or_line_rate_pacing_is_stored() {
        let path = PathFacts::FOR_TEST;
        let extras = |rule, pacing| {
            RateExtras::of(RateWindow::new(rule, AbsoluteOrFraction::WHOLE, &path), pacing)
        };
        let rate = BitRate::from_gbps(7);
        let of = |it: Option<Box<RateExtras>>| {
            let it = it.as_deref();
            (RateExtras::window(it, rate.as_bps()), RateExtras::pace(it, rate))
        };
        assert!(extras(WindowRule::None, Pacing::Rate).is_none());
        assert_eq!(of(None), (u64::MAX, rate));
        assert_eq!(of(extras(WindowRule::None, Pacing::LineRate)), (u64::MAX, BitRate::MAX));
        assert_eq!(of(extras(WindowRule::Fixed, Pacing::Rate)), (100_000, rate));
    }
}
