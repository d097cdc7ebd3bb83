//! Packet sizes on the wire, and constants of the family's NICs and switches that no key sets.

use crate::units::{Bytes, Span, Time};

/// Headers of a data packet without telemetry: PPP 14, IPv4 20, UDP 8, sequence number and
/// priority group 6.
pub(super) const HEADER: Bytes = Bytes::new(48);

/// Size of an acknowledgement, padded to the smallest Ethernet frame (`RdmaHw::ReceiveUdp`).
pub(super) const ACK: Bytes = Bytes::new(60);

/// Headers of an acknowledgement without telemetry: PPP 14, IPv4 20, ports, flags, priority group
/// and sequence number 12.
pub(super) const ACK_HEADER: Bytes = Bytes::new(46);

/// The largest payload: a 16-bit length minus the headers.
pub(super) const PAYLOAD_MAX: Bytes = Bytes::new(65_535 - 48);

/// The time after which a receiver repeats a NACK (`NACK Generation Interval`), HPCC: 500 us.
pub(super) const NACK_INTERVAL_HPCC: Span = Span::from_us(500);

/// The time after which a receiver repeats a NACK, ConWeave: 4 us.
pub(super) const NACK_INTERVAL_CONWEAVE: Span = Span::from_us(4);

/// Retransmission timeout of a sender: ConWeave's `L2Timeout`, 4 ms. HPCC has none, because PFC
/// prevents losses. With `ENABLE_PFC 0` or a failed link, a flow that loses its last packet would
/// never complete without a timeout.
pub(super) const RETRANSMIT_TIMEOUT: Span = Span::from_ms(4);

/// IRN's retransmission timeout while few packets are in flight (`network-load-balance.cc`, which
/// overrides the attributes of `RdmaHw`).
pub(super) const IRN_RTO_LOW: Span = Span::from_us(100);

/// IRN's retransmission timeout otherwise; see [`IRN_RTO_LOW`].
pub(super) const IRN_RTO_HIGH: Span = Span::from_us(320);

/// Memory reserved for each queue of ConWeave's switches, for packets of any size: a packet of
/// 1,048 bytes plus one byte (`m_q_min_cell` in `SwitchMmu::InitSwitch`).
pub(super) const QUEUE_OWN_CONWEAVE: Bytes = Bytes::new(1_049);

/// Size of a full packet in the accounting of ConWeave's switches, whatever `PACKET_PAYLOAD_SIZE`
/// is (`SwitchMmu::MTU`).
pub(super) const PACKET_CONWEAVE: Bytes = Bytes::new(1_048);

/// Memory that ConWeave's switches exclude from the pool for each port: a packet for each of 8
/// queues (`SwitchMmu::InitSwitch`).
pub(super) const RESERVE_CONWEAVE: Bytes = Bytes::new(8 * 1_048);

/// Bytes of ConWeave's pool that must be free beyond the resume threshold of a link
/// (`m_pg_shared_alpha_cell_off_diff`).
pub(super) const RESUME_OFFSET_CONWEAVE: Bytes = Bytes::new(16);

/// Origin of the time in HPCC's `LINK_DOWN`, in picoseconds: 2 s.
pub(super) const LINK_DOWN_ORIGIN_PS: u64 = 2_000_000_000_000;

/// ConWeave's default of `FLOWGEN_START_TIME`: 2 s.
pub(super) const FLOWGEN_START: Time = Time::from_ps(2_000_000_000_000);

/// ConWeave's default of `FLOWGEN_STOP_TIME`: 2.5 s.
pub(super) const FLOWGEN_STOP: Time = Time::from_ps(2_500_000_000_000);

/// HPCC's default of `SIMULATOR_STOP_TIME`, in picoseconds: 3.01 s.
pub(super) const STOP_PS: u64 = 3_010_000_000_000;

/// Time that ConWeave simulates beyond `FLOWGEN_STOP_TIME`: 10 s.
pub(super) const STOP_EXTRA: Span = Span::from_ms(10_000);
