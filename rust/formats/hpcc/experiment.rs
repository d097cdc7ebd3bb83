//! An experiment: a configuration, a topology and a flow file, resolved into the setup of a run.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::config::{self, Family, HpccConfig, WithLine};
use super::files::{self, InputFile};
use super::node_numbers::NodeNumbers;
use super::recovery::{self, PolicyOrigin};
use super::topology;
use super::{HpccError, fabric, fct, node_list, ports, warnings, wire};
use crate::balance::switch::SwitchConfig;
use crate::balance::{self, Parameters, Scheme};
use crate::fabric::{Outcome, Rounding, Setup};
use crate::hpcc::flows::{self, FlowFile};
use crate::topology::Node;
use crate::units::{Span, Time};

/// Settings of the caller that override the configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    /// A policy; overrides `LB_POLICY` and `LB_MODE`.
    pub lb: Option<String>,
    /// A topology file; overrides `TOPOLOGY_FILE`.
    pub topology: Option<PathBuf>,
    /// A flow file; overrides `FLOW_FILE`.
    pub flows: Option<PathBuf>,
    /// The rounding of transmission times; exact by default.
    pub rounding: Rounding,
    /// A seed; overrides `RANDOM_SEED`.
    pub seed: Option<u64>,
}

/// An experiment of the HPCC family, ready to run.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// The configuration's file name without its extension.
    pub name: String,
    /// The setup of the run.
    pub setup: Setup,
    /// Settings of the files that are ignored or modelled differently, one sentence each.
    pub warnings: Vec<String>,
    /// The settings of the configuration file, with defaults filled in.
    pub config: HpccConfig,
    /// The path of the topology file.
    pub topology_file: PathBuf,
    /// The path of the flow file.
    pub flow_file: PathBuf,
    /// The flows; the flow at index i is message i.
    pub flows: FlowFile,
    numbers: NodeNumbers,
    /// The numbers of the nodes whose packets are traced; `None` if no trace is configured.
    pub(super) traced: Option<BTreeSet<u32>>,
}

/// Flags of the hosts and switches whose packet events are traced, by id.
#[derive(Debug)]
pub(super) struct TracedNodes {
    pub(super) hosts: Vec<bool>,
    pub(super) switches: Vec<bool>,
}

impl Experiment {
    /// Reads the configuration at `path` and the files that it or `overrides` names.
    ///
    /// # Errors
    /// Fails if a file does not exist, cannot be read or is invalid. Fails also for an unknown
    /// policy, a missing marking threshold, and a link in `LINK_DOWN` that does not exist.
    pub fn load(path: &Path, overrides: &Overrides) -> Result<Self, HpccError> {
        let mut experiment = Self::read(path, overrides)?;
        experiment.warnings.extend(experiment.renamed());
        Ok(experiment)
    }

    fn read(path: &Path, overrides: &Overrides) -> Result<Self, HpccError> {
        let config_file = files::from_option("the configuration", path)?;
        let config = config::read(&files::text(&config_file)?, &path.display().to_string())?;
        let folder = config_file.parent().unwrap_or(Path::new(""));
        let mut scheme = scheme(&config, overrides)?;
        let topology_file = InputFile {
            key: "TOPOLOGY_FILE",
            in_config: config.topology_file.as_deref(),
            option: "--topology",
            in_option: overrides.topology.as_deref(),
        };
        let flow_file = InputFile {
            key: "FLOW_FILE",
            in_config: config.flow_file.as_deref(),
            option: "--flows",
            in_option: overrides.flows.as_deref(),
        };
        let topology_file = topology_file.find(&config.file, folder)?;
        let flow_file = flow_file.find(&config.file, folder)?;
        let topology_name = topology_file.display().to_string();
        let read = topology::read(&files::text(&topology_file)?, &topology_name)?;
        let flow_name = flow_file.display().to_string();
        let flows = flows::read(&files::text(&flow_file)?, &flow_name)?;
        let workload = flows.workload(&read.host_of_node)?;

        let numbers = NodeNumbers::new(&read);
        if let SwitchConfig::Murmur(_) = scheme.switch {
            scheme = ports::ecmp_scheme(&numbers, &flows, &workload);
        }
        let mut warnings = config.warnings.clone();
        warnings.extend(read.warnings.iter().cloned());
        warnings.extend(flows.warnings.iter().cloned());
        warnings.extend(warnings::of(&config));
        let is_named = overrides.lb.is_some() || config.lb_policy.is_some();
        let origin = if is_named { PolicyOrigin::Named } else { PolicyOrigin::Simulator };
        let loss = recovery::of(&config, &scheme, origin, &read.topology);
        match origin {
            PolicyOrigin::Simulator => warnings.extend(warnings::lb_mode(&config, scheme.name)),
            PolicyOrigin::Named => {
                warnings.extend(recovery::warning(&config, &scheme, loss.recovery));
            }
        }
        let setup = Setup {
            fabric: fabric::fabric(&config, &read, &topology_name, overrides.rounding)?,
            nic: fabric::nic(&config, (&scheme, loss), &read.topology, overrides.rounding)?,
            topology: Arc::new(read.topology),
            scheme,
            own_nics: BTreeMap::new(),
            job_policies: Vec::new(),
            job_classes: Vec::new(),
            workload: Arc::new(workload),
            seed: overrides.seed.or(config.seed).unwrap_or(1),
            time_limit: time_limit(&config),
            probes: Vec::new(),
        };
        let traced = traced(&config, folder, &mut warnings)?;
        let name = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        Ok(Self { name, setup, warnings, config, topology_file, flow_file, flows, numbers, traced })
    }

    /// Returns the key that sets the time limit of the run in the configuration's dialect.
    pub fn time_limit_key(&self) -> &'static str {
        match (self.config.stop, self.config.family()) {
            (None, Family::ConWeave) => "10 s after FLOWGEN_STOP_TIME",
            _ => "SIMULATOR_STOP_TIME",
        }
    }

    /// Returns the number of a node in the topology file.
    pub fn node_number(&self, node: Node) -> u32 {
        self.numbers.of(node)
    }

    /// Returns the numbers of all hosts in the topology file, by id.
    pub(super) fn host_numbers(&self) -> &[u32] {
        &self.numbers.hosts
    }

    /// Returns the nodes whose packet events are traced.
    pub(super) fn traced_nodes(&self) -> TracedNodes {
        let is_traced = |node: &u32| self.traced.as_ref().is_some_and(|it| it.contains(node));
        TracedNodes {
            hosts: self.numbers.hosts.iter().map(is_traced).collect(),
            switches: self.numbers.switches.iter().map(is_traced).collect(),
        }
    }

    /// Formats the results in the columns of the family's `fct.txt`: one line per completed flow,
    /// in order of completion.
    pub fn fct_table(&self, outcome: &Outcome) -> String {
        fct::table(&self.setup, &self.flows, outcome)
    }
}

/// Returns the nodes of `TRACE_FILE`, unless the trace is disabled. If the file does not exist,
/// nothing is traced and a warning says so: configurations are often passed on with the trace
/// enabled and without that file.
fn traced(
    config: &HpccConfig,
    folder: &Path,
    warnings: &mut Vec<String>,
) -> Result<Option<BTreeSet<u32>>, HpccError> {
    let Some(written) = config.trace_file.as_ref().filter(|_| config.trace) else {
        return Ok(None);
    };
    match files::from_key(&format!("{}: TRACE_FILE", config.file), written, folder) {
        Ok(path) => {
            let name = path.display().to_string();
            Ok(Some(node_list::read(&files::text(&path)?, &name)?))
        }
        Err(missing) => {
            warnings.push(format!("{missing}; no packets are traced"));
            Ok(None)
        }
    }
}

/// Returns the policy: the caller's, else that of `LB_POLICY`, else that of `LB_MODE`. For
/// `LB_MODE 0` or no `LB_MODE` it is the family's own ECMP.
fn scheme(config: &HpccConfig, overrides: &Overrides) -> Result<Scheme, HpccError> {
    let file = &config.file;
    let (key, name) = match (&overrides.lb, &config.lb_policy, &config.lb_mode) {
        (Some(name), _, _) => ("--lb".to_owned(), name.as_str()),
        (None, Some(policy), _) => {
            (format!("{file}:{}: LB_POLICY", policy.line), policy.value.as_str())
        }
        (None, None, Some(mode)) => match policy_of_mode(mode.value) {
            Some(name) => (format!("{file}:{}: LB_MODE", mode.line), name),
            None => return Err(unsupported_mode(file, mode)),
        },
        (None, None, None) => (format!("{file}: LB_MODE"), "ecmp-murmur"),
    };
    let is_named = overrides.lb.is_some() || config.lb_policy.is_some();
    let parameters = if is_named { Parameters::new() } else { parameters(name) };
    balance::build_scheme(name, &parameters).map_err(|source| HpccError::Scheme { key, source })
}

/// Returns the policy of ConWeave's `LB_MODE`.
fn policy_of_mode(mode: u32) -> Option<&'static str> {
    match mode {
        0 => Some("ecmp-murmur"),
        2 => Some("drill-by-destination"),
        3 => Some("conga"),
        6 => Some("letflow"),
        _ => None,
    }
}

/// Returns the parameters for which ConWeave's script differs from the policy's defaults:
/// congestion tables age after 500 us (`conga_agingTime`).
fn parameters(policy: &str) -> Parameters {
    match policy {
        "conga" => Parameters::from_iter([("ageing".to_owned(), "500us".into())]),
        _ => Parameters::new(),
    }
}

fn unsupported_mode(file: &str, mode: &WithLine<u32>) -> HpccError {
    HpccError::LbMode {
        file: file.to_owned(),
        line: mode.line,
        mode: mode.value,
        name: match mode.value {
            9 => Some("ConWeave"),
            _ => None,
        },
        known: balance::presets().map(|preset| preset.name).collect::<Vec<_>>().join(", "),
    }
}

/// The latest end of a run, as for scenarios: timers that are armed at the very end still fit into
/// 64 bits of picoseconds.
const LATEST_END: Span = Span::from_ms(4_000_000_000);

/// Returns the time at which the family's simulator stops. It is `SIMULATOR_STOP_TIME`, or for
/// ConWeave 10 s after `FLOWGEN_STOP_TIME` (2.5 s by default).
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
    fn the_time_limit_leaves_room_for_timers() {
        for (text, seconds) in
            [("SIMULATOR_STOP_TIME 40000000000000.00", 4_000_000), ("SIMULATOR_STOP_TIME 4", 4)]
        {
            let limit = time_limit(&config::read(text, "c").unwrap());
            assert_eq!(limit, Time::ZERO + Span::from_ms(seconds * 1_000), "{text}");
        }
    }
}
