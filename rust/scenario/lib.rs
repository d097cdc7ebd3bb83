//! Scenarios: parses the TOML file that describes a run and validates it.
//!
//! For programs that read, check or write scenario files. An error names the place and what would
//! be right:
//!
//! ```
//! use std::path::Path;
//!
//! use evenkeel_scenario::{Overrides, Scenario};
//!
//! let parse =
//!     |text: &str| Scenario::parse(text, "test", Path::new("."), &Overrides::default());
//! let error = parse("[policy]\nnme = 'spray'").unwrap_err().to_string();
//! assert!(error.contains("test.toml:2:1"), "{error}");
//! assert!(error.contains("did you mean 'name'?"), "{error}");
//! ```
//!
//! A [`ScenarioFile`] is the content of the file; a [`Scenario`] is the validated input of a run.
//! Every fault is found between the two. A [`ScenarioError`] reports it with file, line, key and
//! value, and says what is expected. This crate does not run scenarios: it converts them to a
//! [`Setup`](crate::fabric::Setup).
//!
//! Each folder uses only those before it:
//!
//! - `input`: the text, values with their keys ([`Located`]), faults, checks shared by sections,
//!   and the macro that declares a section.
//! - `topologies`: the fabric families, each with its keys and the graph it builds.
//! - `workloads`: the kinds of workload, each with its keys and the messages it generates.
//! - `file`: the content of the file, with a struct for each section.
//! - `resolve`: conversion of those structs to the input of a run.
//! - `rails`: file and resolution of scenarios whose hosts have several rails.

use evenkeel_engine::{
    balance, endpoint, fabric, ids, nic, packet, rng, split, switching, topology, units, values,
    workload,
};
use evenkeel_formats::{chakra, connection_matrix, goal, hpcc, infragraph, simccl, text_file};
use evenkeel_observe::record;
use evenkeel_traffic::{collective, nccl, pattern, training};
use evenkeel_worlds::{fluid, multirail, rail};

mod catalogue;
mod environment;
mod explain;
mod file;
mod input;
mod notation;
mod opening;
mod parameter_forms;
mod part;
mod rails;
mod randomness;
mod recorded;
mod reference;
mod resolve;
mod resolved;
mod schema;
mod topologies;
mod workloads;

#[cfg(test)]
#[path = "../tests/support/extent.rs"]
mod extent;
#[cfg(test)]
mod tests;

pub use catalogue::{KeyEntry, ParameterEntry, catalogue, parameters};
pub use explain::{Explained, ValueOrigin, flat, relative_path};
pub use file::failure::{FailureName, FailureSection, SpanOrNever};
pub use file::record::{RecordOn, RecordSection};
pub use file::switch::{
    CbfcSection, EcnSection, HeadroomName, PfcSection, SwitchSection, TrimSection,
};
pub use file::toggle::Toggle;
pub use file::topology::{TopologySection, WireSection};
pub use file::transport::{DeliveryName, QpCacheSection, TransportSection};
pub use file::workload::{JobSection, WorkloadSection};
pub use file::{GeneralSection, PolicySection, SCHEMA_VERSION, ScenarioFile};
pub use input::context::Context;
pub use input::error::{Fault, ScenarioError};
pub use input::located::{Key, Located};
pub use input::overrides::Overrides;
pub use input::position::Position;
pub use input::reader::SectionReader;
pub use input::settings::Setting;
pub use input::source::{Source, Subject};
pub use notation::Notation;
pub use opening::ScenarioText;
pub use rails::RailScenario;
pub use rails::file::{
    HandlerSection, HostsSection, InNetworkSection, RailCommonSection, RailFailureName,
    RailFailureSection, RailFile, RailKeys, RailKindName, RailSection, RailWorkloadSection,
    RdmaSection, Sizes, TcpSection,
};
pub use recorded::Recorded;
pub use reference::reference;
pub use resolved::Scenario;
pub use schema::schema;
pub use topologies::fat_tree::FatTreeSection;
pub use topologies::file::{TopologyFileSection, TopologyFormat};
pub use topologies::leaf_spine::LeafSpineSection;
pub use topologies::rail_optimized::RailOptimizedSection;
pub use topologies::{Generated, LinksSection, Shape, TOPOLOGIES, TopologyKind};
pub use workloads::chakra::ChakraSection;
pub use workloads::choices::StreamingName;
pub use workloads::collective::CollectiveSection;
pub use workloads::connection_matrix::ConnectionMatrixSection;
pub use workloads::flows::FlowsSection;
pub use workloads::goal::GoalSection;
pub use workloads::incast::IncastSection;
pub use workloads::permutation::PermutationSection;
pub use workloads::shift::ShiftSection;
pub use workloads::trace_source::last_rank;
pub use workloads::training::TrainingSection;
pub use workloads::training::model::{ModelChoice, ModelSection};
pub use workloads::{CommonSection, WORKLOADS, WorkloadKeys};
