//! The configuration of links and switches, which every world reads.

use super::classes::ClassConfig;
use super::llr::LlrConfig;
use super::ties::TieOrder;
use crate::ids::{LinkId, PortId};
use crate::topology::{Node, Topology};
use crate::units::{BitRate, Bytes, Fraction, Span, Time};

/// How the packet memory of a switch is divided among its ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Buffer {
    /// One pool a switch.
    Shared(Bytes),
    /// A buffer of its own for each output port.
    PerPort(Bytes),
}

/// When a packet is ECN marked, by the bytes without priority that wait at its output port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ecn {
    /// Packets are never marked.
    Off,
    /// Every packet is marked that finds more than this waiting.
    Step(Bytes),
    /// A packet is never marked up to `kmin`, always above `kmax`, and between them with a
    /// probability that rises linearly to `pmax`.
    Ramp {
        /// No packet is marked that finds no more than this waiting.
        kmin: Bytes,
        /// Above this, every packet is marked.
        kmax: Bytes,
        /// The probability just below `kmax`.
        pmax: Fraction,
    },
}

/// When ECN compares the queue with its thresholds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EcnPoint {
    /// As the packet joins the queue.
    #[default]
    Enqueue,
    /// As the packet leaves the queue.
    Dequeue,
}

/// The memory of a switch that is reserved for packets in flight to it when it sends a pause frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Headroom {
    /// Three times the rate times the delay of the link: that of the HPCC simulator (`third.cc`).
    Hpcc,
    /// Twice the rate times the delay, and two full packets: that of the ConWeave simulator.
    ConWeave {
        /// A full packet on the wire.
        packet: Bytes,
    },
    /// The most that can be in flight, so that no packet is lost \[inferred\]: twice the rate times
    /// the delay; the packet that crosses the threshold, the one that the frame waits for and the
    /// one that the paused port has started; the frame, and one of each other protected class;
    /// gaps.
    WorstCase {
        /// A full packet on the wire.
        packet: Bytes,
    },
    /// This much for each link.
    Fixed(Bytes),
}

/// Which packets of a link a switch with PFC admits, and when it pauses the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PfcAdmission {
    /// The rule of the HPCC simulator (`switch-mmu.cc`): a link fills its reserve, then its share
    /// of the pool, then its headroom. A packet that fits none of them is dropped, however much of
    /// the pool is free: the headroom alone holds what is in flight when the link is paused.
    #[default]
    Hpcc,
    /// The rule of the ConWeave simulator (`switch-mmu.cc`): a link that exceeds its share is
    /// paused, and its packets take memory of the pool as long as there is any; headrooms are used
    /// when the pool is full. The queue of an output port may be as long as the rest of the memory
    /// is free (a dynamic threshold of 1), and what exceeds that is dropped.
    ConWeave {
        /// A full packet on the wire. A link is never paused for two of them.
        packet: Bytes,
    },
}

/// Priority flow control (PFC, IEEE 802.1Qbb), as the switches of the HPCC simulator do it
/// (`switch-mmu.cc`). It protects data, of the classes that have it; packets with priority are
/// never paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PfcConfig {
    /// For each link that ends at the switch and each protected class, in addition to the pool.
    pub headroom: Headroom,
    /// Memory of its own for each link that ends at the switch and each protected class. HPCC:
    /// 4 KiB.
    pub reserve: Bytes,
    /// A link may take this share of the pool's free memory, doubled for each doubling of its rate
    /// relative to that of the NICs, at most all of it. HPCC: 1/8. ConWeave: 1/16.
    pub alpha: Fraction,
    /// A resume frame is sent once the link is this far below the threshold. HPCC: 3 KiB.
    /// ConWeave: 16 bytes of the pool.
    pub resume_offset: Bytes,
    /// Which packets of a link are admitted, and when it is paused.
    pub admission: PfcAdmission,
    /// How long a pause lasts after its frame arrives, unless another frame comes before; the
    /// switch then repeats the frame for each packet that finds the link still to be paused.
    /// Without it, a pause lasts until a resume frame, as in HPCC's simulator. ConWeave: 5 us.
    pub pause_time: Option<Span>,
}

impl PfcConfig {
    /// The numbers of HPCC's simulator (`third.cc` and `switch-mmu.cc`).
    pub const HPCC: Self = Self {
        headroom: Headroom::Hpcc,
        reserve: Bytes::new(4 * 1024),
        alpha: match Fraction::new(1, 8) {
            Some(eighth) => eighth,
            None => Fraction::ONE,
        },
        resume_offset: Bytes::new(3 * 1024),
        admission: PfcAdmission::Hpcc,
        pause_time: None,
    };
}

/// Credit-based flow control (CBFC of Ultra Ethernet 1.0.1, section 5.2) of the class without
/// priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CbfcConfig {
    /// Memory for each link that ends at a switch: the limit of its credits.
    pub memory: Bytes,
    /// Bytes of a credit: a power of two from 32 to 2,048.
    pub credit: u16,
    /// Bytes that each packet counts beyond its length on the wire, from -16 to 127.
    pub overhead: i8,
    /// The longest packet on the wire, bytes.
    pub packet: u16,
    /// How long after the loss of a packet on a link its credit is given back.
    pub correction: Span,
}

/// Trimming: a packet that does not fit is cut to its header instead of being dropped, and the
/// header is forwarded with priority (Handley et al., "NDP", SIGCOMM 2017; Ultra Ethernet 1.0,
/// packet trimming).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrimConfig {
    /// The length of a trimmed packet on the wire. Ultra Ethernet's simulator (htsim): 64 B.
    pub size: Bytes,
    /// How much may wait with priority at one port. With trimming, packets with priority have this
    /// much room of their own, in addition to the buffer.
    pub limit: Bytes,
    /// Which packet is trimmed where one finds no room.
    pub victim: TrimVictim,
}

/// The packet that is trimmed where one finds no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrimVictim {
    /// The one that arrives.
    #[default]
    Arriving,
    /// With equal probability it or the last one of the queue, whose place it then takes: flows
    /// whose packets arrive in step do not always lose the same ones (NDP, and its queue in
    /// uet-htsim and csg-htsim, `CompositeQueue::receivePacket`).
    ArrivingOrLast,
}

/// What becomes of the buffer and the marking thresholds of a port whose link is degraded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SlowPorts {
    /// They stay: memory is the switch's, and an operator does not set thresholds anew.
    #[default]
    Keep,
    /// They shrink with the rate, so that a full queue takes as long as at any other port
    /// (uet-htsim and csg-htsim, `FatTreeTopology::alloc_queue`, for a port's own buffer and for
    /// ECN). A shared buffer stays.
    Scale,
}

/// The configuration of every switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SwitchConfig {
    /// How much memory there is for packets that wait, and how it is divided.
    pub buffer: Buffer,
    /// ECN marking. Thresholds may differ by link rate: `ecn_by_rate` of [`FabricConfig`].
    pub ecn: Ecn,
    /// When marking is decided.
    pub ecn_point: EcnPoint,
    /// Priority flow control, if any. With it the buffer is one pool a switch; a packet is admitted
    /// if there is room for the link that it came by, and always if it has priority.
    pub pfc: Option<PfcConfig>,
    /// Credit-based flow control, if any, in place of PFC. With it no switch drops or trims: a
    /// packet is sent only where the far end has memory for it.
    pub cbfc: Option<CbfcConfig>,
    /// Trimming, if any; without it, a packet that finds no room is dropped.
    pub trim: Option<TrimConfig>,
    /// The buffer and the thresholds of ports whose links are degraded.
    pub slow_ports: SlowPorts,
}

/// The rounding of transmission times to picoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rounding {
    /// To the picosecond, upward.
    #[default]
    Exact,
    /// Down to the nanosecond, as the HPCC family of simulators does.
    TruncateNs,
}

/// The kind of a link's failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// It carries no packets, and loses those on the wire.
    Down,
    /// Packets that start during the failure take longer. Only routing that weighs next hops by
    /// capacity is informed, after the convergence time; factors of failures that overlap are
    /// multiplied.
    Degrade {
        /// The remaining share of the rate: more than 0, at most 1.
        factor: Fraction,
    },
    /// Each packet that starts during the failure is lost with this probability. The failure is not
    /// detected.
    Loss {
        /// The probability, at most 1.
        rate: Fraction,
    },
}

/// The directions of a link that a failure affects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Direction {
    /// Both.
    #[default]
    Both,
    /// That of the packets which this port of the link sends.
    From(PortId),
}

/// A failure of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    /// The link.
    pub link: LinkId,
    /// The directions that it affects. Whoever learns of the failure avoids the link in both.
    pub direction: Direction,
    /// The kind of failure.
    pub kind: FailureKind,
    /// When it starts, before anyone detects it.
    pub at: Time,
    /// When it ends; `Time::NEVER` if it does not.
    pub until: Time,
    /// `Down`: the time after each change at which the switches at its ends detect it, even if the
    /// change is undone by then \[inferred\]; `Span::MAX` for never.
    pub detection: Span,
    /// `Down`, and `Degrade` with weights by capacity: how long after each change routing
    /// everywhere has converged (G); `Span::MAX` for never.
    pub convergence: Span,
}

/// A part of a size, as the rate that is left of a link is of its own.
pub(super) fn left_of(size: u64, rate: BitRate, of: BitRate) -> u64 {
    let part = u128::from(size) * u128::from(rate.as_bps()) / u128::from(of.as_bps().max(1));
    u64::try_from(part).unwrap_or(u64::MAX)
}

impl Failure {
    /// The ports of the link whose packets it affects.
    pub fn ports(&self) -> impl Iterator<Item = PortId> + use<> {
        let direction = self.direction;
        let is_affected = move |port: &PortId| match direction {
            Direction::Both => true,
            Direction::From(from) => *port == from,
        };
        self.link.ports().into_iter().filter(is_affected)
    }
}

/// The configuration of a fabric: its switches, its links and their failures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FabricConfig {
    /// The configuration of every switch.
    pub switch: SwitchConfig,
    /// Thresholds for ports of certain rates (bits per second), in place of `switch.ecn`.
    pub ecn_by_rate: Vec<(BitRate, Ecn)>,
    /// Whether ports of switches to hosts mark. Clusters with MRC mark at every hop except the
    /// last (`docs/multi-plane.md`, G20).
    pub ecn_at_hosts: bool,
    /// Preamble and inter-frame gap: the wire is busy this much longer than a packet is.
    pub gap: Bytes,
    /// From a packet's last bit in to when it can leave, in each switch.
    pub forwarding_delay: Span,
    /// The rounding of transmission times.
    pub rounding: Rounding,
    /// The order of arrivals at one time.
    pub ties: TieOrder,
    /// Link-level retry on every link, if there is any.
    pub llr: Option<LlrConfig>,
    /// Failures of links, in any order.
    pub failures: Vec<Failure>,
    /// The traffic classes of data packets; empty if they have one queue.
    pub classes: Vec<ClassConfig>,
}

impl SwitchConfig {
    /// A switch with this buffer, and without ECN, PFC, trimming and scaling.
    pub const fn plain(buffer: Buffer) -> Self {
        Self {
            buffer,
            ecn: Ecn::Off,
            ecn_point: EcnPoint::Enqueue,
            pfc: None,
            cbfc: None,
            trim: None,
            slow_ports: SlowPorts::Keep,
        }
    }
}

impl FabricConfig {
    /// A fabric of such switches, and without gaps, delays in switches, and failures.
    pub const fn plain(buffer: Buffer) -> Self {
        Self {
            switch: SwitchConfig::plain(buffer),
            ecn_by_rate: Vec::new(),
            ecn_at_hosts: true,
            gap: Bytes::ZERO,
            forwarding_delay: Span::ZERO,
            rounding: Rounding::Exact,
            ties: TieOrder::Drawn,
            llr: None,
            failures: Vec::new(),
            classes: Vec::new(),
        }
    }

    /// Whether no data packet of classes with flow control can be lost: with headroom for the
    /// worst case, or by credit, and no link that fails.
    pub(super) fn protects_data(&self) -> bool {
        // A pause that expires lets more come than headrooms are made for.
        let has_enough = |pfc: PfcConfig| {
            matches!(pfc.headroom, Headroom::WorstCase { .. })
                && pfc.admission == PfcAdmission::Hpcc
                && pfc.pause_time.is_none()
        };
        let SwitchConfig { pfc, cbfc, .. } = self.switch;
        self.failures.is_empty() && (cbfc.is_some() || pfc.is_some_and(has_enough))
    }

    /// Whether the buffers and thresholds of some ports shrink during the run.
    pub(super) fn scales_ports(&self) -> bool {
        let is_degrade = |it: &Failure| matches!(it.kind, FailureKind::Degrade { .. });
        self.switch.slow_ports == SlowPorts::Scale && self.failures.iter().any(is_degrade)
    }

    /// The ECN configuration of a port. Ports of hosts never mark.
    pub fn ecn_of(&self, topology: &Topology, port: PortId) -> Ecn {
        match topology.ends_of(port) {
            (Node::Host(_), _) => Ecn::Off,
            (_, Node::Host(_)) if !self.ecn_at_hosts => Ecn::Off,
            _ => self.ecn_at(topology.link(port.link()).rate),
        }
    }

    /// The ECN configuration of switch ports of a rate.
    pub(super) fn ecn_at(&self, rate: BitRate) -> Ecn {
        let by_rate = self.ecn_by_rate.iter().find(|(of, _)| *of == rate);
        by_rate.map_or(self.switch.ecn, |&(_, ecn)| ecn)
    }
}
