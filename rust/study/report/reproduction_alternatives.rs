//! Alternatives that turn the verdicts of claims that do not hold, for tables and pages.

use comfy_table::{ColumnConstraint, Width};

use super::human;
use super::table::{finish, plain};
use crate::reproduce::{AlternativeResults, Reproduction, Trial, TrialResult};

/// Columns of the table.
pub(super) const HEADER: [&str; 4] = ["claim that does not hold", "holds with", "ours", "off"];

/// Returns the number of alternatives and runs.
pub(super) fn summary(found: &AlternativeResults) -> String {
    let Some(first) = found.claims.first() else {
        return "No alternative was run, because no claim fails at this scale.".to_owned();
    };
    let runs = human::plural(found.runs as u64, "run");
    let tried = human::plural(first.tried.len() as u64, "alternative");
    let turned = found.claims.iter().filter(|claim| claim.tried.iter().any(holds)).count();
    format!(
        "{tried}, one at a time, for the claims that do not hold: {runs}. A single one turns the \
         verdict of {turned} of {}.",
        human::plural(found.claims.len() as u64, "claim")
    )
}

/// Returns a row for each claim and each alternative that turns its verdict.
pub(super) fn rows(study: &Reproduction, found: &AlternativeResults) -> Vec<[String; 4]> {
    let mut rows = Vec::new();
    for claim in &found.claims {
        let text = study.claims.get(claim.claim).map(|it| it.full_name()).unwrap_or_default();
        let turning: Vec<&Trial> = claim.tried.iter().filter(|trial| holds(trial)).collect();
        if turning.is_empty() {
            rows.push([text, "none of these".to_owned(), String::new(), String::new()]);
            continue;
        }
        for (index, trial) in turning.into_iter().enumerate() {
            let text = if index == 0 { text.clone() } else { String::new() };
            rows.push([text, trial.alternative.clone(), trial.ours.clone(), trial.error.clone()]);
        }
    }
    rows
}

fn holds(trial: &Trial) -> bool {
    trial.result == TrialResult::Holds
}

/// Returns the table; empty if every claim holds.
pub(super) fn alternatives_table(study: &Reproduction, found: &AlternativeResults) -> String {
    let rows = rows(study, found);
    if rows.is_empty() {
        return String::new();
    }
    let mut table = plain();
    table.set_header(HEADER);
    for row in rows {
        table.add_row(row);
    }
    for (index, widest) in [(1, 34), (2, 12)] {
        if let Some(column) = table.column_mut(index) {
            column.set_constraint(ColumnConstraint::UpperBoundary(Width::Fixed(widest)));
        }
    }
    if let Some(column) = table.column_mut(3) {
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
    finish(table, usize::MAX)
}

/// Returns a sentence for each group of alternatives, by result.
pub(super) fn notes(found: &AlternativeResults) -> Vec<String> {
    let Some(first) = found.claims.first() else { return Vec::new() };
    let mut notes = Vec::new();
    let names: Vec<&str> = first.tried.iter().map(|it| it.alternative.as_str()).collect();
    let results = |index: usize| found.claims.iter().filter_map(move |it| it.tried.get(index));
    let are = |result: TrialResult| {
        let all = |index: &usize| results(*index).all(|trial| trial.result == result);
        let named = (0..names.len()).filter(all).map(|index| names[index]);
        named.collect::<Vec<_>>().join("; ")
    };
    for (result, words) in [
        (TrialResult::Unchanged, "The study has these values already, or they have no effect: "),
        (TrialResult::Varied, "An axis sets these keys, or compared runs would be the same: "),
    ] {
        let names = are(result);
        if !names.is_empty() {
            notes.push(format!("{words}{names}."));
        }
    }
    // Values of one key often have the same error.
    let mut invalid: Vec<(usize, &str, Vec<&str>)> = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let mut rejected = results(index).filter(|trial| trial.result == TrialResult::Rejected);
        let Some(one) = rejected.next() else { continue };
        let count = 1 + rejected.count();
        match invalid.iter_mut().find(|it| (it.0, it.1) == (count, one.reason.as_str())) {
            Some(same) => same.2.push(name),
            None => invalid.push((count, &one.reason, vec![name])),
        }
    }
    notes.extend(invalid.into_iter().map(|(count, reason, names)| {
        let claims = human::plural(count as u64, "claim");
        format!("Invalid for {claims}: {}: {reason}", names.join("; "))
    }));
    notes
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::reproduce::TriedClaim;

    fn trial(alternative: &str, result: TrialResult, ours: &str, reason: &str) -> Trial {
        Trial {
            alternative: alternative.to_owned(),
            result,
            ours: ours.to_owned(),
            error: String::new(),
            reason: reason.to_owned(),
        }
    }

    #[test]
    fn each_failing_claim_has_the_alternatives_that_turn_it_or_none() {
        let study = sample::reproduction();
        let claim = |claim, result| TriedClaim {
            claim,
            tried: vec![
                trial("switch.ties = \"port\"", result, "53.41 us", ""),
                trial("seed = 1001", TrialResult::Unchanged, "", ""),
                trial("switch.trim = true", TrialResult::Rejected, "", "no such key"),
            ],
        };
        let claims = vec![claim(0, TrialResult::Holds), claim(1, TrialResult::DoesNotHold)];
        let found = AlternativeResults { runs: 4, claims };
        let rows = rows(&study, &found);
        assert_eq!(rows[0][1..], ["switch.ties = \"port\"", "53.41 us", ""].map(str::to_owned));
        assert_eq!((rows[1][1].as_str(), rows.len()), ("none of these", 2));
        let expected = [
            "The study has these values already, or they have no effect: seed = 1001.",
            "Invalid for 2 claims: switch.trim = true: no such key",
        ];
        assert_eq!(notes(&found), expected);
        let text = summary(&found);
        assert!(text.contains("3 alternatives") && text.contains("1 of 2 claims"), "{text}");
        let none = AlternativeResults { runs: 0, claims: Vec::new() };
        assert!(notes(&none).is_empty() && alternatives_table(&study, &none).is_empty());
    }
}
