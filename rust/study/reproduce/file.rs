//! The file of a study as it is typed, before names are resolved.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use super::outcome::{Origin, Target};
use super::schema;

/// Content of a study's file.
#[derive(Debug, Clone, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StudyFile {
    /// One line: what the study shows; empty for a sweep.
    #[serde(default)]
    pub title: String,
    /// The publication, with its version; empty for a sweep.
    #[serde(default)]
    pub work: String,
    /// The setting, and how it differs from that of the publication.
    #[serde(default)]
    pub about: String,
    /// Findings, in a sentence or two each.
    #[serde(default)]
    pub learned: Vec<String>,
    /// Sections of a scenario that all runs share.
    #[serde(default)]
    #[schemars(schema_with = "schema::sections")]
    pub scenario: Table,
    /// Groups of runs.
    pub run: Vec<RunSection>,
    /// Claims about the runs.
    #[serde(default)]
    pub claim: Vec<ClaimSection>,
    /// Tables of the runs' results.
    #[serde(default)]
    pub table: Vec<TableSection>,
    /// Time series of recorded quantities.
    #[serde(default)]
    pub series: Vec<SeriesSection>,
    /// Settings that `reproduce --why` tries, in addition to the built-in ones.
    #[serde(default)]
    pub why: Vec<WhySection>,
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
    /// Axes: keys and their values.
    #[serde(default)]
    #[schemars(schema_with = "schema::axes")]
    pub over: Table,
    /// Keys whose values vary together: the first values together, the second values together.
    #[serde(default)]
    #[schemars(schema_with = "schema::axes")]
    pub zip: Table,
    /// The number of seeds, from the scenario's.
    #[serde(default = "one")]
    pub seeds: u32,
    /// Rate at which flows send.
    #[serde(default)]
    pub rate: FlowRate,
    /// Changes at the scale `quick`.
    #[serde(default)]
    pub quick: QuickSection,
}

fn one() -> u32 {
    1
}

/// Rate at which the flows of a run send.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FlowRate {
    /// The rate of the scenario.
    #[default]
    Scenario,
    /// The maximum rate that even splitting over the working links can carry, under each seed.
    RhoMax,
}

/// Reductions of a group of runs at the scale `quick`.
#[derive(Debug, Clone, Default, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct QuickSection {
    /// Keys of a scenario, in addition to the group's.
    #[serde(default)]
    #[schemars(schema_with = "schema::keys")]
    pub set: Table,
    /// Values of some axes, by label, instead of all values.
    #[serde(default)]
    #[schemars(schema_with = "schema::labels")]
    pub over: Table,
    /// Number of seeds, instead of the group's.
    pub seeds: Option<u32>,
    /// Whether the group is skipped.
    #[serde(default)]
    pub skip: bool,
}

/// A claim, or several with the same text and different cells.
#[derive(Debug, Clone, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ClaimSection {
    /// Text of the claim.
    pub text: String,
    /// Source of the claimed value.
    pub origin: Origin,
    /// How closely our value can be expected to agree.
    pub target: Option<Target>,
    /// Place in the source: a section, a figure.
    #[serde(default)]
    pub source: String,
    /// Group of runs that the claim is about.
    pub run: String,
    /// Measured quantity.
    pub metric: String,
    /// Divisor of the quantity, such as the number of repetitions in a run.
    pub per: Option<f64>,
    /// Selected values of axes, by label.
    #[serde(default)]
    #[schemars(schema_with = "schema::keys")]
    pub of: Table,
    /// Values of axes that select the quantity to compare with.
    #[serde(default)]
    #[schemars(schema_with = "schema::keys")]
    pub against: Option<Table>,
    /// Method of comparison; a ratio by default.
    #[serde(rename = "as")]
    pub comparison: Option<Comparison>,
    /// Axis of `fit` or `order`.
    pub along: Option<String>,
    /// Property that is fitted along that axis.
    pub fit: Option<Fit>,
    /// Values of that axis in order of increasing quantity. With `fit`, the values it covers.
    #[serde(default)]
    #[schemars(schema_with = "schema::values")]
    pub order: Option<Vec<Value>>,
    /// Tolerance by which neighbours in `order` may be reversed.
    pub slack: Option<String>,
    /// Statistic over the values of all other axes.
    pub take: Option<Take>,
    /// Statistic over the seeds.
    #[serde(default)]
    pub seeds: SeedStatistic,
    #[serde(flatten)]
    pub expected: Expected,
    /// Claims that differ in their values of axes and in their expected values.
    #[serde(default)]
    #[schemars(schema_with = "schema::cells")]
    pub cells: Vec<Table>,
    /// Scale at which the claim is judged.
    #[serde(default)]
    pub scale: JudgedAt,
}

/// Expected value of a claim's quantity.
#[derive(Debug, Clone, Default, JsonSchema)]
pub(super) struct Expected {
    /// Value in the source: a number, or words.
    #[serde(default)]
    #[schemars(schema_with = "schema::number_or_words")]
    pub published: Option<Value>,
    /// Maximum relative deviation from it.
    pub within: Option<String>,
    /// Minimum value.
    pub at_least: Option<f64>,
    /// Maximum value.
    pub at_most: Option<f64>,
    /// Reason why the claim does not hold or cannot be judged.
    pub why: Option<String>,
}

/// A table of a quantity over two axes.
#[derive(Debug, Clone, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TableSection {
    pub title: String,
    pub run: String,
    pub metric: String,
    /// Axis whose values are the rows.
    pub rows: String,
    /// Axis whose values are the columns.
    pub columns: Option<String>,
    /// Selected values of other axes.
    #[serde(default)]
    #[schemars(schema_with = "schema::keys")]
    pub of: Table,
    #[serde(default)]
    pub seeds: SeedStatistic,
}

/// Settings that may turn the verdict of a claim that does not hold.
#[derive(Debug, Clone, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WhySection {
    /// Keys of a scenario with their values.
    #[schemars(schema_with = "schema::keys")]
    pub set: Table,
    /// Name in the results; the keys and their values by default.
    #[serde(default)]
    pub label: String,
}

/// A recorded quantity over time.
#[derive(Debug, Clone, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SeriesSection {
    pub title: String,
    pub run: String,
    /// `record.` followed by the quantity.
    pub metric: String,
    /// Axis whose values are the columns.
    pub columns: String,
    /// Selected values of other axes.
    #[serde(default)]
    #[schemars(schema_with = "schema::keys")]
    pub of: Table,
    /// Maximum number of rows; adjacent windows share a row.
    #[serde(default = "sixteen")]
    pub rows: usize,
}

fn sixteen() -> usize {
    16
}

/// Comparison of a quantity with that of `against`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Comparison {
    /// Ratio of the two.
    #[default]
    Ratio,
    /// Percentage by which it is below.
    Below,
    /// Percentage by which it is above.
    Above,
    /// Difference in its own unit.
    More,
}

/// Property that is fitted along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Fit {
    /// Exponent of the least-squares power law.
    Exponent,
    /// Value of the axis with the smallest quantity.
    Least,
    /// Value of the axis with the largest quantity.
    Largest,
    /// Factor by which the curve gets steeper from point to point: the smallest quotient of
    /// adjacent slopes. It is 1 for a straight line and greater for a convex curve.
    Steepening,
}

/// Statistic over several values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Take {
    Largest,
    Smallest,
    Mean,
}

/// Statistic over the values of several seeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SeedStatistic {
    #[default]
    Mean,
    Median,
    Largest,
    Smallest,
}

/// Scales at which a claim is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum JudgedAt {
    #[default]
    Any,
    Paper,
}
