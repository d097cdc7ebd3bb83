//! `[transport]` as it was typed.

use serde::{Deserialize, Serialize};

use crate::balance::Parameters;
use crate::nic::congestion::CongestionName;
use crate::nic::recovery::RecoveryName;
use crate::nic::{Entropies, Marked};
use crate::scenario::input::section::{named, section};
use crate::units::{Bytes, Span};

/// In which order messages of a queue pair are delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeliveryName {
    /// As the recovery does it: in order, except with an erasure code.
    #[default]
    Auto,
    /// In the order posted.
    Ordered,
    /// In the order in which they are complete.
    Unordered,
}

named! { CongestionName, RecoveryName, DeliveryName, Marked, Entropies }

section! {
    /// `[transport]`: the settings of every NIC.
    pub struct TransportSection {
        /// Payload of a full packet.
        payload: Bytes = Bytes::new(4096),
        /// Headers of a data packet on the wire.
        header: Bytes = Bytes::new(62),
        /// An acknowledgement on the wire.
        ack: Bytes = Bytes::new(64),
        /// Data packets for each acknowledgement.
        ack_every: u32 = 1,
        /// Bytes of data packets on the wire for each acknowledgement, if `ack_every` is not
        /// reached before.
        ack_bytes?: Bytes = "no limit",
        /// The longest that an arrival waits to be acknowledged, if neither is reached before.
        ack_time?: Span = "no limit",
        /// When a packet with an ECN mark is acknowledged: at once, or with others.
        ack_marked: Marked = Marked::default(),
        /// Of which packets the sender learns the entropy values.
        ack_entropies: Entropies = Entropies::default(),
        /// Whether acknowledgements have priority over data.
        ack_priority: bool = true,
        /// What sets the sending rate.
        congestion_control: CongestionName = CongestionName::default(),
        /// Parameters of the congestion control. `preset` names a set of them where a control has
        /// several, the first of which is the default; explicit keys override the preset.
        parameters: Parameters = Parameters::new(),
        /// How lost packets are recovered; `auto` is what the policy is made for.
        recovery: RecoveryName = RecoveryName::default(),
        /// Parameters of the loss recovery; those left out have its defaults.
        recovery_parameters: Parameters = Parameters::new(),
        /// In which order messages of a queue pair are delivered; `auto` is as the recovery does.
        delivery: DeliveryName = DeliveryName::default(),
        /// How long a sender waits for an acknowledgement.
        retransmit_timeout: Span = Span::from_ms(1),
        /// How long a receiver waits before it repeats a NACK (value of the HPCC simulator).
        nack_interval: Span = Span::from_us(500),
        /// The shortest time between two CNPs of a queue pair (Zhu et al., SIGCOMM 2015).
        cnp_interval: Span = Span::from_us(50),
        /// The cache of queue pair contexts in each NIC.
        qp_cache?: QpCacheSection = "none: every context is at hand",
    }
}

section! {
    /// `qp_cache = { ... }`: a cache of queue pair contexts.
    pub struct QpCacheSection {
        /// Contexts that it holds, at least 1.
        entries?: u32 = "required",
        /// How long a packet that misses waits \[inferred\].
        miss: Span = Span::from_ns(500),
    }
}
