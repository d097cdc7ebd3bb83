//! Checks that results belong together and are complete: files of one run, results of one version,
//! studies and comparisons without gaps.

use std::collections::{BTreeMap, BTreeSet};

use super::{ComparisonTable, Results, ResultsError, RunFolder, StudyTable, Table};
use crate::report::VERSION;

/// Fails if the files of a folder are not of one run, or if rows are missing.
pub(super) fn check_run(run: &RunFolder) -> Result<(), ResultsError> {
    let differs = |file: &str, found: String, expected: String| {
        let file = run.path().join(file).display().to_string();
        Err(ResultsError::OtherRun { file, found, expected })
    };
    let first = run.scenario_text();
    let first = first.as_ref().and_then(|text| text.lines().next());
    if let Some(header) = first.filter(|line| line.starts_with("# evenkeel ")) {
        // Search from the end: the scenario's name comes first and may contain such words.
        let word = |key: &str| header.rsplit(' ').find_map(|word| word.strip_prefix(key));
        let (policy, seed) = (run.policy(), run.seed().to_string());
        for (key, expected) in [("policy=", policy), ("seed=", &seed)] {
            if let Some(found) = word(key).filter(|found| *found != expected) {
                return differs(
                    "scenario.toml",
                    format!("{key}{found}"),
                    format!("{key}{expected}"),
                );
            }
        }
    }
    if let Some(expected) = run.metric("links").filter(|_| run.has("links.csv")) {
        let rows = run.links()?.len() as f64;
        if rows != 2.0 * expected {
            let words = |rows: f64| format!("{rows} directions of links");
            return differs("links.csv", words(rows), words(2.0 * expected));
        }
    }
    Ok(())
}

/// Fails if rows of `flows.csv` are missing, judged by the counts of the summary.
pub(super) fn check_flows(run: &RunFolder, flows: &Table) -> Result<(), ResultsError> {
    let differs = |found: String, expected: String| {
        Err(ResultsError::OtherRun { file: flows.file().to_owned(), found, expected })
    };
    let [message, ended] = flows.indices(["message", "completed_ns"])?;
    let mut whole = BTreeMap::new();
    let mut pieces = 0;
    for row in 0..flows.len() {
        let is_done = !flows.text(row, ended).is_empty();
        pieces += u64::from(is_done);
        *whole.entry(flows.text(row, message)).or_insert(true) &= is_done;
    }
    let messages = whole.values().filter(|whole| **whole).count() as f64;
    for (key, found, what) in [
        ("flows_completed", pieces as f64, "completed pieces of messages"),
        ("messages_completed", messages, "completed messages"),
    ] {
        if let Some(expected) = run.metric(key).filter(|expected| *expected != found) {
            return differs(format!("{found} {what}"), format!("{expected} {what}"));
        }
    }
    Ok(())
}

/// Returns notes on results that are shown together.
pub(super) fn notes(results: &[Results]) -> Vec<String> {
    let mut notes = Vec::from_iter(versions(results));
    for result in results {
        match result {
            Results::Run(_) => {}
            Results::Studies(tables) => notes.extend(tables.iter().filter_map(gaps)),
            Results::Comparison(table) => notes.extend(mismatch(table)),
        }
    }
    notes
}

/// Returns a note if some results were made by other versions.
fn versions(results: &[Results]) -> Option<String> {
    let runs = results
        .iter()
        .filter_map(|it| if let Results::Run(run) = it { Some(&**run) } else { None });
    let of_run = |run: &RunFolder| Some(run.summary().get("version")?.as_str()?.to_owned());
    let versions: BTreeSet<String> = runs.filter_map(of_run).collect();
    let first = versions.first()?;
    let all = || versions.iter().map(String::as_str).collect::<Vec<_>>().join(" and ");
    match versions.len() {
        1 if first == VERSION => None,
        1 => Some(format!("the results are from evenkeel {first}, and this is {VERSION}")),
        _ => Some(format!(
            "the results are from evenkeel {}: differences may be due to the versions",
            all()
        )),
    }
}

/// Returns a note if the table of a sweep lacks rows. Points are numbered from 1, and those of one
/// `[[run]]` have the same number of runs.
fn gaps(study: &StudyTable) -> Option<String> {
    let table: &Table = study.table();
    let (point, group) = (table.find("point")?, table.find("run"));
    let mut runs: BTreeMap<u64, (usize, &str)> = BTreeMap::new();
    let mut most: BTreeMap<&str, usize> = BTreeMap::new();
    for row in 0..table.len() {
        let group = group.map_or("", |column| table.text(row, column));
        let of_point = runs.entry(table.text(row, point).parse().ok()?).or_insert((0, group));
        of_point.0 += 1;
        let most = most.entry(group).or_default();
        *most = of_point.0.max(*most);
    }
    let last = *runs.last_key_value()?.0;
    let is_whole = |(count, group): &(usize, &str)| *count == most[group];
    let whole = runs.iter().filter(|(point, of_point)| **point > 0 && is_whole(of_point));
    let lacking = last.saturating_sub(whole.count() as u64);
    let lacks = |point: &u64| runs.get(point).is_none_or(|of_point| !is_whole(of_point));
    let first: Vec<String> =
        (1..=last).filter(lacks).take(8).map(|point| point.to_string()).collect();
    let more = if (first.len() as u64) < lacking { " and others" } else { "" };
    (lacking > 0).then(|| {
        format!(
            "{}: rows are missing for {lacking} of {last} points, unless it is from one shard: \
             {}{more}",
            study.file(),
            first.join(", ")
        )
    })
}

/// Returns a note if policies of a comparison have different numbers of runs.
fn mismatch(comparison: &ComparisonTable) -> Option<String> {
    let rows = comparison.rows.iter().filter(|row| row.metric == "cct_ns");
    let most = rows.clone().map(|row| row.runs).max()?;
    let few = rows.filter(|row| row.runs < most);
    let few: Vec<String> =
        few.map(|row| format!("{} has {} of {most}", row.policy, row.runs)).collect();
    (!few.is_empty())
        .then(|| format!("{}: completed runs are missing: {}", comparison.file(), few.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn study(points: &str) -> StudyTable {
        let text = format!("point,seed,cct_ns\n{points}");
        StudyTable::of("a".to_owned(), Table::parse("a.csv", &text).unwrap()).unwrap()
    }

    #[test]
    fn a_sweep_with_missing_rows_is_reported() {
        assert_eq!(gaps(&study("1,1,5\n1,2,5\n2,1,5\n2,2,5\n")), None);
        let expected =
            "a.csv: rows are missing for 2 of 4 points, unless it is from one shard: 2, 3";
        assert_eq!(gaps(&study("1,1,5\n1,2,5\n2,1,5\n4,1,5\n4,2,5\n")).unwrap(), expected);
    }

    #[test]
    fn groups_of_runs_may_have_different_numbers_of_seeds() {
        let text = "point,run,seed,cct_ns\n1,a,1,5\n1,a,2,5\n2,b,1,5\n3,b,1,5\n";
        let table = Table::parse("a.csv", text).unwrap();
        assert_eq!(gaps(&StudyTable::of("a".to_owned(), table).unwrap()), None);
    }

    #[test]
    fn a_policy_with_fewer_runs_is_reported() {
        let text = "policy,metric,runs,median,low,high,reference,ratio,ratio_low,ratio_high,\
                    verdict\na,cct_ns,5,5,4,6,a,1,,,best\nb,cct_ns,3,5,4,6,a,1,,,even\n";
        let table = ComparisonTable::of(Table::parse("c.csv", text).unwrap()).unwrap();
        let expected = "c.csv: completed runs are missing: b has 3 of 5";
        assert_eq!(mismatch(&table).unwrap(), expected);
    }
}
