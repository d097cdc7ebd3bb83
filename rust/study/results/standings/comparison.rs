//! Standings of a comparison, from its statistics.

use super::{Ranked, Standing, Standings, StandingsPoint, distinct, rank};
use crate::PolicyVerdict;
use crate::metrics::Metric;
use crate::results::{ComparisonRow, ComparisonTable};
use crate::statistics::MIN_SEEDS;

impl ComparisonTable {
    /// Ranks the policies by a metric. The ranking by completion time is that of the file. Another
    /// one follows from the runs next to it; without them, values have no verdicts. `None` if the
    /// comparison lacks the metric.
    pub fn standings(&self, metric: &str) -> Option<Standings> {
        let point = match metric {
            "cct_ns" => self.point(metric),
            _ => self.of_runs(metric).or_else(|| self.point(metric)),
        };
        let subject = self.runs.first().and_then(|run| run["scenario"].as_str());
        Some(Standings {
            subject: subject.unwrap_or_default().to_owned(),
            compared: "policy".to_owned(),
            keys: Vec::new(),
            points: vec![point?],
            reasons: if metric == "cct_ns" { self.reasons.clone() } else { Vec::new() },
        })
    }

    /// Returns the rows of a metric.
    fn point(&self, metric: &str) -> Option<StandingsPoint> {
        let names = distinct(self.policies.iter().map(|(policy, _)| policy.as_str()));
        let seeds = self.rows.iter().map(|row| row.runs).max().unwrap_or(0);
        let of = |policy: &str, metric: &str| {
            self.rows.iter().find(|row| row.policy == policy && row.metric == metric)
        };
        names.iter().find_map(|policy| of(policy, metric))?;
        let others = distinct(self.rows.iter().map(|row| row.metric.as_str()));
        let others: Vec<&'static Metric> =
            others.into_iter().filter(|it| *it != metric).filter_map(Metric::find).collect();
        let standing = |(policy, verdict): &(String, Option<PolicyVerdict>)| {
            let row: Option<&ComparisonRow> = of(policy, metric);
            let is_partial = verdict.is_some_and(PolicyVerdict::is_partial);
            Standing {
                policy: policy.clone(),
                runs: seeds,
                completed: of(policy, "cct_ns").map_or(0, |row| row.runs),
                median: row.map(|row| row.median),
                interval: row.and_then(|row| row.interval),
                ratio: row.and_then(|row| row.ratio),
                verdict: verdict.filter(|_| metric == "cct_ns" || is_partial),
                others: others
                    .iter()
                    .filter_map(|it| Some((it.name, of(policy, it.name)?.median)))
                    .collect(),
            }
        };
        Some(StandingsPoint {
            labels: Vec::new(),
            reference: Some(self.reference.clone()).filter(|it| !it.is_empty()),
            seeds,
            unranked: self.unranked(seeds).filter(|_| metric == "cct_ns"),
            policies: self.policies.iter().map(standing).collect(),
        })
    }

    /// Ranks the runs by a metric.
    fn of_runs(&self, metric: &str) -> Option<StandingsPoint> {
        let found = Metric::find(metric)?;
        let value = |run: &serde_json::Value| {
            let value = found.of(run).filter(|value| value.is_finite());
            value.filter(|_| !run["cct_ns"].is_null())
        };
        let ranked = |run: &serde_json::Value| Ranked {
            policy: run["policy"].as_str().unwrap_or_default().to_owned(),
            seed: run["seed"].as_u64().unwrap_or_default(),
            value: value(run),
            others: Vec::new(),
        };
        let runs: Vec<Ranked> = self.runs.iter().map(ranked).collect();
        runs.iter().any(|run| run.value.is_some()).then(|| rank(Vec::new(), &runs, metric, &[]))
    }

    fn unranked(&self, seeds: usize) -> Option<crate::Unranked> {
        use crate::Unranked::{FewSeeds, Incomplete, Interrupted};
        let has = |verdict| self.policies.iter().any(|(_, it)| *it == Some(verdict));
        match () {
            () if has(PolicyVerdict::Interrupted) => Some(Interrupted),
            () if has(PolicyVerdict::Best) => None,
            () if has(PolicyVerdict::Unranked) && seeds < MIN_SEEDS => Some(FewSeeds),
            () => Some(Incomplete),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::PolicyVerdict::{Behind, Best, Incomplete};
    use crate::results::{ComparisonTable, Table};

    const TEXT: &str = "policy,metric,runs,median,low,high,reference,ratio,ratio_low,ratio_high,\
                        verdict\na,cct_ns,5,9,8,10,b,1.5,1.25,2,behind\na,packets.dropped,5,0,0,0,\
                        b,,,,\nb,cct_ns,5,6,5,7,b,,,,best\nb,packets.dropped,5,3,2,4,b,,,,\n\
                        c,cct_ns,0,,,,b,,,,incomplete\nc,packets.dropped,5,7,2,8,b,,,,incomplete\n";

    #[test]
    fn the_ranking_is_that_of_the_file_and_names_incomplete_policies() {
        let table = ComparisonTable::of(Table::parse("c.csv", TEXT).unwrap()).unwrap();
        let standings = table.standings("cct_ns").unwrap();
        let point = &standings.points[0];
        let found = point.policies.iter().map(|it| (it.policy.as_str(), it.verdict.unwrap()));
        let expected = [("a", Behind), ("b", Best), ("c", Incomplete)];
        assert_eq!(found.collect::<Vec<_>>(), expected);
        let [a, _, c] = &point.policies[..] else { panic!("three policies") };
        assert_eq!((a.ratio, a.interval), (Some((1.5, Some((1.25, 2.0)))), Some((8.0, 10.0))));
        assert_eq!((c.completed, c.runs, c.median), (0, 5, None));
        assert_eq!(a.others[0].0, "packets.dropped");
        let dropped = table.standings("packets.dropped").unwrap();
        let verdicts: Vec<_> = dropped.points[0].policies.iter().map(|it| it.verdict).collect();
        assert_eq!(verdicts, [None, None, Some(Incomplete)], "counts of zero have no ratios");
        assert_eq!(table.standings("fct_ns.p99"), None);
    }
}
