//! Explains keys, names and metrics by one word: `evenkeel explain`.

use thiserror::Error;

use crate::balance;
use crate::metrics::{Better, METRICS, Metric};
use crate::nic::{congestion, recovery};
use crate::scenario::{KeyEntry, ParameterEntry, catalogue, parameters};
use crate::topology::nearest;
use evenkeel_traffic::collective;

/// A word that has no meaning in scenarios and results.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("'{word}' is not a scenario key, a name in a scenario, or a metric; {hint}")]
pub struct Unexplained {
    /// The word.
    pub word: String,
    /// Similar words, or where all are listed.
    pub hint: String,
}

/// Returns the explanations of every key, name and metric that a word may refer to: a key with or
/// without its section, a section, a name or a metric.
///
/// # Errors
/// Fails for a word without a meaning, with similar words.
///
/// # Examples
/// ```
/// let texts = evenkeel_study::explain("packets.dropped")?;
/// assert!(texts[0].contains("packets lost in buffers"));
/// # Ok::<(), evenkeel_study::Unexplained>(())
/// ```
pub fn explain(word: &str) -> Result<Vec<String>, Unexplained> {
    let word = word.trim_matches(['[', ']']);
    let (entries, parameters) = (catalogue(), parameters());
    let meant = entries.iter().filter(|entry| is_meant(&entry.key, word));
    let mut texts: Vec<String> = meant.map(KeyEntry::to_string).collect();
    // A workload and a job have the same keys.
    texts.dedup();
    let meant = parameters.iter().filter(|it| is_parameter(it, word));
    texts.extend(meant.map(ParameterEntry::to_string));
    texts.extend(named(word, &parameters));
    texts.extend(METRICS.iter().filter(|it| is_meant(it.name, word)).map(metric));
    if !texts.is_empty() {
        return Ok(texts);
    }
    let keys = entries.iter().map(|it| &it.key).chain(parameters.iter().map(|it| &it.key));
    let keys = keys.flat_map(|key| [key.as_str(), last(key)]);
    let metrics = METRICS.iter().map(|metric| metric.name);
    let known: Vec<String> = keys.chain(names()).chain(metrics).map(str::to_owned).collect();
    let mut near = nearest(word, known.iter().map(String::as_str));
    near.dedup();
    let hint = match near.is_empty() {
        true => "docs/scenario.md lists all keys".to_owned(),
        false => format!("did you mean {}?", near.join(", ")),
    };
    Err(Unexplained { word: word.to_owned(), hint })
}

/// True if the key is the word, ends with it, or is in the section of that name.
fn is_meant(key: &str, word: &str) -> bool {
    key == word
        || key.strip_suffix(word).is_some_and(|before| before.ends_with('.'))
        || key.strip_prefix(word).is_some_and(|after| after.starts_with('.'))
}

/// Matches like a key, except for a section, which would list all parameters of all policies.
fn is_parameter(entry: &ParameterEntry, word: &str) -> bool {
    is_meant(&entry.key, word) && !entry.key.starts_with(&format!("{word}."))
}

fn last(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

/// Returns the names in scenarios: kind, name, summary, source.
fn all() -> Vec<[&'static str; 4]> {
    let policies = balance::presets().map(|it| ["policy", it.name, it.summary, it.source]);
    let collectives =
        collective::ALL.iter().map(|it| ["collective", it.name, it.summary, it.source]);
    let controls = congestion::CONTROLS
        .iter()
        .map(|it| ["congestion control", it.name, it.summary, it.source]);
    let recoveries =
        recovery::RECOVERIES.iter().map(|it| ["loss recovery", it.name, it.summary, it.source]);
    policies.chain(collectives).chain(controls).chain(recoveries).collect()
}

fn names<'a>() -> impl Iterator<Item = &'a str> {
    all().into_iter().map(|[_, name, ..]| name)
}

fn named(word: &str, parameters: &[ParameterEntry]) -> Vec<String> {
    let of_word = all().into_iter().filter(|[_, name, ..]| *name == word);
    of_word
        .map(|[kind, name, summary, source]| {
            let mut text = format!("{name} ({kind})\n  meaning  {summary}\n  source   {source}\n");
            let own = parameters
                .iter()
                .filter(|it| section(it) == kind && it.of.contains(&name.to_owned()));
            for entry in own {
                text.push_str(&format!("  key      {} = {}\n", entry.key, entry.default));
            }
            text
        })
        .collect()
}

/// Describes a metric of results.
fn metric(metric: &Metric) -> String {
    let better = match metric.better {
        Better::Less => "less is better",
        Better::More => "more is better",
        Better::Neither => "describes the run",
    };
    let unit = if metric.unit.is_empty() { "none" } else { metric.unit };
    let Metric { name, description, .. } = metric;
    format!("{name} (metric of a run)\n  meaning  {description}; {better}\n  unit     {unit}\n")
}

/// Returns the kind of the parameter's owner, as [`all`] names it.
fn section(entry: &ParameterEntry) -> &'static str {
    match entry.key.split_once('.') {
        Some(("policy", _)) => "policy",
        Some((_, key)) if key.starts_with("recovery_parameters.") => "loss recovery",
        _ => "congestion control",
    }
}
