//! Flags of ports.

/// What sets a port apart from nearly all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::fabric::network) struct Special(u16);

impl Special {
    /// Its link fails at some time.
    pub(in crate::fabric::network) const FAULTY: Self = Self(1);
    /// Its link ends in another partition of a parallel run.
    pub(in crate::fabric::network) const BOUNDARY: Self = Self(2);
    /// It is of a switch that writes telemetry into data packets.
    pub(in crate::fabric::network) const TELEMETRY: Self = Self(4);
    /// Packets are traced at the start of its link.
    pub(in crate::fabric::network) const TRACED_START: Self = Self(8);
    /// Packets are traced at the end of its link.
    pub(in crate::fabric::network) const TRACED_END: Self = Self(16);
    /// Its fabric has flow control (PFC or CBFC).
    pub(in crate::fabric::network) const FLOW_CONTROL: Self = Self(32);
    /// What it sends without priority needs credit.
    pub(in crate::fabric::network) const CREDIT: Self = Self(128);

    /// It has a queue for each traffic class.
    pub(in crate::fabric::network) const CLASSES: Self = Self(256);
    /// Its packets are queued and started by a path of their own.
    pub(in crate::fabric::network) const OWN_QUEUES: Self = Self::FLOW_CONTROL.with(Self::CLASSES);

    /// It is one of several ports of its host.
    pub(in crate::fabric::network) const PLANES: Self = Self(64);

    /// What has a say when a packet is put on the wire.
    pub(in crate::fabric::network) const AT_START: Self =
        Self::FAULTY.with(Self::BOUNDARY).with(Self::TELEMETRY).with(Self::CREDIT);
    /// What has a say when a packet arrives.
    pub(in crate::fabric::network) const AT_END: Self =
        Self::FAULTY.with(Self::TELEMETRY).with(Self::TRACED_END);

    /// Whether it has any of `other`.
    #[inline(always)]
    pub(in crate::fabric::network) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(in crate::fabric::network) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}
