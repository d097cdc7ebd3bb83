//! Mixed: reuses good entropy values, oldest first; without one it takes the next value of
//! `bitmap`.
//!
//! Source: the default path selector of Ultra Ethernet's public simulator (ultraethernet/uet-htsim,
//! `uec_mp.cpp`, "mixed"). Every signal goes to both parts. A value that was acknowledged unmarked
//! is used once more, as in the first version of REPS, but without that version's first window.

use std::collections::VecDeque;

use super::bitmap::{self, Bitmap};
use super::{FailedPath, Feedback, PathSignal, QpContext, SenderConfig, SenderPolicy};
use crate::balance::{Preset, Scheme, parse_config};
use crate::nic::Recovery;
use crate::units::Time;

/// The parameters of `mixed`: those of `bitmap`.
pub type Config = bitmap::Config;

/// The state of one queue pair.
#[derive(Debug, Clone)]
pub struct Mixed(Box<State>);

#[derive(Debug, Clone)]
struct State {
    bitmap: Bitmap,
    /// Values that were acknowledged unmarked and not used since, oldest first.
    good: VecDeque<u16>,
}

/// The preset `mixed`: hashing switches, and a retransmission timer for each packet.
pub const PRESETS: &[Preset] = &[Preset {
    name: "mixed",
    summary: "reuses a good entropy value if there is one, otherwise the next of bitmap",
    source: "ultraethernet/uet-htsim, uec_mp.cpp (2024), mixed path selector, its default",
    build: |parameters| {
        let sender = SenderConfig::Mixed(parse_config("mixed", parameters)?);
        Ok(Scheme { recovery: Recovery::PER_PACKET, ..Scheme::new("mixed", sender) })
    },
}];

impl Mixed {
    pub(super) fn new(config: &Config, qp: &QpContext) -> Self {
        Self(Box::new(State { bitmap: Bitmap::new(config, qp), good: VecDeque::new() }))
    }
}

impl SenderPolicy for Mixed {
    const TAKES_ANY_PLANE: bool = true;

    #[inline]
    fn entropy(&mut self, now: Time) -> u16 {
        let State { bitmap, good } = &mut *self.0;
        good.pop_front().unwrap_or_else(|| bitmap.entropy(now))
    }

    #[inline]
    fn handle_feedback(&mut self, now: Time, feedback: Feedback) {
        if feedback.signal == PathSignal::Good {
            self.0.good.push_back(feedback.entropy);
        }
        // Every signal goes to both parts, as in the source.
        self.0.bitmap.handle_feedback(now, feedback);
    }

    fn handle_timeout(&mut self, now: Time, entropy: u16) -> Option<FailedPath> {
        self.0.bitmap.handle_timeout(now, entropy)
    }

    /// The current contents of the queue, plus the state of `bitmap`.
    fn state_bits(&self) -> u64 {
        16 * self.0.good.len() as u64 + self.0.bitmap.state_bits()
    }
}

#[cfg(test)]
mod tests {
    use super::super::NetworkParameters;
    use super::*;

    #[test]
    fn a_good_value_is_reused_once_and_then_the_rounds_continue() {
        let qp = QpContext::for_test();
        let (mut mixed, mut bitmap) =
            (Mixed::new(&Config::default(), &qp), Bitmap::new(&Config::default(), &qp));
        let rtt = NetworkParameters::default().base_rtt;
        let report = |entropy, signal| Feedback { entropy, signal, packets: 1, marked: 0, rtt };
        for feedback in [
            report(300, PathSignal::Good),
            report(7, PathSignal::Marked),
            report(9, PathSignal::Trimmed),
            report(301, PathSignal::Good),
        ] {
            mixed.handle_feedback(Time::ZERO, feedback);
            bitmap.handle_feedback(Time::ZERO, feedback);
        }
        let values: Vec<u16> = (0..302).map(|_| mixed.entropy(Time::ZERO)).collect();
        assert_eq!(values[..2], [300, 301]);
        let rounds: Vec<u16> = (0..300).map(|_| bitmap.entropy(Time::ZERO)).collect();
        assert_eq!(values[2..], rounds);
        assert_eq!(mixed.state_bits(), bitmap.state_bits());
    }
}
