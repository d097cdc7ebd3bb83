//! What the family's packets are on the wire, and the constants of its NICs that no key sets.

use crate::units::{Bytes, Span, Time};

/// Headers of a data packet without telemetry: PPP 14, IPv4 20, UDP 8, sequence number and
/// priority group 6.
pub(super) const HEADER: Bytes = Bytes::new(48);

/// An acknowledgement, filled up to the smallest Ethernet frame (`RdmaHw::ReceiveUdp`).
pub(super) const ACK: Bytes = Bytes::new(60);

/// The largest payload: what 16 bits of length leave beside the headers.
pub(super) const PAYLOAD_MAX: Bytes = Bytes::new(65_535 - 48);

/// What to write where a payload cannot be.
pub(super) const PAYLOAD_RIGHT: &str = "write a number of bytes from 1 to 65487, for example 1000";

/// How long a receiver waits before it repeats a NACK (`NACK Generation Interval`), HPCC: 500 us.
pub(super) const NACK_INTERVAL_HPCC: Span = Span::from_us(500);

/// ... and ConWeave: 4 us.
pub(super) const NACK_INTERVAL_CONWEAVE: Span = Span::from_us(4);

/// How long a sender waits for an acknowledgement: ConWeave's `L2Timeout`, 4 ms. HPCC has none,
/// because PFC leaves nothing to lose; with `ENABLE_PFC 0`, or a link that fails, a flow whose last
/// packet is lost would never end without one.
pub(super) const RETRANSMIT_TIMEOUT: Span = Span::from_ms(4);

/// What each queue of ConWeave's switches has for itself, a packet of 1,048 bytes and one byte
/// (`m_q_min_cell` in `SwitchMmu::InitSwitch`); whatever the packets' size.
pub(super) const QUEUE_OWN_CONWEAVE: Bytes = Bytes::new(1_049);

/// Where HPCC counts the time of `LINK_DOWN` from, as seconds in picoseconds: 2 s.
pub(super) const LINK_DOWN_ORIGIN_PS: u64 = 2_000_000_000_000;

/// When ConWeave starts flows and stops where no key says it: 2 s and 2.5 s.
pub(super) const FLOWGEN_START: Time = Time::from_ps(2_000_000_000_000);
pub(super) const FLOWGEN_STOP: Time = Time::from_ps(2_500_000_000_000);

/// How long HPCC simulates where no key says it: 3.01 s.
pub(super) const STOP_PS: u64 = 3_010_000_000_000;

/// How long ConWeave simulates beyond `FLOWGEN_STOP_TIME`: 10 s.
pub(super) const STOP_EXTRA: Span = Span::from_ms(10_000);
