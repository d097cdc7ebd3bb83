//! Fabric families for `[topology] kind`. Each is a file with its keys, their defaults and the
//! graph it builds.

pub(crate) mod dragonfly;
pub(crate) mod dragonfly_plus;
pub(crate) mod dual_tor;
pub(crate) mod fat_tree;
pub(crate) mod file;
pub(crate) mod hpn;
pub(crate) mod leaf_spine;
pub(crate) mod multi_plane;
pub(crate) mod rail_only;
pub(crate) mod rail_optimized;
pub(crate) mod spectrum_x;
pub(crate) mod torus;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ids::HostId;
use crate::input::context::{AtLeast, Context};
use crate::input::error::{Fault, ScenarioError};
use crate::input::located::{Key, Located};
use crate::input::reader::{Keys, Kind, SectionReader};
use crate::input::section::{Group, Section, named, section};
use crate::topology::{Topology, TopologyError};
use crate::units::{BitRate, Span};

/// A fabric family, implemented by its keys.
pub(crate) trait Family: Keys {
    /// Name in scenarios: its variant in `registry!`, in lower case with hyphens.
    const NAME: &'static str;
    /// One-line description.
    const SUMMARY: &'static str;
    /// Publication: authors, title, year.
    const SOURCE: &'static str;

    /// Builds the fabric from the keys. `kind` is the key for faults that no other key causes.
    ///
    /// # Errors
    /// Fails if a value is out of range or a file cannot be read.
    fn build(&self, context: &Context<'_>, kind: &Key) -> Result<BuiltFabric, ScenarioError>;

    /// Returns the GPUs per server, if the family places servers.
    fn rails(&self) -> Option<u32> {
        None
    }
}

/// Registers families. A family is a file, its `mod` line and a line here.
macro_rules! registry {
    ($($kind:ident($keys:ty)),* $(,)?) => {
        /// Fabric families that `[topology]` can name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum TopologyKind {
            $(#[doc = concat!("The keys are `", stringify!($keys), "`.")] $kind,)*
        }

        /// Keys of a fabric family.
        #[derive(Debug, Clone, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum Shape {
            $(#[doc = concat!("See [`TopologyKind::", stringify!($kind), "`].")] $kind($keys),)*
            /// An existing fabric, which has no keys.
            Existing {},
        }

        /// Name, summary and source of every fabric family.
        pub const TOPOLOGIES: &[[&str; 3]] =
            &[$([<$keys>::NAME, <$keys>::SUMMARY, <$keys>::SOURCE]),*];

        /// Every family, in the order of [`TopologyKind`].
        pub(crate) const KINDS: &[Kind<Shape>] = &[$(Kind {
            name: <$keys>::NAME,
            summary: <$keys>::SUMMARY,
            groups: <$keys>::GROUPS,
            read: |reader| <$keys>::read(reader).map(Shape::$kind),
        }),*];

        impl Shape {
            /// [`Family::build`].
            pub(crate) fn build(
                &self,
                context: &Context<'_>,
                kind: &Key,
            ) -> Result<BuiltFabric, ScenarioError> {
                match self {
                    $(Self::$kind(keys) => keys.build(context, kind),)*
                    Self::Existing {} => unreachable!("an existing fabric is passed in"),
                }
            }

            /// [`Family::rails`].
            pub(crate) fn rails(&self) -> Option<u32> {
                match self {
                    $(Self::$kind(keys) => keys.rails(),)*
                    Self::Existing {} => None,
                }
            }
        }
    };
}

registry! {
    LeafSpine(Generated<leaf_spine::LeafSpineSection>),
    FatTree(Generated<fat_tree::FatTreeSection>),
    RailOptimized(Generated<rail_optimized::RailOptimizedSection>),
    MultiPlane(Generated<multi_plane::MultiPlaneSection>),
    Hpn(hpn::HpnSection),
    SpectrumX(spectrum_x::SpectrumXSection),
    DualTor(Generated<dual_tor::DualTorSection>),
    RailOnly(Generated<rail_only::RailOnlySection>),
    Torus(Generated<torus::TorusSection>),
    Dragonfly(dragonfly::DragonflySection),
    DragonflyPlus(dragonfly_plus::DragonflyPlusSection),
    File(file::TopologyFileSection),
}

/// Family of a section that names none.
pub(crate) const DEFAULT_KIND: TopologyKind = TopologyKind::LeafSpine;

named! { TopologyKind }

/// A generated fabric: its shape and its links.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Generated<S> {
    /// Shape: the wiring of switches and hosts.
    #[serde(flatten)]
    pub shape: S,
    /// Rates and delays of the generated links.
    #[serde(flatten)]
    pub links: LinksSection,
}

impl<S: Section> Keys for Generated<S> {
    const GROUPS: &'static [Group] = &[Group::of::<S>(), Group::of::<LinksSection>()];

    fn read(reader: &mut SectionReader<'_>) -> Result<Self, ScenarioError> {
        Ok(Self { shape: reader.take()?, links: reader.take()? })
    }
}

section! {
    /// The links of a generated fabric.
    pub struct LinksSection {
        /// Rate of host links.
        host_rate: BitRate = BitRate::from_gbps(400),
        /// Rate of links between switches.
        fabric_rate: BitRate = BitRate::from_gbps(400),
        /// One-way propagation delay per link.
        delay: Span = Span::from_ns(500),
        /// Links per pair of switches.
        parallel_links: u32 = 1,
    }
}

impl LinksSection {
    /// Fails for values out of range.
    fn check(&self, context: &Context<'_>) -> Result<(), ScenarioError> {
        rate(context, &self.host_rate)?;
        rate(context, &self.fabric_rate)?;
        context.span(&self.delay, AtLeast::Zero)?;
        context.positive(&self.parallel_links)?;
        Ok(())
    }
}

/// Fails for a link without a rate.
fn rate(context: &Context<'_>, rate: &Located<BitRate>) -> Result<(), ScenarioError> {
    match rate.as_bps() {
        0 => Err(context.invalid(rate, "a link must have a rate")),
        _ => Ok(()),
    }
}

/// A fabric as built.
pub(crate) struct BuiltFabric {
    /// Hosts, switches and links of the fabric.
    pub topology: Topology,
    /// Host of each node id in flow files.
    pub host_of_node: Vec<Option<HostId>>,
    /// Warnings of file readers.
    pub warnings: Vec<String>,
    /// Text of the file that it was read from, if any.
    pub file: Option<Arc<str>>,
}

impl BuiltFabric {
    /// Wraps a topology whose node ids are its host ids.
    pub(crate) fn new(topology: Topology) -> Self {
        let host_of_node = (0..topology.host_count()).map(|host| Some(HostId(host))).collect();
        Self { topology, host_of_node, warnings: Vec::new(), file: None }
    }
}

/// Converts a builder's result; an error points at the key that causes it.
fn built<'a>(
    context: &Context<'_>,
    topology: Result<Topology, TopologyError>,
    key: impl Fn(&TopologyError) -> &'a Key,
) -> Result<BuiltFabric, ScenarioError> {
    topology
        .map(BuiltFabric::new)
        .map_err(|error| context.fault(key(&error), Fault::Topology(error)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::section::names;

    #[test]
    fn rows_are_in_the_order_of_the_names() {
        let rows: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
        assert_eq!(names::<TopologyKind>(), rows);
    }
}
