//! `evenkeel run`: one scenario, one run.

use std::path::PathBuf;

use clap::Args;
use evenkeel::report::{self, Writer};
use evenkeel::scenario::{Overrides, RailScenario};

use super::single::{self, Destination};
use super::{SCENARIO_HELP, Status, rails, scenario};

const EXAMPLES: &str = "\
Examples:
  evenkeel run scenario.toml
  evenkeel run scenario.toml --policy ecmp --seed 7 --out results/ecmp-7
  evenkeel run scenario.toml --json | jq .cct_ns

A results folder holds summary.json (what --json prints), flows.csv (a line a flow: when it was
posted, delivered and acknowledged, in ns), links.csv (bytes that each direction of each link
carried) and scenario.toml (with every default filled in); with flow control also pfc.txt (time_ns
node_id node_type if_index type, a line a pause or resume, as the HPCC family writes it; switches
are numbered after the hosts). They appear whole or not at all, summary.json last. Of traces that
are read while the run goes on (workload.streaming), flows.csv has the flows as they were over.
";

/// Simulate a scenario once and report what it cost
///
/// Prints a table, or with --json one object. CCT is the time from the first start until every
/// message is delivered and acknowledged; the bound is what no policy can beat; FCT are the
/// messages' own completion times.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{SCENARIO_HELP}"))]
pub struct Arguments {
    /// The scenario's file
    #[arg(value_name = "SCENARIO.toml")]
    scenario: PathBuf,
    /// Balance load by this policy in place of the scenario's (see: evenkeel list policies)
    #[arg(long, value_name = "POLICY")]
    policy: Option<String>,
    /// Draw from this seed in place of the scenario's
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Keep the results in this folder; it is made unless it exists, earlier results in it are
    /// replaced
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print one JSON object in place of the table (times in ns, sizes in bytes)
    #[arg(long)]
    json: bool,
}

/// Runs it.
pub fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let overrides = Overrides { policy: arguments.policy.clone(), seed: arguments.seed };
    if RailScenario::is_in(&arguments.scenario) {
        let to = (arguments.out.as_deref(), arguments.json);
        return rails::run(&arguments.scenario, &overrides, to);
    }
    let scenario = scenario::load(&arguments.scenario, &overrides)?;
    let destination = Destination::open(arguments.out.as_deref(), arguments.json)?;
    let identity = scenario::identity(&scenario);
    let setup = scenario.setup();
    // Where the original lies is no part of the results: they are the same bytes everywhere.
    let resolved = format!(
        "{}\n# Resolved; paths are relative to the original file.\n\n{}",
        identity.header(),
        scenario.render()
    );
    let single = match &scenario.traces {
        None => single::simulate(&identity, &setup),
        Some(traces) => single::replay(&identity, (&setup, &scenario, traces), &destination)?,
    };
    let (topology, outcome) = (&setup.topology, single.outcome());
    let number = report::hosts_then_switches(topology);
    let toml: (&'static str, Writer<'_>) =
        ("scenario.toml", &|to| to.write_all(resolved.as_bytes()));
    let pfc: (&'static str, Writer<'_>) =
        ("pfc.txt", &|to| report::write_pfc_txt(to, topology, outcome, &number));
    let others = if setup.fabric.switch.pfc.is_some() { vec![toml, pfc] } else { vec![toml] };
    single.report(&destination, &others)
}
