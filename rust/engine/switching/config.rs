//! Configuration of links and switches, shared by all drivers.

use super::classes::ClassConfig;
use super::llr::LlrConfig;
use super::ties::TieOrder;
use crate::ids::{LinkId, PortId};
use crate::topology::{Node, Topology};
use crate::units::{BitRate, Bytes, Fraction, Span, Time};

/// Division of a switch's packet memory among its ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Buffer {
    /// One pool per switch.
    Shared(Bytes),
    /// A separate buffer for each output port.
    PerPort(Bytes),
}

/// ECN marking rule, by the data bytes queued at the output port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ecn {
    /// Packets are never marked.
    Off,
    /// Packets that find more than this many bytes queued are marked.
    Step(Bytes),
    /// Packets are never marked up to `kmin` and always marked above `kmax`. In between, the
    /// marking probability rises linearly to `pmax`.
    Ramp {
        /// Up to this queue length, no packet is marked.
        kmin: Bytes,
        /// Above this queue length, every packet is marked.
        kmax: Bytes,
        /// Marking probability at `kmax`.
        pmax: Fraction,
    },
}

/// When ECN compares the queue with its thresholds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EcnPoint {
    /// When the packet is enqueued.
    #[default]
    Enqueue,
    /// When the packet is dequeued.
    Dequeue,
}

/// Switch memory reserved for packets in flight when a pause frame is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Headroom {
    /// Three times rate × delay of the link, as in the HPCC simulator (`third.cc`).
    Hpcc,
    /// Twice rate × delay plus two full packets, as in the ConWeave simulator.
    ConWeave {
        /// Size of a full packet on the wire.
        packet: Bytes,
    },
    /// The most that can be in flight, so that no packet is lost \[inferred\]. This is twice rate ×
    /// delay, plus three packets: the one that crosses the threshold, the one that delays the
    /// frame, and the one that the paused port has started. Then come the pause frame, one frame of
    /// each other protected class, and gaps.
    WorstCase {
        /// Size of a full packet on the wire.
        packet: Bytes,
    },
    /// A fixed amount per link.
    Fixed(Bytes),
}

/// Rule by which a PFC switch admits packets of a link and pauses the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PfcAdmission {
    /// The rule of the HPCC simulator (`switch-mmu.cc`): a link fills its reserve, then its share
    /// of the pool, then its headroom. A packet that fits none of them is dropped, however much of
    /// the pool is free. Only the headroom absorbs the packets in flight when the link is paused.
    #[default]
    Hpcc,
    /// The rule of the ConWeave simulator (`switch-mmu.cc`): a link that exceeds its share is
    /// paused, but its packets still use the pool until it is full, then the headroom. An output
    /// queue is limited to the remaining free memory (a dynamic threshold of 1), and packets beyond
    /// that are dropped.
    ConWeave {
        /// Size of a full packet on the wire. A link is never paused for the first two packets.
        packet: Bytes,
    },
}

/// Priority flow control (PFC, IEEE 802.1Qbb), as in the switches of the HPCC simulator
/// (`switch-mmu.cc`). It protects the data classes that enable it. Packets with priority are never
/// paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PfcConfig {
    /// Headroom per link into the switch and protected class, in addition to the pool.
    pub headroom: Headroom,
    /// Private memory per link into the switch and protected class. HPCC: 4 KiB.
    pub reserve: Bytes,
    /// Share of the pool's free memory that a link may use. It doubles for each doubling of the
    /// link rate relative to the NICs, up to 1. HPCC: 1/8. ConWeave: 1/16.
    pub alpha: Fraction,
    /// A resume frame is sent once the link is this far below the threshold. HPCC: 3 KiB. ConWeave:
    /// 16 bytes of the pool.
    pub resume_offset: Bytes,
    /// Admission and pause rule.
    pub admission: PfcAdmission,
    /// Duration of a pause after its frame arrives, unless another frame comes first. The switch
    /// then repeats the frame for each packet that arrives while the link should be paused. If
    /// `None`, a pause lasts until a resume frame, as in HPCC's simulator. ConWeave: 5 us.
    pub pause_time: Option<Span>,
}

impl PfcConfig {
    /// The parameters of HPCC's simulator (`third.cc` and `switch-mmu.cc`).
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

/// Credit-based flow control (CBFC of Ultra Ethernet 1.0.1, section 5.2) of packets without
/// priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CbfcConfig {
    /// Memory per link into a switch, which limits the link's credits.
    pub memory: Bytes,
    /// Bytes per credit: a power of two from 32 to 2,048.
    pub credit: u16,
    /// Bytes charged per packet in addition to its length on the wire, from -16 to 127.
    pub overhead: i8,
    /// Length of the longest packet on the wire, in bytes.
    pub packet: u16,
    /// Delay from the loss of a packet on a link until its credit is returned.
    pub correction: Span,
}

/// Trimming: a packet that does not fit is cut to its header instead of being dropped. The header
/// is forwarded with priority (Handley et al., "NDP", SIGCOMM 2017; Ultra Ethernet 1.0, packet
/// trimming).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrimConfig {
    /// Length of a trimmed packet on the wire. Ultra Ethernet's simulator (htsim): 64 B.
    pub size: Bytes,
    /// Limit of the priority queue at one port. With trimming, packets with priority have this room
    /// in addition to the buffer.
    pub limit: Bytes,
    /// Packet that is trimmed when an arriving packet finds no room.
    pub victim: TrimVictim,
}

/// The packet that is trimmed when an arriving packet finds no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrimVictim {
    /// The arriving packet.
    #[default]
    Arriving,
    /// The arriving packet or the last one of the queue, with equal probability; the arriving
    /// packet then takes its slot. Flows whose packets arrive in step therefore do not always lose
    /// the same ones (NDP, and its queue in uet-htsim and csg-htsim,
    /// `CompositeQueue::receivePacket`).
    ArrivingOrLast,
}

/// Buffer and marking thresholds of a port whose link is degraded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SlowPorts {
    /// They stay: memory belongs to the switch, and operators do not adjust thresholds.
    #[default]
    Keep,
    /// They shrink with the rate, so a full queue drains in the same time as at any other port
    /// (uet-htsim and csg-htsim, `FatTreeTopology::alloc_queue`, for a port's own buffer and for
    /// ECN). A shared buffer stays.
    Scale,
}

/// The configuration of every switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SwitchConfig {
    /// Memory for queued packets and its division among ports.
    pub buffer: Buffer,
    /// ECN marking. [`FabricConfig::ecn_by_rate`] overrides the thresholds by link rate.
    pub ecn: Ecn,
    /// When marking is decided.
    pub ecn_point: EcnPoint,
    /// Priority flow control, if any. The buffer is then one pool per switch. A packet is admitted
    /// if there is room for its input link, and always if it has priority.
    pub pfc: Option<PfcConfig>,
    /// Credit-based flow control, if any, instead of PFC. Switches then neither drop nor trim: a
    /// packet is sent only if the far end has memory for it.
    pub cbfc: Option<CbfcConfig>,
    /// Trimming, if any; without it, a packet that finds no room is dropped.
    pub trim: Option<TrimConfig>,
    /// Buffer and thresholds of ports whose links are degraded.
    pub slow_ports: SlowPorts,
}

/// Rounding of transmission times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rounding {
    /// Up to the next picosecond.
    #[default]
    Exact,
    /// Down to the nanosecond, as in the HPCC family of simulators.
    TruncateNs,
}

/// The kind of a link's failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// The link carries no packets and loses those on the wire.
    Down,
    /// Packets that start during the failure take longer. Only routing that weights next hops by
    /// capacity learns of it, after the convergence time. The factors of overlapping failures are
    /// multiplied.
    Degrade {
        /// Remaining share of the rate: more than 0, at most 1.
        factor: Fraction,
    },
    /// Each packet that starts during the failure is lost with this probability. The failure is not
    /// detected.
    Loss {
        /// Loss probability, at most 1.
        rate: Fraction,
    },
}

/// The directions of a link that a failure affects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Direction {
    /// Both.
    #[default]
    Both,
    /// Only packets sent by this port of the link.
    From(PortId),
}

/// A failure of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    /// The link.
    pub link: LinkId,
    /// Affected directions. A switch or host that learns of the failure avoids the link in both.
    pub direction: Direction,
    /// The kind of failure.
    pub kind: FailureKind,
    /// Start of the failure, before its detection.
    pub at: Time,
    /// End of the failure; `Time::NEVER` if it does not end.
    pub until: Time,
    /// `Down`: delay after each change until the switches at both ends detect it, even if the
    /// change is undone by then \[inferred\]; `Span::MAX` for never.
    pub detection: Span,
    /// `Down`, and `Degrade` with weights by capacity: delay after each change until routing has
    /// converged everywhere (G); `Span::MAX` for never.
    pub convergence: Span,
}

/// Scales `size` by `rate / of`.
pub(super) fn scale_by_rate(size: u64, rate: BitRate, of: BitRate) -> u64 {
    let part = u128::from(size) * u128::from(rate.as_bps()) / u128::from(of.as_bps().max(1));
    u64::try_from(part).unwrap_or(u64::MAX)
}

impl Failure {
    /// Returns the ports of the link whose packets the failure affects.
    pub fn ports(&self) -> impl Iterator<Item = PortId> + use<> {
        let direction = self.direction;
        let is_affected = move |port: &PortId| match direction {
            Direction::Both => true,
            Direction::From(from) => *port == from,
        };
        self.link.ports().into_iter().filter(is_affected)
    }
}

/// Configuration of a fabric: switches, links and link failures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FabricConfig {
    /// Configuration of every switch.
    pub switch: SwitchConfig,
    /// Thresholds for ports of certain rates (bits per second), instead of `switch.ecn`.
    pub ecn_by_rate: Vec<(BitRate, Ecn)>,
    /// Whether switch ports to hosts mark. Clusters with MRC mark at every hop except the last
    /// (`docs/multi-plane.md`, G20).
    pub ecn_at_hosts: bool,
    /// Preamble and inter-frame gap: bytes that occupy the wire in addition to each packet.
    pub gap: Bytes,
    /// Delay in each switch, from a packet's last bit in until it can leave.
    pub forwarding_delay: Span,
    /// Rounding of transmission times.
    pub rounding: Rounding,
    /// Order of simultaneous arrivals.
    pub ties: TieOrder,
    /// Link-level retry on every link, if any.
    pub llr: Option<LlrConfig>,
    /// Link failures, in any order.
    pub failures: Vec<Failure>,
    /// Traffic classes of data packets; empty if data shares one queue.
    pub classes: Vec<ClassConfig>,
}

impl SwitchConfig {
    /// Returns a switch with this buffer, without ECN, PFC, trimming and scaling.
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
    /// Returns a fabric of such switches without gaps, forwarding delays and failures.
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

    /// Returns true if no data packet of a class with flow control can be lost: with worst-case
    /// headroom or by credit, and without link failures.
    pub(super) fn protects_data(&self) -> bool {
        // An expired pause admits more packets than the headroom can absorb.
        let has_enough = |pfc: PfcConfig| {
            matches!(pfc.headroom, Headroom::WorstCase { .. })
                && pfc.admission == PfcAdmission::Hpcc
                && pfc.pause_time.is_none()
        };
        let SwitchConfig { pfc, cbfc, .. } = self.switch;
        self.failures.is_empty() && (cbfc.is_some() || pfc.is_some_and(has_enough))
    }

    /// Returns true if the buffers and thresholds of some ports shrink during the run.
    pub(super) fn scales_ports(&self) -> bool {
        let is_degrade = |it: &Failure| matches!(it.kind, FailureKind::Degrade { .. });
        self.switch.slow_ports == SlowPorts::Scale && self.failures.iter().any(is_degrade)
    }

    /// Returns the ECN configuration of a port. Host ports never mark.
    pub fn ecn_of(&self, topology: &Topology, port: PortId) -> Ecn {
        match topology.ends_of(port) {
            (Node::Host(_), _) => Ecn::Off,
            (_, Node::Host(_)) if !self.ecn_at_hosts => Ecn::Off,
            _ => self.ecn_at(topology.link(port.link()).rate),
        }
    }

    /// Returns the ECN configuration of switch ports of a rate.
    pub(super) fn ecn_at(&self, rate: BitRate) -> Ecn {
        let by_rate = self.ecn_by_rate.iter().find(|(of, _)| *of == rate);
        by_rate.map_or(self.switch.ecn, |&(_, ecn)| ecn)
    }
}
