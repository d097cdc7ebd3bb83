//! Messages of a file: known before the run, generated during it, or read during it.

use std::sync::Arc;

use super::{class, job, servers};
use crate::chakra::{Streaming, WINDOW};
use crate::endpoint::JobClass;
use crate::file::workload::WorkloadSection;
use crate::file::{Fabric, ScenarioFile};
use crate::fluid::Fidelity;
use crate::input::context::Context;
use crate::input::error::{Fault, ScenarioError};
use crate::workloads::chakra::{self, Traces};
use crate::workloads::choices::StreamingName;
use crate::workloads::{ResolvedWorkload, SharedInputs, WorkloadInputs, WorkloadKeys};

/// Messages of a file.
pub(crate) struct Messages {
    pub sent: ResolvedWorkload,
    /// Traces, if they are read during the run.
    pub traces: Option<Arc<Streaming>>,
    pub classes: Vec<JobClass>,
}

/// Resolves the messages of a file and the classes of its jobs.
pub(crate) fn resolve(
    context: &Context<'_>,
    file: &mut ScenarioFile,
    shared: SharedInputs<'_>,
    fabric: Fabric,
) -> Result<Messages, ScenarioError> {
    let streamed = match fabric {
        Fabric::Existing => None,
        Fabric::Described => stream(context, file, shared)?,
    };
    // Only packet runs of a described fabric can generate messages on demand.
    let may_generate = fabric == Fabric::Described && *file.general.fidelity == Fidelity::Packet;
    let may_tally = shared.may_tally && fabric == Fabric::Described;
    let shared = SharedInputs { may_generate, may_tally, ..shared };
    let (mut sent, traces) = match streamed {
        Some(streamed) => (streamed.sent, Some(streamed.traces)),
        None => (job::resolve(context, file, shared)?, None),
    };
    let classes = class::of_jobs(context, file, &sent.workload)?;
    sent.warnings.extend(class::warnings(context, file, &classes));
    if fabric == Fabric::Described {
        sent.warnings.extend(servers::warnings(context, file, shared.topology)?);
    }
    Ok(Messages { sent, traces, classes })
}

/// Total decompressed size above which traces are read during the run by default: 1 GiB.
/// \[inferred\]
const STREAMING_THRESHOLD: u64 = 1 << 30;

/// Traces read during the run, and their load: one message per pair and stream.
struct Streamed {
    sent: ResolvedWorkload,
    traces: Arc<Streaming>,
}

/// Opens the traces of a file if they are to be read during the run.
fn stream(
    context: &Context<'_>,
    file: &mut ScenarioFile,
    shared: SharedInputs<'_>,
) -> Result<Option<Streamed>, ScenarioError> {
    let Some(section) = file.workload.as_mut().filter(|_| file.job.is_empty()) else {
        return Ok(None);
    };
    let WorkloadSection { kind, common, work, .. } = section;
    let WorkloadKeys::Chakra(section) = work else { return Ok(None) };
    if common.hosts.is_some() || common.start.is_some() {
        return Ok(None);
    }
    let inputs = WorkloadInputs { context: *context, shared, kind, common, hosts: None };
    let Traces { files, ranks, options } = chakra::find(&inputs, section)?;
    let is_fluid = *file.general.fidelity == Fidelity::Fluid;
    let streams = match *section.streaming {
        StreamingName::Yes if is_fluid => {
            let expected = "with fidelity = 'fluid', traces are read before the run; it must be \
                            false";
            return Err(context.invalid_as(section.streaming.key(), "true", expected));
        }
        StreamingName::Yes => true,
        StreamingName::No => false,
        StreamingName::Auto if is_fluid => false,
        StreamingName::Auto => files.size(ranks) >= STREAMING_THRESHOLD,
    };
    if !streams {
        return Ok(None);
    }
    let window = section.window.fill(WINDOW as u32);
    if *window == 0 {
        return Err(context.invalid(&window, "it must be at least 1"));
    }
    *section.streaming = StreamingName::Yes;
    let duplicate = files.duplicate_warning(ranks);
    let traces = Streaming::open(Arc::new(files), ranks, options, *window as usize)
        .map_err(|error| context.fault(section.file.key(), Fault::Chakra(error)))?;
    let warnings = traces.warnings().into_iter().chain(duplicate).collect();
    let sent = ResolvedWorkload { warnings, ..traces.load().clone().into() };
    Ok(Some(Streamed { sent, traces: Arc::new(traces) }))
}
