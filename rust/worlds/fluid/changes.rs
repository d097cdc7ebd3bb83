//! Changes to links and routing during a run.

use crate::ids::PortId;
use crate::switching::{Failure, FailureKind, Switching};
use crate::units::Time;

/// The target of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Target {
    /// A failure that begins or ends on the wire, by index.
    Wire(u32),
    /// A step of the failure plan, by index.
    Step(u32),
}

/// A change and its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Change {
    pub(super) at: Time,
    pub(super) target: Target,
}

/// Returns all changes of a run in time order. At equal times the wire changes before routing
/// reacts.
pub(super) fn changes(failures: &[Failure], switching: &Switching) -> Vec<Change> {
    let wires = (0u32..).zip(failures).flat_map(|(index, failure)| {
        let target = Target::Wire(index);
        [failure.at, failure.until].map(|at| Change { at, target })
    });
    let steps = (0u32..).zip(switching.steps());
    let steps = steps.map(|(index, step)| Change { at: step.at, target: Target::Step(index) });
    // A failure that is never repaired has no end event.
    let mut all: Vec<Change> = wires.chain(steps).filter(|it| it.at < Time::NEVER).collect();
    all.sort_unstable();
    all
}

/// Returns the fraction of the packets sent by `port` that reach the other end of its link.
pub(super) fn delivered_fraction(failures: &[Failure], port: PortId, now: Time) -> f64 {
    let holds = failures.iter().filter(|failure| {
        failure.link == port.link()
            && failure.at <= now
            && now < failure.until
            && failure.ports().any(|affected| affected == port)
    });
    let part = |failure: &Failure| match failure.kind {
        FailureKind::Down => 0.0,
        FailureKind::Degrade { .. } => 1.0,
        FailureKind::Loss { rate } => 1.0 - rate.as_f64(),
    };
    holds.map(part).product()
}
