//! Checks and delays shared by traffic patterns.

use super::{Bytes, Located, ResolvedWorkload, ScenarioError, Site, Span};
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
    site: &Site<'_>,
    built: Result<Workload, PatternError>,
    bytes: &Located<Bytes>,
    own: Option<&Key>,
    jitter: &Located<Span>,
) -> Result<ResolvedWorkload, ScenarioError> {
    let refused = |error| {
        let key = match error {
            PatternError::NoBytes { .. } | PatternError::TooManyBytes { .. } => Some(bytes.key()),
            PatternError::ShiftToSelf { .. } | PatternError::FanIn { .. } => own,
            _ => None,
        };
        let key = key.unwrap_or(site.kind.key());
        site.context.fault(key, Fault::Workload { key: key.to_string(), error })
    };
    delayed(site, built.map_err(refused)?, jitter)
}

/// Delays each message by up to `jitter`.
pub(super) fn delayed(
    site: &Site<'_>,
    mut workload: Workload,
    jitter: &Located<Span>,
) -> Result<ResolvedWorkload, ScenarioError> {
    let at_most = site.context.span(jitter, AtLeast::Zero)?;
    StartJitter { at_most, seed: site.ground.seed }.apply(&mut workload);
    Ok(workload.into())
}
