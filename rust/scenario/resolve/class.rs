//! `[[class]]`: traffic classes of data packets, and the class of each job.

use crate::endpoint::JobClass;
use crate::fabric::{ClassConfig, MOST_CLASSES, Scheduling};
use crate::file::ScenarioFile;
use crate::file::class::{ClassSection, SchedulingName};
use crate::file::toggle::Toggle;
use crate::file::workload::WorkloadSection;
use crate::fluid::Fidelity;
use crate::ids::ClassId;
use crate::input::context::{Context, Lookup};
use crate::input::error::ScenarioError;
use crate::input::located::{Key, Located};
use crate::topology::Topology;
use crate::workload::Workload;

/// Longest name of a class, the same as for a job.
const MAX_NAME_LEN: usize = 24;
/// Largest weight: a round of the scheduler sends this many full packets. \[inferred\]
const MAX_WEIGHT: u32 = 64;

/// Resolves the classes of a file; empty if data has one queue.
pub(crate) fn resolve(
    context: &Context<'_>,
    file: &mut ScenarioFile,
    topology: &Topology,
) -> Result<Vec<ClassConfig>, ScenarioError> {
    if file.class.is_empty() {
        return Ok(Vec::new());
    }
    if let Some(because) = conflict(file, topology) {
        return Err(context.misplaced(&Key::ROOT.child("class"), because));
    }
    if file.class.len() > MOST_CLASSES {
        let expected = format!("a fabric has at most {MOST_CLASSES} traffic classes");
        let count = format!("{} in total", file.class.len());
        return Err(context.invalid_as(&Key::ROOT.child("class"), count, expected));
    }
    let has_pfc = matches!(*file.switch.pfc, Toggle::On(_));
    let mut classes: Vec<ClassConfig> = Vec::new();
    for section in &mut file.class {
        let name = name(context, section, &classes)?;
        let scheduling = scheduling(context, section)?;
        let pfc = protection(context, section, has_pfc)?;
        classes.push(ClassConfig { name, scheduling, pfc });
    }
    Ok(classes)
}

/// Returns why a scenario cannot have classes, if it cannot.
fn conflict(file: &ScenarioFile, topology: &Topology) -> Option<&'static str> {
    if matches!(*file.switch.cbfc, Toggle::On(_)) {
        return Some("with [switch] cbfc, data has one class; omit one of the two");
    }
    if matches!(*file.switch.trim, Toggle::On(_)) {
        return Some("with [switch] trim, data has one class; omit one of the two");
    }
    if topology.planes().count() > 1 {
        return Some("with several planes, data has one class");
    }
    if *file.general.fidelity == Fidelity::Fluid {
        return Some("the fluid mode has one class of data: fidelity must be 'packet'");
    }
    if !*file.transport.ack_priority {
        return Some("acknowledgements precede all classes: [transport] ack_priority must be true");
    }
    None
}

fn name(
    context: &Context<'_>,
    section: &ClassSection,
    before: &[ClassConfig],
) -> Result<String, ScenarioError> {
    let Some(name) = section.name.given() else {
        let because = "jobs refer to a class by its name";
        return Err(context.missing(section.name.key(), because, "name = \"bulk\""));
    };
    context.name(&name)?;
    if name.chars().count() > MAX_NAME_LEN {
        let expected = format!("a name has at most {MAX_NAME_LEN} characters");
        return Err(context.invalid(&name, expected));
    }
    if let Some(other) = before.iter().position(|class| class.name == *name) {
        let expected = format!("class[{other}] has this name; names must be unique");
        return Err(context.invalid(&name, expected));
    }
    Ok(name.to_string())
}

fn scheduling(
    context: &Context<'_>,
    section: &mut ClassSection,
) -> Result<Scheduling, ScenarioError> {
    match *section.scheduling {
        SchedulingName::Strict => match section.weight.given() {
            None => Ok(Scheduling::Strict),
            Some(weight) => {
                let because = "a strict class precedes all weighted ones and has no weight";
                Err(context.misplaced(weight.key(), because))
            }
        },
        SchedulingName::Weighted => {
            let weight = section.weight.fill(1);
            if !(1..=MAX_WEIGHT).contains(&*weight) {
                let expected = format!("it must be from 1 to {MAX_WEIGHT}");
                return Err(context.invalid(&weight, expected));
            }
            Ok(Scheduling::Weighted(*weight))
        }
    }
}

/// Resolves whether priority flow control protects a class.
fn protection(
    context: &Context<'_>,
    section: &mut ClassSection,
    has_pfc: bool,
) -> Result<bool, ScenarioError> {
    match section.pfc.given() {
        Some(pfc) if *pfc && !has_pfc => {
            let expected = "switches have no priority flow control; set pfc = true under [switch]";
            Err(context.invalid(&pfc, expected))
        }
        _ => Ok(*section.pfc.fill(has_pfc)),
    }
}

/// Returns the classes of the jobs of a file, or of its workload.
pub(crate) fn of_jobs(
    context: &Context<'_>,
    file: &mut ScenarioFile,
    workload: &Workload,
) -> Result<Vec<JobClass>, ScenarioError> {
    let ScenarioFile { class: sections, workload: alone, job: jobs, .. } = file;
    let names: Vec<String> = sections.iter().filter_map(|it| (*it.name).clone()).collect();
    let mut classes = Vec::new();
    if let Some(section) = alone {
        let class = class_of(context, section, &names)?;
        classes.extend(class.map(|class| JobClass { streams: 0..u32::MAX, class }));
    }
    for (index, section) in jobs.iter_mut().enumerate() {
        let class = class_of(context, section, &names)?;
        let streams = workload.jobs.get(index).map_or(0..0, |job| job.streams(workload));
        classes.extend(class.map(|class| JobClass { streams, class }));
    }
    Ok(classes)
}

/// Returns the class of a section; `None` without classes.
fn class_of(
    context: &Context<'_>,
    section: &mut WorkloadSection,
    names: &[String],
) -> Result<Option<ClassId>, ScenarioError> {
    let class = &mut section.common.class;
    let Some(first) = names.first() else {
        let because = "the file has no [[class]]";
        return match class.given() {
            None => Ok(None),
            Some(name) => Err(context.misplaced(name.key(), because)),
        };
    };
    let name: Located<String> = class.fill(first.clone());
    let index = names.iter().position(|known| *known == *name).ok_or_else(|| {
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        context.unknown(name.key(), Lookup { what: "class", name: &name, known: &known })
    })?;
    Ok(Some(ClassId(index as u32)))
}

/// Warns about classes without messages, and about flow control that protects no class.
pub(crate) fn warnings(
    context: &Context<'_>,
    file: &ScenarioFile,
    jobs: &[JobClass],
) -> Vec<String> {
    let key = Key::ROOT.child("class");
    let mut warnings = Vec::new();
    let has_pfc = matches!(*file.switch.pfc, Toggle::On(_));
    if has_pfc && !file.class.is_empty() && file.class.iter().all(|it| *it.pfc == Some(false)) {
        let nothing = "[switch] pfc pauses nothing, because every class has pfc = false";
        warnings.push(context.warning(&key, nothing));
    }
    // Without a workload, another program sends the messages and cannot choose a class.
    if jobs.is_empty() && file.class.len() > 1 {
        let first = "no job selects a class here: all messages use the first one";
        warnings.push(context.warning(&key, first));
        return warnings;
    }
    let is_unused = |index: u32| jobs.iter().all(|job| job.class != ClassId(index));
    let unused = (0u32..).zip(&file.class).filter(|(index, _)| is_unused(*index));
    let warning = |(_, section): (u32, &ClassSection)| {
        context.warning(section.name.key(), "no job uses this class")
    };
    warnings.extend(unused.map(warning).filter(|_| !jobs.is_empty()));
    warnings
}
