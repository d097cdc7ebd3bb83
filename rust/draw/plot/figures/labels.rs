//! Labels of runs in a figure: the properties that distinguish them.

use crate::results::RunFolder;

/// Runs that differ only in their seeds.
pub(super) struct Group<'a> {
    pub(super) name: String,
    pub(super) runs: Vec<&'a RunFolder>,
}

/// Groups runs by scenario and policy, in the order in which they are given.
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

/// Returns the policy, preceded by the scenario if there are several scenarios.
fn of_group(run: &RunFolder, all: &[&RunFolder]) -> String {
    let (scenario, policy) = (run.scenario(), run.policy());
    match all.iter().any(|other| other.scenario() != scenario) {
        true => format!("{scenario}, {policy}"),
        false => policy.to_owned(),
    }
}

/// Returns a label that distinguishes this run from all others.
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
