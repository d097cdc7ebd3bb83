//! `[[failure]]` as written in the file.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::input::section::{Form, Value, named, section};
use crate::units::{Fraction, Span};

/// The kinds of failures that `[[failure]]` can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureName {
    /// The link transmits nothing.
    #[default]
    Down,
    /// The link has a share of its rate.
    Degrade,
    /// The link loses a share of its packets.
    Loss,
    /// The link is down and up again, repeatedly.
    Flap,
}

named! { FailureName }

/// A span, or infinity: `"100ms"`, `"never"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanOrNever {
    /// A finite span, such as `"100ms"`.
    Span(Span),
    /// An infinite span, written `"never"`.
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
                f.write_str("\"never\", or a text with its unit, for example \"500ns\"")
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
    /// `[[failure]]`: exactly one of `link`, `switch`, `plane` and `probability`, the kind and the
    /// times.
    pub struct FailureSection {
        /// The link that fails, by the names of its ends: `"leaf0-spine0"`; of a fabric of several
        /// planes `"p1-leaf0-p1-spine0"`, or `"host3-p1-leaf0"` for a port of a host.
        link?: String = "none",
        /// The end of `link` whose packets it affects, in one direction; whoever detects the
        /// failure, and routing, avoid the link in both.
        from?: String = "both ends",
        /// The switch all of whose links fail.
        switch?: String = "none",
        /// The plane all of whose links fail, those of hosts included.
        plane?: u32 = "none",
        /// The probability with which each link between switches fails, drawn independently.
        probability?: Fraction = "none",
        /// The kind of failure.
        kind: FailureName = FailureName::default(),
        /// `degrade`: the share of the rate that is left.
        factor?: Fraction = "required for `degrade`",
        /// `loss`: the share of packets that is lost.
        rate?: Fraction = "required for `loss`",
        /// `flap`: the time for which it is down each time.
        down_for?: Span = "required for `flap`",
        /// `flap`: the time for which it is up in between.
        up_for?: Span = "required for `flap`",
        /// When the failure starts.
        at: Span = Span::from_us(1),
        /// When the failure ends.
        until: SpanOrNever = SpanOrNever::Never,
        /// The time after each change at which the switches at the link's ends detect it.
        detection: SpanOrNever = SpanOrNever::Span(Span::ZERO),
        /// The time after each change at which routing converges (G).
        convergence: SpanOrNever = SpanOrNever::Span(Span::from_ms(100)),
    }
}
