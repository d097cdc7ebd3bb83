//! A caller's sender policy: calls of [`SenderPolicy`] are forwarded through a trait object.
//!
//! Source: that of the policy itself; this file only carries it. The Python module uses it for
//! policies that are written in Python.

use std::fmt;
use std::sync::Arc;

use super::{FailedPath, Feedback, Prober, QpContext, SenderPolicy};
use crate::packet::PlaneMask;
use crate::units::Time;

/// The policy of one queue pair, with the methods of [`SenderPolicy`].
pub trait CustomSender: Prober + fmt::Debug + Send {
    /// See [`SenderPolicy::entropy`].
    fn entropy(&mut self, now: Time) -> u16;
    /// See [`SenderPolicy::choose`].
    fn choose(&mut self, now: Time, free: PlaneMask) -> Option<u16>;
    /// See [`SenderPolicy::handle_planes`].
    fn handle_planes(&mut self, now: Time, usable: PlaneMask);
    /// See [`SenderPolicy::handle_feedback`].
    fn handle_feedback(&mut self, now: Time, feedback: Feedback);
    /// See [`SenderPolicy::handle_timeout`].
    fn handle_timeout(&mut self, now: Time, entropy: u16) -> Option<FailedPath>;
    /// See [`SenderPolicy::set_path`].
    fn set_path(&mut self, path: u16);
    /// See [`SenderPolicy::handle_weights`].
    fn handle_weights(&mut self, weights: &[u32]);
    /// See [`SenderPolicy::state_bits`].
    fn state_bits(&self) -> u64;
    /// Returns an independent policy in the same state.
    fn duplicate(&self) -> Box<dyn CustomSender>;
}

/// Creates the policy of each queue pair.
pub trait SenderFactory: fmt::Debug + Send + Sync {
    /// Returns the policy of a new queue pair.
    fn sender(&self, qp: &QpContext) -> Box<dyn CustomSender>;
}

/// The factory of a caller's policies.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Config {
    /// Creates the policy of each queue pair.
    #[serde(skip)]
    pub factory: Arc<dyn SenderFactory>,
}

impl PartialEq for Config {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.factory, &other.factory)
    }
}

/// The policy of one queue pair.
#[derive(Debug)]
pub struct Custom(Box<dyn CustomSender>);

impl Clone for Custom {
    fn clone(&self) -> Self {
        Self(self.0.duplicate())
    }
}

/// A caller's policy has no name in scenarios.
pub const PRESETS: &[super::Preset] = &[];

impl Custom {
    pub(super) fn new(config: &Config, qp: &QpContext) -> Self {
        Self(config.factory.sender(qp))
    }
}

impl SenderPolicy for Custom {
    const NEEDS_PATHS: bool = true;
    const NEEDS_PACKET_FEEDBACK: bool = true;

    fn entropy(&mut self, now: Time) -> u16 {
        self.0.entropy(now)
    }

    fn choose(&mut self, now: Time, free: PlaneMask) -> Option<u16> {
        self.0.choose(now, free)
    }

    fn handle_planes(&mut self, now: Time, usable: PlaneMask) {
        self.0.handle_planes(now, usable);
    }

    fn handle_feedback(&mut self, now: Time, feedback: Feedback) {
        self.0.handle_feedback(now, feedback);
    }

    fn handle_timeout(&mut self, now: Time, entropy: u16) -> Option<FailedPath> {
        self.0.handle_timeout(now, entropy)
    }

    fn prober(&mut self) -> Option<&mut dyn Prober> {
        Some(&mut *self.0)
    }

    fn set_path(&mut self, path: u16) {
        self.0.set_path(path);
    }

    fn handle_weights(&mut self, weights: &[u32]) {
        self.0.handle_weights(weights);
    }

    fn state_bits(&self) -> u64 {
        self.0.state_bits()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::balance::recorder::Recorder;
    use crate::balance::sender::PathSignal;

    impl Prober for Recorder {
        fn next_probe(&self) -> Time {
            self.note("next_probe".to_owned(), Time::from_ps(14))
        }
        fn poll_probe(&mut self, now: Time) -> Option<u16> {
            self.note(format!("poll_probe {now:?}"), Some(15))
        }
        fn handle_probe(&mut self, now: Time, entropy: u16, signal: PathSignal) {
            self.note(format!("handle_probe {now:?} {entropy} {signal:?}"), ());
        }
    }

    impl CustomSender for Recorder {
        fn entropy(&mut self, now: Time) -> u16 {
            self.note(format!("entropy {now:?}"), 11)
        }
        fn choose(&mut self, now: Time, free: PlaneMask) -> Option<u16> {
            self.note(format!("choose {now:?} {free:?}"), Some(12))
        }
        fn handle_planes(&mut self, now: Time, usable: PlaneMask) {
            self.note(format!("handle_planes {now:?} {usable:?}"), ());
        }
        fn handle_feedback(&mut self, now: Time, feedback: Feedback) {
            self.note(format!("handle_feedback {now:?} {}", feedback.entropy), ());
        }
        fn handle_timeout(&mut self, now: Time, entropy: u16) -> Option<FailedPath> {
            self.note(format!("handle_timeout {now:?} {entropy}"), Some(FailedPath(13)))
        }
        fn set_path(&mut self, path: u16) {
            self.note(format!("set_path {path}"), ());
        }
        fn handle_weights(&mut self, weights: &[u32]) {
            self.note(format!("handle_weights {weights:?}"), ());
        }
        fn state_bits(&self) -> u64 {
            self.note("state_bits".to_owned(), 16)
        }
        fn duplicate(&self) -> Box<dyn CustomSender> {
            Box::new(self.clone())
        }
    }

    #[test]
    fn every_call_is_passed_on_with_what_it_has_and_its_answer_is_passed_back() {
        let calls = Recorder::default();
        let mut policy = Custom(Box::new(calls.clone()));
        let (now, planes) = (Time::from_ps(3), PlaneMask::all(2));
        let rtt = crate::units::Span::ZERO;
        let signal = PathSignal::Good;
        assert_eq!(policy.entropy(now), 11);
        assert_eq!(policy.choose(now, planes), Some(12));
        policy.handle_planes(now, planes);
        policy.handle_feedback(now, Feedback { entropy: 7, signal, packets: 1, marked: 0, rtt });
        assert_eq!(policy.handle_timeout(now, 8), Some(FailedPath(13)));
        let prober = policy.prober().unwrap();
        assert_eq!(prober.next_probe(), Time::from_ps(14));
        assert_eq!(prober.poll_probe(now), Some(15));
        prober.handle_probe(now, 9, signal);
        policy.set_path(10);
        policy.handle_weights(&[1, 2]);
        assert_eq!(policy.clone().state_bits(), 16);
        let expected = [
            format!("entropy {now:?}"),
            format!("choose {now:?} {planes:?}"),
            format!("handle_planes {now:?} {planes:?}"),
            format!("handle_feedback {now:?} 7"),
            format!("handle_timeout {now:?} 8"),
            "next_probe".to_owned(),
            format!("poll_probe {now:?}"),
            format!("handle_probe {now:?} 9 {signal:?}"),
            "set_path 10".to_owned(),
            "handle_weights [1, 2]".to_owned(),
            "state_bits".to_owned(),
        ];
        assert_eq!(calls.all(), expected);
    }

    impl SenderFactory for Recorder {
        fn sender(&self, _qp: &QpContext) -> Box<dyn CustomSender> {
            self.duplicate()
        }
    }

    #[test]
    fn configurations_are_equal_if_they_share_a_factory() {
        let config = || Config { factory: Arc::new(Recorder::default()) };
        let (one, other) = (config(), config());
        assert_eq!((one == one.clone(), one == other), (true, false));
    }
}
