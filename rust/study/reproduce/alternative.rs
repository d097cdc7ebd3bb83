//! Settings that `reproduce --why` tries instead of those of a study.

use toml::{Table, Value};

use super::error::Rejection;
use super::file::WhySection;
use super::matrix::clashes::overlap;
use super::settings::{make_sections, set};

/// Settings that replace those of a study.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Alternative {
    /// Name in results.
    pub label: String,
    /// Dotted keys of a scenario with their values, which are not tables.
    pub set: Table,
    /// True if the study lists it. It then also applies where an axis sets the same key.
    pub is_of_study: bool,
}

/// Value of a built-in alternative.
enum Plain {
    Text(&'static str),
    Number(i64),
    Flag(bool),
}

use Plain::{Flag, Number, Text};

/// Settings that publications often leave open. The value that a study already has is skipped.
const BUILT_IN: [(&str, Plain); 22] = [
    ("switch.ties", Text("port")),
    ("switch.ties", Text("drawn")),
    ("switch.ecn.at", Text("enqueue")),
    ("switch.ecn.at", Text("dequeue")),
    ("switch.slow_ports", Text("keep")),
    ("switch.slow_ports", Text("scale")),
    ("switch.trim", Flag(false)),
    ("switch.trim", Flag(true)),
    ("transport.congestion_control", Text("line-rate")),
    ("transport.retransmit_timeout", Text("100us")),
    ("transport.retransmit_timeout", Text("1ms")),
    ("transport.ack_every", Number(1)),
    ("transport.ack_every", Number(4)),
    ("transport.ack_entropies", Text("last")),
    ("transport.ack_entropies", Text("carry")),
    ("transport.ack_priority", Flag(false)),
    ("transport.ack_priority", Flag(true)),
    ("workload.step_after", Text("delivery")),
    ("workload.step_after", Text("acknowledgement")),
    ("workload.start_jitter", Text("1us")),
    ("topology.gap", Text("20B")),
    // Runs under several seeds take this one and those that follow.
    ("seed", Number(1_001)),
];

impl Alternative {
    /// Returns the alternatives of a study, followed by the built-in ones.
    pub(super) fn all(of_study: &[Self]) -> Vec<Self> {
        let is_other = |it: &Self| of_study.iter().all(|other| other.set != it.set);
        of_study.iter().cloned().chain(Self::built_in().filter(is_other)).collect()
    }

    fn built_in() -> impl Iterator<Item = Self> {
        BUILT_IN.iter().map(|(key, value)| {
            let value = match value {
                Text(text) => Value::from(*text),
                Number(number) => Value::from(*number),
                Flag(flag) => Value::from(*flag),
            };
            let set: Table = [((*key).to_owned(), value)].into_iter().collect();
            Self { label: label(&set), set, is_of_study: false }
        })
    }

    /// Sets the keys in a scenario. A key of `[workload]` is set in each `[[job]]` instead, if the
    /// scenario has jobs. Parameters of a congestion control that is replaced are removed.
    pub(super) fn apply(&self, scenario: &mut Table) -> Result<(), Rejection> {
        let sets = |key: &str| self.set.keys().any(|it| it == key);
        if sets("transport.congestion_control")
            && let Some(Value::Table(transport)) = scenario.get_mut("transport")
        {
            transport.remove("parameters");
        }
        let jobs = scenario.get("job").and_then(Value::as_array).map_or(0, Vec::len);
        for (key, value) in &self.set {
            make_sections(scenario, key);
            match key.strip_prefix("workload.") {
                Some(rest) if jobs > 0 => {
                    let of_job = |job| set(scenario, &format!("job.{job}.{rest}"), value);
                    (0..jobs).try_for_each(of_job)?;
                }
                _ => set(scenario, key, value)?,
            }
        }
        Ok(())
    }

    /// Resolves a section `[[why]]`; `before` are those above it.
    pub(super) fn of_section(section: &WhySection, before: &[Self]) -> Result<Self, Rejection> {
        if section.set.is_empty() {
            let reason = "expected a key of a scenario and its value, as in { \"switch.ties\" = \
                          \"port\" }";
            return Err(Rejection::new("set", reason));
        }
        let mut set = Table::new();
        for (key, value) in &section.set {
            flatten(key, value, &mut set)?;
        }
        let is_named = !section.label.is_empty();
        let label = if is_named { section.label.clone() } else { label(&set) };
        let reject =
            |reason: String| Err(Rejection::new(if is_named { "label" } else { "set" }, reason));
        if before.iter().any(|other| other.label == label) {
            return reject(format!("another [[why]] has the name '{label}'"));
        }
        if Self::built_in().any(|other| other.label == label && other.set != set) {
            return reject(format!(
                "a built-in alternative with other values has the name '{label}'; expected another \
                 label"
            ));
        }
        Ok(Self { label, set, is_of_study: true })
    }
}

/// Adds a key to those of an alternative. A table adds its keys with dots, so that both forms are
/// the same.
fn flatten(key: &str, value: &Value, to: &mut Table) -> Result<(), Rejection> {
    match value {
        Value::Table(table) if !table.is_empty() => {
            table.iter().try_for_each(|(name, value)| flatten(&format!("{key}.{name}"), value, to))
        }
        _ => {
            if let Some(other) = to.keys().find(|other| overlap(other, key)) {
                let reason = format!("it sets {key}, which {other} also sets; use one of them");
                return Err(Rejection::new("set", reason));
            }
            to.insert(key.to_owned(), value.clone());
            Ok(())
        }
    }
}

/// Returns the keys and their values: `switch.ties = "port"`.
fn label(set: &Table) -> String {
    let keys = set.iter().map(|(key, value)| format!("{key} = {value}"));
    keys.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_alternatives_have_names_of_their_own_and_set_known_keys() {
        let all = Alternative::all(&[]);
        let known = crate::scenario::catalogue();
        for (index, alternative) in all.iter().enumerate() {
            assert!(all[..index].iter().all(|other| other.label != alternative.label));
            let (key, _) = alternative.set.iter().next().unwrap();
            assert!(known.iter().any(|it| it.key.ends_with(key)), "{key}");
        }
        assert_eq!(all[0].label, "switch.ties = \"port\"");
    }

    #[test]
    fn a_new_control_has_its_own_parameters_and_keys_of_workloads_are_set_in_jobs() {
        let text = "seed = 3\ntransport = { congestion_control = \"swift\", payload = \"1KB\", \
                    parameters = { beta = \"1/2\" } }\njob = [{ bytes = \"1MB\" }, {}]";
        let with = |keys: &str| {
            let set = keys.parse().unwrap();
            let mut scenario: Table = text.parse().unwrap();
            let section = WhySection { set, label: String::new() };
            Alternative::of_section(&section, &[]).unwrap().apply(&mut scenario).unwrap();
            scenario
        };
        let scenario = with("\"transport.congestion_control\" = \"line-rate\"\nseed = 4");
        let transport = "congestion_control = \"line-rate\"\npayload = \"1KB\"";
        assert_eq!(scenario["transport"], transport.parse::<Table>().unwrap().into());
        assert_eq!(scenario["seed"], 4.into());
        let scenario = with("\"workload.bytes\" = \"2MB\"");
        let jobs = "job = [{ bytes = \"2MB\" }, { bytes = \"2MB\" }]";
        assert_eq!(scenario["job"], jobs.parse::<Table>().unwrap()["job"]);
        assert!(!scenario.contains_key("workload"));
    }

    fn own(set: &str) -> Result<Alternative, Rejection> {
        let section = WhySection { set: set.parse().unwrap(), label: String::new() };
        Alternative::of_section(&section, &[])
    }

    #[test]
    fn nested_tables_are_the_same_as_dotted_keys() {
        let base: Table = "transport = { congestion_control = \"swift\", \
                           parameters = { beta = \"1/2\" } }\nswitch = { trim = true }\n\
                           job = [{ bytes = \"1MB\" }]"
            .parse()
            .unwrap();
        for (nested, dotted) in [
            (
                "transport = { congestion_control = \"line-rate\" }",
                "\"transport.congestion_control\" = \"line-rate\"",
            ),
            ("workload = { bytes = \"2MB\" }", "\"workload.bytes\" = \"2MB\""),
            ("job.0.bytes = \"2MB\"", "\"job.0.bytes\" = \"2MB\""),
            ("switch.trim = { at = \"9KB\" }", "\"switch.trim.at\" = \"9KB\""),
            ("switch = { ties = \"port\" }", "\"switch.ties\" = \"port\""),
        ] {
            let both = [nested, dotted].map(|it| own(it).unwrap());
            assert_eq!(both[0], both[1]);
            let mut scenario = base.clone();
            both[0].apply(&mut scenario).unwrap();
            assert_ne!(scenario, base);
            let transport = scenario["transport"].as_table().unwrap();
            assert_eq!(transport.contains_key("parameters"), !nested.contains("congestion"));
            assert!(!scenario.contains_key("workload"), "{nested}");
            assert_eq!(scenario["job"].as_array().map(Vec::len), Some(1), "{nested}");
        }
        let nested = own("switch = { ties = \"port\" }").unwrap();
        assert_eq!(Alternative::all(&[nested]).len(), BUILT_IN.len());
        let twice = own("transport.payload = \"1KB\"\n\"transport.payload\" = \"2KB\"");
        let reason = twice.unwrap_err().reason;
        assert!(reason.starts_with("it sets transport.payload, which transport.p"), "{reason}");
    }

    #[test]
    fn a_built_in_alternative_that_the_study_lists_is_tried_once() {
        let set: Table = "\"switch.ties\" = \"port\"".parse().unwrap();
        let section = WhySection { set, label: "as others".to_owned() };
        let own = Alternative::of_section(&section, &[]).unwrap();
        let all = Alternative::all(std::slice::from_ref(&own));
        assert_eq!(all.len(), BUILT_IN.len());
        assert_eq!(all[0], own);
        let again = Alternative::of_section(&section, &[own]).unwrap_err();
        assert_eq!(again.reason, "another [[why]] has the name 'as others'");
    }

    #[test]
    fn the_name_of_a_built_in_alternative_is_only_for_its_keys() {
        let own = |set: &str| {
            let label = "switch.ties = \"port\"".to_owned();
            Alternative::of_section(&WhySection { set: set.parse().unwrap(), label }, &[])
        };
        assert!(own("switch.ties = \"port\"").is_ok());
        let other = own("switch.ties = \"drawn\"").unwrap_err();
        assert_eq!(other.key, "label");
        assert!(
            other.reason.starts_with("a built-in alternative with other v"),
            "{}",
            other.reason
        );
    }
}
