//! `[[job]]`: several pieces of work on one fabric. `[workload]` is one alone.

use crate::rng::{Purpose, Stream};
use crate::scenario::file::ScenarioFile;
use crate::scenario::file::workload::WorkloadSection;
use crate::scenario::input::context::{AtLeast, Context};
use crate::scenario::input::error::{Fault, ScenarioError, nearest};
use crate::scenario::resolve::workload::{self, Place};
use crate::units::Span;
use crate::workload::{JobsError, Part, Workload};

/// The longest name of a job: it has to fit into a line of a table beside its times.
const LONGEST_NAME: usize = 24;

/// What all sections come to.
pub(in crate::scenario) struct AllSent {
    /// Of `[workload]` with its defaults; none where there are jobs.
    pub workload_section: Option<WorkloadSection>,
    /// Of each `[[job]]`.
    pub jobs: Vec<WorkloadSection>,
    /// Every message.
    pub workload: Workload,
    /// What readers of files want people to know.
    pub warnings: Vec<String>,
}

/// No message: programs that stand on a fabric of their own post theirs as they go.
pub(in crate::scenario) fn nothing(file: &ScenarioFile) -> AllSent {
    let section = file.workload.as_ref().map(workload::plain);
    AllSent {
        workload_section: section,
        jobs: Vec::new(),
        workload: Workload::default(),
        warnings: Vec::new(),
    }
}

/// The messages of all sections of a file.
pub(in crate::scenario) fn resolve(
    context: &Context<'_>,
    file: &ScenarioFile,
    place: &Place<'_>,
) -> Result<AllSent, ScenarioError> {
    let typed_workload = context.source.line_of("workload");
    match (&file.workload, file.job.as_slice()) {
        (Some(workload), []) => alone(context, workload, place),
        (_, []) => unreachable!("without jobs there is a workload: its default"),
        (_, jobs) => match typed_workload {
            None => several(context, jobs, place),
            Some(_) => {
                let key = "workload".to_owned();
                let because = "the file has [[job]]; make it one of them".to_owned();
                Err(context.fault(&key.clone(), Fault::Misplaced { key, because }))
            }
        },
    }
}

fn alone(
    context: &Context<'_>,
    typed: &WorkloadSection,
    place: &Place<'_>,
) -> Result<AllSent, ScenarioError> {
    for (key, value) in [("name", &typed.name), ("after", &typed.after)] {
        if value.is_some() {
            let key = place.key(key);
            let because = "there is but one [workload]; several are [[job]]s".to_owned();
            return Err(context.fault(&key.clone(), Fault::Misplaced { key, because }));
        }
    }
    let start = start(context, typed, place)?;
    let sent = workload::resolve(context, typed, place.clone())?;
    let part = Part { name: String::new(), workload: sent.workload, start, after: None };
    Ok(AllSent {
        workload: put_together(context, "workload", vec![part])?,
        workload_section: Some(sent.section),
        jobs: Vec::new(),
        warnings: sent.warnings,
    })
}

fn several(
    context: &Context<'_>,
    jobs: &[WorkloadSection],
    place: &Place<'_>,
) -> Result<AllSent, ScenarioError> {
    let names = names(context, jobs)?;
    let mut all = AllSent {
        workload_section: None,
        jobs: Vec::new(),
        workload: Workload::default(),
        warnings: Vec::new(),
    };
    let mut parts = Vec::new();
    for (index, typed) in jobs.iter().enumerate() {
        let place = Place {
            section: format!("job[{index}]"),
            seed: seed_of(place.seed, index),
            ..place.clone()
        };
        let start = start(context, typed, &place)?;
        let after = typed.after.as_ref().map(|name| other(context, (name, &names), &place));
        let sent = workload::resolve(context, typed, place)?;
        all.warnings.extend(sent.warnings);
        let (name, after) = (names[index].clone(), after.transpose()?);
        all.jobs.push(WorkloadSection {
            name: Some(name.clone()),
            start: Some(start),
            ..sent.section
        });
        parts.push(Part { name, workload: sent.workload, start, after });
    }
    all.workload = put_together(context, "job", parts)?;
    Ok(all)
}

/// The names of all jobs, `job0` and so on where they have none.
fn names(context: &Context<'_>, jobs: &[WorkloadSection]) -> Result<Vec<String>, ScenarioError> {
    let mut names: Vec<String> = Vec::new();
    for (index, job) in jobs.iter().enumerate() {
        let name = job.name.clone().unwrap_or_else(|| format!("job{index}"));
        let key = format!("job[{index}].name");
        if name.is_empty() || name.chars().count() > LONGEST_NAME {
            let right = format!("a name has 1 to {LONGEST_NAME} characters");
            return Err(context.senseless(&key, name, right));
        }
        if let Some(other) = names.iter().position(|other| *other == name) {
            let right = format!("job[{other}] is called so already; names tell jobs apart");
            return Err(context.senseless(&key, name, right));
        }
        names.push(name);
    }
    Ok(names)
}

/// Which job has that name.
fn other(
    context: &Context<'_>,
    (name, names): (&str, &[String]),
    place: &Place<'_>,
) -> Result<usize, ScenarioError> {
    names.iter().position(|known| known == name).ok_or_else(|| {
        let key = place.key("after");
        context.fault(
            &key.clone(),
            Fault::UnknownName {
                key,
                what: "job",
                name: name.to_owned(),
                nearest: nearest(name, names.iter().map(String::as_str)),
                known: names.join(", "),
            },
        )
    })
}

fn start(
    context: &Context<'_>,
    typed: &WorkloadSection,
    place: &Place<'_>,
) -> Result<Span, ScenarioError> {
    context.span(&place.key("start"), typed.start.unwrap_or(Span::ZERO), AtLeast::Zero)
}

/// What the draws of a job come from: those of the first are those of a `[workload]`.
fn seed_of(seed: u64, index: usize) -> u64 {
    match index {
        0 => seed,
        _ => Stream::new(seed, Purpose::Job, index as u64).next_u32().into(),
    }
}

fn put_together(
    context: &Context<'_>,
    key: &str,
    parts: Vec<Part>,
) -> Result<Workload, ScenarioError> {
    let (count, waits) = (parts.len(), parts.iter().position(|part| part.after.is_some()));
    Workload::of_parts(parts).map_err(|error| match (error, waits) {
        (JobsError::Circle, Some(first)) => {
            context.senseless(&format!("job[{first}].after"), "", error.to_string())
        }
        _ => context.senseless_as(key, format!("{count} in all"), error.to_string()),
    })
}
