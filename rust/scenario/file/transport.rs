//! `[transport]` as written in the file.

use serde::{Deserialize, Serialize};

use crate::balance::Parameters;
use crate::input::section::{named, section};
use crate::nic::congestion::CongestionName;
use crate::nic::recovery::RecoveryName;
use crate::nic::{AckRange, AckSpan, Entropies, First, Marked, NackSignal, Resent};
use crate::units::{Bytes, Span};

/// The order in which messages of a queue pair are delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeliveryName {
    /// The recovery's default: in order, except with an erasure code.
    #[default]
    Auto,
    /// In the order posted.
    Ordered,
    /// In the order of completion at the receiver.
    Unordered,
}

named! { CongestionName, RecoveryName, DeliveryName, AckRange, AckSpan, First, Resent, Marked,
Entropies, NackSignal }

section! {
    /// `[transport]`: the settings of every NIC.
    pub struct TransportSection {
        /// Payload of a full packet.
        payload: Bytes = Bytes::new(4096),
        /// Headers of a data packet on the wire.
        header?: Bytes = "`62B`; with the policy `mrc` `102B`, and `142B` with its `encoding = \
                  srv6`",
        /// An acknowledgement on the wire.
        ack?: Bytes = "`64B`; with the policy `mrc` `118B`, and `158B` with its `encoding = srv6`",
        /// Data packets for each acknowledgement.
        ack_every?: u32 = "`1`; with the policy `mrc` and its recovery `16`, or `32` where \
                    `ack_bytes` is given",
        /// Bytes of data packets on the wire for each acknowledgement, if `ack_every` is not
        /// reached before.
        ack_bytes?: Bytes = "no limit; with the policy `mrc` and its recovery `16KiB` (G8) unless \
                      `ack_every` is given",
        /// The maximum time after an arrival until it is acknowledged, if neither is reached
        /// before.
        ack_time?: Span = "no limit; with the policy `mrc` and its recovery the longest base round \
                     trip of the workload",
        /// Whether a packet with an ECN mark is acknowledged at once or with others.
        ack_marked?: Marked = "`wait`; with the policy `mrc` and its recovery `at-once` (G18)",
        /// What an acknowledgement speaks of: with `cumulative`, of all packets before the first
        /// that is missing; with `packet` (recovery `per-packet`, `ack_every = 1`), of one packet,
        /// so that a lost acknowledgement costs a timeout; with `last-64` (recoveries `per-packet`
        /// and `mrc`), also of all arrivals among the last 64 PSNs (Ultra Ethernet, MRC), so that
        /// it costs nothing. `nscc` with `per-packet` has `last-64`, as Ultra Ethernet's simulator;
        /// `rudi` knows `packet` alone.
        ack_range?: AckRange = "`cumulative`; `last-64` with recovery `mrc`, and with `nscc` and \
                      `per-packet`",
        /// How far apart packets may be that share an acknowledgement: with `bitmap`, as far as
        /// one bitmap reports them all, 64 PSNs, or 32 with `last-64`; with `unlimited` (`ack_range
        /// = "last-64"` alone), count, bytes and time decide (Ultra Ethernet's simulator).
        ack_span?: AckSpan = "`bitmap`; `unlimited` with `nscc` and `last-64`",
        /// Whether the first packet of a queue pair is acknowledged at once or with others.
        ack_first?: First = "`wait`; `at-once` with `nscc`",
        /// Whether a packet that was sent again is acknowledged at once or with others.
        ack_resent?: Resent = "`wait`; `at-once` with `nscc` and `last-64`",
        /// The packets whose entropy values are in an acknowledgement.
        ack_entropies: Entropies = Entropies::default(),
        /// What a NACK for a gap says of congestion: nothing, the `mark` of the packet that it
        /// answers (HPCC's simulator), or `congestion` always (ConWeave's). DCQCN takes it for a
        /// CNP.
        nack_signal: NackSignal = NackSignal::default(),
        /// Whether acknowledgements have priority over data.
        ack_priority: bool = true,
        /// The congestion control.
        congestion_control?: CongestionName = "`nscc`",
        /// Parameters of the congestion control. `preset` names a set of them where a control has
        /// several, the first of which is the default; explicit keys override the preset.
        parameters: Parameters = Parameters::new(),
        /// The loss recovery; `auto` selects the one for which the policy is designed.
        recovery: RecoveryName = RecoveryName::default(),
        /// Parameters of the loss recovery; omitted ones have its defaults.
        recovery_parameters: Parameters = Parameters::new(),
        /// The order in which messages of a queue pair are delivered; `auto` is the recovery's
        /// default.
        delivery: DeliveryName = DeliveryName::default(),
        /// The messages of each queue pair are WRITEs with immediate data, of which so many are
        /// under way at once (MRC's example is 128); the next one waits until the oldest is
        /// complete. `delivery` must be ordered. `header` has to include the 4 bytes of the data.
        max_wimm?: u32 = "none: plain WRITEs, without a limit",
        /// The time for which a sender waits for an acknowledgement. By default no queue makes it
        /// expire: a port may take the whole shared buffer, or its own at each switch; with flow
        /// control packets wait in the buffers of all switches; and with `ack_every` a receiver
        /// waits for as many packets, while their sender serves its other peers.
        retransmit_timeout?: Span = "twice the longest base round trip of the workload, and the \
                                     time in which the slowest link of its hosts sends these bytes",
        /// The time after which a receiver repeats a NACK (value of the HPCC simulator).
        nack_interval: Span = Span::from_us(500),
        /// The shortest time between two CNPs of a queue pair (Zhu et al., SIGCOMM 2015).
        cnp_interval: Span = Span::from_us(50),
        /// The cache of queue pair contexts in each NIC.
        qp_cache?: QpCacheSection = "none: every context is cached",
    }
}

section! {
    /// `qp_cache = { ... }`: a cache of queue pair contexts.
    pub struct QpCacheSection {
        /// Contexts that it holds, at least 1.
        entries?: u32 = "required",
        /// The time for which a packet waits after a miss \[inferred\].
        miss: Span = Span::from_ns(500),
    }
}
