//! Groups of runs: axes, their cases, and the scenario of each combination.

pub(super) mod clashes;

use std::collections::BTreeSet;

use toml::{Table, Value};

use super::Scale;
use super::alternative::Alternative;
use super::error::Rejection;
use super::file::{FlowRate, RunSection};
use super::range;
use super::settings::{apply, set};

/// Expected values of an axis, for errors.
const EXPECTED: &str =
    "expected a list of values, or a range with `from`, `to`, and `step` or `times`";

/// Maximum number of simulations in a group.
const MAX_RUNS: usize = 100_000;

/// A group of runs: every combination of the cases of its axes, under several seeds.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    pub name: String,
    pub axes: Vec<Axis>,
    pub seeds: u32,
    /// Rate at which flows send.
    pub rate: FlowRate,
    /// Index of its section.
    pub(crate) index: usize,
    pub(super) scale: Scale,
    /// Number of trailing axes that vary together.
    pub(super) zipped: usize,
    /// Whether the group runs at this scale.
    is_run: bool,
    /// Scenario that all its runs share.
    base: Table,
    /// Settings that replace those of the study.
    alternative: Option<Alternative>,
}

/// A parameter that varies from run to run.
#[derive(Debug, Clone)]
pub(crate) struct Axis {
    pub key: String,
    /// Cases that run at this scale.
    pub cases: Vec<Case>,
    /// Labels of all cases, including those that do not run at this scale.
    known: Vec<String>,
}

/// A value of an axis.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub label: String,
    /// Keys that the case sets, with their values.
    set: Vec<(String, Value)>,
}

/// A combination: the index of a case for each axis.
pub(crate) type Combination = Vec<usize>;

impl Axis {
    fn new(key: &str, values: &Value) -> Result<Self, Rejection> {
        let axis = Self::with_repeats(key, values)?;
        let known = &axis.known;
        let twice = (1..known.len()).find(|&index| known[..index].contains(&known[index]));
        match twice {
            Some(index) => {
                let reason = format!("two values have the label '{}'", known[index]);
                Err(Rejection::new(item(key, values, index), reason))
            }
            None => Ok(axis),
        }
    }

    /// Creates an axis that varies together with others. Its values may repeat.
    fn with_repeats(key: &str, values: &Value) -> Result<Self, Rejection> {
        let range = values.as_table().map(|range| range::values(key, range)).transpose()?;
        let values = range.as_ref().or(values.as_array()).filter(|values| !values.is_empty());
        let values = values.ok_or_else(|| Rejection::new(key, EXPECTED))?;
        let case = |(index, value)| {
            Case::new(key, value)
                .map_err(|reason| Rejection::new(format!("{key}[{index}]"), reason))
        };
        let cases = values.iter().enumerate().map(case).collect::<Result<Vec<Case>, _>>()?;
        let known: Vec<String> = cases.iter().map(|case| case.label.clone()).collect();
        Ok(Self { key: key.to_owned(), cases, known })
    }

    /// Returns the name in claims and tables: the last part of the key.
    pub(super) fn name(&self) -> &str {
        self.key.rsplit('.').next().unwrap_or(&self.key)
    }

    /// Returns every key that one of its cases sets.
    fn paths(&self) -> BTreeSet<String> {
        let mut paths = BTreeSet::new();
        let set = self.cases.iter().flat_map(|case| &case.set);
        set.for_each(|(key, value)| clashes::leaves(key, value, &mut paths));
        paths
    }

    pub(super) fn has_name(&self, name: &str) -> bool {
        self.key == name || self.name() == name
    }

    /// Returns the index of the case with that label; `None` if it does not run at this scale.
    pub(super) fn case(&self, label: &str) -> Result<Option<usize>, String> {
        if !self.known.iter().any(|known| known == label) {
            let (name, known) = (self.name(), self.known.join(", "));
            return Err(format!("{name}: no run has the value '{label}'; expected one of {known}"));
        }
        Ok(self.cases.iter().position(|case| case.label == label))
    }

    /// Keeps the cases with these labels.
    fn restrict(&mut self, labels: &Value) -> Result<(), Rejection> {
        let labels = labels.as_array();
        let labels = labels.ok_or_else(|| Rejection::new("", "expected a list of its values"))?;
        let mut kept = Vec::new();
        for (index, label) in labels.iter().enumerate() {
            let found = self.case(&label_of(label).unwrap_or_else(|| label.to_string()));
            let found = found.map_err(|reason| Rejection::new("", reason));
            let found = found.map_err(|it| Rejection { key: format!("[{index}]"), ..it })?;
            kept.extend(found.map(|case| self.cases[case].clone()));
        }
        self.cases = kept;
        Ok(())
    }

    /// Returns the index of a case in the list of values, before the scale removed any.
    pub(super) fn index_in_list(&self, case: usize) -> Option<usize> {
        self.known.iter().position(|label| *label == self.cases[case].label)
    }
}

/// Returns the key of a value of an axis: the item of a list, or the whole range.
fn item(key: &str, values: &Value, index: usize) -> String {
    if values.is_array() { format!("{key}[{index}]") } else { key.to_owned() }
}

impl Case {
    fn new(key: &str, value: &Value) -> Result<Self, String> {
        if let Value::Table(table) = value {
            return Self::labelled(table);
        }
        let label = label_of(value).ok_or_else(|| {
            format!("{value}: expected a text, a number, or a table with `label` and `set`")
        })?;
        let key = if key == "policy" { "policy.name" } else { key };
        Ok(Self { label, set: vec![(key.to_owned(), value.clone())] })
    }

    /// Returns the keys that the case sets.
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.set.iter().map(|(key, _)| key.as_str())
    }

    fn labelled(table: &Table) -> Result<Self, String> {
        let expected = || "expected a table with a text `label` and a table `set`".to_owned();
        if let Some(other) = table.keys().find(|it| !matches!(it.as_str(), "label" | "set")) {
            return Err(format!("{}, not `{other}`", expected()));
        }
        let label = table.get("label").and_then(Value::as_str).ok_or_else(expected)?;
        let set = match table.get("set") {
            Some(set) => set.as_table().ok_or_else(expected)?.clone(),
            None => Table::new(),
        };
        Ok(Self { label: label.to_owned(), set: set.into_iter().collect() })
    }
}

/// Returns the label of a plain value.
pub(super) fn label_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Boolean(yes) => Some(yes.to_string()),
        _ => None,
    }
}

impl Group {
    /// Resolves the section `[[run]]` with that index, at a scale.
    pub(super) fn new(
        shared: &Table,
        section: &RunSection,
        index: usize,
        scale: Scale,
    ) -> Result<Self, Rejection> {
        let mut base = shared.clone();
        apply(&mut base, &section.set).map_err(|rejection| rejection.below("set"))?;
        let (mut axes, zipped) = (axes(section)?, section.zip.len());
        let quick = &section.quick;
        for (key, labels) in &quick.over {
            let in_quick = |rejection: Rejection| rejection.below("quick.over");
            let crossed = axes.len() - zipped;
            let axis = axes[..crossed].iter_mut().find(|axis| axis.has_name(key));
            let axis =
                axis.ok_or_else(|| in_quick(Rejection::new(key, "`over` has no such axis")))?;
            let mut restricted = axis.clone();
            let kept = restricted.restrict(labels);
            kept.map_err(|it| in_quick(Rejection { key: format!("{key}{}", it.key), ..it }))?;
            if scale == Scale::Quick {
                *axis = restricted;
            }
        }
        let mut seeds = section.seeds;
        if scale == Scale::Quick {
            apply(&mut base, &quick.set).map_err(|rejection| rejection.below("quick.set"))?;
            seeds = quick.seeds.unwrap_or(seeds);
        }
        let over_seeds = axes.iter().position(|axis| seeds > 1 && axis.paths().contains("seed"));
        if let Some(index) = over_seeds {
            let reason = format!(
                "it sets the seed, which seeds = {seeds} also sets: runs would repeat; use one \
                 of them"
            );
            let list = if index < axes.len() - zipped { "over" } else { "zip" };
            return Err(Rejection::new(format!("{list}.{}", axes[index].key), reason));
        }
        let runs = runs(&axes, zipped, seeds);
        if !(1..=MAX_RUNS).contains(&runs) {
            let reason = format!("{runs} simulations; expected from 1 to {MAX_RUNS}");
            let is_quick = scale == Scale::Quick && quick.seeds.is_some();
            return Err(Rejection::new(if is_quick { "quick.seeds" } else { "seeds" }, reason));
        }
        let is_run = scale == Scale::Paper || !quick.skip;
        let (name, rate) = (section.name.clone(), section.rate);
        let alternative = None;
        Ok(Self { name, axes, seeds, rate, index, scale, zipped, is_run, base, alternative })
    }

    /// Returns the group with settings that replace those of the study.
    pub(super) fn with_alternative(&self, alternative: &Alternative) -> Self {
        Self { alternative: Some(alternative.clone()), ..self.clone() }
    }

    /// Returns true if an axis sets a key that these keys change.
    pub(super) fn varies(&self, keys: &Table) -> bool {
        clashes::are_varied(&self.axes, keys)
    }

    /// Returns the number of simulations.
    pub(super) fn runs(&self) -> usize {
        if self.is_run { runs(&self.axes, self.zipped, self.seeds) } else { 0 }
    }

    /// Returns true if several keys vary together.
    pub(super) fn is_zipped(&self) -> bool {
        self.zipped > 0
    }

    /// Returns all combinations. The last axis varies fastest; axes that vary together come last.
    pub(crate) fn combinations(&self) -> Vec<Combination> {
        if !self.is_run {
            return Vec::new();
        }
        let mut all = vec![Vec::new()];
        let crossed = self.axes.len() - self.zipped;
        for axis in &self.axes[..crossed] {
            let longer = |head: &Combination| {
                let head = head.clone();
                (0..axis.cases.len()).map(move |case| [&head[..], &[case]].concat())
            };
            all = all.iter().flat_map(longer).collect();
        }
        let Some(together) = self.axes.get(crossed) else { return all };
        let longer = |head: &Combination| {
            let head = head.clone();
            (0..together.cases.len())
                .map(move |case| [&head[..], &vec![case; self.zipped]].concat())
        };
        all.iter().flat_map(longer).collect()
    }

    /// Returns the scenario of a combination.
    pub(super) fn scenario(&self, combination: &Combination) -> Result<Table, Rejection> {
        let mut scenario = self.base.clone();
        for (axis, &case) in self.axes.iter().zip(combination) {
            for (key, value) in &axis.cases[case].set {
                set(&mut scenario, key, value)?;
            }
        }
        if let Some(alternative) = &self.alternative {
            alternative.apply(&mut scenario)?;
        }
        Ok(scenario)
    }

    /// Returns the labels of a combination: `policy ecmp, bytes 4MB`.
    pub(crate) fn label(&self, combination: &Combination) -> String {
        let named =
            |(axis, &case): (&Axis, &usize)| format!("{} {}", axis.name(), axis.cases[case].label);
        let named = self.axes.iter().zip(combination).map(named);
        // The label distinguishes the runs of an alternative in the log of finished runs.
        let alternative = self.alternative.iter().map(|it| it.label.clone());
        named.chain(alternative).collect::<Vec<_>>().join(", ")
    }
}

fn runs(axes: &[Axis], zipped: usize, seeds: u32) -> usize {
    let count = |product: usize, axis: &Axis| product.saturating_mul(axis.cases.len());
    // Axes that vary together count as one.
    let counted = (axes.len() - zipped + 1).min(axes.len());
    axes[..counted].iter().fold(seeds as usize, count)
}

/// Returns the axes of a section; those that vary together come last.
fn axes(section: &RunSection) -> Result<Vec<Axis>, Rejection> {
    let axes = section.over.iter().map(|(key, values)| Axis::new(key, values));
    let axes = axes.collect::<Result<Vec<Axis>, Rejection>>();
    let mut axes = axes.map_err(|rejection| rejection.below("over"))?;
    axes.extend(zipped(&section.zip).map_err(|rejection| rejection.below("zip"))?);
    clashes::reject_shared_keys(&axes, axes.len() - section.zip.len())?;
    clashes::reject_unused(section, &axes)?;
    Ok(axes)
}

/// Returns the axes that vary together, which must have the same number of values.
fn zipped(keys: &Table) -> Result<Vec<Axis>, Rejection> {
    let axes = keys.iter().map(|(key, values)| Axis::with_repeats(key, values));
    let axes = axes.collect::<Result<Vec<Axis>, _>>()?;
    let length = |axis: &Axis| axis.cases.len();
    match axes.iter().find(|axis| length(axis) != length(&axes[0])) {
        None => Ok(axes),
        Some(other) => {
            let reason = format!(
                "it has {} values and zip.{} has {}; expected the same number",
                length(other),
                axes[0].key,
                length(&axes[0])
            );
            Err(Rejection::new(&other.key, reason))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::file::StudyFile;
    use super::*;
    use crate::scenario::{Source, Subject};

    fn section(text: &str) -> RunSection {
        let text = format!("[[run]]\nname = \"a\"\n{text}");
        let source = Source::of(Subject::Study, text, "test.toml".to_owned()).unwrap();
        StudyFile::read(&source).unwrap().run.remove(0)
    }

    fn group(text: &str, scale: Scale) -> Group {
        let shared = "[policy]\nname = \"spray\"\n[[job]]\nbytes = \"1MB\"".parse().unwrap();
        Group::new(&shared, &section(text), 0, scale).unwrap()
    }

    const SECTION: &str = r#"
        seeds = 3
        set = { "transport.ack_every" = 4, topology = { kind = "fat-tree" } }
        [run.over]
        policy = ["ecmp", { label = "trim", set = { "switch.trim" = true } }]
        "job.0.bytes" = ["1MB", "2MB", "4MB"]
        [run.quick]
        seeds = 1
        over = { bytes = ["4MB"] }
    "#;

    #[test]
    fn combinations_set_keys_of_sections_and_of_lists() {
        let group = group(SECTION, Scale::Paper);
        assert_eq!(group.runs(), 18);
        let all = group.combinations();
        assert_eq!((all.len(), &all[1]), (6, &vec![0, 1]));
        let scenario = group.scenario(&all[5]).unwrap();
        let expected = r#"policy = { name = "spray" }
            job = [{ bytes = "4MB" }]
            transport = { ack_every = 4 }
            topology = { kind = "fat-tree" }
            switch = { trim = true }"#;
        assert_eq!(scenario, expected.parse().unwrap());
        assert_eq!(group.label(&all[5]), "policy trim, bytes 4MB");
        let first = group.scenario(&all[0]).unwrap();
        assert_eq!(first["policy"]["name"].as_str(), Some("ecmp"));
    }

    #[test]
    fn the_quick_scale_runs_fewer_cases_and_knows_the_others() {
        let group = group(SECTION, Scale::Quick);
        assert_eq!((group.runs(), group.axes[1].cases.len()), (2, 1));
        assert_eq!(group.axes[1].case("1MB"), Ok(None));
        assert_eq!(group.axes[1].case("4MB"), Ok(Some(0)));
        let error = group.axes[1].case("3MB").unwrap_err();
        assert_eq!(error, "bytes: no run has the value '3MB'; expected one of 1MB, 2MB, 4MB");
    }

    #[test]
    fn zipped_keys_vary_together_and_faster_than_the_others() {
        let group = group(
            r#"
                seeds = 2
                [run.over]
                policy = ["ecmp", "spray"]
                [run.zip]
                "topology.leaves" = { from = 4, to = 16, times = 2 }
                "topology.spines" = [4, 4, 8]
            "#,
            Scale::Paper,
        );
        let labels: Vec<String> = group.combinations().iter().map(|it| group.label(it)).collect();
        assert_eq!((group.runs(), labels.len()), (12, 6));
        assert_eq!(labels[1], "policy ecmp, leaves 8, spines 4");
        assert_eq!(labels[5], "policy spray, leaves 16, spines 8");
        let scenario = group.scenario(&group.combinations()[5]).unwrap();
        assert_eq!(scenario["topology"]["leaves"].as_integer(), Some(16));
    }

    #[test]
    fn errors_of_axes_say_what_is_expected() {
        let error = |text: &str| {
            let rejection = Group::new(&Table::new(), &section(text), 0, Scale::Quick).unwrap_err();
            format!("{}: {}", rejection.key, rejection.reason)
        };
        assert!(error("over.policy = []").starts_with("over.policy: expected a list of values"));
        let lengths = "zip.b: it has 2 values and zip.a has 1; expected the same number";
        assert_eq!(error("zip.a = [1]\nzip.b = [1, 2]"), lengths);
        assert!(
            error("over.a = [1]\nzip.a = [1]").starts_with("zip.a: it sets a, which a also sets")
        );
        assert!(error("zip.a = { from = 1 }").starts_with("zip.a: "));
        assert_eq!(error("over.a = [1, 1]"), "over.a[1]: two values have the label '1'");
        assert!(error("over.a = [{ name = 1 }]").contains("`label` and a table `set`, not `name`"));
        assert!(error("over.a = [[1]]").starts_with("over.a[0]: [1]: expected a text, a number"));
        assert!(error("seeds = 0").starts_with("seeds: 0 simulations"));
        let quick = error("over.a = [1]\nquick.over.b = [1]");
        assert_eq!(quick, "quick.over.b: `over` has no such axis");
        let value = "quick.over.a[0]: a: no run has the value '2'; expected one of 1";
        assert_eq!(error("over.a = [1]\nquick.over.a = [2]"), value);
    }
}
