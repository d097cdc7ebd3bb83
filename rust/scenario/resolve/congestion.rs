//! `[transport] congestion_control` and its parameters.

use super::parameters;
use crate::balance::sender::Trimming;
use crate::file::switch::TrimSection;
use crate::file::toggle::Toggle;
use crate::file::transport::TransportSection;
use crate::input::context::Context;
use crate::input::error::ScenarioError;
use crate::nic::congestion::{CongestionControl, CongestionName};

/// Resolves the congestion control of a section (`default` if it names none) and fills in its
/// parameters. The default preset may depend on whether switches trim.
pub(crate) fn resolve(
    context: &Context<'_>,
    section: &mut TransportSection,
    default: CongestionName,
    trim: &Toggle<TrimSection>,
) -> Result<CongestionControl, ScenarioError> {
    let trimming = if matches!(trim, Toggle::On(_)) { Trimming::On } else { Trimming::Off };
    let configured =
        section.congestion_control.fill(default).control().configure(&section.parameters, trimming);
    let configured =
        configured.map_err(|error| parameters::invalid(context, &section.parameters, error))?;
    *section.parameters = configured.parameters;
    Ok(configured.value)
}
