//! Limits and costs of NICs in `[transport]`, and the adapters that have them.

use serde::{Deserialize, Serialize};

use crate::input::section::{named, section};
use crate::units::{BitRate, Bytes, Span};

/// An adapter whose values are defaults; see `resolve::hardware` for the source of each value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum NicPreset {
    /// ConnectX-5 Ex, 100 GbE.
    #[serde(rename = "connectx-5")]
    ConnectX5,
    /// ConnectX-6 VPI, 100 GbE.
    #[serde(rename = "connectx-6")]
    ConnectX6,
    /// ConnectX-7, without measured values.
    #[serde(rename = "connectx-7")]
    ConnectX7,
}

named! { NicPreset }

section! {
    /// `receive = { ... }`: the receive pool of a NIC.
    pub struct ReceiveSection {
        /// Bytes of the pool.
        pool?: Bytes = "required",
        /// Rate at which it drains.
        rate?: BitRate = "no limit",
        /// Time for which nothing drains.
        stall: Span = Span::ZERO,
        /// Rate of packet bytes, without gaps, above which the excess of arrivals counts.
        stall_above?: BitRate = "required with `stall`",
        /// Excess that starts a stall.
        stall_after?: Bytes = "required with `stall`",
    }
}

section! {
    /// `message = { ... }`: costs of a message.
    pub struct MessageSection {
        /// Time before its first packet.
        start: Span = Span::ZERO,
        /// Time from its last acknowledgement to its completion.
        complete: Span = Span::ZERO,
    }
}

section! {
    /// `packet_rate = { ... }`: ceilings in data packets per second.
    pub struct PacketRateSection {
        /// Ceiling of a queue pair.
        qp?: u64 = "no limit",
        /// Ceiling of the NIC.
        nic?: u64 = "no limit",
    }
}

section! {
    /// `ack_timeout = { ... }`: timeouts by the local ACK timeout code.
    pub struct AckTimeoutSection {
        /// Code T: 4.096 us times 2^T.
        code: u32 = 14,
        /// Raises codes below 16 to 16; without it, waits are about twice the measured ones.
        floor: bool = true,
        /// Begins with the series of adaptive retransmission.
        adaptive: bool = true,
        /// Retries before the queue pair fails, at most 7.
        retries: u32 = 7,
    }
}
