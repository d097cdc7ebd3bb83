//! Sender policies of Python.

use std::sync::Arc;

use pyo3::intern;
use pyo3::prelude::*;

use super::context::{Feedback as PyFeedback, QpContext as PyQpContext};
use super::{Object, Shared};
use crate::balance::sender::custom::{CustomSender, SenderFactory};
use crate::balance::sender::{FailedPath, Feedback, QpContext};
use crate::units::Time;

/// Makes the policy of each queue pair.
#[derive(Debug)]
pub(super) struct Factory(pub(super) Arc<Shared>);

impl SenderFactory for Factory {
    fn sender(&self, qp: &QpContext) -> Box<dyn CustomSender> {
        let owner = format!(
            "the queue pair {} of stream {} from {} to {}",
            qp.qp_index, qp.stream, qp.src, qp.dst
        );
        let context = PyQpContext::of(qp);
        Box::new(Sender(Object::new(&self.0, owner, |py| Ok(Bound::new(py, context)?.into_any()))))
    }
}

#[derive(Debug)]
struct Sender(Object);

impl CustomSender for Sender {
    fn entropy(&mut self, now: Time) -> u16 {
        let now = now.as_ps();
        self.0.ask(now, "entropy", |policy| {
            policy.call_method1(intern!(policy.py(), "entropy"), (now,))?.extract()
        })
    }

    fn handle_feedback(&mut self, now: Time, feedback: Feedback) {
        let now = now.as_ps();
        let given = PyFeedback::of(feedback);
        self.0.ask((now, given.clone()), "handle_feedback", |policy| {
            policy.call_method1(intern!(policy.py(), "handle_feedback"), (now, given)).map(drop)
        });
    }

    fn handle_timeout(&mut self, now: Time, entropy: u16) -> Option<FailedPath> {
        let now = now.as_ps();
        let path: Option<u16> = self.0.ask((now, entropy), "handle_timeout", |policy| {
            policy.call_method1(intern!(policy.py(), "handle_timeout"), (now, entropy))?.extract()
        });
        path.map(FailedPath)
    }

    fn set_path(&mut self, path: u16) {
        self.0.ask(path, "set_path", |policy| {
            policy.call_method1(intern!(policy.py(), "set_path"), (path,)).map(drop)
        });
    }

    fn handle_weights(&mut self, weights: &[u32]) {
        self.0.ask(weights, "handle_weights", |policy| {
            policy.call_method1(intern!(policy.py(), "handle_weights"), (weights,)).map(drop)
        });
    }

    fn state_bits(&self) -> u64 {
        self.0.ask((), "state_bits", |policy| {
            policy.call_method0(intern!(policy.py(), "state_bits"))?.extract()
        })
    }

    fn duplicate(&self) -> Box<dyn CustomSender> {
        Box::new(Self(self.0.duplicate()))
    }
}
