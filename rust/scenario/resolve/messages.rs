//! The messages of a file: resolved, generated during the run, or read during it.

use std::sync::Arc;

use super::site::{Ground, ResolvedWorkload};
use super::{class, job, trace_file};
use crate::chakra::Streaming;
use crate::endpoint::JobClass;
use crate::file::{Fabric, ScenarioFile};
use crate::fluid::Fidelity;
use crate::input::context::Context;
use crate::input::error::ScenarioError;

/// The messages of a file.
pub(crate) struct Messages {
    pub sent: ResolvedWorkload,
    /// If they are read during the run.
    pub traces: Option<Arc<Streaming>>,
    pub classes: Vec<JobClass>,
}

/// The messages of a file, with the classes of its jobs.
pub(crate) fn resolve(
    context: &Context<'_>,
    file: &mut ScenarioFile,
    ground: Ground<'_>,
    fabric: Fabric,
) -> Result<Messages, ScenarioError> {
    let streamed = match fabric {
        Fabric::Existing => None,
        Fabric::Described => trace_file::stream(context, file, ground)?,
    };
    // Worlds without packets need all messages at once.
    let may_generate = fabric == Fabric::Described && *file.general.fidelity == Fidelity::Packet;
    let ground = Ground { may_generate, ..ground };
    let (mut sent, traces) = match streamed {
        Some(streamed) => (streamed.sent, Some(streamed.traces)),
        None => (job::resolve(context, file, ground)?, None),
    };
    let classes = class::of_jobs(context, file, &sent.workload)?;
    sent.warnings.extend(class::warnings(context, file, &classes));
    Ok(Messages { sent, traces, classes })
}
