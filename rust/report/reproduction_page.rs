//! The results of studies as a page in Markdown.

use std::fmt::Write as _;

use super::human;
use super::reproduction_table::{heading, reason_of, reasons, tally};
use crate::study::reproduce::{Reproduction, ResultTable};

const HEAD: &str = "\
# The works, in their own experiments

This page is generated: `evenkeel reproduce NAME --scale paper --out docs/reproduce` simulates a
study and writes the page again from all studies in the folder, with `NAME.csv`, the numbers of
every run. The studies are files under `examples/reproduce/`; [studies](../studies.md) says how to
write one for another work.

*by* says who has the value: **paper**, a publication prints it; **slides**, the authors' talk shows
it; **artifact**, the authors' artifact, run for this project; **simulator**, another one, run
likewise; **formula**, a closed form of this project; **ours**, derived here from the mechanism.
Behind it, where a study says so, is what may be expected of ours: **C**, a constant is chosen so
that it agrees; **P**, it is predicted without a free parameter; **T**, a trend, of which the sign
or the order alone is judged; **-**, no target.
*ours* is a mean over the seeds unless the claim says otherwise. A claim *cannot be judged* if the
source gives no value or no setting for it.
";

/// The head of the table of claims.
const CLAIMS: &str = "
| claim | by | theirs | ours | off | seeds | verdict |
|---|---|---|---|---|---|---|
";

/// The page of all studies: the works in the order of the studies, each with its claims.
pub fn reproduction_page(studies: &[Reproduction]) -> String {
    let mut page = HEAD.to_owned();
    page.push_str("\n| work | study | claims |\n|---|---|---|\n");
    for study in studies {
        let Reproduction { work, study: name, title, .. } = study;
        let line = format!("| {work} | [{name}](#{name}): {title} | {} |", tally(study));
        writeln!(page, "{line}").expect("a text");
    }
    let mut above = "";
    for study in studies {
        if study.work != above {
            writeln!(page, "\n# {}", study.work).expect("a text");
        }
        above = &study.work;
        page.push('\n');
        section(&mut page, study);
    }
    page
}

fn section(page: &mut String, study: &Reproduction) {
    let Reproduction { study: name, title, about, scale, version, .. } = study;
    writeln!(page, "## {name}\n\n**{title}.** {}\n", one_line(about)).expect("a text");
    let runs = human::plural(study.runs as u64, "run");
    let cost = human::seconds(study.wall_s);
    let memory =
        study.peak_rss_bytes.map(|bytes| format!(", {} of memory", human::bytes(bytes as f64)));
    let memory = memory.unwrap_or_default();
    writeln!(
        page,
        "`evenkeel reproduce {name} --scale {scale}`, version {version}: {runs}, {cost} of wall \
         time one after the other{memory}. {}.",
        tally(study)
    )
    .expect("a text");
    claims(page, study);
    for table in &study.tables {
        values(page, table);
    }
    if !study.learned.is_empty() {
        page.push_str("\nWhat was learned:\n\n");
        for learned in &study.learned {
            writeln!(page, "- {}", one_line(learned)).expect("a text");
        }
    }
}

fn claims(page: &mut String, study: &Reproduction) {
    if study.claims.is_empty() {
        return;
    }
    page.push_str(CLAIMS);
    for claim in &study.claims {
        let text = match claim.cell.as_str() {
            "" => heading(claim),
            cell => format!("{}: {cell}", heading(claim)),
        };
        let verdict = match reason_of(&study.claims, claim) {
            Some(number) => format!("**{}** ({number})", claim.verdict.words()),
            None => claim.verdict.words().to_owned(),
        };
        let seeds = if claim.seeds == 0 { String::new() } else { claim.seeds.to_string() };
        let by = claim.by();
        let cells = [&text, &by, &claim.published, &claim.ours, &claim.error, &seeds, &verdict];
        let cells = cells.map(|cell| cell.replace('|', "\\|"));
        writeln!(page, "| {} |", cells.join(" | ")).expect("a text");
    }
    let reasons = reasons(&study.claims);
    page.push_str(if reasons.is_empty() { "" } else { "\n" });
    for (index, why) in reasons.iter().enumerate() {
        writeln!(page, "{}. {}", index + 1, one_line(why)).expect("a text");
    }
}

fn values(page: &mut String, table: &ResultTable) {
    let ResultTable { title, corner, columns, rows } = table;
    writeln!(page, "\n{title}:\n").expect("a text");
    writeln!(page, "| {corner} | {} |", columns.join(" | ")).expect("a text");
    writeln!(page, "|---|{}", "--:|".repeat(columns.len())).expect("a text");
    for (label, values) in rows {
        writeln!(page, "| {label} | {} |", values.join(" | ")).expect("a text");
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn a_page_has_a_line_for_each_claim_and_its_reason() {
        sample::snapshot("reproduction-page", &reproduction_page(&[sample::reproduction()]));
    }
}
