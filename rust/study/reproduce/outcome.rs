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
