//! Results of a study as text of 80 columns.

use std::fmt::Write as _;

use comfy_table::{ColumnConstraint, Table, Width};

use super::human;
use super::reproduction_alternatives::{alternatives_table, notes, summary};
use super::table::{finish, plain, wrap};
use crate::reproduce::{ClaimOutcome, ClaimVerdict, Origin, Reproduction, ResultTable, Target};

/// Returns the claims with their verdicts, the reasons where a claim does not hold, the tables of
/// results, and the findings.
pub fn reproduction_table(study: &Reproduction) -> String {
    let mut text = String::new();
    wrap(&mut text, &format!("{}: {}", study.work, study.title));
    wrap(&mut text, &study.about);
    let runs = human::plural(study.runs as u64, "run");
    wrap(&mut text, &format!("Scale {}: {runs}. {}.", study.scale, tally(study)));
    if !study.claims.is_empty() {
        text.push('\n');
        text.push_str(&claims(&study.claims));
    }
    for (index, why) in reasons(&study.claims).iter().enumerate() {
        let separator = if index == 0 { "\n" } else { "" };
        text.push_str(separator);
        wrap(&mut text, &format!("[{}] {why}", index + 1));
    }
    if let Some(found) = &study.alternatives {
        text.push('\n');
        wrap(&mut text, &summary(found));
        text.push('\n');
        text.push_str(&alternatives_table(study, found));
        for (index, note) in notes(found).iter().enumerate() {
            text.push_str(if index == 0 { "\n" } else { "" });
            wrap(&mut text, note);
        }
    }
    for table in &study.tables {
        text.push('\n');
        wrap(&mut text, &table.title);
        text.push_str(&values(table));
    }
    for (index, learned) in study.learned.iter().enumerate() {
        text.push_str(if index == 0 { "\n" } else { "" });
        wrap(&mut text, learned);
    }
    text
}

/// Returns a table of studies: name, what it shows, claims, and runs at the scales `quick` and
/// `paper`.
pub fn study_table(rows: &[[String; 5]]) -> String {
    let mut table = plain();
    table.set_header(["study", "work and what it shows", "claims", "runs,\nquick", "runs,\npaper"]);
    for row in rows {
        table.add_row(row);
    }
    // Names are copied to the command line, so they must not wrap.
    if let Some(names) = table.column_mut(0) {
        names.set_constraint(ColumnConstraint::ContentWidth);
    }
    finish(table, 2)
}

/// Counts the claims by verdict: `3 of 4 claims hold, 1 cannot be judged`.
pub(super) fn tally(study: &Reproduction) -> String {
    let count = |verdict| study.claims.iter().filter(|it| it.verdict == verdict).count();
    let judged = study.claims.len() - count(ClaimVerdict::NotAtThisScale);
    let mut text = match count(ClaimVerdict::Holds) {
        1 => format!("1 of {judged} claims holds"),
        holds => format!("{holds} of {judged} claims hold"),
    };
    let others = [
        (ClaimVerdict::CannotBeJudged, "cannot be judged"),
        (ClaimVerdict::NotAtThisScale, "not at this scale"),
    ];
    for (verdict, words) in others {
        if count(verdict) > 0 {
            write!(text, ", {} {words}", count(verdict)).expect("a text");
        }
    }
    text
}

/// Returns the reasons of claims that do not hold or cannot be judged, each once.
pub(super) fn reasons(claims: &[ClaimOutcome]) -> Vec<&str> {
    let mut reasons: Vec<&str> = Vec::new();
    for claim in claims {
        if !claim.why.is_empty() && !reasons.contains(&claim.why.as_str()) {
            reasons.push(&claim.why);
        }
    }
    reasons
}

/// Returns the number of a claim's reason, counted from 1; `None` without a reason.
pub(super) fn reason_of(claims: &[ClaimOutcome], claim: &ClaimOutcome) -> Option<usize> {
    reasons(claims).iter().position(|why| *why == claim.why).map(|index| index + 1)
}

/// Returns the text of a claim, with its place in the source.
pub(super) fn heading(claim: &ClaimOutcome) -> String {
    match claim.source.as_str() {
        "" => claim.text.clone(),
        source => format!("{} ({source})", claim.text),
    }
}

fn claims(claims: &[ClaimOutcome]) -> String {
    let mut table = plain();
    table.set_header(["claim", "by", "theirs", "ours", "off", "verdict"]);
    let mut above = String::new();
    for claim in claims {
        let heading = heading(claim);
        if !claim.cell.is_empty() && heading != above {
            table.add_row([format!("{heading}:")]);
        }
        let first = match claim.cell.as_str() {
            "" => heading.clone(),
            cell => format!("- {cell}"),
        };
        above = heading;
        let verdict = match reason_of(claims, claim) {
            Some(number) => format!("{} [{number}]", claim.verdict.description()),
            None => claim.verdict.description().to_owned(),
        };
        let ClaimOutcome { published, ours, error, .. } = claim;
        let by = claim.by();
        table.add_row([&first, &by, published, ours, error, &verdict]);
    }
    // Widths include the gap before each column; the claims take the remaining width.
    let widths = [(1, 11), (2, 12), (3, 12), (5, 16)];
    for (index, widest) in widths {
        if let Some(column) = table.column_mut(index) {
            column.set_constraint(ColumnConstraint::UpperBoundary(Width::Fixed(widest)));
        }
    }
    if let Some(column) = table.column_mut(4) {
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
    finish(table, usize::MAX) + &legend(claims)
}

/// Returns the paragraph that explains the short words of the column `by`.
fn legend(claims: &[ClaimOutcome]) -> String {
    let mut text = String::from("\n");
    wrap(&mut text, &format!("({})", meanings(claims).join("; ")));
    text
}

/// Returns the meaning of each origin and target that the claims have.
pub(super) fn meanings(claims: &[ClaimOutcome]) -> Vec<String> {
    let mut origins: Vec<Origin> = Vec::new();
    for claim in claims {
        if !origins.contains(&claim.origin) {
            origins.push(claim.origin);
        }
    }
    let meaning = |origin: &Origin| format!("{}: {}", origin.short(), origin.description());
    let mut targets: Vec<Target> = claims.iter().filter_map(|claim| claim.target).collect();
    targets.sort();
    targets.dedup();
    let signs = targets.iter().map(|target| format!("{}: {}", target.sign(), target.description()));
    origins.iter().map(meaning).chain(signs).collect()
}

fn values(results: &ResultTable) -> String {
    let mut table: Table = plain();
    table.set_header([vec![results.corner.clone()], results.columns.clone()].concat());
    for (label, values) in &results.rows {
        table.add_row([vec![label.clone()], values.clone()].concat());
    }
    finish(table, 1)
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn a_study_is_a_screen_of_claims_and_reasons() {
        let text = reproduction_table(&sample::reproduction());
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        sample::snapshot("reproduction-table", &text);
    }
}
