//! Sender policies that are written in Python.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;

use super::context::{Feedback as PyFeedback, QpContext as PyQpContext, signal_name};
use super::planes::PlaneMask as PyPlaneMask;
use super::{Object, Shared};
use evenkeel::balance::sender::custom::{CustomSender, SenderFactory};
use evenkeel::balance::sender::{FailedPath, Feedback, PathSignal, Prober, QpContext};
use evenkeel::packet::PlaneMask;
use evenkeel::units::Time;

/// Creates the policy of each queue pair.
#[derive(Debug)]
pub(super) struct Factory(pub(super) Arc<Shared>);

impl SenderFactory for Factory {
    fn sender(&self, qp: &QpContext) -> Box<dyn CustomSender> {
        let owner = format!(
            "the queue pair {} of stream {} from {} to {}",
            qp.qp_index, qp.stream, qp.src, qp.dst
        );
        let context = PyQpContext::of(qp);
        let object = Object::new(&self.0, owner, |py| Ok(Bound::new(py, context)?.into_any()));
        Box::new(Sender { object, probes: Probes { at: Time::NEVER, count: 0 } })
    }
}

#[derive(Debug)]
struct Sender {
    object: Object,
    probes: Probes,
}

/// Number of probes at the latest time at which one was sent.
#[derive(Debug, Clone, Copy)]
struct Probes {
    at: Time,
    count: u32,
}

impl Probes {
    /// Maximum number of probes at one time: one for each entropy value.
    const MAX: u32 = 1 << 16;

    fn count(&mut self, now: Time) -> u32 {
        let before = if self.at == now { self.count } else { 0 };
        *self = Self { at: now, count: before + 1 };
        self.count
    }
}

impl Prober for Sender {
    fn next_probe(&self) -> Time {
        if !self.object.defines("next_probe") {
            return Time::NEVER;
        }
        let due: Option<u64> = self.object.call((), "next_probe", |policy| {
            policy.call_method0(intern!(policy.py(), "next_probe"))?.extract()
        });
        due.map_or(Time::NEVER, Time::from_ps)
    }

    /// Calls the policy only when a probe is due. Rejects a policy that would send probes forever.
    fn poll_probe(&mut self, now: Time) -> Option<u16> {
        if self.next_probe() > now {
            return None;
        }
        let sent = self.probes.count(now);
        let now = now.as_ps();
        self.object.call(now, "poll_probe", |policy| {
            let answer = policy.call_method1(intern!(policy.py(), "poll_probe"), (now,))?;
            let value: Option<u16> = answer.extract()?;
            let reason = match value {
                None => {
                    "a probe was due, and poll_probe() returned None; expected its entropy \
                         value, or a next_probe() that is later"
                }
                Some(_) if sent > Probes::MAX => {
                    "poll_probe() returned 65,536 probes at one time; expected a next_probe() \
                     that is later"
                }
                Some(_) => return Ok(value),
            };
            Err(PyValueError::new_err(reason))
        })
    }

    fn handle_probe(&mut self, now: Time, entropy: u16, signal: PathSignal) {
        if !self.object.defines("handle_probe") {
            return;
        }
        let given = (now.as_ps(), entropy, signal_name(signal));
        self.object.call(given, "handle_probe", |policy| {
            policy.call_method1(intern!(policy.py(), "handle_probe"), given).map(drop)
        });
    }
}

impl CustomSender for Sender {
    fn entropy(&mut self, now: Time) -> u16 {
        let now = now.as_ps();
        self.object.call(now, "entropy", |policy| {
            policy.call_method1(intern!(policy.py(), "entropy"), (now,))?.extract()
        })
    }

    fn choose(&mut self, now: Time, free: PlaneMask) -> Option<u16> {
        if !self.object.defines("choose") {
            return Some(self.entropy(now));
        }
        let (now, free) = (now.as_ps(), PyPlaneMask::of(free));
        self.object.call((now, free), "choose", |policy| {
            policy.call_method1(intern!(policy.py(), "choose"), (now, free))?.extract()
        })
    }

    fn handle_planes(&mut self, now: Time, usable: PlaneMask) {
        if !self.object.defines("handle_planes") {
            return;
        }
        let (now, usable) = (now.as_ps(), PyPlaneMask::of(usable));
        self.object.call((now, usable), "handle_planes", |policy| {
            policy.call_method1(intern!(policy.py(), "handle_planes"), (now, usable)).map(drop)
        });
    }

    fn handle_feedback(&mut self, now: Time, feedback: Feedback) {
        if !self.object.defines("handle_feedback") {
            return;
        }
        let now = now.as_ps();
        let given = PyFeedback::of(feedback);
        self.object.call((now, given.clone()), "handle_feedback", |policy| {
            policy.call_method1(intern!(policy.py(), "handle_feedback"), (now, given)).map(drop)
        });
    }

    fn handle_timeout(&mut self, now: Time, entropy: u16) -> Option<FailedPath> {
        if !self.object.defines("handle_timeout") {
            return None;
        }
        let now = now.as_ps();
        let path: Option<u16> = self.object.call((now, entropy), "handle_timeout", |policy| {
            policy.call_method1(intern!(policy.py(), "handle_timeout"), (now, entropy))?.extract()
        });
        path.map(FailedPath)
    }

    fn set_path(&mut self, path: u16) {
        if !self.object.defines("set_path") {
            return;
        }
        self.object.call(path, "set_path", |policy| {
            policy.call_method1(intern!(policy.py(), "set_path"), (path,)).map(drop)
        });
    }

    fn handle_weights(&mut self, weights: &[u32]) {
        if !self.object.defines("handle_weights") {
            return;
        }
        self.object.call(weights, "handle_weights", |policy| {
            policy.call_method1(intern!(policy.py(), "handle_weights"), (weights,)).map(drop)
        });
    }

    fn state_bits(&self) -> u64 {
        self.object.call((), "state_bits", |policy| {
            policy.call_method0(intern!(policy.py(), "state_bits"))?.extract()
        })
    }

    fn duplicate(&self) -> Box<dyn CustomSender> {
        Box::new(Self { object: self.object.duplicate(), ..*self })
    }
}
