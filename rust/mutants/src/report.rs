//! The table of `docs/trust.md` and the list of mutants that no test catches.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context as _;

use crate::reasons::Reasons;
use crate::run::Outcome;
use crate::tree::{FOLDERS, Tree};

/// For each folder how many mutants were tried and caught.
pub(crate) fn table(tree: &Tree, outcomes: &BTreeMap<usize, Outcome>, reasons: &Reasons) -> String {
    let mut table = String::from(
        "| layer | mutants | tried | caught by a failing test | caught by a time or memory limit \
         | missed | of these change nothing | caught |\n|---|---|---|---|---|---|---|---|\n",
    );
    let mut row = |name: &str, of: &dyn Fn(usize) -> bool| {
        let valid = (1..=tree.mutants.len()).filter(|it| !tree.invalid.contains(it) && of(*it));
        let count = |outcome: Outcome| {
            outcomes.iter().filter(|(number, found)| **found == outcome && of(**number)).count()
        };
        let (caught, stuck) = (count(Outcome::Caught), count(Outcome::Stuck));
        let missed = count(Outcome::Missed) + count(Outcome::Unreached);
        let tried = caught + stuck + missed;
        let harmless = outcomes.iter().filter(|(number, found)| {
            of(**number) && is_missed(**found) && reasons.of(&tree.mutants[**number - 1]).is_some()
        });
        let share = 100.0 * (caught + stuck) as f64 / tried.max(1) as f64;
        let _ = writeln!(
            table,
            "| {name} | {} | {tried} | {caught} | {stuck} | {missed} | {} | {share:.1} % |",
            valid.count(),
            harmless.count()
        );
    };
    for folder in FOLDERS {
        row(&format!("`{folder}`"), &|number| tree.mutants[number - 1].folder() == folder);
    }
    row("all", &|_| true);
    table
}

fn is_missed(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Missed | Outcome::Unreached)
}

/// Writes the table between its markers, and those missed to `rust/mutants/missed.txt`.
pub(crate) fn write(
    project: &Path,
    tree: &Tree,
    outcomes: &BTreeMap<usize, Outcome>,
    reasons: &Reasons,
    table: &str,
) -> anyhow::Result<()> {
    let page = project.join("docs/trust.md");
    let text = std::fs::read_to_string(&page)?;
    let (begin, end) = ("<!-- begin: mutants -->\n", "<!-- end: mutants -->");
    let from = text.find(begin).context("docs/trust.md has no table of mutants")? + begin.len();
    let to = text[from..].find(end).context("the table of mutants does not end")? + from;
    std::fs::write(&page, format!("{}{table}{}", &text[..from], &text[to..]))?;

    let missed = outcomes.iter().filter(|(_, outcome)| is_missed(**outcome));
    let mut by_reason: BTreeMap<Option<&str>, String> = BTreeMap::new();
    for (number, outcome) in missed {
        let mutant = &tree.mutants[number - 1];
        let reached = if *outcome == Outcome::Unreached { " (no test reaches it)" } else { "" };
        let list = by_reason.entry(reasons.of(mutant)).or_default();
        let _ = writeln!(list, "{mutant}{reached}");
    }
    let lists = by_reason.into_iter().map(|(reason, list)| {
        let heading =
            reason.unwrap_or("A test is missing, or a longer run of those that there are.");
        format!("{heading}\n\n{list}")
    });
    let text = lists.collect::<Vec<_>>().join("\n");
    std::fs::write(project.join("rust/mutants/missed.txt"), text)?;
    Ok(())
}
