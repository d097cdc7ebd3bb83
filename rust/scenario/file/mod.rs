//! A scenario file: sections, keys and their defaults, without checks across keys.
//!
//! Every value carries its key ([`Located`]). A key whose default depends on other keys is an
//! `Option`. It is `None` if the file omits it, and `Some` in a resolved file wherever it applies.

pub(super) mod class;
pub(super) mod failure;
pub(super) mod hardware;
pub(super) mod record;
pub(super) mod switch;
pub(super) mod toggle;
pub(super) mod topology;
pub(super) mod transport;
pub(super) mod workload;

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::balance::{Parameters, SHARED_PARAMETERS};
use crate::fluid::Fidelity;
use crate::input::context::Context;
use crate::input::error::ScenarioError;
use crate::input::located::{Key, Located};
use crate::input::overrides::Overrides;
use crate::input::reader::SectionReader;
use crate::input::section::{Form, Value, named, section};
use crate::input::source::Source;
use crate::units::Span;
use class::ClassSection;
use failure::FailureSection;
use record::RecordSection;
use switch::SwitchSection;
use topology::TopologySection;
use transport::TransportSection;
use workload::{SectionRole, WorkloadSection};

/// Version of the format that this program reads and writes.
pub const SCHEMA_VERSION: u32 = 1;

/// A whole scenario file. Every section is optional; an unknown one is an error.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScenarioFile {
    /// The keys above all sections.
    #[serde(flatten)]
    pub general: GeneralSection,
    /// Topology and links.
    pub topology: TopologySection,
    /// Settings of every switch.
    pub switch: SwitchSection,
    /// Settings of every host's NIC.
    pub transport: TransportSection,
    /// Policy and its parameters.
    pub policy: PolicySection,
    /// Traffic classes of data packets, each a `[[class]]`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub class: Vec<ClassSection>,
    /// Workload; `None` if the file has jobs or sends nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<WorkloadSection>,
    /// Several workloads, instead of `workload`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub job: Vec<WorkloadSection>,
    /// Failures of links and switches, each a `[[failure]]`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failure: Vec<FailureSection>,
    /// Time series to record: one `[record]`, or several `[[record]]`.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "record::serialize")]
    pub record: Vec<RecordSection>,
}

named! { Fidelity }

section! {
    /// The keys above all sections.
    pub struct GeneralSection {
        /// Version of the format.
        schema_version: u32 = SCHEMA_VERSION,
        /// Seed of all random numbers.
        seed: u64 = 1,
        /// Simulated time at which a run ends as incomplete.
        time_limit: Span = Span::from_ms(10_000),
        /// Simulates packets, or flows with max-min fair rates (`fluid`): much faster on large
        /// fabrics, with the errors in [The fluid mode](fluid.md).
        fidelity: Fidelity = Fidelity::default(),
    }
}

/// `[policy]`: a preset and its parameters.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PolicySection {
    /// Name of the preset.
    pub name: Located<String>,
    /// Parameters of the preset: every key except `name`.
    #[serde(flatten)]
    pub parameters: Located<Parameters>,
}

impl Value for PolicySection {
    fn form() -> Form {
        Form::of("name of a policy, or a table")
    }

    fn locate(&mut self, key: &Key) {
        self.name.locate(&key.child("name"));
        self.parameters.locate(key);
    }
}

impl<'de> Deserialize<'de> for PolicySection {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct NameOrTable;
        impl<'de> Visitor<'de> for NameOrTable {
            type Value = PolicySection;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a policy, or { name = \"reps\", buffer = 8 }")
            }
            fn visit_str<E: Error>(self, name: &str) -> Result<PolicySection, E> {
                let (name, parameters) = (name.to_owned().into(), Parameters::new().into());
                Ok(PolicySection { name, parameters })
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<PolicySection, A::Error> {
                let mut parameters = Parameters::deserialize(MapAccessDeserializer::new(map))?;
                let name = match parameters.remove("name") {
                    Some(toml::Value::String(name)) => name,
                    None => {
                        let expected =
                            "the table must name its policy, for example name = \"reps\"";
                        return Err(A::Error::custom(expected));
                    }
                    Some(_) => {
                        let expected = "name must be a quoted string, for example name = \"reps\"";
                        return Err(A::Error::custom(expected));
                    }
                };
                Ok(PolicySection { name: name.into(), parameters: parameters.into() })
            }
        }
        from.deserialize_map(NameOrTable)
    }
}

/// Fabric of a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fabric {
    /// The fabric described by `[topology]`.
    Described,
    /// An existing fabric. Without `[workload]` and `[[job]]`, nothing is sent.
    Existing,
}

impl ScenarioFile {
    /// Reads the sections of a file.
    pub(crate) fn read(source: &Source, fabric: Fabric) -> Result<Self, ScenarioError> {
        let mut reader = SectionReader::new(source);
        let general = reader.take()?;
        let topology = TopologySection::read(reader.section_or_empty("topology")?, fabric)?;
        let switch = reader.section_or_empty("switch")?.take_all()?;
        let transport = reader.section_or_empty("transport")?.take_all()?;
        let policy = PolicySection::read(reader.section_or_empty("policy")?, DEFAULT_POLICY)?;
        let class = reader.sections("class")?;
        let class = class.into_iter().map(SectionReader::take_all).collect::<Result<_, _>>()?;
        let workload = reader.section("workload")?;
        let job = reader.sections("job")?;
        let failure = reader.sections("failure")?;
        let failure = failure.into_iter().map(SectionReader::take_all).collect::<Result<_, _>>()?;
        let record = reader.one_or_more("record")?;
        let record = record.into_iter().map(SectionReader::take_all).collect::<Result<_, _>>()?;
        if let (Some(workload), [_, ..]) = (&workload, job.as_slice()) {
            let because = "the file has [[job]]; make the workload a job";
            return Err(Context::of(source).misplaced(workload.key(), because));
        }
        let workload = match workload {
            None if job.is_empty() && fabric == Fabric::Described => Some(reader.empty("workload")),
            given => given,
        };
        let workload = workload.map(|reader| WorkloadSection::read(reader, SectionRole::Alone));
        let job = job.into_iter().map(|reader| WorkloadSection::read(reader, SectionRole::Job));
        let (workload, job) = (workload.transpose()?, job.collect::<Result<Vec<_>, _>>()?);
        reader.finish()?;
        Ok(Self {
            general,
            topology,
            switch,
            transport,
            policy,
            class,
            workload,
            job,
            failure,
            record,
        })
    }
}

impl ScenarioFile {
    /// Applies the overrides from the command line.
    pub(crate) fn apply(&mut self, overrides: &Overrides) {
        if let Some(name) = &overrides.policy {
            self.policy.override_with(name, &SHARED_PARAMETERS);
        }
        if let Some(seed) = overrides.seed {
            self.general.seed.override_with(seed);
        }
    }
}

/// Policy of a scenario that names none.
pub(crate) const DEFAULT_POLICY: &str = "ethereal";

impl PolicySection {
    /// Reads the section; the policy is `default` if it names none.
    pub(crate) fn read(
        mut reader: SectionReader<'_>,
        default: &str,
    ) -> Result<Self, ScenarioError> {
        let name = reader.take_key("name", default.to_owned())?;
        Ok(Self { name, parameters: reader.rest() })
    }

    /// Sets the policy from the command line. Unless it is the file's own, parameters are reset to
    /// defaults, except those `shared` among policies.
    pub(crate) fn override_with(&mut self, name: &str, shared: &[&str]) {
        if *self.name != name {
            self.parameters.retain(|key, _| shared.contains(&(key as &str)));
        }
        self.name.override_with(name.to_owned());
    }

    /// Returns warnings about parameters that are unused because another policy overrides this one.
    pub(crate) fn unused(
        &self,
        context: &Context<'_>,
        instead: &Self,
        shared: &[&str],
    ) -> Vec<String> {
        if self.name == instead.name {
            return Vec::new();
        }
        let own = self.parameters.keys().filter(|key| !shared.contains(&key.as_str()));
        let warning = format!("a parameter of '{}', not used by '{}'", *self.name, *instead.name);
        own.map(|key| context.warning(&self.parameters.key().child(key), &warning)).collect()
    }
}
