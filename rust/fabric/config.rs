//! What the fabric is set to.

use crate::ids::LinkId;
use crate::units::{Bytes, Fraction, Span, Time};

/// Where packets wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Buffer {
    /// One pool a switch.
    Shared(Bytes),
    /// A buffer of its own for each output port.
    PerPort(Bytes),
}

/// When a packet is marked, by the bytes that wait at its output port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ecn {
    /// Never.
    Off,
    /// Above this much, always.
    Step(Bytes),
    /// Up to `kmin` never, above `kmax` always, between them with a probability that rises
    /// linearly to `pmax`.
    Ramp {
        /// Where marking starts.
        kmin: Bytes,
        /// Above this, every packet is marked.
        kmax: Bytes,
        /// The probability just below `kmax`.
        pmax: Fraction,
    },
}

/// When ECN looks at the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EcnPoint {
    /// As the packet joins the queue.
    #[default]
    Enqueue,
    /// As the packet leaves the queue.
    Dequeue,
}

/// What a switch is set to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SwitchConfig {
    /// Packet memory.
    pub buffer: Buffer,
    /// Marking. Thresholds may differ by link rate: `ecn_by_rate` of [`FabricConfig`].
    pub ecn: Ecn,
    /// When marking is decided.
    pub ecn_point: EcnPoint,
}

/// How transmission times become picoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rounding {
    /// To the picosecond, upward.
    #[default]
    Exact,
    /// Down to the nanosecond, as the HPCC family of simulators does.
    TruncateNs,
}

/// What happens to a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// Nothing gets through.
    Down,
}

/// A failure of a link, both directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    /// Which link.
    pub link: LinkId,
    /// What happens to it.
    pub kind: FailureKind,
    /// When it starts.
    pub at: Time,
    /// When it ends; `Time::NEVER` if it does not.
    pub until: Time,
    /// How long after each change the switches at its ends know.
    pub detection: Span,
    /// How long after each change routing everywhere knows (G); `Span::MAX` for never.
    pub convergence: Span,
}

/// The settings of a fabric.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FabricConfig {
    /// Every switch.
    pub switch: SwitchConfig,
    /// Thresholds for ports of certain rates (bits per second), in place of `switch.ecn`.
    pub ecn_by_rate: Vec<(crate::units::BitRate, Ecn)>,
    /// Preamble and inter-frame gap: the wire is busy this much longer than a packet is.
    pub gap: Bytes,
    /// From a packet's last bit in to when it can leave, in each switch.
    pub forwarding_delay: Span,
    /// How transmission times are rounded.
    pub rounding: Rounding,
    /// What fails.
    pub failures: Vec<Failure>,
}
