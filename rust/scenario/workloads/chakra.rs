//! Chakra traces: execution traces of real programs.

use std::collections::BTreeMap;

use super::choices::StreamingName;
use super::trace_source::{Files, last_rank};
use super::{Located, ResolvedWorkload, ScenarioError, Work, WorkloadInputs, algorithms, section};
use crate::chakra::{self, Dependencies, Options};
use crate::input::error::Fault;
use crate::input::section::named;
use crate::workload::{Compute, StepAfter};

section! {
    /// `kind = "chakra"`.
    pub struct ChakraSection {
        /// Prefix of `.RANK.et` (or `.RANK.et.gz`) files, or one file that every rank replays;
        /// relative to the scenario.
        file?: String = "required",
        /// Number of ranks (the first of `hosts`).
        ranks?: u32 = "as many as have traces",
        /// Algorithm per operation: `{ all-reduce = "ring" }`.
        algorithms?: BTreeMap<String, String> = "the first algorithm of each operation",
        /// Dependencies to follow: `all`, or `data` only.
        dependencies: Dependencies = Dependencies::default(),
        /// Runs a host's computations one at a time (`serial`) or in `parallel`.
        compute: Compute = Compute::default(),
        /// Sizes of the dimensions of `involved_dim`; the first varies fastest with the rank.
        dimensions?: Vec<u32> = "unknown",
        /// Reads traces during the run; `auto` does so from 1 GiB.
        streaming: StreamingName = StreamingName::default(),
        /// Streamed traces: nodes per rank in memory.
        window?: u32 = "8192",
        /// Continues a waiting rank on `delivery`, or on the last `acknowledgement` at the sender.
        step_after: StepAfter = StepAfter::default(),
    }
}

named! { Dependencies }

impl Work for ChakraSection {
    const NAME: &'static str = "chakra";
    const SUMMARY: &'static str = "Chakra execution traces, .et files";
    const SOURCE: &'static str = "Sridharan et al., Chakra, 2023";
    const IS_RECORDED: bool = true;

    fn resolve(&mut self, inputs: &WorkloadInputs<'_>) -> Result<ResolvedWorkload, ScenarioError> {
        let Traces { files, ranks, options } = find(inputs, self)?;
        let streaming = &mut self.streaming;
        if **streaming == StreamingName::Yes {
            let expected = "traces are read during the run only without [[job]], start and hosts; \
                            otherwise it must be 'auto' or false";
            return Err(inputs.context.invalid_as(streaming.key(), "true", expected));
        }
        **streaming = StreamingName::No;
        let read = chakra::read(&files, ranks, &options)
            .map_err(|error| inputs.context.fault(self.file.key(), Fault::Chakra(error)))?;
        let warnings = read.warnings.into_iter().chain(files.duplicate_warning(ranks)).collect();
        Ok(ResolvedWorkload { warnings, ..read.workload.into() })
    }

    fn size(&self) -> Option<Located<String>> {
        self.file.given()
    }
}

/// Traces of a section, and the options for reading them.
pub(crate) struct Traces {
    pub files: Files,
    pub ranks: u32,
    pub options: Options,
}

/// Finds the files of a section and resolves the options for reading them.
pub(crate) fn find(
    inputs: &WorkloadInputs<'_>,
    section: &mut ChakraSection,
) -> Result<Traces, ScenarioError> {
    let (context, key) = (&inputs.context, section.file.key());
    let Some(path) = &section.file.given() else {
        let because = "traces are read from files, prefix.0.et and so on";
        return Err(context.missing(key, because, "file = \"prefix\""));
    };
    context.path(path)?;
    let path = path.as_str();
    let hosts = inputs.count();
    let whole = context.folder().join(path);
    let found = match whole.is_file() {
        true => hosts,
        false => last_rank(&whole).map_or(0, |last| last.saturating_add(1)),
    };
    let files = Files::at(whole);
    if found == 0 {
        let path = format!("{}.0.et", context.folder().join(path).display());
        let missing = || std::io::ErrorKind::NotFound.into();
        // Report the operating system's reason, as for any file.
        let reason = std::fs::File::open(&path).err().unwrap_or_else(missing);
        return Err(context.fault(key, Fault::Unreadable { path, reason }));
    }
    let is_set = section.ranks.is_some();
    let ranks = section.ranks.fill(found);
    if !(1..=hosts).contains(&*ranks) {
        let expected =
            format!("there are {hosts} hosts, and rank i is host i; it must be from 1 to {hosts}");
        return Err(match is_set {
            true => context.invalid(&ranks, expected),
            false => context.invalid_as(key, format!("{path} with its {ranks} ranks"), expected),
        });
    }
    let options = Options {
        dependencies: *section.dependencies,
        algorithms: algorithms::resolve(context, &section.algorithms, chakra::algorithms())?,
        compute: *section.compute,
        dimensions: dimensions(inputs, section, *ranks)?,
        step_after: *section.step_after,
    };
    Ok(Traces { files, ranks: *ranks, options })
}

/// Returns the dimensions of the logical topology, whose product must be the number of ranks.
fn dimensions(
    inputs: &WorkloadInputs<'_>,
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
    let expected =
        format!("there are {ranks} ranks; the product of the sizes must equal that number");
    Err(inputs.context.invalid_as(section.dimensions.key(), value, expected))
}
