//! Explains keys, names and metrics by one word: `evenkeel explain`.

use thiserror::Error;

use crate::explanation::Explanation;
use crate::listing::Listing;
use crate::metrics::Metric;
use crate::scenario::{KeyEntry, ParameterEntry, catalogue, parameters};
use crate::topology::nearest;

/// A word that has no meaning in scenarios and results.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("'{word}' is not a scenario key, a name in a scenario, or a metric; {hint}")]
pub struct Unexplained {
    /// The word.
    pub word: String,
    /// Similar words.
    pub nearest: Vec<String>,
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
/// let found = evenkeel_study::explain("packets.dropped")?;
/// assert!(found[0].to_string().contains("packets lost in buffers"));
/// # Ok::<(), evenkeel_study::Unexplained>(())
/// ```
pub fn explain(word: &str) -> Result<Vec<Explanation>, Unexplained> {
    let word = word.trim_matches(['[', ']']);
    let (keys, parameters) = (catalogue(), parameters());
    let meant = keys.iter().filter(|entry| is_meant(&entry.key, word));
    let mut found: Vec<Explanation> = meant.map(Explanation::of_key).collect();
    // A workload and a job have the same keys.
    found.dedup();
    let meant = parameters.iter().filter(|it| is_parameter(it, word));
    found.extend(meant.map(Explanation::of_parameter));
    let names = Listing::ALL.iter().flat_map(|listing| listing.named(word, &keys, &parameters));
    found.extend(names);
    found.extend(Metric::all().filter(|it| is_meant(it.name, word)).map(Explanation::of_metric));
    match found.is_empty() {
        true => Err(unexplained(word, &keys, &parameters)),
        false => Ok(found),
    }
}

fn unexplained(word: &str, keys: &[KeyEntry], parameters: &[ParameterEntry]) -> Unexplained {
    let keys = keys.iter().map(|it| &it.key).chain(parameters.iter().map(|it| &it.key));
    let keys = keys.flat_map(|key| [key.as_str(), last(key)]);
    let names = Listing::ALL.iter().flat_map(Listing::rows).map(|[name, ..]| name);
    let metrics = Metric::all().map(|metric| metric.name);
    let known: Vec<&str> = keys.chain(names).chain(metrics).collect();
    let mut near = nearest(word, known.into_iter());
    near.dedup();
    let hint = match near.is_empty() {
        true => "docs/scenario.md lists all keys".to_owned(),
        false => format!("did you mean {}?", near.join(", ")),
    };
    let nearest = near.into_iter().map(str::to_owned).collect();
    Unexplained { word: word.to_owned(), nearest, hint }
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
