//! `[[job]]`: several workloads on one fabric. `[workload]` is a single one.

use super::workload;
use crate::file::ScenarioFile;
use crate::file::workload::WorkloadSection;
use crate::input::context::{AtLeast, Context, Lookup};
use crate::input::error::ScenarioError;
use crate::input::located::{Key, Located};
use crate::rng::{Purpose, Stream};
use crate::units::Span;
use crate::workload::{JobSpec, JobsError, Workload};
use crate::workloads::{ResolvedWorkload, SharedInputs};

/// Longest name of a job, so that it fits into a table row with its times.
const MAX_NAME_LEN: usize = 24;

/// Resolves the messages of all workloads of a file; empty if it has none.
pub(crate) fn resolve(
    context: &Context<'_>,
    file: &mut ScenarioFile,
    shared: SharedInputs<'_>,
) -> Result<ResolvedWorkload, ScenarioError> {
    match &mut file.workload {
        Some(workload) => single(context, workload, shared),
        None if file.job.is_empty() => Ok(ResolvedWorkload::default()),
        None => multiple(context, &mut file.job, shared),
    }
}

fn single(
    context: &Context<'_>,
    section: &mut WorkloadSection,
    shared: SharedInputs<'_>,
) -> Result<ResolvedWorkload, ScenarioError> {
    let start = start(context, section)?;
    let sent = workload::resolve(context, section, shared)?;
    let ResolvedWorkload { workload, warnings, down, tally } = sent;
    let part = JobSpec { name: String::new(), workload, start, after: None };
    let workload = Workload::of_jobs(vec![part]).map_err(|error| {
        let key = section.kind.key();
        context.invalid_as(key, section.kind.as_str(), error.to_string())
    })?;
    Ok(ResolvedWorkload { workload, warnings, down, tally })
}

fn multiple(
    context: &Context<'_>,
    jobs: &mut [WorkloadSection],
    shared: SharedInputs<'_>,
) -> Result<ResolvedWorkload, ScenarioError> {
    let names = names(context, jobs)?;
    let (mut parts, mut warnings, mut down) = (Vec::new(), Vec::new(), Vec::new());
    for (index, section) in jobs.iter_mut().enumerate() {
        let seed = seed_of(shared.seed, index);
        // Messages are generated during the run only if one workload is all that is sent.
        let shared = SharedInputs { seed, may_generate: false, may_tally: false, ..shared };
        let start = start(context, section)?;
        let after = section.job.after.given();
        let after = after.map(|name| job_named(context, &name, &names)).transpose()?;
        let sent = workload::resolve(context, section, shared)?;
        warnings.extend(sent.warnings);
        down.extend(sent.down);
        *section.common.start = Some(start);
        parts.push(JobSpec { name: names[index].clone(), workload: sent.workload, start, after });
    }
    let count = parts.len();
    let workload = Workload::of_listed_jobs(&parts).map_err(|error| {
        let waits = jobs.iter().find_map(|job| job.job.after.given());
        match (error, waits) {
            (JobsError::Cycle, Some(after)) => context.invalid(&after, error.to_string()),
            _ => context.invalid_as(
                &Key::ROOT.child("job"),
                format!("{count} in total"),
                error.to_string(),
            ),
        }
    })?;
    Ok(ResolvedWorkload { workload, warnings, down, tally: None })
}

/// Returns the names of all jobs, by default `job0` and so on.
fn names(
    context: &Context<'_>,
    jobs: &mut [WorkloadSection],
) -> Result<Vec<String>, ScenarioError> {
    let mut names: Vec<String> = Vec::new();
    for (index, section) in jobs.iter_mut().enumerate() {
        let name = section.job.name.fill(format!("job{index}"));
        context.name(&name)?;
        if name.chars().count() > MAX_NAME_LEN {
            let expected = format!("a name has at most {MAX_NAME_LEN} characters");
            return Err(context.invalid(&name, expected));
        }
        if let Some(other) = names.iter().position(|other| *other == *name) {
            let expected = format!("job[{other}] has this name; names must be unique");
            return Err(context.invalid(&name, expected));
        }
        names.push(name.to_string());
    }
    Ok(names)
}

/// Finds a job by name.
fn job_named(
    context: &Context<'_>,
    name: &Located<String>,
    names: &[String],
) -> Result<usize, ScenarioError> {
    names.iter().position(|known| *known == **name).ok_or_else(|| {
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        context.unknown(name.key(), Lookup { what: "job", name, known: &known })
    })
}

fn start(context: &Context<'_>, section: &WorkloadSection) -> Result<Span, ScenarioError> {
    let start = section.common.start.given();
    start.map_or(Ok(Span::ZERO), |start| context.span(&start, AtLeast::Zero))
}

/// Returns the seed of a job. The first job uses the same seed as a single `[workload]`.
fn seed_of(seed: u64, index: usize) -> u64 {
    match index {
        0 => seed,
        _ => Stream::new(seed, Purpose::Job, index as u64).next_u32().into(),
    }
}
