//! `[[failure]]` as written in a file.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::input::section::{Form, Value, named, section};
use crate::units::{Fraction, Span};

/// Kinds of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureName {
    /// The link transmits nothing.
    #[default]
    Down,
    /// The link keeps a share of its rate.
    Degrade,
    /// The link loses a share of its packets.
    Loss,
    /// The link goes down and up repeatedly.
    Flap,
}

named! { FailureName }

/// A time span, or infinity: `"100ms"`, `"never"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanOrNever {
    /// Finite span, such as `"100ms"`.
    Span(Span),
    /// Infinite span, written `"never"`.
    Never,
}

impl Value for SpanOrNever {
    fn form() -> Form {
        Form::of("time, such as `\"500ns\"`, or `\"never\"`")
    }
}

impl Serialize for SpanOrNever {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Span(span) => span.serialize(to),
            Self::Never => to.serialize_str("never"),
        }
    }
}

impl<'de> Deserialize<'de> for SpanOrNever {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Text;
        impl serde::de::Visitor<'_> for Text {
            type Value = SpanOrNever;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("\"never\", or a string with its unit, for example \"500ns\"")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<SpanOrNever, E> {
                if text == "never" {
                    return Ok(SpanOrNever::Never);
                }
                text.parse()
                    .map(SpanOrNever::Span)
                    .map_err(|error| E::custom(format!("{error}, or 'never'")))
            }
        }
        from.deserialize_str(Text)
    }
}

section! {
    /// `[[failure]]`: exactly one of `link`, `switch`, `plane` and `probability`, with its kind and
    /// times.
    pub struct FailureSection {
        /// Failing link, by its ends: `"leaf0-spine0"`; with several planes `"p1-leaf0-p1-spine0"`,
        /// or `"host3-p1-leaf0"` for a host port.
        link?: String = "none",
        /// End of `link` whose outgoing packets are affected. Detection and routing avoid both
        /// directions.
        from?: String = "both ends",
        /// Switch whose links all fail.
        switch?: String = "none",
        /// Plane whose links all fail, host links included.
        plane?: u32 = "none",
        /// Probability that each link between switches fails, independently.
        probability?: Fraction = "none",
        /// Kind of failure.
        kind: FailureName = FailureName::default(),
        /// `degrade`: remaining share of the rate.
        factor?: Fraction = "required for `degrade`",
        /// `loss`: share of packets lost.
        rate?: Fraction = "required for `loss`",
        /// `flap`: length of each outage.
        down_for?: Span = "required for `flap`",
        /// `flap`: time up between outages.
        up_for?: Span = "required for `flap`",
        /// Start of the failure.
        at: Span = Span::from_us(1),
        /// End of the failure.
        until: SpanOrNever = SpanOrNever::Never,
        /// Delay until the switches at the link's ends detect each change.
        detection: SpanOrNever = SpanOrNever::Span(Span::ZERO),
        /// Delay until routing converges after each change (G).
        convergence: SpanOrNever = SpanOrNever::Span(Span::from_ms(100)),
    }
}
