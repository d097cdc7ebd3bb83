//! Results of a study, as stored in `NAME.json` and shown in tables and pages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Results of a study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reproduction {
    /// Name of the study: the stem of its file's name.
    pub study: String,
    /// Title: what the study shows.
    pub title: String,
    /// The publication.
    pub work: String,
    /// The setting.
    pub about: String,
    /// The scale: `quick` or `paper`.
    pub scale: String,
    /// Version of this program.
    pub version: String,
    /// Number of simulations.
    pub runs: usize,
    /// Total wall time of all simulations, seconds, as if run one after the other.
    pub wall_s: f64,
    /// Peak memory of the process; `None` if the system does not report it.
    pub peak_rss_bytes: Option<u64>,
    /// The claims with their verdicts.
    pub claims: Vec<ClaimOutcome>,
    /// The tables of results.
    pub tables: Vec<ResultTable>,
    /// Findings of the study.
    pub learned: Vec<String>,
    /// Settings tried for claims that do not hold; `None` without `--why`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alternatives: Option<AlternativeResults>,
}

/// Settings tried, one at a time, for each claim that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AlternativeResults {
    /// Number of simulations.
    pub runs: usize,
    /// Claims that do not hold.
    pub claims: Vec<TriedClaim>,
}

/// A claim that does not hold, and the alternatives tried for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TriedClaim {
    /// Index among the claims of the study, from 0.
    pub claim: usize,
    /// The alternatives in the order of their list.
    pub tried: Vec<Trial>,
}

/// An alternative and the verdict under it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Trial {
    /// Keys with their values, or the label of the study.
    pub alternative: String,
    /// Verdict, or why the alternative was not run.
    pub result: TrialResult,
    /// Measured value with its unit; empty if it was not measured.
    pub ours: String,
    /// Deviation of the measured value; empty without two numbers.
    pub error: String,
    /// Error of a scenario that is invalid with the alternative; empty otherwise.
    pub reason: String,
}

/// Result of an alternative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TrialResult {
    /// The claim holds.
    Holds,
    /// The claim does not hold either.
    DoesNotHold,
    /// The runs lack the number.
    CannotBeJudged,
    /// The study has these values already, or they have no effect, so nothing was run.
    Unchanged,
    /// An axis of the runs sets the key, or compared runs would be the same, so nothing was run.
    Varied,
    /// A scenario is invalid with these values.
    Rejected,
}

/// A claim, the measured value, and the verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimOutcome {
    /// Text of the claim.
    pub text: String,
    /// Values of axes that distinguish it from claims of the same text; empty for a single claim.
    pub cell: String,
    /// Source of the claimed value.
    pub origin: Origin,
    /// How closely our value can be expected to agree, if the study says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
    /// Place in the source.
    pub source: String,
    /// Published value with its unit; empty without a value.
    pub published: String,
    /// Measured value with its unit; empty if it was not measured.
    pub ours: String,
    /// Deviation of the measured value; empty without two numbers.
    pub error: String,
    /// Number of seeds of each of its runs; 0 if it was not measured.
    pub seeds: u32,
    /// Verdict on the claim.
    pub verdict: ClaimVerdict,
    /// Reason why it does not hold or cannot be judged; empty if it holds.
    pub why: String,
}

/// Source of a claimed value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// Printed in a publication.
    Paper,
    /// Shown on the authors' slides.
    Slides,
    /// Computed by the authors' artifact.
    Artifact,
    /// Computed by another simulator.
    Simulator,
    /// Computed by a formula of this project.
    ClosedForm,
    /// Derived from the mechanism by this project.
    Expectation,
}

impl Origin {
    /// Returns the words for tables.
    pub fn description(self) -> &'static str {
        match self {
            Self::Paper => "printed in the paper",
            Self::Slides => "the authors' slides",
            Self::Artifact => "the authors' artifact, run here",
            Self::Simulator => "another simulator, run here",
            Self::ClosedForm => "our closed form",
            Self::Expectation => "our expectation from the mechanism",
        }
    }

    /// Returns a word for narrow tables.
    pub fn short(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Slides => "slides",
            Self::Artifact => "artifact",
            Self::Simulator => "simulator",
            Self::ClosedForm => "formula",
            Self::Expectation => "ours",
        }
    }
}

/// How closely our value can be expected to agree with a published one.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// A constant was chosen so that it agrees.
    Calibrated,
    /// It follows without a free parameter.
    Predicted,
    /// The setting is not known, so only the sign or the order is expected.
    Trend,
    /// No agreement is expected; the value is listed because it was published.
    None,
}

impl Target {
    /// Returns the words for tables.
    pub fn description(self) -> &'static str {
        match self {
            Self::Calibrated => "calibrated: a constant is chosen so that it agrees",
            Self::Predicted => "predicted without a free parameter",
            Self::Trend => "trend: the sign or the order alone",
            Self::None => "no target",
        }
    }

    /// Returns a letter for narrow tables.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Calibrated => "C",
            Self::Predicted => "P",
            Self::Trend => "T",
            Self::None => "-",
        }
    }
}

impl ClaimOutcome {
    /// Returns true if the claim does not hold, or if the runs lack the number that it is about. A
    /// claim without a criterion, and one that this scale does not have, do not fail.
    pub fn fails_strictly(&self) -> bool {
        match self.verdict {
            ClaimVerdict::DoesNotHold => true,
            ClaimVerdict::CannotBeJudged => self.ours.is_empty(),
            ClaimVerdict::Holds | ClaimVerdict::NotAtThisScale => false,
        }
    }

    /// Returns the text, with the values of axes that distinguish the claim.
    pub fn full_name(&self) -> String {
        match self.cell.as_str() {
            "" => self.text.clone(),
            cell => format!("{} ({cell})", self.text),
        }
    }

    /// Returns the source of the value, and the letter of its target.
    pub fn by(&self) -> String {
        let origin = self.origin.short();
        self.target.map_or_else(|| origin.to_owned(), |it| format!("{origin} {}", it.sign()))
    }
}

/// Verdict on a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimVerdict {
    /// The measured value is as claimed.
    Holds,
    /// The measured value is not as claimed.
    DoesNotHold,
    /// The claim has no criterion to judge it by.
    CannotBeJudged,
    /// The scale does not have the runs.
    NotAtThisScale,
}

impl ClaimVerdict {
    /// Returns the words for tables.
    pub fn description(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::DoesNotHold => "does not hold",
            Self::CannotBeJudged => "cannot be judged",
            Self::NotAtThisScale => "not at this scale",
        }
    }
}

/// A quantity over one or two axes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResultTable {
    /// Title, with the unit.
    pub title: String,
    /// Name of the axis of the rows.
    pub corner: String,
    /// Labels of the columns.
    pub columns: Vec<String>,
    /// Rows: a label and the values.
    pub rows: Vec<(String, Vec<String>)>,
}

/// Numbers of a run, for the file of all runs of a study.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRow {
    /// Name of its group.
    pub run: String,
    /// Values of the group's axes.
    pub parameters: String,
    /// Seed of the run.
    pub seed: String,
    /// Names and numbers; a missing number is empty.
    pub numbers: Vec<(String, String)>,
}
