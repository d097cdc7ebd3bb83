//! What runs are called in a figure, by what distinguishes them.

use crate::results::RunFolder;

/// Runs that differ in their seeds alone.
pub(super) struct Group<'a> {
    pub(super) name: String,
    pub(super) runs: Vec<&'a RunFolder>,
}

/// The runs by scenario and policy, in the order in which they are given.
pub(super) fn groups<'a>(runs: &[&'a RunFolder]) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for run in runs {
        let name = of_group(run, runs);
        match groups.iter_mut().find(|group| group.name == name) {
            Some(group) => group.runs.push(run),
            None => groups.push(Group { name, runs: vec![run] }),
        }
    }
    groups
}

/// The policy, and the scenario if there are several.
fn of_group(run: &RunFolder, all: &[&RunFolder]) -> String {
    let (scenario, policy) = (run.scenario(), run.policy());
    match all.iter().any(|other| other.scenario() != scenario) {
        true => format!("{scenario}, {policy}"),
        false => policy.to_owned(),
    }
}

/// A name of this run alone.
pub(super) fn of_run(run: &RunFolder, all: &[&RunFolder]) -> String {
    let alike =
        |other: &&&RunFolder| other.scenario() == run.scenario() && other.policy() == run.policy();
    let name = match all.len() {
        1 => format!("{}, {}", run.scenario(), run.policy()),
        _ => of_group(run, all),
    };
    match all.iter().filter(alike).count() {
        0 | 1 => name,
        _ => format!("{name}, seed {}", run.seed()),
    }
}
