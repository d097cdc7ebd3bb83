//! The statistics of a comparison, as `evenkeel compare --format csv` prints them.

use super::{ResultsError, Table};

/// A metric of a policy.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparisonRow {
    /// The policy.
    pub policy: String,
    /// The metric.
    pub metric: String,
    /// Runs that have a value.
    pub runs: usize,
    /// The mean over them.
    pub mean: f64,
    /// The 95 % interval of the mean, if there are several.
    pub interval: Option<(f64, f64)>,
}

/// The metrics of all policies.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparisonTable {
    /// The rows that have a mean, in the order of the file.
    pub rows: Vec<ComparisonRow>,
    file: String,
}

impl ComparisonTable {
    /// True if the columns are those of a comparison.
    pub(super) fn is_in(table: &Table) -> bool {
        ["policy", "metric", "mean"].iter().all(|name| table.find(name).is_some())
    }

    /// Reads the rows of a table.
    pub(super) fn of(table: Table) -> Result<Self, ResultsError> {
        let columns = ["policy", "metric", "runs", "mean", "low", "high"];
        let [policy, metric, runs, mean, low, high] = table.indices(columns)?;
        let mut rows = Vec::new();
        for row in 0..table.len() {
            let Some(mean) = table.optional_number(row, mean)? else { continue };
            let low = table.optional_number(row, low)?;
            rows.push(ComparisonRow {
                policy: table.text(row, policy).to_owned(),
                metric: table.text(row, metric).to_owned(),
                runs: table.number(row, runs)? as usize,
                mean,
                interval: low.zip(table.optional_number(row, high)?),
            });
        }
        Ok(Self { rows, file: table.file().to_owned() })
    }

    /// The path of the file.
    pub fn file(&self) -> &str {
        &self.file
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_its_interval_if_there_are_several_runs() {
        let text = "policy,metric,runs,mean,low,high\na,cct_ns,2,5,4,6\nb,cct_ns,1,7,,\nc,x,0,,,\n";
        let table = Table::parse("c.csv", text).unwrap();
        assert!(ComparisonTable::is_in(&table));
        let rows = ComparisonTable::of(table).unwrap().rows;
        assert_eq!((rows.len(), rows[0].interval, rows[1].interval), (2, Some((4.0, 6.0)), None));
    }
}
