//! Quantities that claims are about: numbers of a run's JSON object.

use serde_json::Value;

use crate::metrics::{METRICS, Metric, RATES, number};

/// Lists that `[record]` adds to the JSON object, with a number for each window. A named recording
/// has them in an object of that name.
const RECORDED: [&str; 8] = [
    "queue_bytes_max",
    "packets",
    "entropies_max",
    "entropy_changes",
    "paths_max",
    "path_changes",
    "pauses",
    "paused_ns",
];

/// Statistics over such a list.
const OF_WINDOWS: [&str; 4] = ["sum", "max", "least", "growth"];

/// Units of time: the suffix of the name, and nanoseconds per unit.
const TIMES: [(&str, f64); 3] = [("us", 1e3), ("ms", 1e6), ("s", 1e9)];

/// A measured quantity.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reading {
    /// Name of the metric; for a time, its name in nanoseconds.
    path: String,
    /// Divisor of its values.
    divisor: f64,
    /// Unit of its values.
    pub unit: &'static str,
}

/// Returns the numbers of the JSON object of a run with their names; a missing number is empty.
pub(crate) fn numbers(run: &Value) -> Vec<(String, String)> {
    let text = |name: &str| {
        let number = Reading::named(name).ok().and_then(|metric| metric.of(run));
        number.filter(|it| it.is_finite()).map_or_else(String::new, |it| it.to_string())
    };
    METRICS.iter().map(|it| (it.name.to_owned(), text(it.name))).collect()
}

impl Reading {
    /// Returns the metric of that name: a key of the JSON object (`packets.dropped`). Times may
    /// have other units (`cct_us`). A metric of a job is `job.NAME.cct_us`.
    pub(crate) fn named(name: &str) -> Result<Self, String> {
        let (path, divisor, unit) = in_nanoseconds(name);
        let known = || METRICS.iter().chain(&RATES).map(|metric| metric.name);
        let is_known = known().any(|name| name == path) || is_of_job(&path);
        if let Some(recorded) = path.strip_prefix("record.") {
            recorded_name(name, recorded)?;
        } else if !is_known {
            let near =
                known().max_by(|a, b| strsim::jaro(a, &path).total_cmp(&strsim::jaro(b, &path)));
            let near = near.unwrap_or_default();
            return Err(format!(
                "'{name}': no such number in the results of a run; did you mean '{near}'? \
                 Times end in _ns, _us, _ms or _s"
            ));
        }
        Ok(Self { path, divisor, unit })
    }

    /// Returns the value in the JSON object of a run, or `None` if the object has no such number. A
    /// time that the run did not reach is infinite.
    pub(crate) fn of(&self, run: &Value) -> Option<f64> {
        let value = match Metric::find(&self.path) {
            Some(metric) => metric.of(run)?,
            None if self.path.starts_with("record.") => of_windows(run, &self.path)?,
            None => number(self.of_job(run)?)?,
        };
        Some(value / self.divisor)
    }

    /// Returns the value of `job.NAME.KEY`.
    fn of_job<'a>(&self, run: &'a Value) -> Option<&'a Value> {
        let (job, key) = self.path.strip_prefix("job.")?.rsplit_once('.')?;
        let jobs = run["jobs"].as_array()?;
        Some(&jobs.iter().find(|it| it["name"].as_str() == Some(job))?[key])
    }
}

/// Checks `QUANTITY.sum`, or a quantity alone for a series. A recording's name may precede it.
fn recorded_name(name: &str, recorded: &str) -> Result<(), String> {
    let mut parts: Vec<&str> = recorded.split('.').collect();
    if parts.len() > 1 && !RECORDED.contains(&parts[0]) {
        parts.remove(0);
    }
    let is_known = match parts[..] {
        [quantity] => RECORDED.contains(&quantity),
        [quantity, how] => RECORDED.contains(&quantity) && OF_WINDOWS.contains(&how),
        _ => false,
    };
    if is_known {
        return Ok(());
    }
    Err(format!(
        "'{name}': expected record.QUANTITY.HOW, or record.NAME.QUANTITY.HOW for a named \
         recording; QUANTITY is one of {}, HOW is one of {}",
        RECORDED.join(", "),
        OF_WINDOWS.join(", ")
    ))
}

/// Returns true for the metric of a series: a recorded quantity without a statistic.
pub(super) fn is_series(metric: &str) -> bool {
    metric.rsplit_once('.').is_some_and(|(_, last)| RECORDED.contains(&last))
}

/// Recorded windows of a run: their length in nanoseconds, and a quantity for each.
pub(super) struct Windows {
    pub length_ns: f64,
    pub values: Vec<f64>,
}

impl Windows {
    /// Returns the windows of `record.QUANTITY` or `record.NAME.QUANTITY`; `None` if not recorded.
    pub(crate) fn of(run: &Value, metric: &str) -> Option<Self> {
        let metric = metric.strip_prefix("record.")?;
        let (profile, quantity) = match metric.rsplit_once('.') {
            Some((name, quantity)) => (&run["record"][name], quantity),
            None => (&run["record"], metric),
        };
        let values = profile[quantity].as_array()?.iter().filter_map(Value::as_f64).collect();
        Some(Self { length_ns: profile["window_ns"].as_f64()?, values })
    }

    /// Returns the windows that are not cut short by the start or end of the run.
    fn whole(&self) -> &[f64] {
        self.values.get(1..self.values.len().saturating_sub(1)).unwrap_or_default()
    }
}

/// Returns a statistic of a quantity: its sum or maximum over all windows, or its least value over
/// whole windows. `growth` is the mean of their second half over the mean of their first.
fn of_windows(run: &Value, path: &str) -> Option<f64> {
    let (list, how) = path.rsplit_once('.')?;
    let windows = Windows::of(run, list)?;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    match how {
        "sum" => Some(windows.values.iter().sum()),
        "max" => windows.values.iter().copied().max_by(f64::total_cmp),
        "least" => windows.whole().iter().copied().min_by(f64::total_cmp),
        _ => {
            let (first, second) = windows.whole().split_at(windows.whole().len() / 2);
            Some(mean(second) / mean(first)).filter(|growth| growth.is_finite())
        }
    }
}

/// Returns the name with `_ns` instead of another unit of time, the divisor of its values, and the
/// unit.
fn in_nanoseconds(name: &str) -> (String, f64, &'static str) {
    for (unit, ns) in TIMES {
        let (stem, rest) = match name.split_once('.') {
            Some((stem, rest)) if !name.starts_with("job.") => (stem, format!(".{rest}")),
            _ => (name, String::new()),
        };
        if let Some(stem) = stem.strip_suffix(unit).and_then(|stem| stem.strip_suffix('_')) {
            let path = format!("{stem}_ns{rest}");
            if Metric::find(&path).is_some() || is_of_job(&path) {
                return (path, ns, unit);
            }
        }
    }
    let unit = match Metric::find(name) {
        Some(metric) => metric.unit,
        None if name.ends_with(".growth") => "",
        None if name.contains("_ns") => "ns",
        None if name.contains("bytes") => "B",
        None => "",
    };
    (name.to_owned(), 1.0, unit)
}

fn is_of_job(path: &str) -> bool {
    path.starts_with("job.") && (path.ends_with(".cct_ns") || path.ends_with(".start_ns"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_several_units() {
        let run = serde_json::json!({
            "cct_ns": 1500.0, "slowdown": 1.25, "fct_ns": { "p99": null },
            "jobs": [{ "name": "a.b", "cct_ns": 2e6 }],
        });
        let value = |name: &str| Reading::named(name).unwrap().of(&run);
        assert_eq!(value("cct_ns"), Some(1500.0));
        assert_eq!(value("cct_us"), Some(1.5));
        assert_eq!(value("increase_percent"), Some(25.0));
        assert_eq!(value("fct_us.p99"), Some(f64::INFINITY));
        assert_eq!(value("job.a.b.cct_ms"), Some(2.0));
        assert_eq!(value("job.other.cct_ms"), None);
        assert_eq!(Reading::named("fct_us.p99").unwrap().unit, "us");
        assert_eq!(Reading::named("queue_bytes_max").unwrap().unit, "B");
    }

    #[test]
    fn rails_have_operation_and_resume_times() {
        let first_chunk = "the first reissued chunk is complete at a rank";
        let run = serde_json::json!({
            "operations": [{ "took_ns": 3e6 }, { "took_ns": 5e6 }, { "took_ns": 2e6 }],
            "timeline": [
                { "at_ns": 1e6, "rail": "a", "what": "fails" },
                { "at_ns": 9e6, "rail": "a", "what": first_chunk },
            ],
        });
        let value = |name: &str| Reading::named(name).unwrap().of(&run);
        assert_eq!(value("operation_ms.first"), Some(3.0));
        assert_eq!(value("operation_ms.last"), Some(2.0));
        assert_eq!(value("operation_us.max"), Some(5e3));
        assert_eq!(value("resume_ms"), Some(8.0));
        let healthy = serde_json::json!({ "operations": [], "timeline": [] });
        assert_eq!(Reading::named("resume_ns").unwrap().of(&healthy), None);
        assert_eq!(Reading::named("operation_ns.max").unwrap().of(&healthy), None);
        assert_eq!(Reading::named("operation_ns.max").unwrap().of(&serde_json::json!({})), None);
    }

    #[test]
    fn recorded_windows_have_sums_and_growth() {
        let record = serde_json::json!({ "window_ns": 1e3, "path_changes": [9, 1, 2, 3, 6, 8] });
        let run = serde_json::json!({ "record": record });
        let value = |name: &str| Reading::named(name).unwrap().of(&run);
        assert_eq!(value("record.path_changes.sum"), Some(29.0));
        assert_eq!(value("record.path_changes.max"), Some(9.0));
        assert_eq!(value("record.path_changes.least"), Some(1.0));
        assert_eq!(value("record.path_changes.growth"), Some(3.0));
        assert_eq!(value("record.packets.growth"), None);
        assert_eq!(Reading::named("record.packets.sum").unwrap().of(&serde_json::json!({})), None);
        let several = serde_json::json!({ "record": { "a": run["record"] } });
        let named = Reading::named("record.a.path_changes.sum").unwrap();
        assert_eq!((named.of(&several), named.of(&run)), (Some(29.0), None));
        assert!(is_series("record.path_changes") && is_series("record.a.pauses"));
        assert!(!is_series("record.path_changes.sum") && !is_series("pauses"));
        let error = Reading::named("record.pathchanges.sum").unwrap_err();
        assert!(error.contains("one of queue_bytes_max, packets"), "{error}");
    }

    #[test]
    fn an_unknown_metric_suggests_the_closest() {
        let error = Reading::named("packets.droped").unwrap_err();
        assert!(error.contains("did you mean 'packets.dropped'?"), "{error}");
    }
}
