//! Statistics of a comparison, as `evenkeel compare --format csv` prints them.

use serde_json::Value;

use super::{ResultFiles, ResultsError, RunFolder, Table};
use crate::report::RUNS;
use crate::{PolicyVerdict, Reason};

/// A metric of a policy.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparisonRow {
    /// Name of the policy.
    pub policy: String,
    /// Name of the metric.
    pub metric: String,
    /// Number of runs that have a value.
    pub runs: usize,
    /// Median over these runs.
    pub median: f64,
    /// Confidence interval of the median, if there are several runs.
    pub interval: Option<(f64, f64)>,
    /// Median ratio to the reference, and its interval if there are several runs.
    pub ratio: Option<(f64, Option<(f64, f64)>)>,
    /// Verdict on the policy; empty for metrics other than the completion time.
    pub verdict: String,
}

/// Metrics of all policies.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparisonTable {
    /// Rows that have a median, in the order of the file.
    pub rows: Vec<ComparisonRow>,
    /// Reference policy of the ratios; empty without a reference.
    pub reference: String,
    /// All policies with their verdicts, also those without a median.
    pub policies: Vec<(String, Option<PolicyVerdict>)>,
    /// Objects of the runs; empty for a table without its folder.
    pub runs: Vec<Value>,
    /// Reasons for the differences from the reference; empty for a table without its folder.
    pub reasons: Vec<Reason>,
    file: String,
}

impl ComparisonTable {
    /// Returns true if the columns are those of a comparison.
    pub(super) fn is_in(table: &Table) -> bool {
        ["policy", "metric", "median"].iter().all(|name| table.find(name).is_some())
    }

    /// Reads the rows of a table.
    pub(super) fn of(table: Table) -> Result<Self, ResultsError> {
        let columns = ["policy", "metric", "runs", "median", "low", "high"];
        let [policy, metric, runs, median, low, high] = table.indices(columns)?;
        let columns = ["reference", "ratio", "ratio_low", "ratio_high", "verdict"];
        let [reference, ratio, ratio_low, ratio_high, verdict] = table.indices(columns)?;
        let mut rows = Vec::new();
        let mut policies: Vec<(String, Option<PolicyVerdict>)> = Vec::new();
        for row in 0..table.len() {
            let number = |column| table.optional_number(row, column);
            let name = table.text(row, policy);
            // The first row of a policy, that of the completion time, has its verdict.
            if !policies.iter().any(|(known, _)| known == name) {
                policies.push((name.to_owned(), PolicyVerdict::named(table.text(row, verdict))));
            }
            let Some(median) = number(median)? else { continue };
            let of_ratio = number(ratio_low)?.zip(number(ratio_high)?);
            rows.push(ComparisonRow {
                policy: table.text(row, policy).to_owned(),
                metric: table.text(row, metric).to_owned(),
                runs: table.number(row, runs)? as usize,
                median,
                interval: number(low)?.zip(number(high)?),
                ratio: number(ratio)?.map(|ratio| (ratio, of_ratio)),
                verdict: table.text(row, verdict).to_owned(),
            });
        }
        let reference = if table.is_empty() { "" } else { table.text(0, reference) }.to_owned();
        let file = table.file().to_owned();
        Ok(Self { rows, reference, policies, runs: Vec::new(), reasons: Vec::new(), file })
    }

    /// Adds the runs and the reasons from the folder of the table. Older folders lack the reasons.
    ///
    /// # Errors
    /// Fails if the file of the runs is not JSON.
    pub(super) fn with_runs(mut self, files: &ResultFiles) -> Result<Self, ResultsError> {
        if !files.has(RUNS) {
            return Ok(self);
        }
        let all = files.json(RUNS)?;
        self.runs = all["runs"].as_array().cloned().unwrap_or_default();
        let reasons = all["reasons"].as_array().into_iter().flatten();
        let reasons = reasons.map(|it| serde_json::from_value(it.clone()));
        self.reasons = reasons.filter_map(Result::ok).collect();
        Ok(self)
    }

    /// Returns true if a run is one of the comparison's.
    pub(super) fn has(&self, run: &RunFolder) -> bool {
        self.runs.iter().any(|it| {
            it["scenario"] == run.scenario()
                && it["policy"] == run.policy()
                && it["seed"] == run.seed()
        })
    }

    /// Returns the path of the file.
    pub fn file(&self) -> &str {
        &self.file
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_its_interval_if_there_are_several_runs() {
        let text = "policy,metric,runs,median,low,high,reference,ratio,ratio_low,ratio_high,\
                    verdict\n\
                    a,cct_ns,2,5,4,6,b,1.5,1.25,2,behind\nb,cct_ns,1,7,,,b,,,,best\n\
                    c,x,0,,,,b,,,,\n";
        let table = Table::parse("c.csv", text).unwrap();
        assert!(ComparisonTable::is_in(&table));
        let ComparisonTable { rows, reference, .. } = ComparisonTable::of(table).unwrap();
        assert_eq!((rows.len(), reference.as_str()), (2, "b"));
        assert_eq!((rows[0].interval, rows[1].interval), (Some((4.0, 6.0)), None));
        assert_eq!((rows[0].ratio, rows[1].ratio), (Some((1.5, Some((1.25, 2.0)))), None));
        assert_eq!((rows[0].verdict.as_str(), rows[1].verdict.as_str()), ("behind", "best"));
    }
}
