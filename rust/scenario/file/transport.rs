//! `[transport]` as written in a file.

use serde::{Deserialize, Serialize};

use crate::balance::Parameters;
use crate::file::hardware::{
    AckTimeoutSection, MessageSection, NicPreset, PacketRateSection, ReceiveSection,
};
use crate::input::section::{named, section};
use crate::nic::congestion::CongestionName;
use crate::nic::recovery::RecoveryName;
use crate::nic::{
    AckRange, AckSpan, CnpLimiter, Entropies, First, Marked, NackSignal, QpTurns, Resent,
};
use crate::units::{Bytes, Span};

/// Delivery order of a queue pair's messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeliveryName {
    /// The recovery's default: ordered, except with an erasure code.
    #[default]
    Auto,
    /// In the order posted.
    Ordered,
    /// In the order of completion at the receiver.
    Unordered,
}

named! { CongestionName, RecoveryName, DeliveryName, AckRange, AckSpan, First, Resent, Marked,
Entropies, NackSignal, CnpLimiter, QpTurns }

section! {
    /// `[transport]`: the settings of every NIC.
    pub struct TransportSection {
        /// Adapter whose values are the defaults of the keys below.
        preset?: NicPreset = "none",
        /// Payload of a full packet.
        payload: Bytes = Bytes::new(4096),
        /// Headers of a data packet on the wire.
        header?: Bytes = "`62B`; with the policy `mrc` `102B`, and `142B` with its `encoding = \
                  srv6`",
        /// Length of an acknowledgement on the wire.
        ack?: Bytes = "`64B`; with the policy `mrc` `118B`, and `158B` with its `encoding = srv6`",
        /// Data packets per acknowledgement.
        ack_every?: u32 = "`1`; with the policy `mrc` and its recovery `16`, or `32` if \
                           `ack_bytes` is set",
        /// Data bytes on the wire per acknowledgement, if `ack_every` is not reached first.
        ack_bytes?: Bytes = "no limit; with the policy `mrc` and its recovery `16KiB` (G8) unless \
                             `ack_every` is set",
        /// Maximum acknowledgement delay, if neither limit is reached first.
        ack_time?: Span = "no limit; with the policy `mrc` and its recovery the longest base round \
                     trip of the workload",
        /// Acknowledges ECN-marked packets `at-once`, or with others (`wait`).
        ack_marked?: Marked = "`wait`; with the policy `mrc` and its recovery `at-once` (G18)",
        /// Packets that an acknowledgement reports. `cumulative`: all before the first gap.
        /// `packet` (recovery `per-packet`, `ack_every = 1`): one, so its loss costs a timeout.
        /// `last-64` (recoveries `per-packet` and `mrc`): also arrivals among the last 64 PSNs, so
        /// its loss costs nothing (Ultra Ethernet and its simulator, MRC). `rudi` requires
        /// `packet`.
        ack_range?: AckRange = "`cumulative`; `last-64` with recovery `mrc`, and with `nscc` and \
                      `per-packet`",
        /// Packets that can share an acknowledgement. `bitmap`: 64 PSNs, or 32 with `last-64`.
        /// `unlimited` (only with `ack_range = "last-64"`): count, bytes and time decide (Ultra
        /// Ethernet's simulator).
        ack_span?: AckSpan = "`bitmap`; `unlimited` with `nscc` and `last-64`",
        /// Acknowledges a queue pair's first packet `at-once`, or with others (`wait`).
        ack_first?: First = "`wait`; `at-once` with `nscc`",
        /// Acknowledges retransmitted packets `at-once`, or with others (`wait`).
        ack_resent?: Resent = "`wait`; `at-once` with `nscc` and `last-64`",
        /// Entropy values in an acknowledgement: of the `last` packet covered, or of all (`carry`).
        ack_entropies: Entropies = Entropies::default(),
        /// Congestion signal of a NACK for a gap: `none`, the `mark` of the packet it answers
        /// (HPCC's simulator), or always `congestion` (ConWeave's). DCQCN treats it as a CNP.
        nack_signal: NackSignal = NackSignal::default(),
        /// Gives acknowledgements priority over data.
        ack_priority: bool = true,
        /// Congestion control.
        congestion_control?: CongestionName = "`nscc`",
        /// Parameters of the congestion control. `preset` selects their base, by default the first.
        parameters: Parameters = Parameters::new(),
        /// Loss recovery; `auto` is the one designed for the policy.
        recovery: RecoveryName = RecoveryName::default(),
        /// Parameters of the loss recovery; the rest keep its defaults.
        recovery_parameters: Parameters = Parameters::new(),
        /// Delivery order of a queue pair's messages; `auto` is the recovery's default.
        delivery: DeliveryName = DeliveryName::default(),
        /// Sends messages as WRITEs with immediate data, at most this many outstanding per queue
        /// pair (MRC's example: 128). Requires ordered `delivery`; `header` must include the data
        /// (4 bytes).
        max_wimm?: u32 = "none: plain WRITEs, without a limit",
        /// Retransmission timeout. The default counts the bytes that can be ahead of a packet: the
        /// shared buffer, or a port's own at each switch; with flow control, every switch's buffer.
        /// `ack_every` adds that many packets per peer.
        retransmit_timeout?: Span = "twice the longest base round trip of the workload, plus the \
                                     time to send these bytes on the hosts' slowest link",
        /// Time until a receiver repeats a NACK (HPCC's simulator).
        nack_interval: Span = Span::from_us(500),
        /// Minimum time between two CNPs of a queue pair (Zhu et al., SIGCOMM 2015).
        cnp_interval?: Span = "`50us`; with a preset `4us`",
        /// Cache of queue pair contexts per NIC.
        qp_cache?: QpCacheSection = "none: every context is cached",
        /// Pool in the NIC that arriving data passes.
        receive?: ReceiveSection = "none",
        /// Costs of a message.
        message?: MessageSection = "none",
        /// Ceilings in data packets per second.
        packet_rate?: PacketRateSection = "none",
        /// Turns of queue pairs.
        qp_turns?: QpTurns = "`packet`",
        /// Sends a CNP with a NACK for a gap (Lumina).
        cnp_on_nack?: bool = "`false`",
        /// Sends a CNP for a packet that the pool drops.
        cnp_on_discard?: bool = "`false`",
        /// Scope of `cnp_interval`.
        cnp_limiter?: CnpLimiter = "`qp`",
        /// Timeouts by code, instead of `retransmit_timeout`.
        ack_timeout?: AckTimeoutSection = "none",
    }
}

section! {
    /// `qp_cache = { ... }`: a cache of queue pair contexts.
    pub struct QpCacheSection {
        /// Contexts in the cache, at least 1.
        entries?: u32 = "required",
        /// Delay of a packet after a miss \[inferred\].
        miss: Span = Span::from_ns(500),
    }
}
