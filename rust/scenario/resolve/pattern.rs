//! `[workload]` with the kind of a traffic pattern.

use super::site::{ResolvedWorkload, Site};
use crate::file::workload::generated::{IncastSection, PermutationSection, ShiftSection};
use crate::input::context::AtLeast;
use crate::input::error::{Fault, ScenarioError};
use crate::input::located::{Key, Located};
use crate::pattern::{Incast, PatternError, Permutation, Shift, StartJitter};
use crate::units::{Bytes, Span};
use crate::workload::Workload;

pub(super) fn permutation(
    site: &Site<'_>,
    section: &PermutationSection,
) -> Result<ResolvedWorkload, ScenarioError> {
    let pattern =
        Permutation { hosts: site.count(), bytes: *section.bytes, seed: site.ground.seed };
    let workload = pattern.build().map_err(|error| refused(site, error, &section.bytes, None))?;
    delayed(site, workload, &section.start_jitter)
}

pub(super) fn shift(
    site: &Site<'_>,
    section: &ShiftSection,
) -> Result<ResolvedWorkload, ScenarioError> {
    let (bytes, shift) = (*section.bytes, *section.shift);
    let pattern = Shift { hosts: site.count(), shift, bytes };
    let own = Some(section.shift.key());
    let workload = pattern.build().map_err(|error| refused(site, error, &section.bytes, own))?;
    delayed(site, workload, &section.start_jitter)
}

pub(super) fn incast(
    site: &Site<'_>,
    section: &IncastSection,
) -> Result<ResolvedWorkload, ScenarioError> {
    let (bytes, fan_in) = (*section.bytes, *section.fan_in);
    let pattern = Incast { hosts: site.count(), fan_in, receiver: None, bytes };
    let own = Some(section.fan_in.key());
    let workload = pattern.build().map_err(|error| refused(site, error, &section.bytes, own))?;
    delayed(site, workload, &section.start_jitter)
}

/// The error of a pattern, at the key that causes it; `own` is the key that only this pattern has.
fn refused(
    site: &Site<'_>,
    error: PatternError,
    bytes: &Located<Bytes>,
    own: Option<&Key>,
) -> ScenarioError {
    let key = match error {
        PatternError::NoBytes { .. } | PatternError::TooManyBytes { .. } => Some(bytes.key()),
        PatternError::ShiftToSelf { .. } | PatternError::FanIn { .. } => own,
        _ => None,
    };
    let key = key.unwrap_or(site.kind.key());
    site.context.fault(key, Fault::Workload { key: key.to_string(), error })
}

/// The messages of a pattern, each delayed by up to `jitter`.
pub(super) fn delayed(
    site: &Site<'_>,
    mut workload: Workload,
    jitter: &Located<Span>,
) -> Result<ResolvedWorkload, ScenarioError> {
    let at_most = site.context.span(jitter, AtLeast::Zero)?;
    StartJitter { at_most, seed: site.ground.seed }.apply(&mut workload);
    Ok(workload.into())
}
