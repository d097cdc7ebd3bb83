//! Conditions on the medians of a comparison, for continuous integration.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Indicators;
use crate::metrics::INDICATORS;
use crate::reproduce::reading::Reading;
use crate::statistics::Sample;

/// Relation of a median to a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Relation {
    Less,
    AtMost,
    Greater,
    AtLeast,
    Equal,
    Unequal,
}

impl Relation {
    /// All relations. A sign that starts with another one precedes it.
    const ALL: [(&'static str, Self); 6] = [
        ("<=", Self::AtMost),
        (">=", Self::AtLeast),
        ("==", Self::Equal),
        ("!=", Self::Unequal),
        ("<", Self::Less),
        (">", Self::Greater),
    ];

    /// Splits a text at its first relation.
    fn split(text: &str) -> Option<(&str, Self, &str)> {
        let at = text.find(['<', '>', '=', '!'])?;
        let (left, rest) = text.split_at(at);
        let of_sign = |&(sign, relation): &(&str, Self)| {
            rest.strip_prefix(sign).map(|right| (left.trim(), relation, right.trim()))
        };
        Self::ALL.iter().find_map(of_sign)
    }

    fn sign(self) -> &'static str {
        Self::ALL.iter().find(|(_, it)| *it == self).map_or("", |(sign, _)| sign)
    }

    #[expect(clippy::float_cmp, reason = "the user asks for equality, of counts for example")]
    fn holds(self, value: f64, number: f64) -> bool {
        match self {
            Self::Less => value < number,
            Self::AtMost => value <= number,
            Self::Greater => value > number,
            Self::AtLeast => value >= number,
            Self::Equal => value == number,
            Self::Unequal => value != number,
        }
    }
}

/// Number of a run that an assertion is about.
#[derive(Debug, Clone, PartialEq)]
enum Quantity {
    /// A number of the run's JSON object.
    Reading(Reading),
    /// Index among the indicators.
    Indicator(usize),
}

impl Quantity {
    fn named(name: &str) -> Result<Self, String> {
        if let Some(index) = INDICATORS.iter().position(|indicator| indicator.name == name) {
            return Ok(Self::Indicator(index));
        }
        if name.starts_with("rate_gbps") || name.starts_with("record.") {
            return Err(format!("'{name}': only studies have this number (evenkeel reproduce)"));
        }
        Reading::named(name).map(Self::Reading)
    }

    fn of(&self, run: &AssertedRun) -> Option<f64> {
        let number = match self {
            Self::Reading(reading) => reading.of(&run.run),
            Self::Indicator(index) => run.indicators.as_ref()?.numbers()[*index],
        };
        number.filter(|number| number.is_finite())
    }
}

/// A condition on the median of a metric of a policy: `ethereal.slowdown < 1.05`.
#[derive(Debug, Clone, PartialEq)]
pub struct Assertion {
    policy: String,
    metric: String,
    quantity: Quantity,
    relation: Relation,
    number: f64,
}

impl fmt::Display for Assertion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { policy, metric, relation, number, .. } = self;
        write!(f, "{policy}.{metric} {} {number}", relation.sign())
    }
}

/// A run that assertions are judged by.
#[derive(Debug, Clone)]
pub struct AssertedRun {
    /// Object of `evenkeel run --json`.
    pub run: Value,
    /// Indicators of the IETF's draft; `None` for a run over several rails.
    pub indicators: Option<Indicators>,
}

impl AssertedRun {
    /// Reads the numbers of a run's summary.
    pub fn of(summary: &impl Serialize, indicators: Option<Indicators>) -> Self {
        let run = serde_json::to_value(summary).expect("a summary is a JSON object");
        Self { run, indicators }
    }
}

/// An assertion and its verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AssertionOutcome {
    /// The condition: `ethereal.slowdown < 1.05`.
    pub assertion: String,
    /// Median over the seeds; `None` if a run did not complete or has no such number.
    pub median: Option<f64>,
    /// Number of runs with a value.
    pub runs: u64,
    /// Whether the condition holds. Without a median it does not.
    pub holds: bool,
    /// Why it does not hold; empty if it does.
    pub why: String,
}

impl Assertion {
    /// Parses `POLICY.METRIC OP NUMBER`, where the policy is one of `policies`.
    ///
    /// # Errors
    /// Returns what is wrong and what is expected.
    pub fn parse(text: &str, policies: &[String]) -> Result<Self, String> {
        let example = "expected POLICY.METRIC OP NUMBER, for example 'ethereal.slowdown < 1.05'";
        let Some((name, relation, number)) = Relation::split(text) else {
            let signs = Relation::ALL.map(|(sign, _)| sign).join(" ");
            return Err(format!("{example}; OP is one of {signs}"));
        };
        // A name may be the start of another one: `spray` and `spray.fast`.
        let own = policies.iter().filter(|policy| {
            name.strip_prefix(policy.as_str()).is_some_and(|rest| rest.starts_with('.'))
        });
        let Some(policy) = own.max_by_key(|policy| policy.len()) else {
            let policies = policies.join(", ");
            return Err(format!("{example}; POLICY is one of --policies: {policies}"));
        };
        let metric = &name[policy.len() + 1..];
        let quantity = Quantity::named(metric)?;
        let value: f64 =
            number.parse().ok().filter(|it: &f64| it.is_finite()).ok_or_else(|| {
                format!(
                    "'{number}' is not a number; {example}; the name of a time chooses its unit: \
                 cct_ns, cct_us, cct_ms or cct_s"
                )
            })?;
        let (policy, metric) = (policy.clone(), metric.to_owned());
        Ok(Self { policy, metric, quantity, relation, number: value })
    }

    /// Judges the condition by all runs of a comparison. Each policy has `seeds` runs.
    pub fn judge(&self, runs: &[AssertedRun], seeds: usize) -> AssertionOutcome {
        let own = || runs.iter().filter(|run| run.run["policy"] == self.policy.as_str());
        let values: Vec<f64> = own().filter_map(|run| self.quantity.of(run)).collect();
        let completed = own().filter(|run| !run.run["cct_ns"].is_null()).count();
        let whole = completed == seeds && values.len() == seeds;
        let median = Sample::of(&values).filter(|_| whole).map(|sample| sample.median);
        let holds = median.is_some_and(|median| self.relation.holds(median, self.number));
        let why = match median {
            _ if holds => String::new(),
            Some(median) if seeds == 1 => format!("the value is {median}"),
            Some(median) => format!("the median of {seeds} runs is {median}"),
            None if completed < seeds => {
                format!("{} of {seeds} runs did not complete", seeds - completed)
            }
            None => {
                let (without, metric) = (seeds - values.len(), &self.metric);
                format!("{without} of {seeds} runs have no {metric}")
            }
        };
        let (assertion, runs) = (self.to_string(), values.len() as u64);
        AssertionOutcome { assertion, median, runs, holds, why }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(text: &str) -> Result<Assertion, String> {
        Assertion::parse(text, &["spray", "spray-rr"].map(str::to_owned))
    }

    fn run(policy: &str, cct: Option<f64>, dropped: u64) -> AssertedRun {
        let numbers = [Some(2.0), Some(0.5), None, None, None];
        let [max_mean_ratio, jain_index, ..] = numbers;
        let indicators = Indicators {
            max_mean_ratio,
            jain_index,
            out_of_order_per_s: None,
            retransmitted_per_s: None,
            goodput_percent: None,
        };
        AssertedRun {
            run: json!({ "policy": policy, "cct_ns": cct, "packets": { "dropped": dropped } }),
            indicators: Some(indicators),
        }
    }

    #[test]
    fn a_median_is_compared_in_the_unit_of_the_name() {
        let runs = [3e3, 1e3, 9e3].map(|cct| run("spray", Some(cct), 4));
        let holds = |text: &str| parse(text).unwrap().judge(&runs, 3).holds;
        for text in [
            "spray.cct_us < 3.5",
            "spray.cct_ns<=3000",
            "spray.cct_us == 3",
            "spray.cct_us!=4",
            "spray.cct_us > 2.9",
            "spray.packets.dropped >= 4",
            "spray.max_mean_ratio == 2",
        ] {
            assert!(holds(text), "{text}");
        }
        let outcome = parse("spray.cct_us < 3").unwrap().judge(&runs, 3);
        let expected = AssertionOutcome {
            assertion: "spray.cct_us < 3".to_owned(),
            median: Some(3.0),
            runs: 3,
            holds: false,
            why: "the median of 3 runs is 3".to_owned(),
        };
        assert_eq!(outcome, expected);
    }

    #[test]
    fn an_assertion_without_a_median_does_not_hold() {
        let runs = [run("spray", Some(5.0), 0), run("spray", None, 0), run("spray-rr", None, 0)];
        let why = |text: &str, seeds| {
            let outcome = parse(text).unwrap().judge(&runs, seeds);
            assert!(!outcome.holds && outcome.median.is_none(), "{outcome:?}");
            outcome.why
        };
        assert_eq!(why("spray.packets.dropped == 0", 2), "1 of 2 runs did not complete");
        assert_eq!(why("spray.packets.dropped == 0", 4), "3 of 4 runs did not complete");
        let one = [run("spray", Some(5.0), 0)];
        let outcome = parse("spray.qps.total > 1").unwrap().judge(&one, 1);
        assert_eq!(outcome.why, "1 of 1 runs have no qps.total");
    }

    #[test]
    fn errors_say_what_is_expected() {
        let error = |text: &str| parse(text).unwrap_err();
        assert!(error("spray.slowdown").ends_with("OP is one of <= >= == != < >"));
        assert!(error("spray.slowdown = 1").ends_with("OP is one of <= >= == != < >"));
        let policies = "POLICY is one of --policies: spray, spray-rr";
        assert!(error("ecmp.slowdown < 1").ends_with(policies));
        assert!(error("slowdown < 1").ends_with(policies));
        assert!(error("spray.slowdwon < 1").contains("did you mean 'slowdown'?"));
        assert!(error("spray.cct_ns < 5ms").starts_with("'5ms' is not a number"));
        assert!(error("spray.cct_ns < inf").starts_with("'inf' is not a number"));
        assert!(error("spray.rate_gbps.min > 1").contains("only studies have this number"));
    }
}
