//! `[topology] kind = "file"`: a graph from a file of another project.

use super::site::Built;
use crate::scenario::file::topology::{TopologyFileSection, TopologyFormat};
use crate::scenario::input::context::Context;
use crate::scenario::input::error::{Fault, ScenarioError};
use crate::scenario::input::located::Key;
use crate::topology::hpcc::{self, HpccTopology};

/// Reads the file of a section.
pub(super) fn resolve(
    context: &Context<'_>,
    section: &TopologyFileSection,
) -> Result<Built, ScenarioError> {
    if *section.format == TopologyFormat::Htsim {
        return Err(context.unsupported(section.format.key(), "htsim", "hpcc"));
    }
    let key = section.path.key();
    let Some(path) = section.path.given() else {
        let because = "a topology of kind = 'file' is read from a file";
        return Err(context.missing(key, because, "path = \"topology.txt\""));
    };
    let file = context.read(&path)?;
    let read = hpcc::read(&file.text, &file.name)
        .map_err(|error| context.fault(key, Fault::TopologyFile(error)))?;
    check(context, key, &read)?;
    let HpccTopology { topology, host_of_node, warnings, .. } = read;
    Ok(Built { topology, host_of_node, warnings })
}

/// Fails for features of the format that this version does not support.
fn check(context: &Context<'_>, key: &Key, read: &HpccTopology) -> Result<(), ScenarioError> {
    let lossy = read.error_rate.iter().position(|&rate| rate > 0.0);
    if let Some(link) = lossy {
        let name = &read.topology.link_names()[link];
        let value = format!("a file whose link {name} has an error rate");
        let supported =
            "files whose links have an error rate of 0, and failures of kind = \"loss\"";
        return Err(context.unsupported(key, value, supported));
    }
    Ok(())
}
