//! The results of a study: what its folder keeps as `NAME.json`, and what tables and pages show.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The results of a study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reproduction {
    /// The name of the study: the stem of its file's name.
    pub study: String,
    /// What the study shows.
    pub title: String,
    /// The publication.
    pub work: String,
    /// The setting.
    pub about: String,
    /// The scale: `quick` or `paper`.
    pub scale: String,
    /// The version of this program.
    pub version: String,
    /// The number of simulations.
    pub runs: usize,
    /// Wall time of all simulations together, seconds, one after the other.
    pub wall_s: f64,
    /// Peak memory of the process; `None` where the system does not report it.
    pub peak_rss_bytes: Option<u64>,
    /// The claims with their verdicts.
    pub claims: Vec<ClaimOutcome>,
    /// The tables of results.
    pub tables: Vec<ResultTable>,
    /// What was learned.
    pub learned: Vec<String>,
}

/// A claim, what was measured, and the verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimOutcome {
    /// What is claimed.
    pub text: String,
    /// The values of axes that tell it from others of the same text; empty for one by itself.
    pub cell: String,
    /// Who says so.
    pub origin: Origin,
    /// What may be expected of our value, if the study says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
    /// Where.
    pub source: String,
    /// What they have, with its unit; empty without a value.
    pub published: String,
    /// What was measured, with its unit; empty if it was not.
    pub ours: String,
    /// The deviation; empty without two numbers.
    pub error: String,
    /// The number of seeds of each of its runs; 0 if it was not measured.
    pub seeds: u32,
    /// The verdict.
    pub verdict: ClaimVerdict,
    /// Why it does not hold or cannot be judged; empty if it holds.
    pub why: String,
}

/// Who says what a claim says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// A publication prints it.
    Paper,
    /// The authors' slides show it.
    Slides,
    /// The authors' artifact was run.
    Artifact,
    /// Another simulator was run.
    Simulator,
    /// A formula of this project.
    ClosedForm,
    /// This project derived it from the mechanism.
    Expectation,
}

impl Origin {
    /// The words of tables.
    pub fn words(self) -> &'static str {
        match self {
            Self::Paper => "printed in the paper",
            Self::Slides => "the authors' slides",
            Self::Artifact => "the authors' artifact, run here",
            Self::Simulator => "another simulator, run here",
            Self::ClosedForm => "our closed form",
            Self::Expectation => "our expectation from the mechanism",
        }
    }

    /// A word for narrow tables.
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

/// What may be expected of a value of ours beside a published one.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// A constant was chosen so that it agrees.
    Calibrated,
    /// It follows without a free parameter.
    Predicted,
    /// Its setting is not known: the same sign or order.
    Trend,
    /// Nothing: it is there because it was published.
    None,
}

impl Target {
    /// The words of tables.
    pub fn words(self) -> &'static str {
        match self {
            Self::Calibrated => "calibrated: a constant is chosen so that it agrees",
            Self::Predicted => "predicted without a free parameter",
            Self::Trend => "trend: the sign or the order alone",
            Self::None => "no target",
        }
    }

    /// A sign for narrow tables.
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
    /// Who has the value, and the sign of what may be expected of ours.
    pub fn by(&self) -> String {
        let origin = self.origin.short();
        self.target.map_or_else(|| origin.to_owned(), |it| format!("{origin} {}", it.sign()))
    }
}

/// The verdict on a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimVerdict {
    /// What was measured is as claimed.
    Holds,
    /// It is not.
    DoesNotHold,
    /// There is nothing to judge it by.
    CannotBeJudged,
    /// The scale does not have the runs.
    NotAtThisScale,
}

impl ClaimVerdict {
    /// The words of tables.
    pub fn words(self) -> &'static str {
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
    /// What it shows, with the unit.
    pub title: String,
    /// The name of the axis of the rows.
    pub corner: String,
    /// The labels of the columns.
    pub columns: Vec<String>,
    /// The rows: a label and the values.
    pub rows: Vec<(String, Vec<String>)>,
}

/// The numbers of a run, for the file of all runs of a study.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRow {
    /// The name of its group.
    pub run: String,
    /// The values of the group's axes.
    pub parameters: String,
    /// Its seed.
    pub seed: String,
    /// Names and numbers; empty numbers for those that it does not have.
    pub numbers: Vec<(String, String)>,
}
