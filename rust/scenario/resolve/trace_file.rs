//! `[workload] kind = "chakra"`: execution traces of real programs.

use std::sync::Arc;

use super::algorithms;
use super::site::{Ground, ResolvedWorkload, Site};
use super::trace_source::{Files, last_rank};
use crate::chakra::{self, Options, Streaming};
use crate::file::ScenarioFile;
use crate::file::workload::chakra::ChakraSection;
use crate::file::workload::recorded::StreamingName;
use crate::file::workload::{WorkloadKeys, WorkloadSection};
use crate::fluid::Fidelity;
use crate::input::context::Context;
use crate::input::error::{Fault, ScenarioError};

/// The traces of a section and the options of reading them.
struct Traces {
    files: Files,
    ranks: u32,
    options: Options,
}

/// The decompressed size of all files above which traces are read during the run by default: 1 GiB.
/// \[inferred\]
const LARGE: u64 = 1 << 30;

/// Reads the traces of a section.
pub(super) fn resolve(
    site: &Site<'_>,
    section: &mut ChakraSection,
) -> Result<ResolvedWorkload, ScenarioError> {
    let Traces { files, ranks, options } = find(site, section)?;
    let streaming = &mut section.streaming;
    if **streaming == StreamingName::Yes {
        let expected = "traces are read during the run where they are all that is sent, from the \
                        beginning, and rank i is host i: without [[job]], start and hosts";
        return Err(site.context.invalid_as(streaming.key(), "true", expected));
    }
    **streaming = StreamingName::No;
    let read = chakra::read(&files, ranks, &options)
        .map_err(|error| site.context.fault(section.file.key(), Fault::Chakra(error)))?;
    let warnings = read.warnings.into_iter().chain(files.twice(ranks)).collect();
    Ok(ResolvedWorkload { warnings, ..read.workload.into() })
}

/// Traces that are read during the run, and their load: a message for each pair and stream.
pub(crate) struct Streamed {
    pub sent: ResolvedWorkload,
    pub traces: Arc<Streaming>,
}

/// Opens the traces of a file, if they are read during the run.
pub(crate) fn stream(
    context: &Context<'_>,
    file: &mut ScenarioFile,
    ground: Ground<'_>,
) -> Result<Option<Streamed>, ScenarioError> {
    let Some(section) = file.workload.as_mut().filter(|_| file.job.is_empty()) else {
        return Ok(None);
    };
    let WorkloadSection { kind, common, work, .. } = section;
    let WorkloadKeys::Chakra(section) = work else { return Ok(None) };
    if common.hosts.is_some() || common.start.is_some() {
        return Ok(None);
    }
    let site = Site { context: *context, ground, kind, common, hosts: None };
    let Traces { files, ranks, options } = find(&site, section)?;
    let is_fluid = *file.general.fidelity == Fidelity::Fluid;
    let streams = match *section.streaming {
        StreamingName::Yes if is_fluid => {
            let expected = "with fidelity = 'fluid' traces are read as a whole; it must be false";
            return Err(context.invalid_as(section.streaming.key(), "true", expected));
        }
        StreamingName::Yes => true,
        StreamingName::No => false,
        StreamingName::Auto if is_fluid => false,
        StreamingName::Auto => files.size(ranks) >= LARGE,
    };
    if !streams {
        return Ok(None);
    }
    let window = section.window.fill(chakra::WINDOW as u32);
    if *window == 0 {
        return Err(context.invalid(&window, "a rank holds one node at least"));
    }
    *section.streaming = StreamingName::Yes;
    let twice = files.twice(ranks);
    let traces = Streaming::open(Arc::new(files), ranks, options, *window as usize)
        .map_err(|error| context.fault(section.file.key(), Fault::Chakra(error)))?;
    let warnings = traces.warnings().into_iter().chain(twice).collect();
    let sent = ResolvedWorkload { warnings, ..traces.load().clone().into() };
    Ok(Some(Streamed { sent, traces: Arc::new(traces) }))
}

/// The files of a section and the options of reading them.
fn find(site: &Site<'_>, section: &mut ChakraSection) -> Result<Traces, ScenarioError> {
    let (context, key) = (&site.context, section.file.key());
    let Some(path) = &section.file.given() else {
        let because = "traces are read from files, prefix.0.et and so on";
        return Err(context.missing(key, because, "file = \"prefix\""));
    };
    context.path(path)?;
    let path = path.as_str();
    let hosts = site.count();
    let whole = context.folder().join(path);
    let found = match whole.is_file() {
        true => hosts,
        false => last_rank(&whole).map_or(0, |last| last.saturating_add(1)),
    };
    let files = Files::at(whole);
    if found == 0 {
        let path = format!("{}.0.et", context.folder().join(path).display());
        let missing = || std::io::ErrorKind::NotFound.into();
        // In the words of the system, as of any file.
        let reason = std::fs::File::open(&path).err().unwrap_or_else(missing);
        return Err(context.fault(key, Fault::Unreadable { path, reason }));
    }
    let typed_ranks = section.ranks.is_some();
    let ranks = section.ranks.fill(found);
    if !(1..=hosts).contains(&*ranks) {
        let expected =
            format!("there are {hosts} hosts, and rank i is host i; it must be from 1 to {hosts}");
        return Err(match typed_ranks {
            true => context.invalid(&ranks, expected),
            false => context.invalid_as(key, format!("{path} with its {ranks} ranks"), expected),
        });
    }
    let options = Options {
        dependencies: (*section.dependencies).into(),
        algorithms: algorithms::resolve(context, &section.algorithms, chakra::algorithms())?,
        compute: (*section.compute).into(),
        dimensions: dimensions(site, section, *ranks)?,
        step_after: (*section.step_after).into(),
    };
    Ok(Traces { files, ranks: *ranks, options })
}

/// The dimensions of the logical topology, which hold every rank once.
fn dimensions(
    site: &Site<'_>,
    section: &ChakraSection,
    ranks: u32,
) -> Result<Vec<u32>, ScenarioError> {
    let Some(dimensions) = &*section.dimensions else { return Ok(Vec::new()) };
    let product = dimensions.iter().try_fold(1u32, |product, &size| product.checked_mul(size));
    if product == Some(ranks) {
        return Ok(dimensions.clone());
    }
    let sizes: Vec<String> = dimensions.iter().map(u32::to_string).collect();
    let value = format!("[{}]", sizes.join(", "));
    let expected = format!("there are {ranks} ranks; the product of the sizes must be that");
    Err(site.context.invalid_as(section.dimensions.key(), value, expected))
}
