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

/// How much of a switch's memory is kept for what is under way to it after it said "pause".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Headroom {
    /// Three times the rate times the delay of the link: that of the HPCC simulator (`third.cc`).
    Hpcc,
    /// Twice the rate times the delay, and two full packets: that of the ConWeave simulator.
    ConWeave {
        /// A full packet on the wire.
        packet: Bytes,
    },
    /// What can be under way at most, so that nothing is ever lost \[inferred\]: twice the rate
    /// times the delay; the packet that crosses the threshold, the one that the frame waits for
    /// and the one that its hearer has begun; the frame; gaps.
    WorstCase {
        /// A full packet on the wire.
        packet: Bytes,
    },
    /// So much for each link.
    Fixed(Bytes),
}

/// Priority flow control (IEEE 802.1Qbb), as the switches of the HPCC simulator do it
/// (`switch-mmu.cc`). It guards the class without priority; what has priority is never paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PfcConfig {
    /// For each link that ends at the switch, beside the pool.
    pub headroom: Headroom,
    /// Memory of its own for each link that ends at the switch. HPCC: 4 KiB.
    pub reserve: Bytes,
    /// A link may take this part of what is left of the pool; twice as much for each doubling of
    /// its rate over that of the NICs, up to all. HPCC: 1/8. ConWeave: 1/16.
    pub alpha: Fraction,
    /// "Go on" is said this far below the threshold. HPCC: 3 KiB.
    pub resume_offset: Bytes,
}

impl PfcConfig {
    /// HPCC's numbers.
    pub const HPCC: Self = Self {
        headroom: Headroom::Hpcc,
        reserve: Bytes::new(4 * 1024),
        alpha: match Fraction::new(1, 8) {
            Some(eighth) => eighth,
            None => Fraction::ONE,
        },
        resume_offset: Bytes::new(3 * 1024),
    };
}

/// Trimming: what does not fit is cut to its header instead of being dropped, and goes on with
/// priority (Handley et al., "NDP", SIGCOMM 2017; Ultra Ethernet 1.0, packet trimming).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrimConfig {
    /// What is left of a packet, on the wire. Ultra Ethernet's simulator (htsim): 64 B.
    pub size: Bytes,
    /// How much may wait with priority at one port. With trimming, what has priority has this
    /// much room of its own, beside the buffer.
    pub limit: Bytes,
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
    /// Flow control, if any. With it the buffer is one pool a switch, which only admits what the
    /// link it came by has room for; what has priority is always admitted.
    pub pfc: Option<PfcConfig>,
    /// Trimming, if any.
    pub trim: Option<TrimConfig>,
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
    /// Packets that start meanwhile take longer. Routing that weighs next hops by capacity is told
    /// after the convergence time, nobody else is; factors of failures that overlap are
    /// multiplied.
    Degrade {
        /// What is left of the rate: more than 0, at most 1.
        factor: Fraction,
    },
    /// Each packet that starts meanwhile is lost with this probability. Nobody is told.
    Loss {
        /// The probability, at most 1.
        rate: Fraction,
    },
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
    /// `Down`: how long after each change the switches at its ends know, also of a change that is
    /// undone by then \[inferred\]; `Span::MAX` for never.
    pub detection: Span,
    /// `Down`, and `Degrade` with weights by capacity: how long after each change routing
    /// everywhere knows (G); `Span::MAX` for never.
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

impl FabricConfig {
    /// The marking at switch ports of a rate.
    pub fn ecn_at(&self, rate: crate::units::BitRate) -> Ecn {
        let by_rate = self.ecn_by_rate.iter().find(|(of, _)| *of == rate);
        by_rate.map_or(self.switch.ecn, |&(_, ecn)| ecn)
    }
}
