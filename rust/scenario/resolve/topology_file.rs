//! `[topology] kind = "file"`: a graph that somebody else wrote down.

use crate::scenario::file::{TopologyFormat, TopologySection};
use crate::scenario::input::context::Context;
use crate::scenario::input::error::{Fault, ScenarioError};
use crate::scenario::resolve::topology::Built;
use crate::topology::hpcc::{self, HpccTopology};

/// Reads the file of a section.
pub(in crate::scenario) fn resolve(
    context: &Context<'_>,
    typed: &TopologySection,
    common: TopologySection,
) -> Result<Built, ScenarioError> {
    context.only("topology", "file", &["path", "format", "gap", "forwarding_delay"])?;
    let format = typed.format.unwrap_or_default();
    if format == TopologyFormat::Htsim {
        return Err(context.unavailable("topology.format", "htsim", "hpcc"));
    }
    let Some(path) = &typed.path else {
        let because = "a topology from a file needs the file".to_owned();
        return Err(context.missing("topology.path", because, "path = \"topology.txt\""));
    };
    let (text, file) = context.read("topology.path", path)?;
    let read = hpcc::read(&text, &file)
        .map_err(|error| context.fault("topology.path", Fault::TopologyFile(error)))?;
    check(context, &read)?;
    let section = TopologySection { path: Some(path.clone()), format: Some(format), ..common };
    Ok(Built {
        section,
        topology: read.topology,
        host_of_node: read.host_of_node,
        warnings: read.warnings,
    })
}

/// Refuses what the format can say and this version cannot do.
fn check(context: &Context<'_>, read: &HpccTopology) -> Result<(), ScenarioError> {
    let lossy = read.error_rate.iter().position(|&rate| rate > 0.0);
    if let Some(link) = lossy {
        let name = &read.topology.link_names()[link];
        let value = format!("a file whose link {name} has an error rate");
        let available =
            "files whose links have an error rate of 0, and failures of kind = \"loss\"";
        return Err(context.unavailable("topology.path", value, available));
    }
    Ok(())
}
