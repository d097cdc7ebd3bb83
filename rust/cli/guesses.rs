//! `evenkeel list policies --guesses`: open questions in the public sources of MRC, with the
//! proposed and the chosen answer. Defaults come from a resolved scenario. A test compares this
//! table with the one in `docs/reproduce/mrc.txt`.

mod rows;

use std::path::Path;

use evenkeel_scenario::{Overrides, Scenario, catalogue};
use evenkeel_study::report::guess_table;
use evenkeel_study::{DefaultOfKey, OpenQuestion};
use rows::GUESSES;

/// A scenario that only sets the policy MRC, on switches that trim.
const MRC: &str = "[switch]\ntrim = true\n[policy]\nname = \"mrc\"\n";

/// An open question in the sources.
struct Guess {
    name: &'static str,
    /// The open question.
    open: &'static str,
    /// Proposal in our notes on the sources.
    proposed: &'static str,
    /// Chosen answer, with the reason if it differs from the proposal.
    taken: &'static str,
    /// Full paths of the keys that select another answer.
    keys: &'static [&'static str],
    /// Other choices, or why there are none.
    others: &'static str,
}

/// Strips the section that a reader can infer from the key.
fn short(key: &str) -> &str {
    let parameter = key.strip_prefix("transport.").filter(|rest| rest.contains('.'));
    key.strip_prefix("policy.").or(parameter).unwrap_or(key)
}

/// Returns the default of a key under MRC as TOML writes it, or in words.
fn default(scenario: &Scenario, key: &str) -> anyhow::Result<String> {
    let explained = scenario.explain().into_iter().find(|it| it.key == key);
    let in_words = || {
        let entry = catalogue().into_iter().find(|entry| entry.key == key)?;
        Some(entry.default.replace('`', ""))
    };
    let found = explained.map(|it| it.value).or_else(in_words);
    found.ok_or_else(|| anyhow::anyhow!("a scenario has no key {key}"))
}

fn scenario() -> anyhow::Result<Scenario> {
    Ok(Scenario::parse(MRC, "mrc", Path::new(""), &Overrides::default())?)
}

/// Returns the questions with the defaults of their keys.
pub(super) fn questions() -> anyhow::Result<Vec<OpenQuestion>> {
    let scenario = scenario()?;
    let plain = |text: &str| text.replace('`', "");
    let question = |guess: &Guess| {
        let keys = guess.keys.iter().map(|key| {
            Ok(DefaultOfKey { name: (*key).to_owned(), default_text: default(&scenario, key)? })
        });
        Ok(OpenQuestion {
            name: guess.name.to_owned(),
            open: plain(guess.open),
            proposed: plain(guess.proposed),
            taken: plain(guess.taken),
            keys: keys.collect::<anyhow::Result<_>>()?,
            others: plain(guess.others),
        })
    };
    GUESSES.iter().map(question).collect()
}

/// Returns the table: one line per question, and another for each further key.
pub(super) fn table() -> anyhow::Result<String> {
    let rows = questions()?.into_iter().map(|question| {
        let OpenQuestion { name, open, proposed, taken, keys, others } = question;
        let defaults = keys.iter().map(|it| format!("{} = {}", short(&it.name), it.default_text));
        [name, open, proposed, taken, defaults.collect::<Vec<_>>().join("\n"), others]
    });
    Ok(guess_table(rows.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the rows of the table in `docs/reproduce/mrc.txt`.
    fn of_the_page() -> Vec<Vec<String>> {
        let page = include_str!("../../docs/reproduce/mrc.txt");
        let rows = page.lines().filter(|line| line.starts_with("| G"));
        let cells =
            |row: &str| row.trim_matches('|').split(" | ").map(|it| it.trim().to_owned()).collect();
        rows.map(cells).collect()
    }

    #[test]
    fn the_multi_plane_page_lists_every_guess_with_its_keys() {
        let of_guess = |guess: &Guess| {
            let keys: Vec<String> =
                guess.keys.iter().map(|key| format!("`{}`", short(key))).collect();
            let keys = if keys.is_empty() { guess.others.to_owned() } else { keys.join(", ") };
            [guess.name, guess.open, guess.proposed, guess.taken, &keys].map(str::to_owned).to_vec()
        };
        let listed: Vec<Vec<String>> = GUESSES.iter().map(of_guess).collect();
        assert_eq!(of_the_page(), listed);
        let numbers = (1..=21).map(|number| format!("G{number}"));
        assert!(GUESSES.iter().map(|guess| guess.name.to_owned()).eq(numbers));
    }

    #[test]
    fn every_guess_has_defaults_and_a_reason_if_it_differs_from_the_proposal() {
        let scenario = scenario().unwrap();
        for guess in &GUESSES {
            for key in guess.keys {
                assert!(!default(&scenario, key).unwrap().is_empty(), "{}: {key}", guess.name);
            }
            let has_no_key = guess.others.starts_with("no key: ");
            assert_eq!(guess.keys.is_empty(), has_no_key, "{}", guess.name);
            let (taken, name) = (guess.taken, guess.name);
            assert!(taken.starts_with("as proposed") || taken.contains("because"), "{name}");
        }
        let table = table().unwrap();
        assert!(table.lines().all(|line| line.chars().count() <= 120), "{table}");
        assert!(table.contains("probe_every_max = \"10ms\""), "{table}");
    }

    #[test]
    fn defaults_of_keys_are_those_proposed() {
        let scenario = scenario().unwrap();
        for (key, proposed) in [
            ("policy.reshuffle", "16"),
            ("policy.skip", "\"turn\""),
            ("policy.evs", "128"),
            ("policy.active", "96"),
            ("policy.probe_every", "\"100us\""),
            ("policy.condemn", "\"timeout\""),
            ("policy.condemn_timeouts", "1"),
            ("policy.probe_successes", "1"),
            ("transport.congestion_control", "\"nscc\""),
            ("transport.ack_bytes", "\"16384B\""),
            ("transport.ack_marked", "\"at-once\""),
            ("transport.parameters.start_window", "\"3/2\""),
            ("transport.parameters.scope", "\"qp\""),
            ("transport.parameters.trim_cut", "\"1/1\""),
            ("transport.parameters.trims_call", "true"),
            ("transport.parameters.loss_cut", "\"1/1\""),
            ("switch.trim.size", "\"142B\""),
        ] {
            assert_eq!(default(&scenario, key).unwrap(), proposed, "{key}");
        }
    }
}
