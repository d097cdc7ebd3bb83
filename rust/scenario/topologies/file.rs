//! Fabrics from files of other projects.

use serde::{Deserialize, Serialize};

use super::{BitRate, BuiltFabric, Family, Key, Located, Span, rate};
use crate::hpcc::topology::HpccTopology;
use crate::infragraph::{self, Defaults};
use crate::input::context::{AtLeast, Context, FileText};
use crate::input::error::{Fault, ScenarioError};
use crate::input::section::{named, section};

/// Formats of topology files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TopologyFormat {
    /// Format of the HPCC family of ns-3 simulators.
    #[default]
    Hpcc,
    /// InfraGraph's infrastructure description, in YAML or JSON.
    Infragraph,
}

named! { TopologyFormat }

section! {
    /// `kind = "file"`.
    pub struct TopologyFileSection {
        /// Topology file, relative to the scenario.
        path?: String = "required",
        /// Format of the file.
        format: TopologyFormat = TopologyFormat::default(),
        /// `infragraph`: rate of links without a bandwidth in the file.
        rate?: BitRate = "the file's",
        /// `infragraph`: one-way delay of links without a latency in the file.
        delay?: Span = "the file's",
    }
}

impl Family for TopologyFileSection {
    const NAME: &'static str = "file";
    const SUMMARY: &'static str = "A file of the HPCC family of simulators, or of InfraGraph";
    const SOURCE: &'static str = "Li et al., HPCC, 2019 (its simulator); Keysight, InfraGraph 3.1";

    fn build(&self, context: &Context<'_>, _kind: &Key) -> Result<BuiltFabric, ScenarioError> {
        let Some(path) = self.path.given() else {
            let because = "a topology of kind = 'file' is read from a file";
            return Err(context.missing(self.path.key(), because, "path = \"topology.txt\""));
        };
        let file = context.read(&path)?;
        let built = match *self.format {
            TopologyFormat::Hpcc => hpcc_file(context, self, &file)?,
            TopologyFormat::Infragraph => infragraph_file(context, self, &file)?,
        };
        // Results include a copy of this text, because the file may change.
        Ok(BuiltFabric { file: Some(file.text.into()), ..built })
    }
}

fn hpcc_file(
    context: &Context<'_>,
    section: &TopologyFileSection,
    file: &FileText,
) -> Result<BuiltFabric, ScenarioError> {
    let because = "files of format = 'hpcc' have a rate and a delay for each link";
    if section.rate.is_some() {
        return Err(context.misplaced(section.rate.key(), because));
    }
    if section.delay.is_some() {
        return Err(context.misplaced(section.delay.key(), because));
    }
    let key = section.path.key();
    let read = crate::hpcc::topology::read(&file.text, &file.name)
        .map_err(|error| context.fault(key, Fault::TopologyFile(error)))?;
    check(context, key, &read)?;
    let HpccTopology { topology, host_of_node, warnings, .. } = read;
    Ok(BuiltFabric { host_of_node, warnings, ..BuiltFabric::new(topology) })
}

/// Fails for unsupported features of the format.
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

fn infragraph_file(
    context: &Context<'_>,
    section: &TopologyFileSection,
    file: &FileText,
) -> Result<BuiltFabric, ScenarioError> {
    let own: Option<Located<BitRate>> = section.rate.given();
    own.as_ref().map(|own| rate(context, own)).transpose()?;
    let delay: Option<Located<Span>> = section.delay.given();
    let delay = delay.map(|delay| context.span(&delay, AtLeast::Zero)).transpose()?;
    let defaults = Defaults { rate: own.map(|rate| *rate), delay };
    let read = infragraph::read(&file.text, &file.name, defaults)
        .map_err(|error| context.fault(section.path.key(), Fault::Infragraph(error)))?;
    Ok(BuiltFabric { warnings: read.warnings, ..BuiltFabric::new(read.topology) })
}
