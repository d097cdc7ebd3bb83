//! `evenkeel list policies --guesses`: what the public sources of MRC leave open, and what is
//! taken. Defaults are read from the configurations, never written here; a test holds the table of
//! `docs/multi-plane.md` to this one.

use evenkeel::balance::sender::mrc;
use evenkeel::nic::congestion::nscc;
use evenkeel::nic::recovery;
use evenkeel::report::guess_table;
use evenkeel::scenario::catalogue;

/// Something that the sources leave open.
struct Guess {
    name: &'static str,
    /// What is left open.
    open: &'static str,
    /// What is taken.
    taken: &'static str,
    /// The keys by which another choice is made.
    keys: &'static [Key],
    /// Other choices.
    others: &'static str,
}

/// A key of a scenario, by where its default is.
#[derive(Clone, Copy)]
enum Key {
    /// A parameter of `[policy] name = "mrc"`.
    Policy(&'static str),
    /// One of `transport.recovery_parameters` under recovery `mrc`.
    Recovery(&'static str),
    /// One of `transport.parameters` under congestion control `nscc`.
    Control(&'static str),
    /// A key of the scenario itself.
    Scenario(&'static str),
}

use Key::{Control, Policy, Recovery, Scenario as Of};

impl Key {
    /// Where another choice is written.
    fn name(self) -> String {
        match self {
            Policy(key) | Of(key) => key.to_owned(),
            Recovery(key) => format!("recovery_parameters.{key}"),
            Control(key) => format!("parameters.{key}"),
        }
    }

    /// Its default as TOML writes it, or in words.
    fn default(self) -> anyhow::Result<String> {
        let of = |table: toml::Table, key: &str| table.get(key).map(ToString::to_string);
        let found = match self {
            Policy(key) => of(toml::Table::try_from(mrc::Config::default())?, key),
            Recovery(key) => of(toml::Table::try_from(recovery::mrc::Config::default())?, key),
            Control(key) => of(toml::Table::try_from(nscc::Config::default())?, key),
            Of(key) => {
                let entries = catalogue();
                let default = entries.iter().find(|entry| entry.key == key);
                default.map(|entry| entry.default.replace('`', ""))
            }
        };
        found.ok_or_else(|| anyhow::anyhow!("no configuration has a key {}", self.name()))
    }
}

const fn guess([name, open, taken, others]: [&'static str; 4], keys: &'static [Key]) -> Guess {
    Guess { name, open, taken, keys, others }
}

/// All, in the order of their numbers.
const GUESSES: [Guess; 21] = [
    guess(
        [
            "G1",
            "order of the rotation",
            "one shuffle for each queue pair and plane, planes in turn; shuffled anew after 16 \
             turns",
            "any number of turns",
        ],
        &[Policy("reshuffle")],
    ),
    guess(
        [
            "G2",
            "how long a value is skipped",
            "one turn; or each that a packet meets, or a time",
            "each, or a time such as 1ms",
        ],
        &[Policy("skip")],
    ),
    guess(
        [
            "G3",
            "which loss takes a value out",
            "with trimming any hole; else a time-out, or the second hole in a base RTT",
            "hole, timeout",
        ],
        &[Policy("condemn")],
    ),
    guess(
        [
            "G4",
            "how old a hole is when it is a loss",
            "one base RTT after a later arrival",
            "a time",
        ],
        &[Recovery("reordering")],
    ),
    guess(
        ["G5", "active and backup values", "96 of 128", "up to 4096 values, all of them active"],
        &[Policy("evs"), Policy("active")],
    ),
    guess(
        [
            "G6",
            "probes",
            "every 100 µs, without an answer at doubled intervals up to 10 ms; 3 in a row revive, \
             as a backup",
            "any interval and number",
        ],
        &[Policy("probe_every"), Policy("probe_every_max"), Policy("probe_successes")],
    ),
    guess(
        [
            "G7",
            "at the floor",
            "the value that is out longest comes back as good, of the same plane if there is one",
            "a floor of up to all values",
        ],
        &[Policy("min_active")],
    ),
    guess(
        [
            "G8",
            "when a SACK is due",
            "as `[transport]` has it; 16 KiB with an `ack_every` that does not come first",
            "16KiB; 4096B is one program's choice",
        ],
        &[Of("transport.ack_bytes"), Of("transport.ack_every")],
    ),
    guess(
        [
            "G9",
            "local timer",
            "the least 1.024 µs · 2^t of at least four base RTTs",
            "a time; 262us is the headers' example",
        ],
        &[Recovery("timer"), Recovery("linear"), Recovery("exponential")],
    ),
    guess(
        [
            "G10",
            "when a NIC knows of its dead port",
            "as `[[failure]]` has it; 100 µs is likely",
            "100us; a few seconds were measured on one NIC",
        ],
        &[Of("failure.detection")],
    ),
    guess(["G11", "packets in flight on a port that dies", "left to the recovery", ""], &[]),
    guess(
        [
            "G12",
            "a port that is back",
            "usable once the status is known, its values once probed",
            "",
        ],
        &[],
    ),
    guess(["G13", "several free ports", "the rotation decides", ""], &[]),
    guess(["G14", "ALWAYS_SKIP", "never sent", ""], &[]),
    guess(
        [
            "G15",
            "initial window",
            "that of `nscc`, by the sum of the ports",
            "any number of bandwidth-delay products",
        ],
        &[Control("start_window")],
    ),
    guess(["G16", "one window or one for each plane", "one", "plane"], &[Control("scope")]),
    guess(["G17", "what a trim does to the window", "as in Ultra Ethernet (`nscc`)", ""], &[]),
    guess(
        [
            "G18",
            "the value that a SACK echoes",
            "that of the packet that made it due",
            "at-once, with which no mark is lost",
        ],
        &[Of("transport.ack_marked")],
    ),
    guess(
        [
            "G19",
            "the planes of SACKs",
            "free planes in turn, with the value of the packet that they answer; or with one for \
             each plane that probes found",
            "probe",
        ],
        &[Policy("reverse")],
    ),
    guess(
        [
            "G20",
            "thresholds of switches",
            "as `[switch]` has them, and at ports to hosts unless they are off there, as in \
             clusters with MRC",
            "any; 0.2 and 0.8 bandwidth-delay products are Ultra Ethernet's advice, and false at \
             ports to hosts",
        ],
        &[Of("switch.ecn.step"), Of("switch.ecn_at_hosts"), Of("switch.trim")],
    ),
    guess(
        ["G21", "length of a trimmed packet", "as `switch.trim` has it", "102B; 142B with SRv6"],
        &[Of("switch.trim.size")],
    ),
];

/// The table: a line for each guess, and one more for each further key.
pub(super) fn table() -> anyhow::Result<String> {
    let mut rows = Vec::new();
    for Guess { name, open, taken, keys, others } in &GUESSES {
        let defaults = keys.iter().map(|key| Ok(format!("{} = {}", key.name(), key.default()?)));
        let defaults = defaults.collect::<anyhow::Result<Vec<String>>>()?;
        let taken = taken.replace('`', "");
        rows.push([
            (*name).to_owned(),
            (*open).to_owned(),
            taken,
            defaults.join("\n"),
            (*others).to_owned(),
        ]);
    }
    Ok(guess_table(rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of the table of `docs/multi-plane.md`.
    fn of_the_page() -> Vec<Vec<String>> {
        let page = include_str!("../../docs/multi-plane.md");
        let rows = page.lines().filter(|line| line.starts_with("| G"));
        let cells =
            |row: &str| row.trim_matches('|').split(" | ").map(|it| it.trim().to_owned()).collect();
        rows.map(cells).collect()
    }

    #[test]
    fn the_page_on_planes_has_every_guess_with_its_keys() {
        let listed: Vec<Vec<String>> = GUESSES
            .iter()
            .map(|guess| {
                let keys: Vec<String> =
                    guess.keys.iter().map(|key| format!("`{}`", key.name())).collect();
                [guess.name, guess.open, guess.taken, &keys.join(", ")].map(str::to_owned).to_vec()
            })
            .collect();
        assert_eq!(of_the_page(), listed);
        let numbers = (1..=21).map(|number| format!("G{number}"));
        assert!(GUESSES.iter().map(|guess| guess.name.to_owned()).eq(numbers));
    }

    #[test]
    fn every_key_has_a_default_and_what_else_may_be_chosen() {
        for guess in &GUESSES {
            for key in guess.keys {
                let default = key.default().unwrap();
                assert!(!default.is_empty(), "{}: {}", guess.name, key.name());
            }
            assert_eq!(guess.keys.is_empty(), guess.others.is_empty(), "{}", guess.name);
        }
        let table = table().unwrap();
        assert!(table.lines().all(|line| line.chars().count() <= 120), "{table}");
        assert!(table.contains("probe_every_max = \"10ms\""), "{table}");
    }
}
