//! `[switch] pfc` and `trim`: off, on with their defaults, or on with a table of settings.

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::fabric::{Buffer, FabricConfig, Headroom, PfcConfig, TrimConfig};
use crate::ids::SwitchId;
use crate::scenario::file::sections::SwitchSection;
use crate::scenario::input::context::Context;
use crate::scenario::input::error::{Fault, ScenarioError};
use crate::scenario::resolve::switch::LARGEST_BUFFER;
use crate::topology::Topology;
use crate::units::{Bytes, Fraction};

/// `false`, `true`, or a table: true is a table of defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Toggle<T> {
    /// Off.
    #[default]
    Off,
    /// On, with these settings.
    On(T),
}

impl<T: Serialize> Serialize for Toggle<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Off => to.serialize_bool(false),
            Self::On(settings) => settings.serialize(to),
        }
    }
}

impl<'de, T: Deserialize<'de> + Default> Deserialize<'de> for Toggle<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct BoolOrTable<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de> + Default> Visitor<'de> for BoolOrTable<T> {
            type Value = Toggle<T>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("true, false, or a table of settings")
            }
            fn visit_bool<E: Error>(self, on: bool) -> Result<Toggle<T>, E> {
                Ok(if on { Toggle::On(T::default()) } else { Toggle::Off })
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Toggle<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Toggle::On)
            }
        }
        from.deserialize_any(BoolOrTable(std::marker::PhantomData))
    }
}

/// `pfc = { ... }`: priority flow control.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PfcSection {
    /// For what is under way to a switch that said "pause", each link: `worst-case`. HPCC's rule
    /// takes small packets and long links for granted, ConWeave's leaves out a packet.
    pub headroom: HeadroomName,
    /// For each link, before it takes of the pool: 4 KiB (HPCC).
    pub reserve: Bytes,
    /// The part of what is left of the pool that a link may take: 1/8 (HPCC).
    pub alpha: Fraction,
    /// A link goes on when it is so far below that: 3 KiB (HPCC).
    pub resume_offset: Bytes,
}

impl Default for PfcSection {
    fn default() -> Self {
        Self {
            headroom: HeadroomName::WorstCase,
            reserve: PfcConfig::HPCC.reserve,
            alpha: PfcConfig::HPCC.alpha,
            resume_offset: PfcConfig::HPCC.resume_offset,
        }
    }
}

/// `headroom`: a rule by its name, or so many bytes a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadroomName {
    /// Three times rate and delay.
    Hpcc,
    /// Twice rate and delay, and two packets.
    ConWeave,
    /// Twice rate and delay, three packets and a frame: whatever can be under way.
    WorstCase,
    /// That many bytes.
    Bytes(Bytes),
}

impl Serialize for HeadroomName {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Hpcc => to.serialize_str("hpcc"),
            Self::ConWeave => to.serialize_str("conweave"),
            Self::WorstCase => to.serialize_str("worst-case"),
            Self::Bytes(bytes) => bytes.serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for HeadroomName {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = HeadroomName;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("\"worst-case\", \"hpcc\", \"conweave\", or a size such as \"75KB\"")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<HeadroomName, E> {
                match text {
                    "hpcc" => Ok(HeadroomName::Hpcc),
                    "conweave" => Ok(HeadroomName::ConWeave),
                    "worst-case" => Ok(HeadroomName::WorstCase),
                    _ => text.parse().map(HeadroomName::Bytes).map_err(|error| {
                        E::custom(format!("{error}, or one of 'worst-case', 'hpcc' and 'conweave'"))
                    }),
                }
            }
        }
        from.deserialize_str(Text)
    }
}

/// `trim = { ... }`: trimming.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrimSection {
    /// What is left of a packet on the wire: 64 B (Ultra Ethernet's simulator).
    pub size: Bytes,
    /// How much may wait with priority at a port: twice the buffer (NDP's simulator).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Bytes>,
}

impl Default for TrimSection {
    fn default() -> Self {
        Self { size: Bytes::new(64), limit: None }
    }
}

/// Flow control as a fabric takes it; `packet` is a full packet on the wire.
pub(in crate::scenario) fn pfc(
    context: &Context<'_>,
    typed: &SwitchSection,
    packet: Bytes,
) -> Result<Option<PfcConfig>, ScenarioError> {
    let Toggle::On(section) = typed.pfc else { return Ok(None) };
    if let Some(each) = typed.port_buffer {
        let right = "flow control shares a switch's memory among its links; write a buffer";
        return Err(context.senseless("switch.port_buffer", each, right));
    }
    context.part("switch.pfc.alpha", section.alpha)?;
    let headroom = match section.headroom {
        HeadroomName::Hpcc => Headroom::Hpcc,
        HeadroomName::ConWeave => Headroom::ConWeave { packet },
        HeadroomName::WorstCase => Headroom::WorstCase { packet },
        HeadroomName::Bytes(bytes) => Headroom::Fixed(bytes),
    };
    let PfcSection { reserve, alpha, resume_offset, .. } = section;
    Ok(Some(PfcConfig { headroom, reserve, alpha, resume_offset }))
}

/// Trimming as a fabric takes it, and the section with its defaults.
pub(in crate::scenario) fn trim(
    context: &Context<'_>,
    typed: &SwitchSection,
    buffer: Bytes,
    packet: Bytes,
) -> Result<(Toggle<TrimSection>, Option<TrimConfig>), ScenarioError> {
    let Toggle::On(section) = typed.trim else { return Ok((Toggle::Off, None)) };
    let size = section.size;
    if size == Bytes::ZERO || size > packet {
        let right = format!("it must be from 1B to a full packet (payload and header: {packet})");
        return Err(context.senseless("switch.trim.size", size, right));
    }
    let twice = Bytes::new(2 * buffer.get()).min(LARGEST_BUFFER);
    let limit = section.limit.unwrap_or(twice);
    if limit < size || limit > LARGEST_BUFFER {
        let right = format!("it must be from switch.trim.size ({size}) to {LARGEST_BUFFER}");
        return Err(context.senseless("switch.trim.limit", limit, right));
    }
    let section = TrimSection { size, limit: Some(limit) };
    Ok((Toggle::On(section), Some(TrimConfig { size, limit })))
}

/// Refuses a buffer in which reserves and headrooms of a switch leave nothing to share.
pub(in crate::scenario) fn pool(
    context: &Context<'_>,
    fabric: &FabricConfig,
    topology: &Topology,
) -> Result<(), ScenarioError> {
    let (Some(pfc), Buffer::Shared(buffer)) = (fabric.switch.pfc, fabric.switch.buffer) else {
        return Ok(());
    };
    for (id, switch) in (0..).map(SwitchId).zip(topology.switches()) {
        let kept = pfc.private_bytes(fabric, topology, id);
        if kept < buffer {
            continue;
        }
        let fault = Fault::TooLarge {
            key: "switch.pfc".into(),
            value: context.shown("switch.pfc", "true"),
            amount: format!("headroom and reserve of {}'s links are {kept}", switch.name),
            limit: format!("less than switch.buffer, which is {buffer}"),
        };
        return Err(context.fault("switch.pfc", fault));
    }
    Ok(())
}
