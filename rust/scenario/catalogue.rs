//! Catalogue of all keys of the format, for `evenkeel explain` and the JSON Schema.

use super::file::class::ClassSection;
use super::file::failure::FailureSection;
use super::file::record::RecordSection;
use super::file::switch::SwitchSection;
use super::file::topology::WireSection;
use super::file::transport::TransportSection;
use super::file::workload::JobSection;
use super::file::{DEFAULT_POLICY, GeneralSection};
use super::input::reader::Kind;
use super::input::section::{Form, KeyDescription, Section, Value, written};
use super::rails::file as rails;
use super::reference;
use super::topologies::{self, TopologyKind};
use super::workloads::{self, CommonSection};

/// A key of scenarios.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyEntry {
    /// Path of the key with its section: `topology.leaves`.
    pub key: String,
    /// Condition under which the key applies: `kind = "leaf-spine"`. Empty if it applies to its
    /// whole section.
    pub only: String,
    /// Notation of the value.
    pub form: String,
    /// Default as TOML writes it, or in words.
    pub default: String,
    /// Meaning of the key.
    pub summary: String,
}

/// A table of the format.
pub(super) struct Part {
    /// Name of the table; empty for the keys above all sections.
    pub name: &'static str,
    /// Condition under which its keys apply.
    pub only: String,
    /// True for a list of tables: `[[failure]]`.
    pub is_list: bool,
    pub keys: Vec<KeyDescription>,
}

/// Returns all tables. A section with several kinds appears once per kind.
pub(super) fn parts() -> Vec<Part> {
    let plain = |name, keys| Part { name, only: String::new(), is_list: false, keys };
    let list = |name, keys| Part { name, only: String::new(), is_list: true, keys };
    let kind = |summary: &str, form: Form, default: String| KeyDescription {
        name: "kind",
        summary: summary.to_owned(),
        form,
        default,
    };
    let family =
        kind("The family of the fabric.", TopologyKind::form(), written(&topologies::DEFAULT_KIND));
    let text = String::form;
    let of_workload = kind(
        "A collective's name (evenkeel list collectives), or another workload's (list workloads).",
        text(),
        written(&workloads::DEFAULT_KIND),
    );
    let of_rail = kind(
        "Kind of reduction.",
        rails::RailKindName::form(),
        written(&rails::RailKindName::default()),
    );
    let policy = KeyDescription {
        name: "name",
        summary: "The policy (evenkeel list policies); other keys are its parameters.".to_owned(),
        form: text(),
        default: format!("`\"{DEFAULT_POLICY}\"`"),
    };
    let mut parts = vec![
        plain("", GeneralSection::keys()),
        plain("topology", [vec![family], WireSection::keys()].concat()),
    ];
    parts.extend(of_kinds("topology", topologies::KINDS));
    parts.push(plain("switch", SwitchSection::keys()));
    parts.push(plain("transport", TransportSection::keys()));
    parts.push(plain("policy", vec![policy]));
    parts.push(list("class", ClassSection::keys()));
    let common = [vec![of_workload], CommonSection::keys()].concat();
    parts.push(plain("workload", common.clone()));
    parts.extend(of_kinds("workload", workloads::KINDS));
    parts.push(list("job", [common, JobSection::keys()].concat()));
    parts.extend(of_kinds("job", workloads::KINDS).map(|part| Part { is_list: true, ..part }));
    parts.push(list("failure", FailureSection::keys()));
    parts.push(plain("record", RecordSection::keys()));
    parts.push(plain("hosts", rails::HostsSection::keys()));
    parts.push(list("rail", [vec![of_rail], rails::RailCommonSection::keys()].concat()));
    parts.extend(of_kinds("rail", rails::KINDS).map(|part| Part { is_list: true, ..part }));
    parts.push(plain("handler", rails::HandlerSection::keys()));
    let of_rails = |part: Part| Part { only: "scenarios with [[rail]]".to_owned(), ..part };
    parts.push(of_rails(plain("workload", rails::RailWorkloadSection::keys())));
    parts.push(of_rails(list("failure", rails::RailFailureSection::keys())));
    parts
}

fn of_kinds<S>(name: &'static str, kinds: &[Kind<S>]) -> impl Iterator<Item = Part> {
    kinds.iter().map(move |kind| Part {
        name,
        only: format!("kind = \"{}\"", kind.name),
        is_list: false,
        keys: kind.groups.iter().flat_map(|group| (group.keys)()).collect(),
    })
}

/// Returns all keys, in the order of the reference.
pub fn catalogue() -> Vec<KeyEntry> {
    let mut entries = Vec::new();
    for part in parts() {
        let above = if part.name.is_empty() { String::new() } else { format!("{}.", part.name) };
        add(&mut entries, &above, &part.only, &part.keys);
    }
    entries
}

fn add(entries: &mut Vec<KeyEntry>, above: &str, only: &str, keys: &[KeyDescription]) {
    for KeyDescription { name, summary, form, default } in keys {
        entries.push(KeyEntry {
            key: format!("{above}{name}"),
            only: only.to_owned(),
            form: form.text.clone(),
            default: default.clone(),
            summary: summary.replace("\\[inferred\\]", "[inferred]"),
        });
        add(entries, &format!("{above}{name}."), only, &form.keys);
    }
}

/// A parameter of policies, congestion controls, loss recoveries or allocators.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterEntry {
    /// Path with its section: `policy.evs`, `transport.parameters.g`.
    pub key: String,
    /// Policies, controls, recoveries or allocators that have the parameter with this default.
    pub of: Vec<String>,
    /// Notation of the value.
    pub form: String,
    /// Default as TOML writes it. A congestion control's default is that of its first preset. A
    /// loss recovery's default ignores policies that set their own.
    pub default: String,
}

/// Returns all parameters, those of policies first. A key with several defaults has several
/// entries.
pub fn parameters() -> Vec<ParameterEntry> {
    let mut entries: Vec<ParameterEntry> = Vec::new();
    let mut add = |above: &str, row: reference::Row| {
        for (name, value) in &row.parameters {
            let (key, default) = (format!("{above}.{name}"), value.to_string());
            let form = (row.form)(&row.name, name);
            let is_same = |it: &&mut ParameterEntry| {
                it.key == key && it.default == default && it.form == form
            };
            match entries.iter_mut().find(is_same) {
                Some(entry) => entry.of.push(row.name.clone()),
                None => {
                    let of = vec![row.name.clone()];
                    entries.push(ParameterEntry { key, of, form, default });
                }
            }
        }
    };
    reference::schemes().for_each(|row| add("policy", row));
    reference::controls().for_each(|row| add("transport.parameters", row));
    reference::loss_recoveries().for_each(|row| add("transport.recovery_parameters", row));
    reference::allocators().for_each(|row| add("policy", row));
    entries
}
