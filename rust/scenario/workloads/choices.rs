//! Values shared by several kinds of workload.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::input::section::{Form, Value, named};
use crate::workload::{Compute, StepAfter};

named! { StepAfter, Compute }

/// Whether traces are read, or messages generated, during the run: `true`, `false`, or `"auto"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StreamingName {
    /// During the run if there are many.
    #[default]
    Auto,
    /// During the run, whatever their size.
    Yes,
    /// All before the run.
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
