//! Writes the fabric and the messages of a scenario as files of other projects: `evenkeel export`.

use std::path::{Path, PathBuf};

use thiserror::Error;

use super::{Inputs, OutputError, OutputKind, trace_files, write_output};
use crate::chakra::{NotATrace, Traces};
use crate::connection_matrix::{self, StartUnit, WrittenMatrix};
use crate::normal_form::NotWritten;
use crate::scenario::Scenario;
use crate::units::{Bytes, Span, Time};
use crate::workload::Workload;
use crate::{goal, hpcc, infragraph};

/// Format of the exported files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// A topology and a flow file of the HPCC family.
    Hpcc,
    /// A connection matrix of htsim.
    Htsim,
    /// A GOAL schedule.
    Goal,
    /// Chakra traces.
    Chakra,
    /// A description of InfraGraph.
    Infragraph,
}

impl ExportFormat {
    /// Names of the formats.
    pub const NAMES: [(&str, Self); 5] = [
        ("hpcc", Self::Hpcc),
        ("htsim", Self::Htsim),
        ("goal", Self::Goal),
        ("chakra", Self::Chakra),
        ("infragraph", Self::Infragraph),
    ];
}

/// Reason why a scenario cannot be exported.
#[derive(Debug, Error)]
pub enum ExportError {
    /// The format cannot express the messages.
    #[error("the messages cannot be written in this format: {0}")]
    NotWritten(#[from] NotWritten),
    /// Traces cannot express the messages.
    #[error("the messages cannot be written as traces: {0}")]
    NotATrace(#[from] NotATrace),
    /// The format cannot express the fabric.
    #[error("the fabric cannot be written in this format: {0}")]
    Fabric(String),
    /// A file cannot be written.
    #[error("--out: {0}")]
    Failed(#[from] OutputError),
}

/// Files that were written.
#[derive(Debug, Clone)]
pub struct Exported {
    /// Paths of the files; for traces, their common prefix.
    pub files: Vec<PathBuf>,
    /// Notes on what the format does not express.
    pub notes: Vec<String>,
}

/// Writes the files of a format into a folder, which is created if it does not exist. Existing
/// files are replaced, except for the scenario's own `inputs`.
///
/// # Errors
/// Fails before anything is written if the format cannot express the scenario, or if an input would
/// be replaced. Also fails if writing fails.
pub fn export(
    scenario: &Scenario,
    inputs: &Inputs,
    format: ExportFormat,
    folder: &Path,
) -> Result<Exported, ExportError> {
    let (workload, hosts) = (&scenario.workload, scenario.topology.host_count());
    let mut notes = Vec::new();
    let texts = match format {
        ExportFormat::Hpcc => vec![
            (
                "topology.txt".to_owned(),
                hpcc::topology::write(&scenario.topology).map_err(ExportError::Fabric)?,
            ),
            ("flow.txt".to_owned(), hpcc::flows::write(workload, hosts)?),
        ],
        ExportFormat::Htsim => {
            let WrittenMatrix { text, unit } = connection_matrix::write(workload, hosts)?;
            if unit == StartUnit::Picoseconds {
                let note = "starts are in picoseconds: read it with start_unit = \"ps\"";
                notes.push(note.to_owned());
            }
            vec![(format!("{}.cm", scenario.name), text)]
        }
        ExportFormat::Goal => {
            notes.extend(late_start(workload));
            vec![(format!("{}.goal", scenario.name), goal::write(workload, hosts)?)]
        }
        ExportFormat::Infragraph => {
            let text = infragraph::write(&scenario.topology).map_err(ExportError::Fabric)?;
            vec![(format!("{}.yaml", scenario.name), text)]
        }
        ExportFormat::Chakra => return chakra(scenario, inputs, folder),
    };
    if matches!(format, ExportFormat::Hpcc | ExportFormat::Infragraph) {
        notes.extend(unsupported_parts(scenario));
    }
    let mut files = Vec::new();
    for (name, _) in &texts {
        inputs.reject_input(&folder.join(name))?;
    }
    for (name, text) in texts {
        let path = folder.join(name);
        write_output(&path, &OutputKind::UNMARKED, text.as_bytes())?;
        files.push(path);
    }
    Ok(Exported { files, notes })
}

/// Default inter-packet gap of a scenario that is imported from a fabric format.
const GAP: Bytes = Bytes::new(20);

/// Returns a note that names the settings that fabric formats cannot express.
fn unsupported_parts(scenario: &Scenario) -> Option<String> {
    let (delay, gap) = (scenario.fabric.forwarding_delay, scenario.fabric.gap);
    let parts = [
        scenario.topology.scale_up().map(|_| "the scale-up networks of servers".to_owned()),
        (delay > Span::ZERO).then(|| format!("topology.forwarding_delay = {delay}")),
        (gap != GAP).then(|| format!("topology.gap = {gap}")),
        scenario.fabric.llr.map(|_| "link-level retry (topology.llr)".to_owned()),
        (!scenario.fabric.failures.is_empty()).then(|| "the failures of links".to_owned()),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("the format cannot express {}", parts.join(", ")))
}

/// Writes the traces of a scenario into a folder, one file per rank. Returns the number of ranks.
///
/// # Errors
/// Fails in the same cases as [`export`].
pub fn export_traces(
    scenario: &Scenario,
    inputs: &Inputs,
    folder: &Path,
) -> Result<u32, ExportError> {
    let traces = Traces::of(&scenario.workload)?;
    inputs.reject_input(&trace_files::first(folder, &scenario.name))?;
    trace_files::write(folder, &scenario.name, &traces)?;
    Ok(traces.ranks())
}

fn chakra(scenario: &Scenario, inputs: &Inputs, folder: &Path) -> Result<Exported, ExportError> {
    export_traces(scenario, inputs, folder)?;
    let files = vec![folder.join(format!("{}.RANK.et", scenario.name))];
    let notes = late_start(&scenario.workload).into_iter().collect();
    Ok(Exported { files, notes })
}

/// Returns a note if the first message starts after time zero, for formats that express the delay
/// as a computation.
pub fn late_start(workload: &Workload) -> Option<String> {
    let first = Some(workload.first_start()).filter(|first| *first > Time::ZERO)?;
    let span = first.since(Time::ZERO);
    Some(format!(
        "starts are computations in this format: completion times there count from time 0, {span} \
         before the first message, from which this scenario counts"
    ))
}
