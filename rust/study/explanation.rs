//! Meaning of a key, a name or a metric, as text and as JSON.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::metrics::{Better, Metric};
use crate::report::CheckError;
use crate::scenario::{KeyEntry, Notation, ParameterEntry};

/// The object that `evenkeel explain --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExplainSummary {
    /// The word, as given.
    pub word: String,
    /// Every key, name and metric that the word may refer to.
    pub entries: Vec<Explanation>,
    /// The error of a word without a meaning.
    pub errors: Vec<CheckError>,
}

/// The object that `evenkeel list --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListSummary {
    /// Name of the category, or `categories`.
    pub category: String,
    /// Names of the category.
    pub entries: Vec<Explanation>,
    /// Open questions in the sources of a policy, with `--guesses`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guesses: Option<Vec<OpenQuestion>>,
}

/// A question that public sources leave open.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OpenQuestion {
    /// Name of the question.
    pub name: String,
    /// The question.
    pub open: String,
    /// Answer that notes on the sources propose.
    pub proposed: String,
    /// Chosen answer.
    pub taken: String,
    /// Keys that select another answer.
    pub keys: Vec<DefaultOfKey>,
    /// Other answers, or the reason for a single one.
    pub others: String,
}

/// A key and its default.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DefaultOfKey {
    /// Path of the key with its section.
    pub name: String,
    /// Default as TOML writes it, or in words.
    pub default_text: String,
}

/// Meaning of a key, a name or a metric.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Explanation {
    /// Kind: `key`, `parameter`, `metric`, `category`, or that of a name, such as `policy`.
    pub kind: &'static str,
    /// Path of a key or a metric, or a name.
    pub name: String,
    /// Meaning in a sentence; absent for a parameter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Condition under which a key applies; absent if it applies to its whole section.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<String>,
    /// Names that have a parameter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_by: Option<Vec<String>>,
    /// Value of a key, a parameter or a metric.
    #[serde(flatten)]
    pub value: ValueFacts,
    /// Better direction of a metric.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub better: Option<Better>,
    /// Publication or project that a name is from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Commands that use a format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commands: Option<Vec<String>>,
    /// Keys of a scenario that apply to a name alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keys: Option<Vec<OwnKey>>,
}

/// A key that applies to a name.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OwnKey {
    /// Path of the key with its section.
    pub name: String,
    /// Value of the key.
    #[serde(flatten)]
    pub value: ValueFacts,
}

/// Facts on a value.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct ValueFacts {
    /// Notation of the value in a scenario, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Type: `boolean`, `fraction`, `integer`, `list`, `name`, `number`, `operations`, `rate`,
    /// `size`, `string`, `table` or `time`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    /// Unit of a metric, or base unit of a quantity, which a scenario writes as text with its own
    /// unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<&'static str>,
    /// Names that the value may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choices: Option<Vec<String>>,
    /// Least whole number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum: Option<i64>,
    /// Greatest whole number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximum: Option<i64>,
    /// Default; absent if it depends on other keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// Default as TOML writes it, or in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_text: Option<String>,
}

impl ValueFacts {
    fn of(form: &str, default: &str) -> Self {
        let notation = Notation::of(form);
        let (minimum, maximum) = notation.range;
        let is_value = default.starts_with('`');
        let default = plain(default);
        Self {
            value: some(plain(form)),
            kind: Some(notation.kind),
            unit: Some(notation.unit).filter(|unit| !unit.is_empty()),
            choices: Some(notation.choices).filter(|choices| !choices.is_empty()),
            minimum,
            maximum,
            default: is_value.then(|| json(&default)).flatten(),
            default_text: some(default),
        }
    }

    fn of_key(entry: &KeyEntry) -> Self {
        Self::of(&entry.form, &entry.default)
    }

    fn of_parameter(entry: &ParameterEntry) -> Self {
        Self::of(&entry.form, &format!("`{}`", entry.default))
    }
}

/// Returns a TOML value as JSON.
pub(crate) fn json(toml: &str) -> Option<Value> {
    let mut table: Value = toml::from_str(&format!("it = {toml}")).ok()?;
    Some(table["it"].take())
}

fn some(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

/// Removes Markdown's code marks from a text.
fn plain(text: &str) -> String {
    text.replace('`', "")
}

impl Explanation {
    /// Creates an explanation of a name.
    pub(crate) fn new(kind: &'static str, name: &str, description: &str) -> Self {
        Self {
            kind,
            name: name.to_owned(),
            description: some(plain(description)),
            only: None,
            used_by: None,
            value: ValueFacts::default(),
            better: None,
            source: None,
            commands: None,
            keys: None,
        }
    }

    pub(crate) fn of_key(entry: &KeyEntry) -> Self {
        let value = ValueFacts::of_key(entry);
        let only = some(plain(&entry.only));
        Self { only, value, ..Self::new("key", &entry.key, &entry.summary) }
    }

    pub(crate) fn of_parameter(entry: &ParameterEntry) -> Self {
        let mut value = ValueFacts::of_parameter(entry);
        let whose = match entry.key.split('.').nth(1) {
            Some("parameters") => " (of the first preset)",
            Some("recovery_parameters") => " (unless the policy has its own)",
            _ => "",
        };
        value.default_text = value.default_text.map(|text| text + whose);
        Self { used_by: Some(entry.of.clone()), value, ..Self::new("parameter", &entry.key, "") }
    }

    pub(crate) fn of_metric(metric: &Metric) -> Self {
        let unit = Some(metric.unit).filter(|unit| !unit.is_empty());
        let value = ValueFacts { kind: Some("number"), unit, ..ValueFacts::default() };
        let better = Some(metric.better);
        Self { value, better, ..Self::new("metric", metric.name, metric.description) }
    }

    /// Adds the keys that apply to the name.
    #[must_use]
    pub(crate) fn with_keys<'a>(
        self,
        keys: impl Iterator<Item = &'a KeyEntry>,
        parameters: impl Iterator<Item = &'a ParameterEntry>,
    ) -> Self {
        let keys = keys.map(|it| OwnKey { name: it.key.clone(), value: ValueFacts::of_key(it) });
        let parameters = parameters
            .map(|it| OwnKey { name: it.key.clone(), value: ValueFacts::of_parameter(it) });
        Self { keys: Some(keys.chain(parameters).collect()), ..self }
    }
}

/// Formats the explanation as several lines of text.
impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, name, value, .. } = self;
        match *kind {
            "key" | "parameter" => writeln!(f, "{name}")?,
            "metric" => writeln!(f, "{name} (metric of a run)")?,
            kind => writeln!(f, "{name} ({kind})")?,
        }
        let better = match self.better {
            Some(Better::Less) => "; less is better",
            Some(Better::More) => "; more is better",
            Some(Better::Neither) => "; describes the run",
            None => "",
        };
        let unit = self.better.map(|_| value.unit.unwrap_or("none").to_owned());
        for (title, text) in [
            ("used by", self.used_by.as_ref().map(|names| names.join(", "))),
            ("only", self.only.clone()),
            ("value", value.value.clone()),
            ("default", value.default_text.clone()),
            ("meaning", self.description.as_ref().map(|text| format!("{text}{better}"))),
            ("source", self.source.clone()),
            ("unit", unit),
            ("used in", self.commands.as_ref().map(|names| names.join(", "))),
        ] {
            if let Some(text) = text {
                writeln!(f, "  {title:8} {text}")?;
            }
        }
        for OwnKey { name, value } in self.keys.iter().flatten() {
            let default = value.default_text.as_deref().unwrap_or("none");
            writeln!(f, "  key      {name} = {default}")?;
        }
        Ok(())
    }
}
