//! Measures claims in the results of runs, and judges them.

use serde_json::Value;

use super::claim::{Claim, Kind, Measure, Selection, expected_number, magnitude, percent};
use super::file::{Comparison, Fit, SeedStatistic, Take};
use super::matrix::{Combination, Group};
use super::metric::Metric;
use super::outcome::{ClaimOutcome, ClaimVerdict};
use super::simulate::Measured;

/// What was measured.
enum Finding {
    /// A number.
    Number(f64),
    /// Whether cases have the expected order, and the first two that have not.
    Order(Result<(), String>),
}

/// The results of a group, with its axes.
#[derive(Clone, Copy)]
pub(super) struct Results<'a> {
    pub group: &'a Group,
    pub measured: &'a Measured,
}

impl Results<'_> {
    /// A metric of a combination, over its seeds; `None` if the results have no such number.
    pub(super) fn value(
        &self,
        metric: &Metric,
        point: &Combination,
        seeds: SeedStatistic,
    ) -> Option<f64> {
        let (_, runs) = self.measured.runs.iter().find(|(it, _)| it == point)?;
        let values: Option<Vec<f64>> = runs.iter().map(|run: &Value| metric.of(run)).collect();
        let mut values = values?;
        values.sort_by(f64::total_cmp);
        match seeds {
            SeedStatistic::Mean => Some(values.iter().sum::<f64>() / values.len() as f64),
            SeedStatistic::Median => values.get((values.len() - 1) / 2).copied(),
            SeedStatistic::Largest => values.last().copied(),
            SeedStatistic::Smallest => values.first().copied(),
        }
    }

    fn quantity(&self, claim: &Claim, point: &Combination) -> Option<f64> {
        self.value(&claim.metric, point, claim.seeds)
    }

    fn measure(&self, claim: &Claim, measure: &Measure) -> Option<Finding> {
        if let Kind::Order { axis, cases, slack } = &measure.kind {
            for point in &measure.points {
                let order = self.order(claim, point, (*axis, cases), *slack)?;
                if order.is_err() {
                    return Some(Finding::Order(order));
                }
            }
            return Some(Finding::Order(Ok(())));
        }
        let values = measure.points.iter().map(|point| match &measure.kind {
            Kind::Against(other, comparison) => self.against(claim, point, other, *comparison),
            Kind::Fit(axis, fit) => self.fit(claim, point, *axis, *fit),
            Kind::Value | Kind::Order { .. } => self.quantity(claim, point),
        });
        let values = values.collect::<Option<Vec<f64>>>()?;
        let count = values.len() as f64;
        let all = values.into_iter();
        match claim.take {
            Some(Take::Largest) => all.max_by(f64::total_cmp),
            Some(Take::Smallest) => all.min_by(f64::total_cmp),
            Some(Take::Mean) | None => Some(all.sum::<f64>() / count),
        }
        .filter(|value| !value.is_nan())
        .map(Finding::Number)
    }

    fn against(
        &self,
        claim: &Claim,
        point: &Combination,
        other: &Selection,
        comparison: Comparison,
    ) -> Option<f64> {
        let moved = point.iter().zip(other).map(|(&case, other)| other.unwrap_or(case)).collect();
        let ratio = self.quantity(claim, point)? / self.quantity(claim, &moved)?;
        Some(match comparison {
            Comparison::Ratio => ratio,
            Comparison::Below => (1.0 - ratio) * 100.0,
            Comparison::Above => (ratio - 1.0) * 100.0,
        })
    }

    fn fit(&self, claim: &Claim, point: &Combination, axis: usize, fit: Fit) -> Option<f64> {
        let cases = self.group.axes[axis].cases.iter().enumerate();
        let pairs = cases.map(|(case, it)| {
            let mut point = point.clone();
            point[axis] = case;
            Some((magnitude(&it.label)?, self.quantity(claim, &point)?))
        });
        let pairs = pairs.collect::<Option<Vec<(f64, f64)>>>()?;
        let by_value = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        match fit {
            Fit::Exponent => Some(exponent(&pairs)),
            Fit::Least => pairs.iter().min_by(by_value).map(|pair| pair.0),
            Fit::Largest => pairs.iter().max_by(by_value).map(|pair| pair.0),
        }
    }

    /// Whether the cases ascend; the first two neighbours that do not.
    fn order(
        &self,
        claim: &Claim,
        point: &Combination,
        (axis, cases): (usize, &[usize]),
        slack: f64,
    ) -> Option<Result<(), String>> {
        let value = |case: usize| {
            let mut point = point.clone();
            point[axis] = case;
            self.quantity(claim, &point)
        };
        for pair in cases.windows(2) {
            let (first, second) = (value(pair[0])?, value(pair[1])?);
            if first > second * (1.0 + slack) {
                let label = |case: usize| &self.group.axes[axis].cases[case].label;
                let (first, second) = (number(first), number(second));
                let (one, other) = (label(pair[0]), label(pair[1]));
                return Some(Err(format!("{one} {first} > {other} {second}")));
            }
        }
        Some(Ok(()))
    }
}

/// The slope of the logarithms with the least squares.
fn exponent(pairs: &[(f64, f64)]) -> f64 {
    let count = pairs.len() as f64;
    let logs: Vec<(f64, f64)> = pairs.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let mean_x = logs.iter().map(|(x, _)| x).sum::<f64>() / count;
    let mean_y = logs.iter().map(|(_, y)| y).sum::<f64>() / count;
    let covariance: f64 = logs.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let variance: f64 = logs.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    covariance / variance
}

impl Claim {
    /// Measures the claim and judges it.
    pub(super) fn judge(&self, results: Results<'_>) -> ClaimOutcome {
        let published = self.expected.published.as_ref();
        let mut outcome = ClaimOutcome {
            text: self.text.clone(),
            cell: self.cell.clone(),
            origin: self.origin,
            source: self.source.clone(),
            published: published.map(|value| self.printed(value)).unwrap_or_default(),
            ours: String::new(),
            error: String::new(),
            seeds: 0,
            verdict: ClaimVerdict::NotAtThisScale,
            why: String::new(),
        };
        let Some(measure) = &self.measure else { return outcome };
        outcome.seeds = results.group.seeds;
        outcome.verdict = match results.measure(self, measure) {
            None => ClaimVerdict::CannotBeJudged,
            Some(Finding::Order(Ok(()))) => {
                outcome.ours = "as claimed".to_owned();
                ClaimVerdict::Holds
            }
            Some(Finding::Order(Err(pair))) => {
                outcome.ours = pair;
                ClaimVerdict::DoesNotHold
            }
            Some(Finding::Number(ours)) => {
                outcome.ours = with_unit(&number(ours), self.unit);
                let published = published.and_then(expected_number);
                outcome.error = published.map_or_else(String::new, |it| self.error(ours, it));
                self.verdict(ours, published)
            }
        };
        outcome.why = match (outcome.verdict, &self.expected.why) {
            (ClaimVerdict::Holds | ClaimVerdict::NotAtThisScale, _) => String::new(),
            (_, Some(why)) => why.clone(),
            (ClaimVerdict::CannotBeJudged, None) => {
                "the source has no value to compare with".to_owned()
            }
            (ClaimVerdict::DoesNotHold, None) => "the reason is not known".to_owned(),
        };
        outcome
    }

    fn printed(&self, value: &toml::Value) -> String {
        let unit = if expected_number(value).is_some() { self.unit } else { "" };
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let has_unit = text.ends_with(|it: char| it.is_alphabetic() || it == '%');
        if has_unit { text } else { with_unit(&text, unit) }
    }

    fn error(&self, ours: f64, published: f64) -> String {
        if !ours.is_finite() {
            return String::new();
        }
        match self.unit {
            "%" => format!("{:+.1} points", ours - published),
            _ if published == 0.0 => String::new(),
            _ => format!("{:+.1} %", (ours / published - 1.0) * 100.0),
        }
    }

    fn verdict(&self, ours: f64, published: Option<f64>) -> ClaimVerdict {
        let expected = &self.expected;
        let within = expected.within.as_deref().and_then(|text| percent(text).ok());
        let near = within.zip(published).map(|(share, it)| (ours - it).abs() <= share * it.abs());
        let bounds = [
            near,
            expected.at_least.map(|least| ours >= least),
            expected.at_most.map(|most| ours <= most),
        ];
        let bounds: Vec<bool> = bounds.into_iter().flatten().collect();
        match bounds.iter().all(|holds| *holds) {
            _ if bounds.is_empty() => ClaimVerdict::CannotBeJudged,
            true => ClaimVerdict::Holds,
            false => ClaimVerdict::DoesNotHold,
        }
    }
}

/// A number with four significant digits; `never` for what a run did not reach.
pub(super) fn number(value: f64) -> String {
    if value.is_infinite() {
        return "never".to_owned();
    }
    let decimals = match value.abs() {
        size if size >= 999.95 => 0,
        size if size >= 99.995 => 1,
        size if size >= 9.9995 => 2,
        _ => 3,
    };
    let is_whole = value.fract() == 0.0;
    if is_whole { format!("{value:.0}") } else { format!("{value:.decimals$}") }
}

/// A number and its unit.
pub(super) fn with_unit(number: &str, unit: &str) -> String {
    let is_bare = unit.is_empty() || number == "never";
    if is_bare { number.to_owned() } else { format!("{number} {unit}") }
}
