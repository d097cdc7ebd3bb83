//! What no test catches: the list `rust/mutants/missed.txt`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::reasons::Reasons;
use crate::run::Outcome;
use crate::tree::{Mutant, Tree};

/// Behind a mutant of the list that no test reaches.
const UNREACHED: &str = " (no test reaches it)";

/// The mutants that the list has, without the lines on which they stood.
pub(crate) struct Missed(BTreeSet<String>);

impl Missed {
    pub(crate) fn read(project: &Path) -> anyhow::Result<Self> {
        let path = path(project);
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        Ok(Self::parse(&text))
    }

    fn parse(text: &str) -> Self {
        let without_line = |line: &str| {
            let (file, rest) = line.split_once(".rs:")?;
            let (number, what) = rest.split_once(": ")?;
            number.parse::<usize>().ok()?;
            let what = what.strip_suffix(UNREACHED).unwrap_or(what);
            Some(format!("{file}.rs: {what}"))
        };
        Self(text.lines().filter_map(without_line).collect())
    }

    /// Whether the list has this mutant, or one of the same text in the same function.
    pub(crate) fn has(&self, mutant: &Mutant) -> bool {
        self.0.contains(&mutant.without_line())
    }

    /// What of the list is no mutant of these sources.
    pub(crate) fn gone<'a>(&'a self, mutants: &'a [Mutant]) -> impl Iterator<Item = &'a str> {
        let there: BTreeSet<String> = mutants.iter().map(Mutant::without_line).collect();
        self.0.iter().filter(move |it| !there.contains(*it)).map(String::as_str)
    }
}

/// Writes the list of those missed, below the reasons why some of them change nothing.
pub(crate) fn write(
    project: &Path,
    tree: &Tree,
    outcomes: &BTreeMap<usize, Outcome>,
    reasons: &Reasons,
) -> anyhow::Result<()> {
    let missed = outcomes.iter().filter(|(_, outcome)| outcome.is_missed());
    let mut by_reason: BTreeMap<Option<&str>, String> = BTreeMap::new();
    for (number, outcome) in missed {
        let mutant = &tree.mutants[number - 1];
        let reached = if *outcome == Outcome::Unreached { UNREACHED } else { "" };
        let list = by_reason.entry(reasons.of(mutant)).or_default();
        let _ = writeln!(list, "{mutant}{reached}");
    }
    let lists = by_reason.into_iter().map(|(reason, list)| {
        let heading =
            reason.unwrap_or("A test is missing, or a longer run of those that there are.");
        format!("{heading}\n\n{list}")
    });
    let path = path(project);
    std::fs::write(&path, lists.collect::<Vec<_>>().join("\n"))
        .with_context(|| path.display().to_string())
}

fn path(project: &Path) -> PathBuf {
    project.join("rust/mutants/missed.txt")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mutant_is_found_in_the_list_wherever_its_function_stands_now() {
        let text = "A reason: it changes nothing.\n\na.rs:1: delete ! in A::b\n\n\
                    b.rs:20: replace + with - in f (no test reaches it)\n";
        let missed = Missed::parse(text);
        let mutant = |file: &str, what: &str, function: &str| Mutant {
            file: file.to_owned(),
            line: 7,
            function: function.to_owned(),
            what: what.to_owned(),
        };
        let mutants = [mutant("a.rs", "delete !", "A::b"), mutant("a.rs", "delete !", "A::c")];
        assert!(missed.has(&mutants[0]) && !missed.has(&mutants[1]));
        assert!(missed.has(&mutant("b.rs", "replace + with -", "f")));
        let gone: Vec<&str> = missed.gone(&mutants).collect();
        assert_eq!(gone, ["b.rs: replace + with - in f"]);
    }
}
