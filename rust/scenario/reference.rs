//! The reference of the scenario format: Markdown pages in `docs/`, generated from the sections. A
//! test compares them with the committed files.

use std::fmt::Write;

use serde::de::DeserializeOwned;

use super::file::class::ClassSection;
use super::file::failure::FailureSection;
use super::file::record::RecordSection;
use super::file::switch::SwitchSection;
use super::file::topology::WireSection;
use super::file::transport::TransportSection;
use super::file::workload::JobSection;
use super::file::{DEFAULT_POLICY, GeneralSection, PolicySection};
use super::input::context::Context;
use super::input::located::{Key, Located};
use super::input::reader::Kind;
use super::input::section::{KeyDescription, Section, Value, names, written};
use super::input::source::Source;
use super::parameter_forms;
use super::rails::file as rail_file;
use super::resolve::{policy, recovery};
use super::topologies::{self, TopologyKind};
use super::workloads::{self, CommonSection};
use crate::balance::sender::Trimming;
use crate::balance::{self, Parameters, SHARED_PARAMETERS};
use crate::nic::congestion::CongestionName;
use crate::nic::recovery::RecoveryName;
use crate::{collective, rail, values};

/// Returns the pages of the reference, each with the name of its file in `docs/`.
pub fn reference() -> [(&'static str, String); 5] {
    let page = |introduction: &str, fill: fn(&mut Page)| {
        let mut page = Page::default();
        page.text(introduction);
        fill(&mut page);
        page.text(END);
        page.0
    };
    [
        ("scenario.md", page(SCENARIO, common)),
        ("keys-topology.md", page(TOPOLOGY, topologies)),
        ("keys-transport.md", page(TRANSPORT, transports)),
        ("keys-workload.md", page(WORKLOAD, workload_kinds)),
        ("keys-rails.md", page(RAILS, rails)),
    ]
}

const SCENARIO: &str = "# Scenario reference

For authors of scenarios. This command prints a scenario with every default:

```sh
evenkeel check --explain examples/idle-path.toml
```

A scenario is a TOML file. Every section and key is optional unless its default is *required*. An
unknown key is an error that names the closest known one. Quantities are strings with a unit: a
rate `\"400Gbps\"`, a time `\"500ns\"`, a size `\"64MB\"` or `\"64MiB\"`. A fraction is `\"1/5\"` or
`\"0.2\"`. Paths are relative to the scenario's file. A key of a table is written with a dot
(`ecn.step`), as in TOML. *[inferred]* marks values without a source.

| section | page |
|---|---|
| general keys, `[policy]`, `[[class]]`, `[[failure]]`, `[record]` | this one |
| `[topology]` | [Topology keys](keys-topology.md) |
| `[switch]`, `[transport]` | [Switch and transport keys](keys-transport.md) |
| `[workload]`, `[[job]]` | [Workload keys](keys-workload.md) |
| hosts with several rails: `[hosts]`, `[[rail]]` and others | [Rail keys](keys-rails.md) |";

const TOPOLOGY: &str = "# Topology keys

For authors of scenarios: the keys of `[topology]`. This command explains one key:

```sh
evenkeel explain topology.delay
```";

const TRANSPORT: &str = "# Switch and transport keys

For authors of scenarios: the keys of `[switch]` and `[transport]`. This command explains one:

```sh
evenkeel explain transport.congestion_control
```";

const WORKLOAD: &str = "# Workload keys

For authors of scenarios: the keys of `[workload]` and `[[job]]`. This command lists collectives:

```sh
evenkeel list collectives
```";

const RAILS: &str = "# Rail keys

For authors of scenarios of hosts with several rails, each a network of its own. A file with
`[[rail]]` sections has the general keys of [scenarios](scenario.md) and the sections of this page.
This command prints an example with every default:

```sh
evenkeel check --explain examples/rails-sizes.toml
```";

const END: &str = "---

Generated from the code; `INSTA_UPDATE=always cargo test -p evenkeel-scenario` rewrites this page.";

/// The sections of every scenario that have no page of their own.
fn common(page: &mut Page) {
    page.section::<GeneralSection>("## General keys", "These keys are above all sections.");
    policies(page);
    page.section::<ClassSection>(
        "## `[[class]]`",
        "Traffic classes of data packets, at most seven ([Traffic classes](traffic-classes.md)). \
         By default data has one queue at each port.",
    );
    page.section::<FailureSection>(
        "## `[[failure]]`",
        "Failures: exactly one of `link`, `switch` and `probability`, its kind and its times. By \
         default nothing fails.",
    );
    page.section::<RecordSection>(
        "## `[record]`",
        "Time series of a run, next to its results ([Recording](recording.md)). By \
         default nothing is recorded. At least one of `ports`, `queue_pairs` and `paths` is not \
         `\"none\"`. Several are written as `[[record]]`.",
    );
}

/// A page of Markdown.
#[derive(Default)]
struct Page(String);

impl Page {
    fn text(&mut self, text: &str) {
        if !text.is_empty() {
            let gap = if self.0.is_empty() { "" } else { "\n" };
            self.line(&format!("{gap}{text}"));
        }
    }

    fn line(&mut self, line: &str) {
        writeln!(self.0, "{line}").expect("writing to a String cannot fail");
    }

    fn section<S: Section>(&mut self, heading: &str, text: &str) {
        self.text(heading);
        self.text(text);
        self.keys(&S::keys());
    }

    /// Writes a table of keys, including the keys of nested tables.
    fn keys(&mut self, keys: &[KeyDescription]) {
        self.text("| key | value | default | meaning |\n|---|---|---|---|");
        self.rows("", keys);
    }

    fn rows(&mut self, above: &str, keys: &[KeyDescription]) {
        for KeyDescription { name, summary, form, default } in keys {
            let summary = summary.replace("\\[inferred\\]", "*[inferred]*");
            let default = if default == "required" { "*required*" } else { default };
            let form_text = without_examples(&form.text);
            self.line(&format!("| `{above}{name}` | {form_text} | {default} | {summary} |"));
            self.rows(&format!("{above}{name}."), &form.keys);
        }
    }

    /// Writes the kinds of a section, each with its keys. Keys of several kinds are described once.
    fn kinds<S>(&mut self, kinds: &[Kind<S>]) {
        let shared = shared(kinds);
        if !shared.is_empty() {
            self.text("### Keys of several kinds");
            self.keys(&shared);
        }
        for kind in kinds {
            self.text(&format!("### `kind = \"{}\"`", kind.name));
            let (also, own): (Vec<_>, Vec<_>) =
                keys_of(kind).into_iter().partition(|key| shared.contains(key));
            let names: Vec<String> = also.iter().map(|key| format!("`{}`", key.name)).collect();
            let also = match names.is_empty() {
                true => String::new(),
                false => format!(" Keys of several kinds: {}.", names.join(", ")),
            };
            self.text(&format!("{}.{also}", kind.summary));
            if !own.is_empty() {
                self.keys(&own);
            }
        }
    }

    /// Writes a table of names with descriptions and parameters.
    fn parameters(&mut self, heading: &str, rows: impl Iterator<Item = Row>) {
        self.text(&format!("| {heading} | parameters and their defaults |\n|---|---|"));
        for Row { name, about, parameters, .. } in rows {
            let defaults = parameters.iter().map(|(key, value)| format!("`{key} = {value}`"));
            let defaults = defaults.collect::<Vec<_>>().join(", ");
            self.line(&format!("| `{name}`{about} | {defaults} |"));
        }
    }
}

/// Returns the text of a form without its examples, which the first page has for all keys.
fn without_examples(form: &str) -> String {
    let mut parts = form.split(", such as `");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('`').map_or("", |(_, rest)| rest))
}

/// Returns the keys of a kind.
fn keys_of<S>(kind: &Kind<S>) -> Vec<KeyDescription> {
    kind.groups.iter().flat_map(|group| (group.keys)()).collect()
}

/// Returns the keys that are the same in several kinds; of different keys with one name, those of
/// the most kinds.
fn shared<S>(kinds: &[Kind<S>]) -> Vec<KeyDescription> {
    let all: Vec<KeyDescription> = kinds.iter().flat_map(keys_of).collect();
    let uses = |key: &KeyDescription| all.iter().filter(|other| *other == key).count();
    let mut shared: Vec<KeyDescription> = Vec::new();
    for key in &all {
        let with_its_name = all.iter().filter(|other| other.name == key.name);
        let is_most_common = with_its_name.map(uses).max() == Some(uses(key));
        let is_new = shared.iter().all(|other| other.name != key.name);
        if uses(key) > 1 && is_most_common && is_new {
            shared.push(key.clone());
        }
    }
    shared
}

/// A name with its parameters.
pub(super) struct Row {
    pub name: String,
    about: String,
    pub parameters: Parameters,
    /// Returns the notation of a parameter of a name.
    pub form: fn(&str, &str) -> String,
}

fn topologies(page: &mut Page) {
    page.text("## `[topology]`");
    page.text("Switches, hosts and links. Keys of every `kind`:");
    let kind = KeyDescription {
        name: "kind",
        summary: "The family of the fabric.".to_owned(),
        form: TopologyKind::form(),
        default: written(&topologies::DEFAULT_KIND),
    };
    page.keys(&[vec![kind], WireSection::keys()].concat());
    page.kinds(topologies::KINDS);
}

fn transports(page: &mut Page) {
    page.section::<SwitchSection>("## `[switch]`", "The settings of every switch.");
    page.section::<TransportSection>("## `[transport]`", "The settings of every NIC.");
    page.text("### Congestion controls");
    page.text("`parameters` of each `congestion_control`, with those of its first preset:");
    page.parameters("`congestion_control`", controls());
    page.text("### Loss recoveries");
    page.text(
        "`recovery_parameters` of each `recovery`. A policy designed for a recovery may have other \
         defaults; `evenkeel check --explain` prints them.",
    );
    page.parameters("`recovery`", loss_recoveries());
}

/// Returns every congestion control.
pub(super) fn controls() -> impl Iterator<Item = Row> {
    named::<CongestionName>().map(control)
}

/// Returns every loss recovery except `auto`.
pub(super) fn loss_recoveries() -> impl Iterator<Item = Row> {
    named::<RecoveryName>().skip(1).map(loss_recovery)
}

/// A name and the value that serde reads from it.
struct Named<T> {
    name: String,
    value: T,
}

/// Returns all names that serde reads as a `T`.
fn named<T: DeserializeOwned>() -> impl Iterator<Item = Named<T>> {
    names::<T>().iter().map(|&name| {
        let name = name.to_owned();
        let value = values::read(toml::Value::String(name.clone()));
        Named { name, value: value.expect("it is one of the names") }
    })
}

fn empty() -> Source {
    Source::read(String::new(), String::new()).expect("an empty text is TOML")
}

fn control(named: Named<CongestionName>) -> Row {
    let control = named.value.control();
    let presets = control.presets().join(", ");
    let about = if presets.is_empty() { presets } else { format!("; presets: {presets}") };
    Row {
        name: named.name,
        about,
        parameters: control.defaults(Trimming::Off),
        form: parameter_forms::of_control,
    }
}

fn loss_recovery(named: Named<RecoveryName>) -> Row {
    let (source, mut section) = (empty(), TransportSection::default());
    *section.recovery = named.value;
    let policy = crate::nic::Recovery::ERASURE;
    recovery::resolve(&Context::of(&source), &mut section, policy).expect("its defaults are valid");
    let parameters = (*section.recovery_parameters).clone();
    Row { name: named.name, about: String::new(), parameters, form: parameter_forms::of_recovery }
}

fn policies(page: &mut Page) {
    page.text("## `[policy]`");
    page.text(&format!(
        "The load-balancing policy: `name` is one of the following (default \
         `\"{DEFAULT_POLICY}\"`), every other key is a parameter of it. Every policy takes `{}`. A \
         policy whose row has only this has no other parameter. `evenkeel list policies` shows the \
         sources.",
        SHARED_PARAMETERS.join("`, `")
    ));
    page.parameters("policy", schemes());
}

/// Returns every policy.
pub(super) fn schemes() -> impl Iterator<Item = Row> {
    balance::presets().map(|preset| {
        let source = empty();
        let name = Located::of(preset.name.to_owned(), Key::ROOT);
        let parameters = Located::of(Parameters::new(), Key::ROOT);
        let mut section = PolicySection { name, parameters };
        let scheme = policy::resolve(&Context::of(&source), &mut section);
        let scheme = scheme.expect("its defaults are valid");
        if section.parameters.is_empty() {
            let shared = |(key, _): &(String, _)| SHARED_PARAMETERS.contains(&key.as_str());
            *section.parameters = scheme.parameters().into_iter().filter(shared).collect();
        }
        let about = format!(": {}", preset.summary);
        let parameters = (*section.parameters).clone();
        Row { name: preset.name.to_owned(), about, parameters, form: parameter_forms::of_policy }
    })
}

/// Returns every allocator.
pub(super) fn allocators() -> impl Iterator<Item = Row> {
    rail::PRESETS.iter().map(|preset| {
        let config = (preset.build)(&Parameters::new()).expect("its defaults are valid");
        let parameters = Parameters::try_from(config).expect("a configuration is a table");
        let about = format!(": {}", preset.summary);
        Row { name: preset.name.to_owned(), about, parameters, form: parameter_forms::of_policy }
    })
}

fn workload_kinds(page: &mut Page) {
    page.text("## `[workload]` and `[[job]]`");
    page.text("Messages to send: one `[workload]`, or several `[[job]]`s, with these keys:");
    let kind = KeyDescription {
        name: "kind",
        summary: "A collective's name, or the name of another kind below.".to_owned(),
        form: String::form(),
        default: written(&workloads::DEFAULT_KIND),
    };
    page.keys(&[vec![kind], CommonSection::keys()].concat());
    page.section::<JobSection>("", "A `[[job]]` also has:");
    page.kinds(workloads::KINDS);
    let names: Vec<String> =
        collective::ALL.iter().map(|collective| format!("`{}`", collective.name)).collect();
    page.text(&format!("Collectives: {}.", names.join(", ")));
}

fn rails(page: &mut Page) {
    page.section::<rail_file::HostsSection>("## `[hosts]`", "Participating hosts.");
    page.text("## `[[rail]]`");
    page.text("A plane of links and switches. Keys of every `kind`:");
    let kind = KeyDescription {
        name: "kind",
        summary: "Kind of reduction.".to_owned(),
        form: rail_file::RailKindName::form(),
        default: written(&rail_file::RailKindName::default()),
    };
    page.keys(&[vec![kind], rail_file::RailCommonSection::keys()].concat());
    page.kinds(rail_file::KINDS);
    page.text("## `[policy]` of rails");
    page.text(&format!(
        "Division of operations among rails (default `\"{}\"`):",
        rail_file::DEFAULT_POLICY
    ));
    page.parameters("policy", allocators());
    page.section::<rail_file::RailWorkloadSection>("## `[workload]` of rails", "Reduced data.");
    page.section::<rail_file::HandlerSection>(
        "## `[handler]`",
        "Timers and sizes of the exception handler; all defaults are *[inferred]*.",
    );
    page.section::<rail_file::RailFailureSection>(
        "## `[[failure]]` of rails",
        "Rail failures. By default nothing fails.",
    );
}
