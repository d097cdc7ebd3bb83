//! `evenkeel explain`: what a key or a name of a scenario means.

use anyhow::bail;
use clap::Args;
use evenkeel::nic::{congestion, recovery};
use evenkeel::scenario::{KeyEntry, catalogue};
use evenkeel::topology::nearest;
use evenkeel::{balance, collective};

use super::{Status, output};

const EXAMPLES: &str = "\
Examples:
  evenkeel explain failure.convergence
  evenkeel explain ecn
  evenkeel explain reps
";

/// Say what a key of a scenario means, or a name in one
///
/// KEY is a key with its section or without (`switch.ecn.step`, `step`), a section (`record`), or
/// the name of a policy, a collective, a congestion control or a loss recovery. docs/scenario.md
/// has all keys.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The key or name
    key: String,
}

/// Prints every key that the word may mean, and names.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let word = arguments.key.trim_matches(['[', ']']);
    let entries = catalogue();
    let mut texts: Vec<String> =
        entries.iter().filter(|entry| is_meant(entry, word)).map(KeyEntry::to_string).collect();
    // The same key of a workload and of a job.
    texts.dedup();
    texts.extend(named(word));
    if texts.is_empty() {
        let keys = entries.iter().flat_map(|entry| [entry.key.as_str(), last(&entry.key)]);
        let known: Vec<String> = keys.chain(names()).map(str::to_owned).collect();
        let mut near = nearest(word, known.iter().map(String::as_str));
        near.dedup();
        let hint = match near.is_empty() {
            true => "docs/scenario.md has all keys".to_owned(),
            false => format!("did you mean {}?", near.join(", ")),
        };
        bail!("'{word}' is neither a key of scenarios nor a name in one; {hint}");
    }
    output::print(&texts.join("\n"))?;
    Ok(Status::Done)
}

/// The key itself, one that ends with the word, or one of the section.
fn is_meant(entry: &KeyEntry, word: &str) -> bool {
    let key = entry.key.as_str();
    key == word
        || key.strip_suffix(word).is_some_and(|before| before.ends_with('.'))
        || key.strip_prefix(word).is_some_and(|after| after.starts_with('.'))
}

fn last(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

/// What names in scenarios mean: kind, name, summary, source.
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

fn named(word: &str) -> Vec<String> {
    let of_word = all().into_iter().filter(|[_, name, ..]| *name == word);
    of_word
        .map(|[kind, name, summary, source]| {
            format!("{name} ({kind})\n  meaning  {summary}\n  source   {source}\n")
        })
        .collect()
}
