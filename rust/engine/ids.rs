//! Ids: newtypes over small integers, dense from zero, so that they index tables.

mod map;

pub(crate) use map::IdMap;

/// Defines an id newtype over `u32` with its printed prefix.
macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub u32);

        impl $name {
            /// Returns the id as an index into a table.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}{}", $prefix, self.0)
            }
        }
    };
}

id!(
    /// A host: one NIC port at the edge of the fabric.
    HostId,
    "host"
);
id!(
    /// A switch; ids are dense over all tiers.
    SwitchId,
    "switch"
);
id!(
    /// A full-duplex link, which has a port in each direction.
    LinkId,
    "link"
);
id!(
    /// One direction of a link: the output port of the node at its start. Link `l` has ports `2l`
    /// (from its first end to its second) and `2l + 1` (back).
    PortId,
    "port"
);
id!(
    /// A message of the workload.
    MessageId,
    "message"
);
id!(
    /// A task of a workload: one of its messages or one of its delays. Messages come first, so a
    /// message's task has the message's index; those of delays follow.
    TaskId,
    "task"
);
id!(
    /// A traffic class of data; ids are dense, in the order of the scenario.
    ClassId,
    "class"
);
id!(
    /// A queue pair; ids are dense per NIC.
    QpId,
    "qp"
);
id!(
    /// A rail: one of several networks that connect the same hosts.
    RailId,
    "rail"
);
id!(
    /// A member of a collective operation.
    RankId,
    "rank"
);

/// A traffic class of data on one direction of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkClass {
    /// Port that sends over the link.
    pub link: PortId,
    /// Class of its packets.
    pub class: ClassId,
}

impl From<MessageId> for TaskId {
    fn from(message: MessageId) -> Self {
        Self(message.0)
    }
}

impl LinkId {
    /// Returns the ports of both directions.
    pub const fn ports(self) -> [PortId; 2] {
        [PortId(2 * self.0), PortId(2 * self.0 + 1)]
    }
}

impl PortId {
    /// Returns the link whose direction this port is.
    pub const fn link(self) -> LinkId {
        LinkId(self.0 / 2)
    }

    /// Returns the port of the opposite direction of the same link.
    pub const fn reverse(self) -> Self {
        Self(self.0 ^ 1)
    }
}
