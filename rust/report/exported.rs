//! Files of other projects with the fabric and the messages of a scenario: `evenkeel export`.

use std::path::{Path, PathBuf};

use thiserror::Error;

use super::{Inputs, OutputError, OutputKind, trace_files, write_output};
use crate::scenario::Scenario;
use crate::topology::{hpcc, infragraph};
use crate::workload::chakra::{NotATrace, Traces};
use crate::workload::connection_matrix::{self, StartUnit, WrittenMatrix};
use crate::workload::{NotWritten, goal, hpcc_flows};

/// A format that is written.
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

/// Why a scenario cannot be exported.
#[derive(Debug, Error)]
pub enum ExportError {
    /// The format does not hold the messages.
    #[error("the messages cannot be written in this format: {0}")]
    NotWritten(#[from] NotWritten),
    /// Traces do not hold the messages.
    #[error("the messages cannot be written as traces: {0}")]
    NotATrace(#[from] NotATrace),
    /// The format does not hold the fabric.
    #[error("the fabric would be read as another one: it has no switch, or one without a link")]
    Fabric,
    /// A file cannot be written.
    #[error("--out: {0}")]
    Failed(#[from] OutputError),
}

/// What was written.
#[derive(Debug, Clone)]
pub struct Exported {
    /// The files; of traces, their prefix.
    pub files: Vec<PathBuf>,
    /// What a reader has to be told, which the format does not say.
    pub notes: Vec<&'static str>,
}

/// Writes the files of a format into a folder, which is created if it does not exist. Existing
/// files are replaced, but for the scenario's own `inputs`.
///
/// # Errors
/// Fails if the format does not hold what the scenario has, or a file of it would be replaced,
/// before anything is written, and if writing fails.
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
            ("topology.txt".to_owned(), hpcc::write(&scenario.topology)),
            ("flow.txt".to_owned(), hpcc_flows::write(workload, hosts)?),
        ],
        ExportFormat::Htsim => {
            let WrittenMatrix { text, unit } = connection_matrix::write(workload, hosts)?;
            if unit == StartUnit::Picoseconds {
                notes.push("starts are in picoseconds: read it with start_unit = \"ps\"");
            }
            vec![(format!("{}.cm", scenario.name), text)]
        }
        ExportFormat::Goal => {
            vec![(format!("{}.goal", scenario.name), goal::write(workload, hosts)?)]
        }
        ExportFormat::Infragraph => {
            let text = infragraph::write(&scenario.topology).ok_or(ExportError::Fabric)?;
            vec![(format!("{}.yaml", scenario.name), text)]
        }
        ExportFormat::Chakra => return chakra(scenario, inputs, folder),
    };
    let mut files = Vec::new();
    for (name, _) in &texts {
        inputs.spare(&folder.join(name))?;
    }
    for (name, text) in texts {
        let path = folder.join(name);
        write_output(&path, &OutputKind::UNMARKED, text.as_bytes())?;
        files.push(path);
    }
    Ok(Exported { files, notes })
}

fn chakra(scenario: &Scenario, inputs: &Inputs, folder: &Path) -> Result<Exported, ExportError> {
    let traces = Traces::of(&scenario.workload)?;
    inputs.spare(&trace_files::first(folder, &scenario.name))?;
    trace_files::write(folder, &scenario.name, &traces)?;
    let files = vec![folder.join(format!("{}.RANK.et", scenario.name))];
    Ok(Exported { files, notes: Vec::new() })
}
