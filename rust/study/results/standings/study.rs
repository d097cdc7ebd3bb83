//! Standings of a study: one for each group of runs.

use super::{Ranked, Standings, distinct, rank};
use crate::RunNumbers;
use crate::metrics::Metric;
use crate::results::{Quantity, ResultsError, StudyRow, StudyTable};

/// Names of the key that holds the policy.
const POLICY: [&str; 2] = ["policy", "policy.name"];

/// Rows, and whether each one completed.
type Rows<'a> = Vec<(&'a StudyRow, bool)>;

impl StudyTable {
    /// Ranks the policies of each group of runs at each combination of the other keys. A study that
    /// does not vary the policy ranks the values of its first key that is not numeric.
    ///
    /// # Errors
    /// Fails if the metric is not a column, or if a value is not a number.
    pub fn standings(&self, metric: &str) -> Result<Vec<Standings>, ResultsError> {
        let all = || self.rows.iter().chain(self.failed.iter().map(|it| &it.row));
        let groups = distinct(all().map(|row| row.group.as_str()));
        groups.into_iter().map(|group| self.group(group, metric)).collect()
    }

    fn group(&self, group: &str, metric: &str) -> Result<Standings, ResultsError> {
        let failed = self.failed.iter().map(|it| (&it.row, false));
        let rows = self.rows.iter().map(|row| (row, true)).chain(failed);
        let mut rows: Rows<'_> = rows.filter(|(row, _)| row.group == group).collect();
        rows.sort_by_key(|(row, _)| row.index());
        let keys = keys(&rows);
        let compared = compared(&keys, &rows);
        let varied = |key: &&&str| Some(**key) != compared && values(key, &rows).len() > 1;
        let keys: Vec<&str> = keys.iter().filter(varied).copied().collect();
        let labels =
            |row: &StudyRow| -> Vec<String> { keys.iter().map(|key| text(row, key)).collect() };
        let mut points: Vec<(Vec<String>, Rows<'_>)> = Vec::new();
        for &(row, is_complete) in &rows {
            let labels = labels(row);
            match points.iter_mut().find(|(known, _)| *known == labels) {
                Some((_, of_point)) => of_point.push((row, is_complete)),
                None => points.push((labels, vec![(row, is_complete)])),
            }
        }
        let is_single = points.len() == 1;
        let has = |it: &&Metric| it.name != metric && self.metrics().iter().any(|m| m == it.name);
        let others =
            RunNumbers::FABRIC_METRICS.iter().filter(|name| is_single && **name != "cct_ns");
        let others = others.filter_map(|name| Metric::find(name));
        let others: Vec<&'static Metric> = others.filter(has).collect();
        let point = |(labels, rows): (Vec<String>, Rows<'_>)| {
            let read = |it| self.ranked(it, compared, metric, &others);
            let runs = rows.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
            Ok(rank(labels, &runs, metric, &others))
        };
        let subject = match group.is_empty() {
            true => self.name.clone(),
            false => format!("{}, {group}", self.name),
        };
        Ok(Standings {
            subject,
            compared: compared.unwrap_or(POLICY[0]).to_owned(),
            keys: keys.into_iter().map(str::to_owned).collect(),
            points: points.into_iter().map(point).collect::<Result<_, ResultsError>>()?,
            reasons: Vec::new(),
        })
    }

    fn ranked(
        &self,
        (row, is_complete): (&StudyRow, bool),
        compared: Option<&str>,
        metric: &str,
        others: &[&'static Metric],
    ) -> Result<Ranked, ResultsError> {
        let read = |name: &str| -> Result<Option<f64>, ResultsError> {
            let value = self.metric(row, name)?;
            Ok(value.filter(|_| is_complete))
        };
        Ok(Ranked {
            policy: compared.map_or_else(String::new, |key| text(row, key)),
            seed: row.seed().parse().unwrap_or_default(),
            value: read(metric)?,
            others: others.iter().map(|it| read(it.name)).collect::<Result<_, _>>()?,
        })
    }
}

/// Returns the value of a key without quotation marks.
fn text(row: &StudyRow, key: &str) -> String {
    row.parameter(key).trim_matches('"').to_owned()
}

fn keys<'a>(rows: &[(&'a StudyRow, bool)]) -> Vec<&'a str> {
    distinct(rows.iter().flat_map(|(row, _)| row.parameters.iter().map(|(key, _)| key.as_str())))
}

fn values<'a>(key: &str, rows: &[(&'a StudyRow, bool)]) -> Vec<&'a str> {
    distinct(rows.iter().map(|(row, _)| row.parameter(key)))
}

/// Returns the key whose values are compared: the policy if it varies, otherwise the first key with
/// several values that are not all numbers.
fn compared<'a>(keys: &[&'a str], rows: &[(&StudyRow, bool)]) -> Option<&'a str> {
    let policy = keys.iter().find(|key| POLICY.contains(key)).copied();
    if policy.is_some_and(|key| values(key, rows).len() > 1) {
        return policy;
    }
    let is_choice = |key: &&&str| {
        let values = values(key, rows);
        values.len() > 1 && values.iter().any(|value| Quantity::parse(value).is_none())
    };
    keys.iter().find(is_choice).copied().or(policy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PolicyVerdict::{Behind, Best, Incomplete, Tied};
    use crate::results::Table;

    fn standings(text: &str) -> Vec<Standings> {
        let table = Table::parse("a.csv", text).unwrap();
        StudyTable::of("a".to_owned(), table).unwrap().standings("cct_ns").unwrap()
    }

    /// Returns rows of two policies at two sizes under five seeds.
    fn sweep() -> String {
        let mut text = "point,policy,workload.bytes,seed,cct_ns,fct_ns.p99,error\n".to_owned();
        for (point, policy, bytes, time) in [
            (1, "ecmp", "64KB", 20.0),
            (2, "ecmp", "1MB", 100.0),
            (3, "reps", "64KB", 20.0),
            (4, "reps", "1MB", 50.0),
        ] {
            for seed in 1..=5 {
                let time = time + f64::from(seed) / 100.0;
                text += &format!("{point},{policy},{bytes},{seed},{time},9,\n");
            }
        }
        text
    }

    #[test]
    fn each_swept_value_has_a_ranking() {
        let all = standings(&sweep());
        let [of] = &all[..] else { panic!("one group") };
        assert_eq!((of.subject.as_str(), of.compared.as_str()), ("a", "policy"));
        assert_eq!(of.keys, ["workload.bytes"]);
        let verdicts = of.points.iter().map(|point| {
            let policies = point.policies.iter();
            let verdicts = policies.map(|it| (it.policy.as_str(), it.verdict.unwrap()));
            (point.labels[0].as_str(), verdicts.collect::<Vec<_>>())
        });
        let expected = [
            ("64KB", vec![("ecmp", Best), ("reps", Tied)]),
            ("1MB", vec![("ecmp", Behind), ("reps", Best)]),
        ];
        assert_eq!(verdicts.collect::<Vec<_>>(), expected);
        let ratio = of.points[1].policies[0].ratio.unwrap().0;
        assert!((ratio - 100.03 / 50.03).abs() < 1e-9, "{ratio}");
        assert!(of.points[0].policies[0].others.is_empty(), "several points show one metric");
    }

    #[test]
    fn a_failed_run_makes_its_policy_incomplete() {
        let text = sweep().replace("4,reps,1MB,3,50.03,9,", "4,reps,1MB,3,,,did not complete");
        let all = standings(&text);
        let [_, point] = &all[0].points[..] else { panic!("two points") };
        let reps = point.of("reps").unwrap();
        assert_eq!((reps.verdict, reps.completed, reps.runs), (Some(Incomplete), 4, 5));
        assert_eq!(point.of("ecmp").unwrap().verdict, Some(Best), "the only complete one");
    }

    #[test]
    fn a_single_point_shows_other_metrics() {
        let rows: Vec<String> = sweep().lines().map(str::to_owned).collect();
        let rows: Vec<&str> =
            rows.iter().map(String::as_str).filter(|it| !it.contains("1MB")).collect();
        let all = standings(&rows.join("\n"));
        assert!(all[0].keys.is_empty() && all[0].points.len() == 1);
        assert_eq!(all[0].points[0].policies[0].others, [("fct_ns.p99", 9.0)]);
    }

    #[test]
    fn without_a_policy_the_first_choice_is_compared() {
        let text = "point,transport.recovery,workload.bytes,seed,cct_ns\n\
                    1,sack,1MB,1,5\n2,go-back-n,1MB,1,9\n3,sack,2MB,1,8\n4,go-back-n,2MB,1,18\n";
        let of = &standings(text)[0];
        assert_eq!(of.compared, "transport.recovery");
        assert_eq!(of.policies(), ["sack", "go-back-n"]);
        let only_sizes = "point,workload.bytes,seed,cct_ns\n1,1MB,1,5\n2,2MB,1,9\n";
        let of = &standings(only_sizes)[0];
        assert_eq!((of.policies(), of.points.len()), (vec![""], 2));
    }
}
