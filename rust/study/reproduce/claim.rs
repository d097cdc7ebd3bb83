//! Claims: resolves their axes against the groups of runs, before anything runs.

use std::collections::BTreeSet;

use toml::{Table, Value};

use super::Scale;
use super::error::Rejection;
use super::file::{ClaimSection, Comparison, Expected, Fit, JudgedAt, SeedStatistic, Take};
use super::matrix::{Axis, Combination, Group, label_of};
use super::outcome::{Origin, Target};
use super::reading::Reading;

/// Selected case of each axis of a group; `None` for any case.
pub(super) type Selection = Vec<Option<usize>>;

/// A claim whose names are resolved, so that it can be measured.
#[derive(Debug, Clone)]
pub(super) struct Claim {
    pub text: String,
    /// Values that distinguish it from others of the same section.
    pub cell: String,
    pub origin: Origin,
    pub target: Option<Target>,
    pub source: String,
    pub group: usize,
    pub metric: Reading,
    /// Divisor of the quantity.
    pub per: f64,
    /// Unit of the claim's number.
    pub unit: &'static str,
    pub seeds: SeedStatistic,
    pub expected: Expected,
    pub take: Option<Take>,
    /// How the claim is measured; `None` if this scale does not have the runs.
    pub measure: Option<Measure>,
}

/// A measurement at each combination of the open axes.
#[derive(Debug, Clone)]
pub(super) struct Measure {
    /// Combinations of all axes, with the first case of the axis that is measured along.
    pub points: Vec<Combination>,
    pub kind: Kind,
}

/// Kind of a measurement.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    /// The quantity itself.
    Value,
    /// The quantity, compared with its value at the selected cases of axes.
    Against(Selection, Comparison),
    /// A fit along an axis, over these of its cases.
    Fit { axis: usize, cases: Vec<usize>, fit: Fit },
    /// The expected order of an axis's cases, with a relative tolerance.
    Order { axis: usize, cases: Vec<usize>, slack: f64 },
}

impl Measure {
    /// Returns the runs that it needs.
    pub(super) fn runs(&self) -> BTreeSet<Combination> {
        self.compared().into_iter().flatten().collect()
    }

    /// Returns the runs of each point, whose values are compared with each other.
    pub(super) fn compared(&self) -> Vec<Vec<Combination>> {
        let runs = |point: &Combination| match &self.kind {
            Kind::Value => vec![point.clone()],
            Kind::Against(other, _) => vec![point.clone(), moved(point, other)],
            Kind::Fit { axis, cases, .. } | Kind::Order { axis, cases, .. } => {
                let at = |&case: &usize| {
                    let mut point = point.clone();
                    point[*axis] = case;
                    point
                };
                cases.iter().map(at).collect()
            }
        };
        self.points.iter().map(runs).collect()
    }
}

/// Returns the combination with the selected cases of axes.
pub(super) fn moved(point: &Combination, to: &Selection) -> Combination {
    point.iter().zip(to).map(|(case, other)| other.unwrap_or(*case)).collect()
}

impl Claim {
    /// Resolves the claims of a section, one for each of its cells.
    pub(super) fn of_section(
        section: &ClaimSection,
        groups: &[Group],
        scale: Scale,
    ) -> Result<Vec<Self>, Rejection> {
        let index = group(groups, &section.run)?;
        let common = Common { section, index, group: &groups[index], scale };
        if section.cells.is_empty() {
            let expected = section.expected.clone();
            let cell = Cell { own: None, label: String::new(), of: section.of.clone(), expected };
            return Ok(vec![cell.claim(common)?]);
        }
        let cells = (0..section.cells.len()).map(|index| Cell::new(section, index)?.claim(common));
        cells.collect()
    }
}

/// Properties that the claims of a section share.
#[derive(Clone, Copy)]
struct Common<'a> {
    section: &'a ClaimSection,
    /// Index of the group of runs.
    index: usize,
    group: &'a Group,
    scale: Scale,
}

/// Properties of one claim among several in a section.
struct Cell<'a> {
    /// Keys and index of the cell, if the section has several.
    own: Option<(&'a Table, usize)>,
    label: String,
    of: Table,
    expected: Expected,
}

impl<'a> Cell<'a> {
    fn new(section: &'a ClaimSection, index: usize) -> Result<Self, Rejection> {
        let cell = &section.cells[index];
        let (mut of, mut expected) = (section.of.clone(), section.expected.clone());
        let mut labels = Vec::new();
        for (key, value) in cell {
            let reject = |expected: &str| {
                Rejection::new(format!("cells[{index}].{key}"), format!("{value}: {expected}"))
            };
            let number = || {
                let number = value.as_float().or_else(|| Some(value.as_integer()? as f64));
                number.ok_or_else(|| reject("expected a number"))
            };
            let text = || {
                let text = value.as_str().map(str::to_owned);
                text.ok_or_else(|| reject("expected a quoted string"))
            };
            match key.as_str() {
                "published" if value.is_str() => expected.published = Some(value.clone()),
                "published" => expected.published = number().map(|_| Some(value.clone()))?,
                "within" => expected.within = Some(text()?),
                "at_least" => expected.at_least = Some(number()?),
                "at_most" => expected.at_most = Some(number()?),
                "why" => expected.why = Some(text()?),
                _ => {
                    labels.extend(label_of(value));
                    of.insert(key.clone(), value.clone());
                }
            }
        }
        Ok(Self { own: Some((cell, index)), label: labels.join(", "), of, expected })
    }

    /// Returns the path of a key if the cell sets it.
    fn own_key(&self, name: &str) -> Option<String> {
        let (cell, index) = self.own?;
        cell.contains_key(name).then(|| format!("cells[{index}].{name}"))
    }

    fn claim(self, common: Common<'_>) -> Result<Claim, Rejection> {
        let Common { section, index, group, scale } = common;
        let expects = &self.expected;
        if let Some(within) = &expects.within {
            let key = self.own_key("within").unwrap_or_else(|| "within".to_owned());
            percent(within).map_err(|reason| Rejection::new(key, reason))?;
        }
        self.expect_numbers()?;
        reject_unused(section)?;
        let judged = expects.within.is_some() || expects.at_least.or(expects.at_most).is_some();
        if !judged && expects.published.is_none() && section.order.is_none() {
            let place = self.own.map_or_else(String::new, |(_, index)| format!("cells[{index}]"));
            let reason = "expected one of `published`, `at_least`, `at_most` and `order`";
            return Err(Rejection::new(place, reason));
        }
        let metric = Reading::named(&section.metric);
        let metric = metric.map_err(|reason| Rejection::new("metric", reason))?;
        if let Some(per) = section.per.filter(|per| !(per.is_finite() && *per > 0.0)) {
            return Err(Rejection::new("per", format!("{per}: expected a number above 0")));
        }
        let measure = self.measure(section, group)?;
        let is_judged = scale == Scale::Paper || section.scale == JudgedAt::Any;
        Ok(Claim {
            text: section.text.clone(),
            cell: self.label,
            origin: section.origin,
            target: section.target,
            source: section.source.clone(),
            group: index,
            unit: unit(section, &metric),
            metric,
            per: section.per.unwrap_or(1.0),
            seeds: section.seeds,
            expected: self.expected,
            take: section.take,
            measure: measure.filter(|measure| is_judged && !measure.points.is_empty()),
        })
    }

    /// Rejects expectations that cannot be compared with a number.
    fn expect_numbers(&self) -> Result<(), Rejection> {
        let Expected { published, within, at_least, at_most, .. } = &self.expected;
        let reject = |name: &str, reason: String| {
            Err(Rejection::new(self.own_key(name).unwrap_or_else(|| name.to_owned()), reason))
        };
        let number = published.as_ref().and_then(expected_number);
        for (name, number) in
            [("published", number), ("at_least", *at_least), ("at_most", *at_most)]
        {
            if let Some(number) = number.filter(|number| !number.is_finite()) {
                return reject(name, format!("{number}: expected a finite number"));
            }
        }
        if let Some(within) = within.as_ref().filter(|_| number.is_none()) {
            return reject("within", format!("'{within}': `within` needs a number in `published`"));
        }
        if let (Some(least), Some(most)) = (at_least, at_most)
            && least > most
        {
            return reject("at_most", format!("{most}: expected `at_least` = {least} or more"));
        }
        Ok(())
    }

    fn measure(&self, section: &ClaimSection, group: &Group) -> Result<Option<Measure>, Rejection> {
        let of =
            select(group, &self.of).map_err(|rejection| match self.own_key(&rejection.key) {
                Some(key) => Rejection { key, ..rejection },
                None => rejection.below("of"),
            })?;
        let (kind, along) = match kind(section, group)? {
            Some((kind, along)) => (kind, along),
            None => return Ok(None),
        };
        let Some(of) = of else { return Ok(None) };
        let axes: Vec<(usize, &Axis)> = group.axes.iter().enumerate().collect();
        let (mut open, mut compared) = (Vec::new(), Vec::new());
        for (index, axis) in &axes {
            let is_compared = matches!(&kind, Kind::Against(other, _) if other[*index].is_some());
            if of[*index].is_none() && along != Some(*index) {
                open.push(axis.name());
                compared.extend(is_compared.then_some(axis.name()));
            }
        }
        if let Some(name) = compared.first() {
            let reason = format!("`of` selects no {name} to compare with it");
            return Err(Rejection::new(format!("against.{name}"), reason));
        }
        if !open.is_empty() && section.take.is_none() {
            let open = open.join(", ");
            let reason = format!(
                "{open}: several values match; select one in `of`, or set `take` to 'largest', \
                 'smallest' or 'mean'"
            );
            return Err(Rejection::new("of", reason));
        }
        let fits = |point: &Combination| {
            axes.iter().all(|(index, _)| match of[*index] {
                Some(case) => point[*index] == case,
                None => along != Some(*index) || point[*index] == 0,
            })
        };
        let points = group.combinations().into_iter().filter(fits).collect();
        Ok(Some(Measure { points, kind }))
    }
}

/// Returns the kind of a section's measurement, and the axis that it is along. `None` if this scale
/// lacks the runs.
fn kind(section: &ClaimSection, group: &Group) -> Result<Option<(Kind, Option<usize>)>, Rejection> {
    let along = || {
        let name = section.along.as_deref();
        let name = name.ok_or("expected the axis of `fit` or `order`".to_owned());
        let axis = name.and_then(|name| axis(group, name));
        axis.map_err(|reason| Rejection::new("along", reason))
    };
    match (&section.against, section.fit, &section.order) {
        (None, None, None) if section.along.is_some() => {
            Err(Rejection::new("along", "`along` needs `fit` or `order`"))
        }
        (None, None, None) => Ok(Some((Kind::Value, None))),
        (Some(against), None, None) => {
            let other = select(group, against).map_err(|rejection| rejection.below("against"))?;
            let comparison = section.comparison.unwrap_or_default();
            Ok(other.map(|other| (Kind::Against(other, comparison), None)))
        }
        (None, Some(fit), order) => {
            let axis = along()?;
            let all = &group.axes[axis].cases;
            let cases = match order {
                Some(order) => listed(group, axis, order)?,
                None => (0..all.len()).collect(),
            };
            let mut chosen = cases.iter().map(|&case| &all[case].label);
            if let Some(label) = chosen.find(|label| magnitude(label).is_none()) {
                return Err(Rejection::new("along", format!("'{label}' is not a quantity")));
            }
            let least = if fit == Fit::Steepening { 3 } else { 2 };
            let is_run = cases.len() >= least;
            Ok(is_run.then_some((Kind::Fit { axis, cases, fit }, Some(axis))))
        }
        (None, None, Some(order)) => {
            let (axis, slack) = (along()?, slack(section)?);
            let cases = listed(group, axis, order)?;
            Ok((cases.len() > 1).then_some((Kind::Order { axis, cases, slack }, Some(axis))))
        }
        (Some(_), ..) => {
            Err(Rejection::new("against", "expected only one of `against`, `fit` and `order`"))
        }
    }
}

/// Rejects keys that have no effect on the verdict.
fn reject_unused(section: &ClaimSection) -> Result<(), Rejection> {
    let ClaimSection { comparison, against, slack, order, .. } = section;
    if comparison.is_some() && against.is_none() {
        return Err(Rejection::new("as", "`as` needs `against`, the value to compare with"));
    }
    let Some(order) = order else {
        return match slack {
            Some(_) => Err(Rejection::new("slack", "`slack` needs `order`")),
            None => Ok(()),
        };
    };
    if order.len() < 2 {
        return Err(Rejection::new("order", "expected two values or more"));
    }
    match (1..order.len()).find(|&index| order[..index].contains(&order[index])) {
        Some(twice) => {
            let reason = format!("{}: expected each value once", order[twice]);
            Err(Rejection::new(format!("order[{twice}]"), reason))
        }
        None => Ok(()),
    }
}

/// Returns the cases of an axis with these labels, without those that do not run at this scale.
fn listed(group: &Group, axis: usize, labels: &[Value]) -> Result<Vec<usize>, Rejection> {
    let case = |(index, label): (usize, &Value)| {
        let case = group.axes[axis].case(&label_of(label).unwrap_or_else(|| label.to_string()));
        case.map_err(|reason| Rejection::new(format!("order[{index}]"), reason))
    };
    let cases = labels.iter().enumerate().map(case);
    let cases = cases.collect::<Result<Vec<Option<usize>>, Rejection>>()?;
    Ok(cases.into_iter().flatten().collect())
}

/// Returns the unit of the number of a section's claims.
fn unit(section: &ClaimSection, metric: &Reading) -> &'static str {
    match (&section.against, section.comparison.unwrap_or_default()) {
        (Some(_), Comparison::Ratio) => "x",
        (Some(_), Comparison::Below | Comparison::Above) => "%",
        (Some(_), Comparison::More) => metric.unit,
        (None, _) if section.along.is_some() => "",
        (None, _) => metric.unit,
    }
}

fn slack(section: &ClaimSection) -> Result<f64, Rejection> {
    let slack = section.slack.as_deref().map_or(Ok(0.0), percent);
    slack.map_err(|reason| Rejection::new("slack", reason))
}

/// Rejects a section about a run with `zip`, whose axes cannot be selected one by one.
pub(super) fn reject_zipped(groups: &[Group], run: &str) -> Result<(), Rejection> {
    if groups[group(groups, run)?].is_zipped() {
        let reason = format!("'{run}' has `zip`; expected a run without it");
        return Err(Rejection::new("run", reason));
    }
    Ok(())
}

/// Returns the index of the group of runs that a section names.
pub(super) fn group(groups: &[Group], run: &str) -> Result<usize, Rejection> {
    groups.iter().position(|group| group.name == run).ok_or_else(|| {
        let known: Vec<&str> = groups.iter().map(|group| group.name.as_str()).collect();
        let reason = format!("no run has the name '{run}'; expected one of {}", known.join(", "));
        Rejection::new("run", reason)
    })
}

/// Returns the index of an axis.
pub(super) fn axis(group: &Group, name: &str) -> Result<usize, String> {
    let found = group.axes.iter().position(|axis| axis.has_name(name));
    found.ok_or_else(|| {
        let known: Vec<&str> = group.axes.iter().map(Axis::name).collect();
        let (run, known) = (&group.name, known.join(", "));
        format!("{name}: run '{run}' has no such axis; expected one of {known}")
    })
}

/// Returns the cases that a table selects; `None` if one of them does not run at this scale.
pub(super) fn select(group: &Group, chosen: &Table) -> Result<Option<Selection>, Rejection> {
    let mut selection = vec![None; group.axes.len()];
    let mut is_run = true;
    for (name, label) in chosen {
        let reject = |reason: String| Rejection::new(name, reason);
        let index = axis(group, name).map_err(reject)?;
        let label = label_of(label)
            .ok_or_else(|| reject(format!("{label}: expected the value of an axis")))?;
        selection[index] = group.axes[index].case(&label).map_err(reject)?;
        is_run &= selection[index].is_some();
    }
    Ok(is_run.then_some(selection))
}

/// Parses a fraction in percent: `"2 %"`.
pub(super) fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    let share = number.filter(|number| number.is_finite() && *number >= 0.0);
    share
        .map(|number| number / 100.0)
        .ok_or_else(|| format!("'{text}': expected per cent, as in '2 %'"))
}

/// Parses the quantity of a label: a number, a size, a time, a rate or a fraction.
pub(super) fn magnitude(label: &str) -> Option<f64> {
    use crate::units::{BitRate, Bytes, Fraction, Span};
    let number = label.parse::<f64>().ok().filter(|number| number.is_finite());
    number
        .or_else(|| Some(label.parse::<Bytes>().ok()?.get() as f64))
        .or_else(|| Some(label.parse::<Span>().ok()?.as_ns_f64()))
        .or_else(|| Some(label.parse::<BitRate>().ok()?.as_bps() as f64))
        .or_else(|| Some(label.parse::<Fraction>().ok()?.as_f64()))
}

/// Returns the number of an expected value: a number, or a quantity as text.
pub(super) fn expected_number(value: &Value) -> Option<f64> {
    let number = value.as_float().or_else(|| Some(value.as_integer()? as f64));
    number.or_else(|| magnitude(value.as_str()?))
}
