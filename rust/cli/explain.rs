//! `evenkeel explain`: explains keys and names of scenarios.

use anyhow::bail;
use clap::Args;
use evenkeel_engine::balance;
use evenkeel_engine::nic::{congestion, recovery};
use evenkeel_engine::topology::nearest;
use evenkeel_scenario::{KeyEntry, ParameterEntry, catalogue, parameters};
use evenkeel_study::metrics::{Better, METRICS, Metric};
use evenkeel_traffic::collective;

use super::{Status, output};

const EXAMPLES: &str = "\
Examples:
  evenkeel explain failure.convergence
  evenkeel explain ecn
  evenkeel explain reps
  evenkeel explain packets.dropped
";

/// Explain a key of a scenario, a name in one, or a metric of results
///
/// KEY is a key with or without its section (`switch.ecn.step`, `step`), a section (`record`), or a
/// parameter (`policy.evs`). It may also be the name of a policy, congestion control, loss recovery
/// or collective, or a metric (`cct_ns`). docs/scenario.md lists all keys.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Key or name to explain
    key: String,
}

/// Prints every key and name that the word may refer to.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let word = arguments.key.trim_matches(['[', ']']);
    let (entries, parameters) = (catalogue(), parameters());
    let meant = entries.iter().filter(|entry| is_meant(&entry.key, word));
    let mut texts: Vec<String> = meant.map(KeyEntry::to_string).collect();
    // A workload and a job have the same keys.
    texts.dedup();
    let meant = parameters.iter().filter(|it| is_parameter(it, word));
    texts.extend(meant.map(ParameterEntry::to_string));
    texts.extend(named(word, &parameters));
    texts.extend(METRICS.iter().filter(|it| is_meant(it.name, word)).map(metric));
    if texts.is_empty() {
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
        bail!("'{word}' is not a scenario key, a name in a scenario, or a metric; {hint}");
    }
    output::print(&texts.join("\n"))?;
    Ok(Status::Done)
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
