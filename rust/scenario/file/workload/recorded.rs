//! Workloads from files of other projects as written in the file, and how they are replayed.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::connection_matrix::StartUnit;
use crate::goal::Layout;
use crate::input::section::{Form, Value, named, section};
use crate::workload::Compute;

section! {
    /// `kind = "flows"`.
    pub struct FlowsSection {
        /// The flow file, relative to the scenario's file.
        file?: String = "required",
    }
}

section! {
    /// `kind = "goal"`.
    pub struct GoalSection {
        /// The schedule, relative to the scenario's file.
        file?: String = "required",
        /// Whether computations of a host run one at a time.
        compute: ComputeName = ComputeName::default(),
        /// What a rank is: a node, whose host `rank x NICs + nic` is one of its NICs (version 1),
        /// or a GPU, host `rank` (version 2).
        layout?: LayoutName = "`node-nic` if some `nic` is above 0, with a warning, and else `gpu`",
    }
}

section! {
    /// `kind = "simccl"`.
    pub struct SimcclSection {
        /// The flow file, relative to the scenario's file.
        file?: String = "required",
        /// The collective of the file, by its name there.
        collective?: String = "the only one",
        /// All collectives of the file in place of one: in order of the file, each rank starts one
        /// when it has sent and received all of the one before.
        in_turn: bool = false,
    }
}

section! {
    /// `kind = "connection-matrix"`.
    pub struct ConnectionMatrixSection {
        /// The connection matrix, relative to the scenario's file.
        file?: String = "required",
        /// The unit of `start` in the file, in which the programs of htsim differ: microseconds, as
        /// in uet-htsim, or picoseconds, as in `htsim_ndp`, in csg-htsim and from `gen_*.py`.
        start_unit: StartUnitName = StartUnitName::default(),
    }
}

/// The unit of the starts of a connection matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StartUnitName {
    /// Microseconds.
    #[default]
    Us,
    /// Picoseconds.
    Ps,
}

named! { StartUnitName }

impl From<StartUnitName> for StartUnit {
    fn from(name: StartUnitName) -> Self {
        match name {
            StartUnitName::Us => Self::Microseconds,
            StartUnitName::Ps => Self::Picoseconds,
        }
    }
}

/// How computations of a host are scheduled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ComputeName {
    /// One at a time on each processor, accelerator or `cpu N`.
    #[default]
    Serial,
    /// In parallel: only dependencies order them.
    Parallel,
}

named! { ComputeName }

impl From<ComputeName> for Compute {
    fn from(name: ComputeName) -> Self {
        match name {
            ComputeName::Serial => Self::Serial,
            ComputeName::Parallel => Self::Parallel,
        }
    }
}

/// What the ranks of a GOAL schedule are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayoutName {
    /// GPUs with a NIC each.
    Gpu,
    /// Nodes with several NICs.
    NodeNic,
}

named! { LayoutName }

impl From<LayoutName> for Layout {
    fn from(name: LayoutName) -> Self {
        match name {
            LayoutName::Gpu => Self::Gpu,
            LayoutName::NodeNic => Self::NodeNic,
        }
    }
}

/// Whether traces are read during the run: `true`, `false`, or `"auto"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StreamingName {
    /// During the run if they are large.
    #[default]
    Auto,
    /// During the run, whatever their size.
    Yes,
    /// As a whole before the run.
    No,
}

impl Value for StreamingName {
    fn form() -> Form {
        Form::of("`true`, `false` or `\"auto\"`")
    }
}

impl Serialize for StreamingName {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => to.serialize_str("auto"),
            Self::Yes => to.serialize_bool(true),
            Self::No => to.serialize_bool(false),
        }
    }
}

impl<'de> Deserialize<'de> for StreamingName {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct BoolOrAuto;
        impl serde::de::Visitor<'_> for BoolOrAuto {
            type Value = StreamingName;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true, false or \"auto\"")
            }
            fn visit_bool<E>(self, streams: bool) -> Result<StreamingName, E> {
                Ok(if streams { StreamingName::Yes } else { StreamingName::No })
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<StreamingName, E> {
                match text {
                    "auto" => Ok(StreamingName::Auto),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
                }
            }
        }
        from.deserialize_any(BoolOrAuto)
    }
}
