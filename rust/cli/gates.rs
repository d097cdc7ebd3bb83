//! Conditions of continuous integration: `--assert` and `--junit`.

use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use clap::Args;
use evenkeel_study::report::{
    JUNIT, JunitCase, JunitResult, JunitSuite, OutputFile, human, junit, write_output,
};
use evenkeel_study::{AssertedRun, Assertion, AssertionOutcome};

use super::{Status, output};

// A JUnit file.
#[derive(Debug, Args)]
pub(super) struct JunitArgument {
    /// Also write the verdicts to this file as JUnit XML, for continuous integration
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

impl JunitArgument {
    /// Checks that the file can be written, before the runs start.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        let Some(path) = &self.junit else { return Ok(()) };
        if path == Path::new("-") {
            bail!("--junit -: expected the name of a file; standard output has the results");
        }
        match OutputFile::begin(path, &JUNIT) {
            Ok(_) => Ok(()),
            Err(error) => Err(anyhow!("--junit: {error}")),
        }
    }

    /// Writes the file, if requested.
    pub(super) fn write(&self, suites: &[JunitSuite]) -> anyhow::Result<()> {
        let Some(path) = &self.junit else { return Ok(()) };
        let text = junit(suites);
        write_output(path, &JUNIT, text.as_bytes()).map_err(|error| anyhow!("--junit: {error}"))
    }
}

// Conditions on a comparison.
#[derive(Debug, Args)]
pub(super) struct GateArguments {
    /// Exit with status 1 unless this condition on the median over the seeds holds, such as
    /// 'ethereal.slowdown < 1.05'; can be repeated (metrics: evenkeel explain)
    #[arg(long = "assert", value_name = "POLICY.METRIC OP NUMBER")]
    assertions: Vec<String>,
    #[command(flatten)]
    junit: JunitArgument,
}

/// Conditions on a comparison, checked before its runs start.
pub(super) struct Gates<'a> {
    assertions: Vec<Assertion>,
    junit: &'a JunitArgument,
}

/// The runs of a comparison, as its conditions see them.
pub(super) struct Judged<'a> {
    /// Name of the scenario.
    pub(super) scenario: &'a str,
    /// Policies, in their order.
    pub(super) policies: &'a [String],
    /// Number of runs per policy.
    pub(super) seeds: usize,
    /// Finished runs.
    pub(super) runs: Vec<AssertedRun>,
}

impl GateArguments {
    /// Checks the conditions, and that the file can be written.
    pub(super) fn gates(&self, policies: &[String]) -> anyhow::Result<Gates<'_>> {
        let parse = |text: &String| {
            Assertion::parse(text, policies).map_err(|error| anyhow!("--assert '{text}': {error}"))
        };
        let assertions = self.assertions.iter().map(parse).collect::<anyhow::Result<Vec<_>>>()?;
        self.junit.check()?;
        Ok(Gates { assertions, junit: &self.junit })
    }
}

impl Gates<'_> {
    /// Judges the assertions.
    pub(super) fn judge(&self, by: &Judged<'_>) -> Vec<AssertionOutcome> {
        self.assertions.iter().map(|it| it.judge(&by.runs, by.seeds)).collect()
    }

    /// Writes the JUnit file, and reports assertions that do not hold as errors. Returns `status`,
    /// or that an assertion does not hold.
    pub(super) fn report(
        &self,
        by: &Judged<'_>,
        outcomes: &[AssertionOutcome],
        status: Status,
    ) -> anyhow::Result<Status> {
        self.junit.write(&[suite(by, outcomes)])?;
        let failed = || outcomes.iter().filter(|outcome| !outcome.holds);
        for AssertionOutcome { assertion, why, .. } in failed() {
            output::error(&format!("--assert '{assertion}' does not hold: {why}"));
        }
        Ok(match status {
            Status::Done if failed().count() > 0 => Status::DoesNotHold,
            other => other,
        })
    }
}

/// Returns a test case for each policy, which checks that its runs completed, and one for each
/// assertion.
fn suite(by: &Judged<'_>, outcomes: &[AssertionOutcome]) -> JunitSuite {
    let complete = |policy: &String| {
        let own = by.runs.iter().filter(|it| it.run["policy"] == policy.as_str());
        let completed = own.filter(|it| !it.run["cct_ns"].is_null()).count();
        let missing = by.seeds - completed;
        let result = match missing {
            0 => JunitResult::Passed,
            _ => JunitResult::Failed(format!("{missing} of {} runs did not complete", by.seeds)),
        };
        let name = format!("{policy}: {}", human::plural(by.seeds as u64, "run"));
        JunitCase { name: format!("{name} completed"), result, output: String::new() }
    };
    let assertion = |it: &AssertionOutcome| JunitCase {
        name: it.assertion.clone(),
        result: if it.holds { JunitResult::Passed } else { JunitResult::Failed(it.why.clone()) },
        output: it.median.map_or_else(String::new, |median| format!("median {median}")),
    };
    JunitSuite {
        name: by.scenario.to_owned(),
        wall_s: by.runs.iter().filter_map(|it| it.run["wall_s"].as_f64()).sum(),
        cases: by.policies.iter().map(complete).chain(outcomes.iter().map(assertion)).collect(),
    }
}
