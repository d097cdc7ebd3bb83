//! An experiment: three files, made into what a run needs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::config::{self, Family, HpccConfig, Numbered};
use super::{HpccError, fabric, fct, files, node_list, ports, warnings as settings_warnings, wire};
use crate::balance::switch::SwitchConfig;
use crate::balance::{self, Parameters, Scheme};
use crate::fabric::{Outcome, Rounding, Setup};
use crate::topology::{Node, hpcc};
use crate::units::{Span, Time};
use crate::workload::hpcc_flows::{self, FlowFile};

/// What the caller says in place of the configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    /// A policy, in place of `LB_POLICY` and `LB_MODE`.
    pub lb: Option<String>,
    /// A topology file, in place of `TOPOLOGY_FILE`.
    pub topology: Option<PathBuf>,
    /// A flow file, in place of `FLOW_FILE`.
    pub flows: Option<PathBuf>,
    /// How transmission times are rounded; exactly by default.
    pub rounding: Rounding,
    /// A seed, in place of `RANDOM_SEED`.
    pub seed: Option<u64>,
}

/// An experiment of the HPCC family, ready to run.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// The configuration's file name without its extension.
    pub name: String,
    /// What determines the run.
    pub setup: Setup,
    /// What of the files is ignored, or is done otherwise here; a sentence each.
    pub warnings: Vec<String>,
    /// The configuration.
    pub config: HpccConfig,
    /// Where the topology was found.
    pub topology_file: PathBuf,
    /// Where the flows were found.
    pub flow_file: PathBuf,
    /// The flows; the one at place i is message i.
    pub flows: FlowFile,
    /// The file's node of each host, then of each switch, by id.
    nodes: [Vec<u32>; 2],
    /// The nodes whose packets are traced; `None` where no trace is asked for.
    pub(super) traced: Option<BTreeSet<u32>>,
}

impl Experiment {
    /// Reads the configuration at `path` and the files that it, or `overrides`, names.
    ///
    /// # Errors
    /// A file that is nowhere or cannot be read, and every fault in one; a policy that is none;
    /// marking thresholds that are missing; a link to go down that does not exist.
    pub fn load(path: &Path, overrides: &Overrides) -> Result<Self, HpccError> {
        let config_file = files::given("the configuration", path)?;
        let config = config::read(&files::text(&config_file)?, &path.display().to_string())?;
        let folder = config_file.parent().unwrap_or(Path::new(""));
        let mut scheme = scheme(&config, overrides)?;
        let keys = [
            ("TOPOLOGY_FILE", "--topology", &overrides.topology, &config.topology_file),
            ("FLOW_FILE", "--flows", &overrides.flows, &config.flow_file),
        ];
        let [topology_file, flow_file] =
            keys.map(|(key, option, given, written)| match (given, written) {
                (Some(path), _) => files::given(option, path),
                (None, Some(written)) => {
                    files::named(&format!("{}: {key}", config.file), written, folder)
                }
                (None, None) => Err(HpccError::NoFile { file: config.file.clone(), key, option }),
            });
        let (topology_file, flow_file) = (topology_file?, flow_file?);
        let topology_name = topology_file.display().to_string();
        let read = hpcc::read(&files::text(&topology_file)?, &topology_name)?;
        let flow_name = flow_file.display().to_string();
        let flows = hpcc_flows::read(&files::text(&flow_file)?, &flow_name)?;
        let workload = flows.workload(&read.host_of_node)?;

        if let SwitchConfig::Murmur(_) = scheme.switch {
            let nodes = (&read.node_of_host[..], &read.node_of_switch[..]);
            scheme = ports::named(nodes, &flows, &workload);
        }
        let mut warnings = config.warnings.clone();
        warnings.extend(read.warnings.iter().cloned());
        warnings.extend(flows.warnings.iter().cloned());
        warnings.extend(settings_warnings::differences(&config));
        let setup = Setup {
            fabric: fabric::fabric(&config, &read, &topology_name, overrides.rounding)?,
            nic: fabric::nic(&config, &scheme),
            topology: Arc::new(read.topology),
            scheme,
            workload: Arc::new(workload),
            seed: overrides.seed.or(config.seed).unwrap_or(1),
            time_limit: time_limit(&config),
            probes: Vec::new(),
        };
        let traced = traced(&config, folder, &mut warnings)?;
        let nodes = [read.node_of_host, read.node_of_switch];
        let name = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        Ok(Self { name, setup, warnings, config, topology_file, flow_file, flows, nodes, traced })
    }

    /// The number of a node in the topology file.
    pub fn node_number(&self, node: Node) -> u32 {
        match node {
            Node::Host(host) => self.nodes[0][host.index()],
            Node::Switch(switch) => self.nodes[1][switch.index()],
        }
    }

    /// The numbers of all hosts in the topology file, by id.
    pub(super) fn host_numbers(&self) -> &[u32] {
        &self.nodes[0]
    }

    /// Whether packets at each host, then at each switch, are traced, by id.
    pub(super) fn followed(&self) -> [Vec<bool>; 2] {
        let is_traced = |node: &u32| self.traced.as_ref().is_some_and(|it| it.contains(node));
        self.nodes.each_ref().map(|nodes| nodes.iter().map(is_traced).collect())
    }

    /// The results in the columns of the family's `fct.txt`: a line for each flow that
    /// completed, in order of completion.
    pub fn fct_table(&self, outcome: &Outcome) -> String {
        fct::table(&self.setup, &self.flows, outcome)
    }
}

/// The nodes of `TRACE_FILE`, where the trace is not switched off. Configurations are handed on
/// with the trace on and without that file, with which the family traces nobody.
fn traced(
    config: &HpccConfig,
    folder: &Path,
    warnings: &mut Vec<String>,
) -> Result<Option<BTreeSet<u32>>, HpccError> {
    let Some(written) = config.trace_file.as_ref().filter(|_| config.trace) else {
        return Ok(None);
    };
    match files::named(&format!("{}: TRACE_FILE", config.file), written, folder) {
        Ok(path) => {
            let name = path.display().to_string();
            Ok(Some(node_list::read(&files::text(&path)?, &name)?))
        }
        Err(missing) => {
            warnings.push(format!("{missing}; nothing is traced"));
            Ok(None)
        }
    }
}

/// The caller's policy, else the configuration's, else the family's own ECMP where it asks for that.
fn scheme(config: &HpccConfig, overrides: &Overrides) -> Result<Scheme, HpccError> {
    let file = &config.file;
    let (place, name) = match (&overrides.lb, &config.lb_policy, &config.lb_mode) {
        (Some(name), _, _) => ("--lb".to_owned(), name.as_str()),
        (None, Some(policy), _) => {
            (format!("{file}:{}: LB_POLICY", policy.line), policy.value.as_str())
        }
        (None, None, Some(mode)) if mode.value != 0 => return Err(other_mode(file, mode)),
        (None, None, _) => (format!("{file}: LB_MODE"), "ecmp-murmur"),
    };
    balance::build_scheme(name, &Parameters::new())
        .map_err(|source| HpccError::Scheme { place, source })
}

fn other_mode(file: &str, mode: &Numbered<u32>) -> HpccError {
    HpccError::LbMode {
        file: file.to_owned(),
        line: mode.line,
        mode: mode.value,
        name: match mode.value {
            2 => Some("DRILL"),
            3 => Some("CONGA"),
            6 => Some("LetFlow"),
            9 => Some("ConWeave"),
            _ => None,
        },
        known: balance::presets().map(|preset| preset.name).collect::<Vec<_>>().join(", "),
    }
}

/// The latest end of a run, as of scenarios: what is set at the very end still fits into 64 bits
/// of picoseconds.
const LATEST_END: Span = Span::from_ms(4_000_000_000);

/// When the family would stop: at `SIMULATOR_STOP_TIME`; in ConWeave 10 s after
/// `FLOWGEN_STOP_TIME`, 2.5 s by default.
fn time_limit(config: &HpccConfig) -> Time {
    let flowgen = config.flowgen_stop.unwrap_or(wire::FLOWGEN_STOP);
    let stop = config.stop.unwrap_or(match config.family() {
        Family::ConWeave => flowgen.saturating_add(wire::STOP_EXTRA),
        Family::Hpcc => Time::from_ps(wire::STOP_PS),
    });
    stop.min(Time::ZERO + LATEST_END)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_run_goes_on_until_the_clock_ends() {
        for (text, seconds) in
            [("SIMULATOR_STOP_TIME 40000000000000.00", 4_000_000), ("SIMULATOR_STOP_TIME 4", 4)]
        {
            let limit = time_limit(&config::read(text, "c").unwrap());
            assert_eq!(limit, Time::ZERO + Span::from_ms(seconds * 1_000), "{text}");
        }
    }
}
