//! `evenkeel reproduce`: repeats the experiments of publications, claim by claim.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use evenkeel_study as study;
use evenkeel_study::report::{self, JunitSuite, StudyFolder};
use evenkeel_study::reproduce::{
    BuiltIn, Reproduction, RunLog, Scale, Study, StudyError, StudyResults,
};
use serde::Serialize;

use super::gates::JunitArgument;
use super::memory::MemoryArgument;
use super::progress::Bars;
use super::{Status, output};

const EXAMPLES: &str = "\
Examples:
  evenkeel reproduce
  evenkeel reproduce ethereal-collectives
  evenkeel reproduce my-study.toml --scale paper --out results/studies
  evenkeel reproduce ofan-sweeps --scale paper --out results/studies --resume
  evenkeel reproduce all --json | jq '.studies[].claims[].verdict'
  evenkeel reproduce my-study.toml --strict --junit results.xml
  evenkeel reproduce reps-coalescing --why

The table of a study has one line per claim:
  by        source of the value: paper (a publication prints it), slides,
            artifact (the authors', run for this project), simulator (another
            one, run likewise), formula (a closed form of this project), ours
            (derived from the mechanism)
  theirs    their value
  ours      the value of this run, a mean over the seeds
  off       the deviation of ours from theirs
  verdict   holds, does not hold, cannot be judged, or not at this scale
A number in brackets points to the reason below the table.

With --out DIR a study becomes DIR/NAME.md (a page), DIR/NAME.json (the same for
programs) and DIR/NAME.csv (the numbers of every run). DIR/README.md has the
verdicts of all studies in DIR.

Until these are written, each finished run is a line in DIR/NAME.runs.jsonl, and
--resume continues from there after an interruption. With --keep-runs the file
stays, so that --resume judges edited claims without a simulation.

--why repeats the runs of each claim that does not hold with one setting changed
at a time, such as another order of simultaneous arrivals or another seed, and
lists those with which it holds. It has a list of its own; [[why]] adds to it.

A study is a TOML file; docs/studies.md has the format.
";

/// Name that selects every study.
const ALL: &str = "all";

/// Repeat the experiments of publications and judge their claims
///
/// Without a name, it lists the studies. The exit status is 0 whatever the verdicts, unless
/// --strict is set.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Name of a study, a study file, or 'all'
    #[arg(value_name = "NAME")]
    study: Option<String>,
    /// Scale: the runs that take about a minute, or all of them
    #[arg(long, value_enum, default_value_t = ScaleName::Quick)]
    scale: ScaleName,
    /// Simulate this many runs at the same time; more use more memory [default: one per core]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Write the results and a page of each study to this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Reuse the finished runs of an earlier start with the same --out instead of simulating them
    #[arg(long, requires = "out")]
    resume: bool,
    /// Keep the finished runs (NAME.runs.jsonl) after the results are written
    #[arg(long, requires = "out")]
    keep_runs: bool,
    /// Find settings with which claims hold that do not
    #[arg(long)]
    why: bool,
    /// Exit with status 1 if a claim does not hold, or if its runs lack the number to judge it by
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    junit: JunitArgument,
    /// Print one JSON object instead of the tables
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    memory: MemoryArgument,
}

/// The scale on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ScaleName {
    Quick,
    Paper,
}

impl From<ScaleName> for Scale {
    fn from(name: ScaleName) -> Self {
        match name {
            ScaleName::Quick => Self::Quick,
            ScaleName::Paper => Self::Paper,
        }
    }
}

impl Arguments {
    /// Opens the log of a study's finished runs, if they are kept.
    fn log(&self, study: &Study) -> anyhow::Result<Option<RunLog>> {
        let open = if self.resume { RunLog::resumed } else { RunLog::create };
        Ok(self.out.as_deref().map(|folder| open(folder, &study.name)).transpose()?)
    }

    /// Writes the JUnit file, and with `--strict` reports the claims that do not hold.
    fn judge(&self, studies: &[Reproduction]) -> anyhow::Result<Status> {
        let suites = studies.iter().map(JunitSuite::of_study);
        self.junit.write(&suites.collect::<Vec<_>>())?;
        let mut status = Status::Done;
        for study in studies.iter().filter(|_| self.strict) {
            for claim in study.claims.iter().filter(|claim| claim.fails_strictly()) {
                let ours = if claim.ours.is_empty() { "no value" } else { &claim.ours };
                output::error(&format!(
                    "--strict: {}: {} {}: {ours}",
                    study.study,
                    claim.full_name(),
                    claim.verdict.description()
                ));
                status = Status::DoesNotHold;
            }
        }
        Ok(status)
    }

    /// Runs a study, and with `--why` the alternatives for its claims.
    fn results(&self, study: &Study, log: Option<&RunLog>) -> anyhow::Result<StudyResults> {
        let threads = self.jobs.unwrap_or_else(study::cores);
        let bars = Bars::of_many(study.runs());
        let mut results = study.results(threads, &bars, log)?;
        drop(bars);
        if let Some(log) = log.filter(|_| self.resume) {
            let (taken, runs, name) = (log.reused(), study.runs(), log.name());
            output::note(&format!("{name}: {taken} of {runs} runs of {} reused", study.name));
        }
        if self.why {
            let search = study.alternatives(&results, threads)?;
            let bars = Bars::of_many(search.runs());
            let found = search.run(threads, &bars, log)?;
            results.reproduction.alternatives = Some(found);
        }
        Ok(results)
    }
}

/// The object that `--json` prints.
#[derive(Serialize)]
struct Studies {
    studies: Vec<Reproduction>,
}

/// Runs the studies and prints their claims; without a name, lists them.
pub(super) fn run(arguments: &Arguments, built_in: &'static [BuiltIn]) -> anyhow::Result<Status> {
    let names: Vec<&str> = match arguments.study.as_deref() {
        None => return list(built_in),
        Some(ALL) => built_in.iter().map(|(name, _)| *name).collect(),
        Some(name) => vec![name],
    };
    let most_memory = arguments.memory.limit();
    let load = |name: &&str| Study::load(name, built_in, arguments.scale.into());
    let studies = names.iter().map(|name| Ok(load(name)?.with_memory_limit(most_memory)));
    let studies = studies.collect::<Result<Vec<Study>, StudyError>>()?;
    studies.iter().try_for_each(Study::check)?;
    arguments.junit.check()?;
    let added: Vec<&str> = studies.iter().map(|study| study.name.as_str()).collect();
    let open = |folder| StudyFolder::open(folder, &added, built_in);
    let folder = arguments.out.as_deref().map(open).transpose()?;
    let logs = studies.iter().map(|study| arguments.log(study)).collect::<anyhow::Result<Vec<_>>>();
    let mut results = Vec::new();
    for (index, (study, log)) in studies.iter().zip(logs?).enumerate() {
        let StudyResults { reproduction: result, rows, .. } =
            arguments.results(study, log.as_ref())?;
        folder.as_ref().map(|folder| folder.add(&result, &rows)).transpose()?;
        let log = log.filter(|_| !arguments.keep_runs);
        log.map(RunLog::remove).transpose()?;
        if !arguments.json {
            let separator = if index == 0 { "" } else { "\n" };
            output::print_text(&format!("{separator}{}", report::reproduction_table(&result)))?;
        }
        results.push(result);
    }
    let results = Studies { studies: results };
    if arguments.json {
        output::print_json(&results)?;
    }
    arguments.judge(&results.studies)
}

/// Prints the studies with their numbers of claims and runs.
fn list(built_in: &'static [BuiltIn]) -> anyhow::Result<Status> {
    let mut rows = Vec::new();
    for (name, _) in built_in {
        let load = |scale| Study::load(name, built_in, scale);
        let (quick, paper) = (load(Scale::Quick)?, load(Scale::Paper)?);
        let shows = format!("{}: {}", paper.work(), paper.title());
        let (claims, all) = (paper.claims().to_string(), paper.runs().to_string());
        rows.push([(*name).to_owned(), shows, claims, quick.runs().to_string(), all]);
    }
    output::print_text(&report::study_table(&rows))?;
    Ok(Status::Done)
}
