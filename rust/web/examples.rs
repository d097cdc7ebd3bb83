//! Scenarios that the page offers: those of `evenkeel init`, and some of `examples/`.

use serde::{Serialize, Serializer};

/// A scenario to start from.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Example {
    /// Name: that of its file without `.toml`.
    name: &'static str,
    /// Question that it asks.
    title: &'static str,
    /// Policies that the page compares; that of the scenario if empty.
    policies: &'static [&'static str],
    #[serde(serialize_with = "with_file_name")]
    text: (&'static str, &'static str),
}

/// Writes the text with the name of its file, for which starters have a placeholder.
fn with_file_name<S: Serializer>(
    (name, text): &(&str, &str),
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&text.replace("FILE", &format!("{name}.toml")))
}

macro_rules! example {
    ($folder:literal, $name:literal, $title:literal, $policies:expr) => {
        Example {
            name: $name,
            title: $title,
            policies: &$policies,
            text: ($name, include_str!(concat!($folder, $name, ".toml"))),
        }
    };
}

/// All scenarios. The page starts with the first one.
pub(crate) const EXAMPLES: [Example; 10] = [
    example!(
        "../cli/starters/",
        "failure",
        "What does a failed link cost?",
        ["ecmp", "spray", "reps"]
    ),
    example!(
        "../cli/starters/",
        "demo",
        "How long does an all-to-all take with a failed link?",
        ["ecmp", "spray", "reps"]
    ),
    example!(
        "../cli/starters/",
        "incast",
        "How long is the queue when many hosts send to one?",
        ["spray"]
    ),
    example!(
        "../cli/starters/",
        "training",
        "How much of a training step is communication?",
        ["ecmp", "ethereal"]
    ),
    example!("../../examples/", "recording", "How does REPS leave a failed link?", ["reps"]),
    example!(
        "../../examples/",
        "flapping-link",
        "What does a flapping link cost?",
        ["ecmp", "reps", "ethereal"]
    ),
    example!(
        "../../examples/",
        "ofan-permutation",
        "How evenly are links of a fat-tree loaded?",
        ["ecmp", "ofan"]
    ),
    example!("../../examples/", "pauses", "How far do pauses of an incast spread?", []),
    example!(
        "../../examples/",
        "two-jobs",
        "Does one job slow down another?",
        ["ecmp", "ethereal"]
    ),
    example!("../../examples/", "idle-path", "How long does one message take?", []),
];
