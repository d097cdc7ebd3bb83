//! Flags of ports.

/// Features of a port that most ports lack. Fast paths test several of them at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::fabric::network) struct PortFeatures(u16);

impl PortFeatures {
    /// The link fails at some time.
    pub(in crate::fabric::network) const FAULTY: Self = Self(1);
    /// The link ends in another partition of a parallel run.
    pub(in crate::fabric::network) const BOUNDARY: Self = Self(2);
    /// The port belongs to a switch that writes telemetry into data packets.
    pub(in crate::fabric::network) const TELEMETRY: Self = Self(4);
    /// Packets are traced at the start of the link.
    pub(in crate::fabric::network) const TRACED_START: Self = Self(8);
    /// Packets are traced at the end of the link.
    pub(in crate::fabric::network) const TRACED_END: Self = Self(16);
    /// The fabric has flow control (PFC or CBFC).
    pub(in crate::fabric::network) const FLOW_CONTROL: Self = Self(32);
    /// Packets without priority need credit.
    pub(in crate::fabric::network) const CREDIT: Self = Self(128);

    /// The port has a queue for each traffic class.
    pub(in crate::fabric::network) const CLASSES: Self = Self(256);
    /// Packets are queued and started on a separate path.
    pub(in crate::fabric::network) const SLOW_QUEUES: Self = Self::FLOW_CONTROL.with(Self::CLASSES);

    /// The host has several ports.
    pub(in crate::fabric::network) const PLANES: Self = Self(64);

    /// Features that matter when a packet is put on the wire.
    pub(in crate::fabric::network) const AT_START: Self =
        Self::FAULTY.with(Self::BOUNDARY).with(Self::TELEMETRY).with(Self::CREDIT);
    /// Features that matter when a packet arrives.
    pub(in crate::fabric::network) const AT_END: Self =
        Self::FAULTY.with(Self::TELEMETRY).with(Self::TRACED_END);

    /// True if any of `other` is set.
    #[inline(always)]
    pub(in crate::fabric::network) const fn has_any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(in crate::fabric::network) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}
