//! Checks and delays shared by traffic patterns.

use super::{Bytes, Located, ResolvedWorkload, ScenarioError, Span, WorkloadInputs};
use crate::input::context::AtLeast;
use crate::input::error::Fault;
use crate::input::located::Key;
use crate::pattern::{PatternError, StartJitter};
use crate::workload::Workload;

/// Default payload of a rank or flow.
pub(super) const DEFAULT_BYTES: Bytes = Bytes::new(16_000_000);

/// Returns the messages of a pattern, each delayed by up to `jitter`. An error points at the key
/// that causes it; `own` is the key that only this pattern has.
pub(super) fn resolve(
    inputs: &WorkloadInputs<'_>,
    built: Result<Workload, PatternError>,
    bytes: &Located<Bytes>,
    own: Option<&Key>,
    jitter: &Located<Span>,
) -> Result<ResolvedWorkload, ScenarioError> {
    let fault = |error| {
        let key = match error {
            PatternError::NoBytes { .. } | PatternError::TooManyBytes { .. } => Some(bytes.key()),
            PatternError::ShiftToSelf { .. } | PatternError::FanIn { .. } => own,
            _ => None,
        };
        let key = key.unwrap_or(inputs.kind.key());
        inputs.context.fault(key, Fault::Workload { key: key.to_string(), error })
    };
    delayed(inputs, built.map_err(fault)?, jitter)
}

/// Delays each message by up to `jitter`.
pub(super) fn delayed(
    inputs: &WorkloadInputs<'_>,
    mut workload: Workload,
    jitter: &Located<Span>,
) -> Result<ResolvedWorkload, ScenarioError> {
    let at_most = inputs.context.span(jitter, AtLeast::Zero)?;
    StartJitter { at_most, seed: inputs.shared.seed }.apply(&mut workload);
    Ok(workload.into())
}
