//! `evenkeel twin`: runs a scenario in Rust and in ns-3.

use anyhow::bail;
use clap::Args;
use evenkeel_engine::fabric;
use evenkeel_study as study;
use evenkeel_study::report::{self, Side, Stopwatch, Twin};

use super::arguments::{PolicyArgument, ScenarioArguments};
use super::{OtherWorld, SCENARIO_HELP, Status, output};

const EXAMPLES: &str = "\
Examples:
  evenkeel twin scenario.toml
  evenkeel twin scenario.toml --policy spray --json | jq .agrees

The command needs the program with ns-3, evenkeel-ns3:
  cargo build --release --package evenkeel-bridge --features ns3
";

/// Run a scenario in Rust and in ns-3, and compare the results
///
/// Compares the completion time of every flow, the bytes of every link, and all counts: packets
/// sent, lost, trimmed and marked, and queue pairs. The worlds agree if no completion time differs
/// by more than 0.1 % and everything else is equal. Both runs must also end the same way:
/// completed, or at the time limit. The exit status is 1 if they do not agree.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{SCENARIO_HELP}"))]
pub(super) struct Arguments {
    #[command(flatten)]
    scenario: ScenarioArguments,
    #[command(flatten)]
    policy: PolicyArgument,
    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
}

/// Runs the scenario in both worlds and prints the comparison.
pub(super) fn run(arguments: &Arguments, ns3: Option<OtherWorld>) -> anyhow::Result<Status> {
    let scenario = arguments.scenario.load(Some(&arguments.policy))?;
    scenario.expect_packets()?;
    scenario.expect_known()?;
    let Some(in_ns3) = ns3 else {
        bail!(
            "twin: this build has no ns-3; on Debian: apt-get install libns3-dev \
             libgsl-dev libsqlite3-dev libxml2-dev cmake, then cargo run --release --package \
             evenkeel-bridge --features ns3 -- twin ..."
        );
    };
    let setup = scenario.setup();
    let (ns3, ns3_wall_s) = timed(|| in_ns3(&setup));
    let ns3 = ns3?;
    let (rust, rust_wall_s) = timed(|| fabric::run(&setup, &mut |_| {}));
    let twin = Twin::new(
        &study::identity(&scenario),
        &setup.topology,
        Side { outcome: &rust, wall_s: rust_wall_s },
        Side { outcome: &ns3, wall_s: ns3_wall_s },
    );
    if arguments.json {
        output::print_json(&twin)?;
    } else {
        output::print_text(&report::twin_table(&twin))?;
    }
    Ok(if twin.agrees { Status::Done } else { Status::Incomplete })
}

/// Returns the result of `run` and its wall time in seconds.
fn timed<T>(run: impl FnOnce() -> T) -> (T, f64) {
    let stopwatch = Stopwatch::start();
    let result = run();
    (result, stopwatch.stop().wall.as_secs_f64())
}
