//! Measures claims in the results of runs, and judges them.

use serde_json::Value;

use super::claim::{Claim, Kind, Measure, Selection, expected_number, magnitude, moved, percent};
use super::file::{Comparison, Fit, SeedStatistic, Take};
use super::matrix::{Combination, Group};
use super::outcome::{ClaimOutcome, ClaimVerdict};
use super::reading::Reading;
use super::simulate::Measured;

/// Result of a measurement.
enum Finding {
    /// A number.
    Number(f64),
    /// Whether cases have the expected order; if not, the first two that do not.
    Order(Result<(), String>),
}

/// Results of a group, with its axes.
#[derive(Clone, Copy)]
pub(super) struct Results<'a> {
    pub group: &'a Group,
    pub measured: &'a Measured,
}

impl Results<'_> {
    /// Returns a metric of a combination over its seeds; `None` if the results lack the number.
    pub(super) fn value(
        &self,
        metric: &Reading,
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
        Some(self.value(&claim.metric, point, claim.seeds)? / claim.per)
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
            Kind::Fit { axis, cases, fit } => self.fit(claim, point, (*axis, cases), *fit),
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
        let other = moved(point, other);
        let (ours, other) = (self.quantity(claim, point)?, self.quantity(claim, &other)?);
        let ratio = ours / other;
        Some(match comparison {
            Comparison::Ratio => ratio,
            Comparison::Below => (1.0 - ratio) * 100.0,
            Comparison::Above => (ratio - 1.0) * 100.0,
            Comparison::More => ours - other,
        })
    }

    fn fit(
        &self,
        claim: &Claim,
        point: &Combination,
        (axis, cases): (usize, &[usize]),
        fit: Fit,
    ) -> Option<f64> {
        let pairs = cases.iter().map(|&case| {
            let mut point = point.clone();
            point[axis] = case;
            let label = &self.group.axes[axis].cases[case].label;
            Some((magnitude(label)?, self.quantity(claim, &point)?))
        });
        let pairs = pairs.collect::<Option<Vec<(f64, f64)>>>()?;
        let by_value = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        match fit {
            Fit::Exponent => Some(exponent(&pairs)),
            Fit::Least => pairs.iter().min_by(by_value).map(|pair| pair.0),
            Fit::Largest => pairs.iter().max_by(by_value).map(|pair| pair.0),
            Fit::Steepening => Some(steepening(&pairs)),
        }
    }

    /// Checks that the cases ascend; otherwise names the first two neighbours that do not.
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

/// Returns the least-squares slope of the logarithms.
fn exponent(pairs: &[(f64, f64)]) -> f64 {
    let count = pairs.len() as f64;
    let logs: Vec<(f64, f64)> = pairs.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let mean_x = logs.iter().map(|(x, _)| x).sum::<f64>() / count;
    let mean_y = logs.iter().map(|(_, y)| y).sum::<f64>() / count;
    let covariance: f64 = logs.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let variance: f64 = logs.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    covariance / variance
}

/// Returns the least quotient of adjacent slopes; 0 unless values rise throughout.
fn steepening(pairs: &[(f64, f64)]) -> f64 {
    let slopes = pairs.windows(2).map(|it| (it[1].1 - it[0].1) / (it[1].0 - it[0].0));
    let slopes: Vec<f64> = slopes.collect();
    let rises = slopes.iter().all(|&slope| slope > 0.0);
    let least = slopes.windows(2).map(|it| it[1] / it[0]).fold(f64::INFINITY, f64::min);
    if rises { least } else { 0.0 }
}

impl Claim {
    /// Measures the claim and judges it.
    pub(super) fn judge(&self, results: Results<'_>) -> ClaimOutcome {
        let published = self.expected.published.as_ref();
        let mut outcome = ClaimOutcome {
            text: self.text.clone(),
            cell: self.cell.clone(),
            origin: self.origin,
            target: self.target,
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

/// Formats a number with four significant digits; `never` for a time that was not reached.
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

/// Formats a number with its unit.
pub(super) fn with_unit(number: &str, unit: &str) -> String {
    let is_bare = unit.is_empty() || number == "never";
    if is_bare { number.to_owned() } else { format!("{number} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::super::Scale;
    use super::super::file::StudyFile;
    use super::*;
    use crate::scenario::{Source, Subject};

    /// Judges `claims` on made-up results. Policy `a` takes 10, 20 and 40 us for 1, 2 and 4 MB,
    /// policy `b` takes 10, 40 and 160 us, and `c` never completes. The second seed takes 10 %
    /// longer.
    fn outcomes(claims: &str) -> Vec<ClaimOutcome> {
        let text = format!(
            "title = \"t\"\nwork = \"w\"\n[[run]]\nname = \"r\"\nseeds = 2\n[run.over]\n\
             policy = [\"a\", \"b\", \"c\"]\nbytes = [\"1MB\", \"2MB\", \"4MB\"]\n{claims}"
        );
        let source = Source::of(Subject::Study, text, "test.toml".to_owned()).unwrap();
        let file = StudyFile::read(&source).unwrap();
        let group = Group::new(&toml::Table::new(), &file.run[0], 0, Scale::Paper).unwrap();
        let runs = group.combinations().into_iter().map(|point| {
            let us = match point[0] {
                0 => Some([10.0, 20.0, 40.0][point[1]]),
                1 => Some([10.0, 40.0, 160.0][point[1]]),
                _ => None,
            };
            let seed =
                |factor: f64| serde_json::json!({ "cct_ns": us.map(|it| it * factor * 1e3) });
            (point, vec![seed(1.0), seed(1.1)])
        });
        let measured = Measured { runs: runs.collect() };
        let groups = [group];
        let claims = file
            .claim
            .iter()
            .flat_map(|section| Claim::of_section(section, &groups, Scale::Paper).unwrap());
        let results = Results { group: &groups[0], measured: &measured };
        claims.map(|claim| claim.judge(results)).collect()
    }

    /// Returns the only outcome of a claim with these keys.
    fn judged(keys: &str) -> (String, ClaimVerdict) {
        let head =
            "[[claim]]\ntext = \"c\"\norigin = \"paper\"\nrun = \"r\"\nmetric = \"cct_us\"\n";
        let outcome = outcomes(&format!("{head}{keys}")).remove(0);
        (outcome.ours, outcome.verdict)
    }

    #[test]
    fn a_value_is_a_statistic_over_seeds_within_a_tolerance() {
        use ClaimVerdict::{DoesNotHold, Holds};
        let of = "of = { policy = \"a\", bytes = \"2MB\" }\npublished = 20\n";
        assert_eq!(judged(&format!("{of}within = \"5 %\"")), ("21 us".to_owned(), Holds));
        assert_eq!(judged(&format!("{of}within = \"4 %\"")).1, DoesNotHold);
        let largest = format!("{of}seeds = \"largest\"\nwithin = \"10 %\"");
        assert_eq!(judged(&largest), ("22 us".to_owned(), Holds));
        assert_eq!(judged(&format!("{of}at_least = 18\nat_most = 20")).1, DoesNotHold);
        assert_eq!(judged(of).1, ClaimVerdict::CannotBeJudged);
    }

    #[test]
    fn comparisons_are_taken_over_open_axes() {
        let against = "of = { policy = \"a\" }\nagainst = { policy = \"b\" }\n";
        let below = "as = \"below\"\ntake = \"largest\"\npublished = 75\nwithin = \"0 %\"";
        let below = format!("{against}{below}");
        assert_eq!(judged(&below), ("75 %".to_owned(), ClaimVerdict::Holds));
        let ratio = format!("{against}take = \"smallest\"\nat_least = 0.3");
        assert_eq!(judged(&ratio), ("0.250 x".to_owned(), ClaimVerdict::DoesNotHold));
    }

    #[test]
    fn a_quantity_may_be_a_fraction_or_a_difference() {
        let of = "of = { policy = \"b\", bytes = \"2MB\" }\n";
        let share = format!("{of}per = 2\npublished = 21\nwithin = \"0 %\"");
        assert_eq!(judged(&share), ("21 us".to_owned(), ClaimVerdict::Holds));
        let more = format!("{of}against = {{ policy = \"a\" }}\nas = \"more\"\nat_least = 21.1");
        assert_eq!(judged(&more), ("21 us".to_owned(), ClaimVerdict::DoesNotHold));
    }

    #[test]
    fn steepening_is_measured_between_adjacent_slopes() {
        let along = "along = \"bytes\"\nfit = \"steepening\"\nat_least = 1.01\n";
        let of = |policy: &str| {
            let (ours, verdict) = judged(&format!("of = {{ policy = \"{policy}\" }}\n{along}"));
            (ours.parse(), verdict)
        };
        // 10.5, 21 and 42 us for 1, 2 and 4 MB are a straight line; 10.5, 42 and 168 us are not.
        assert_eq!(of("a"), (Ok(1.0), ClaimVerdict::DoesNotHold));
        assert_eq!(of("b"), (Ok(2.0), ClaimVerdict::Holds));
        let falling = [(1.0, 3.0), (2.0, 2.0), (3.0, 0.0)];
        let flat = [(1.0, 1.0), (2.0, 1.0), (3.0, 2.0)];
        assert_eq!([steepening(&falling), steepening(&flat)], [0.0, 0.0]);
        // Two points have a single slope, so there is no change of slope.
        let two = "order = [\"2MB\", \"4MB\"]";
        let verdict = judged(&format!("of = {{ policy = \"b\" }}\n{along}{two}")).1;
        assert_eq!(verdict, ClaimVerdict::NotAtThisScale);
    }

    #[test]
    fn a_run_that_never_completes_is_longer_than_any() {
        let never = "of = { policy = \"c\", bytes = \"1MB\" }\nat_least = 1e9";
        assert_eq!(judged(never), ("never".to_owned(), ClaimVerdict::Holds));
        let below = "of = { policy = \"a\", bytes = \"1MB\" }\nagainst = { policy = \"c\" }\n\
                     as = \"below\"\nat_least = 100";
        assert_eq!(judged(below), ("100 %".to_owned(), ClaimVerdict::Holds));
    }

    #[test]
    fn fits_find_exponents_and_extremes_along_an_axis() {
        let along = |fit: &str, policy: &str, published: &str| {
            judged(&format!(
                "of = {{ policy = \"{policy}\" }}\nalong = \"bytes\"\nfit = \"{fit}\"\n\
                 published = {published}\nwithin = \"1 %\""
            ))
        };
        assert_eq!(along("exponent", "a", "1"), ("1.000".to_owned(), ClaimVerdict::Holds));
        assert_eq!(along("exponent", "b", "2").1, ClaimVerdict::Holds);
        assert_eq!(along("least", "a", "\"1MB\"").1, ClaimVerdict::Holds);
        assert_eq!(along("largest", "a", "\"1MB\"").1, ClaimVerdict::DoesNotHold);
    }

    #[test]
    fn an_order_names_the_first_two_that_do_not_ascend() {
        let order = |bytes: &str, order: &str| {
            judged(&format!(
                "of = {{ bytes = \"{bytes}\" }}\nalong = \"policy\"\norder = {order}\n\
                 slack = \"1 %\""
            ))
        };
        let holds = ("as claimed".to_owned(), ClaimVerdict::Holds);
        assert_eq!(order("4MB", "[\"a\", \"b\", \"c\"]"), holds);
        assert_eq!(order("1MB", "[\"b\", \"a\"]"), holds);
        let fails = ("b 42 > a 21".to_owned(), ClaimVerdict::DoesNotHold);
        assert_eq!(order("2MB", "[\"b\", \"a\"]"), fails);
    }

    #[test]
    fn published_numbers_are_printed_as_they_are_typed() {
        let head =
            "[[claim]]\ntext = \"c\"\norigin = \"paper\"\nrun = \"r\"\nmetric = \"cct_us\"\n";
        let of = "of = { policy = \"a\" }\n";
        let cells = |published: &str| {
            format!("{head}{of}cells = [{{ bytes = \"2MB\", published = {published} }}]\n")
        };
        let alone = |published: &str| {
            format!("{head}of = {{ policy = \"a\", bytes = \"2MB\" }}\npublished = {published}\n")
        };
        for (typed, printed) in
            [("2455", "2455 us"), ("55.0", "55.0 us"), ("\"about 9\"", "about 9")]
        {
            for claim in [cells(typed), alone(typed)] {
                assert_eq!(outcomes(&claim)[0].published, printed, "{claim}");
            }
        }
    }

    #[test]
    fn numbers_have_four_digits() {
        let shown = [0.25, 4.56789, 10.0, 53.4123, 173.25, 1_234.5].map(number);
        assert_eq!(shown, ["0.250", "4.568", "10", "53.41", "173.2", "1234"]);
        assert_eq!(number(f64::INFINITY), "never");
    }
}
