//! Times that may be derived from the base round-trip time.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::units::Span;

/// A time: absolute, or derived from the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// Derived from `retransmit_timeout`; written `"timeout"`.
    Timeout,
    /// Derived from the network's base round-trip time; written `"rtt"`.
    Rtt,
    /// An absolute time, such as `"8us"`.
    Span(Span),
}

impl Wait {
    /// Returns the time; with `"rtt"`, that of `round_trips` base round trips.
    pub(super) fn of(
        self,
        timeout: Span,
        base_rtt: impl FnOnce() -> Span,
        round_trips: u64,
    ) -> Span {
        match self {
            Self::Timeout => timeout,
            Self::Rtt => base_rtt() * round_trips,
            Self::Span(span) => span,
        }
    }
}

impl Serialize for Wait {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Timeout => to.serialize_str("timeout"),
            Self::Rtt => to.serialize_str("rtt"),
            Self::Span(span) => span.serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for Wait {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        match text.as_str() {
            "timeout" => return Ok(Self::Timeout),
            "rtt" => return Ok(Self::Rtt),
            _ => {}
        }
        let span = text.parse().map(Self::Span);
        span.map_err(|error| serde::de::Error::custom(format!("{error}, or 'timeout', or 'rtt'")))
    }
}
