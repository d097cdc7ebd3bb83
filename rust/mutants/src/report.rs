//! The table of `docs/trust.md`.

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
            of(**number) && found.is_missed() && reasons.of(&tree.mutants[**number - 1]).is_some()
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

/// Writes the table between its markers.
pub(crate) fn write(project: &Path, table: &str) -> anyhow::Result<()> {
    let page = project.join("docs/trust.md");
    let text = std::fs::read_to_string(&page)?;
    let (begin, end) = ("<!-- begin: mutants -->\n", "<!-- end: mutants -->");
    let from = text.find(begin).context("docs/trust.md has no table of mutants")? + begin.len();
    let to = text[from..].find(end).context("the table of mutants does not end")? + from;
    std::fs::write(&page, format!("{}{table}{}", &text[..from], &text[to..]))?;

    Ok(())
}
