//! `evenkeel run`: one scenario, one run.

use std::path::PathBuf;

use clap::Args;
use evenkeel::fabric::Outcome;
use evenkeel::report::{self, Folder, Identity};
use evenkeel::scenario::{Overrides, Scenario};
use evenkeel::study::{self, Finished};

use super::progress::{self, Bars};
use super::{SCENARIO_HELP, Status, incomplete, output, scenario};

const EXAMPLES: &str = "\
Examples:
  evenkeel run scenario.toml
  evenkeel run scenario.toml --policy ecmp --seed 7 --out results/ecmp-7
  evenkeel run scenario.toml --json | jq .cct_ns

A results folder holds summary.json (what --json prints), flows.csv (a line a flow: when it was
posted, delivered and acknowledged, in ns), links.csv (bytes that each direction of each link
carried) and scenario.toml (with every default filled in). They appear whole or not at all,
summary.json last.
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
    let scenario = scenario::load(&arguments.scenario, &overrides)?;
    let folder = arguments.out.as_deref().map(Folder::open).transpose()?;
    let identity = scenario::identity(&scenario);
    let setup = scenario.setup();
    let bound = study::lower_bound(&setup).time;

    let bars = Bars::of_one();
    let bar = bars.start(progress::label(&identity));
    let (finished, outcome) =
        study::run(&identity, &setup, bound, &mut |progress| progress::update(&bar, progress));
    bar.finish_and_clear();

    if let Some(folder) = &folder {
        keep(folder, &identity, &scenario, (&finished, &outcome))?;
    }
    if arguments.json {
        output::print_json(&finished.summary)?;
    } else {
        output::print(&report::run_table(&finished.summary))?;
        if let Some(folder) = &folder {
            output::print(&format!("results   {}\n", folder.path().display()))?;
        }
    }
    Ok(incomplete::tell(&finished))
}

fn keep(
    folder: &Folder,
    identity: &Identity,
    scenario: &Scenario,
    (finished, outcome): (&Finished, &Outcome),
) -> anyhow::Result<()> {
    let topology = &scenario.topology;
    let resolved = scenario.render();
    folder.replace(
        &[
            ("flows.csv", &|to| report::write_flows_csv(to, identity, topology, outcome)),
            ("links.csv", &|to| report::write_links_csv(to, identity, topology, outcome)),
            ("scenario.toml", &|to| write!(to, "{}\n\n{resolved}", identity.header())),
        ],
        &|to| report::write_summary(to, &finished.summary),
    )?;
    Ok(())
}
