//! The file of a study: what is typed, before names are looked up.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use super::outcome::{Origin, Target};
use super::schema;

/// The content of a study's file.
#[derive(Debug, Clone, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StudyFile {
    /// One line: what the study shows; empty of a sweep.
    #[serde(default)]
    pub title: String,
    /// The publication, with its version; empty of a sweep.
    #[serde(default)]
    pub work: String,
    /// The setting, and how it differs from the publication's.
    #[serde(default)]
    pub about: String,
    /// What was learned; a sentence or two each.
    #[serde(default)]
    pub learned: Vec<String>,
    /// The sections of a scenario that all runs share.
    #[serde(default)]
    #[schemars(schema_with = "schema::sections")]
    pub scenario: Table,
    /// Groups of runs.
    pub run: Vec<RunSection>,
    /// Claims about them.
    #[serde(default)]
    pub claim: Vec<ClaimSection>,
    /// Tables of their results.
    #[serde(default)]
    pub table: Vec<TableSection>,
    /// Courses of their recorded quantities.
    #[serde(default)]
    pub series: Vec<SeriesSection>,
}

/// A group of runs: every combination of the values of its axes, under several seeds.
#[derive(Debug, Clone, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RunSection {
    pub name: String,
    /// Keys of a scenario (`transport.ack_every`) or sections, in addition to the shared ones.
    #[serde(default)]
    #[schemars(schema_with = "schema::keys")]
    pub set: Table,
    /// The axes: keys and their values.
    #[serde(default)]
    #[schemars(schema_with = "schema::axes")]
    pub over: Table,
    /// Keys whose values vary together, the first with the first, the second with the second.
    #[serde(default)]
    #[schemars(schema_with = "schema::axes")]
    pub zip: Table,
    /// The number of seeds, from the scenario's.
    #[serde(default = "one")]
    pub seeds: u32,
    /// The rate at which flows send.
    #[serde(default)]
    pub rate: FlowRate,
    /// What differs at the scale `quick`.
    #[serde(default)]
    pub quick: QuickSection,
}

fn one() -> u32 {
    1
}

/// The rate at which the flows of a run send.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FlowRate {
    /// As the scenario says.
    #[default]
    Scenario,
    /// The largest that even splitting over the links that are up can carry, under each seed.
    RhoMax,
}

/// How a group of runs is smaller at the scale `quick`.
#[derive(Debug, Clone, Default, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct QuickSection {
    /// Keys of a scenario, in addition to the group's.
    #[serde(default)]
    #[schemars(schema_with = "schema::keys")]
    pub set: Table,
    /// The values of some axes, by label, in place of all.
    #[serde(default)]
    #[schemars(schema_with = "schema::labels")]
    pub over: Table,
    /// The number of seeds, in place of the group's.
    pub seeds: Option<u32>,
    /// Whether the group is left out.
    #[serde(default)]
    pub skip: bool,
}

/// A claim, or several with the same text that differ in their cells.
#[derive(Debug, Clone, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ClaimSection {
    /// What is claimed.
    pub text: String,
    /// Who says so.
    pub origin: Origin,
    /// What may be expected of our value.
    pub target: Option<Target>,
    /// Where: a section, a figure.
    #[serde(default)]
    pub source: String,
    /// The group of runs that it is about.
    pub run: String,
    /// The measured quantity.
    pub metric: String,
    /// What the quantity is divided by: of a run that repeats something, how often.
    pub per: Option<f64>,
    /// The chosen values of axes, by label.
    #[serde(default)]
    #[schemars(schema_with = "schema::keys")]
    pub of: Table,
    /// The values of axes of what it is compared with.
    #[serde(default)]
    #[schemars(schema_with = "schema::keys")]
    pub against: Option<Table>,
    /// How it is compared; a ratio by default.
    #[serde(rename = "as")]
    pub comparison: Option<Comparison>,
    /// The axis of `fit` or `order`.
    pub along: Option<String>,
    /// What is found along that axis.
    pub fit: Option<Fit>,
    /// Values of that axis, from the least quantity to the largest; with `fit`, those it is over.
    #[serde(default)]
    #[schemars(schema_with = "schema::values")]
    pub order: Option<Vec<Value>>,
    /// By how much neighbours of `order` may be the wrong way round.
    pub slack: Option<String>,
    /// What is taken of the values of all other axes.
    pub take: Option<Take>,
    /// What is taken of the seeds.
    #[serde(default)]
    pub seeds: SeedStatistic,
    #[serde(flatten)]
    pub expected: Expected,
    /// Claims that differ in their values of axes and in what is expected.
    #[serde(default)]
    #[schemars(schema_with = "schema::cells")]
    pub cells: Vec<Table>,
    /// The scale at which it is judged.
    #[serde(default)]
    pub scale: JudgedAt,
}

/// What a claim expects of its quantity.
#[derive(Debug, Clone, Default, JsonSchema)]
pub(super) struct Expected {
    /// The value that the source has: a number, or words.
    #[serde(default)]
    #[schemars(schema_with = "schema::number_or_words")]
    pub published: Option<Value>,
    /// The largest relative deviation from it.
    pub within: Option<String>,
    /// The least value.
    pub at_least: Option<f64>,
    /// The largest value.
    pub at_most: Option<f64>,
    /// Why it does not hold, or cannot be judged.
    pub why: Option<String>,
}

/// A table of a quantity over two axes.
#[derive(Debug, Clone, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TableSection {
    pub title: String,
    pub run: String,
    pub metric: String,
    /// The axis whose values are the rows.
    pub rows: String,
    /// The axis whose values are the columns.
    pub columns: Option<String>,
    /// The chosen values of other axes.
    #[serde(default)]
    #[schemars(schema_with = "schema::keys")]
    pub of: Table,
    #[serde(default)]
    pub seeds: SeedStatistic,
}

/// A recorded quantity over time.
#[derive(Debug, Clone, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SeriesSection {
    pub title: String,
    pub run: String,
    /// `record.` and the quantity.
    pub metric: String,
    /// The axis whose values are the columns.
    pub columns: String,
    /// The chosen values of other axes.
    #[serde(default)]
    #[schemars(schema_with = "schema::keys")]
    pub of: Table,
    /// The most rows; neighbouring windows have one row.
    #[serde(default = "sixteen")]
    pub rows: usize,
}

fn sixteen() -> usize {
    16
}

/// How a quantity is compared with that of `against`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Comparison {
    /// Their ratio.
    #[default]
    Ratio,
    /// By how many per cent it is below.
    Below,
    /// By how many per cent it is above.
    Above,
    /// By how much it is more, in its own unit.
    More,
}

/// What is found along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Fit {
    /// The exponent of the power law with the least squares.
    Exponent,
    /// The value of the axis with the least quantity.
    Least,
    /// The value of the axis with the largest quantity.
    Largest,
    /// How much steeper the curve gets from point to point: the least quotient of neighbouring
    /// slopes, 1 of a straight line, more of a convex one.
    Steepening,
}

/// What is taken of several values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Take {
    Largest,
    Smallest,
    Mean,
}

/// What is taken of the values of several seeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SeedStatistic {
    #[default]
    Mean,
    Median,
    Largest,
    Smallest,
}

/// The scales at which a claim is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum JudgedAt {
    #[default]
    Any,
    Paper,
}
