//! The byte layout of the family's binary trace.
//!
//! Source: HPCC's `trace-format.h` (`TraceFormat`), `sim-setting.h` (`SimSetting`) and
//! `qbb-helper.cc`; `analysis/trace_reader.cpp` reads it. All numbers are little-endian.
//!
//! The header has a count of interfaces (32 bits) and an entry for each, without padding: node (16
//! bits), interface (8) and bits per second (64). The largest window in bytes (32 bits) ends it.
//! Records of 56 bytes follow, in the layout that the compiler gives the structure:
//!
//! | bytes | field |
//! |---|---|
//! | 0..8 | time, ns |
//! | 8..10 | node |
//! | 10 | interface, from 1 |
//! | 11 | queue |
//! | 12..16 | bytes in the queue |
//! | 16..20, 20..24 | addresses of source and destination |
//! | 24..26 | size of the packet with all headers, bytes |
//! | 26 | protocol: 0x11 data, 0xFC ACK, 0xFD NACK, 0xFE PFC, 0xFF CNP |
//! | 27 | event: 0 received, 1 enqueued, 2 dequeued, 3 dropped |
//! | 28 | ECN bits of the IP header |
//! | 29 | 0 for a host, 1 for a switch |
//! | 30..32 | padding |
//! | 32..56 | by protocol, see [`Body`] |
//!
//! Padding is 0 here; the family leaves it uninitialised.

use std::io::{self, Write};

/// Size of a record in bytes.
pub(super) const RECORD_BYTES: usize = 56;

/// Offset of [`Body`] in a record, in bytes.
const BODY: usize = 32;

/// A packet event at an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) time_ns: u64,
    pub(super) node: u16,
    pub(super) interface: u8,
    pub(super) queue: u8,
    pub(super) queue_bytes: u32,
    pub(super) src_address: u32,
    pub(super) dst_address: u32,
    pub(super) size: u16,
    pub(super) event: u8,
    pub(super) ecn: u8,
    pub(super) node_type: u8,
    pub(super) body: Body,
}

/// The fields of a record that depend on the protocol, with their byte offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    /// Ports 0..2 and 2..4, sequence number of the first byte 4..8, time stamp 8..16, priority
    /// group 16..18, payload 18..20.
    Data { ports: [u16; 2], seq: u32, stamp: u64, group: u16, payload: u16 },
    /// Ports 0..2 and 2..4, flags 4..6, priority group 6..8, next expected byte 8..12, time stamp
    /// 16..24.
    Answer { protocol: Answer, ports: [u16; 2], flags: u16, group: u16, seq: u32, stamp: u64 },
    /// Duration of the pause in microseconds 0..4 (0 for a resume), bytes in the queue 4..8, the
    /// queue's number 8.
    Pfc { time: u32, queue_bytes: u32, queue: u8 },
    /// Flow 0..2, queue 2, ECN bits 3, marked packets 4..6, all packets 6..8.
    Notification { flow: u16, queue: u8, ecn: u8, marked: u16, total: u16 },
}

/// Protocol numbers of acknowledgements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Answer {
    Ack = 0xfc,
    Nack = 0xfd,
}

impl Body {
    fn protocol(&self) -> u8 {
        match self {
            Self::Data { .. } => 0x11,
            Self::Answer { protocol, .. } => *protocol as u8,
            Self::Pfc { .. } => 0xfe,
            Self::Notification { .. } => 0xff,
        }
    }

    fn put(&self, into: &mut [u8]) {
        match *self {
            Self::Data { ports, seq, stamp, group, payload } => {
                put(into, 0, &ports[0].to_le_bytes());
                put(into, 2, &ports[1].to_le_bytes());
                put(into, 4, &seq.to_le_bytes());
                put(into, 8, &stamp.to_le_bytes());
                put(into, 16, &group.to_le_bytes());
                put(into, 18, &payload.to_le_bytes());
            }
            Self::Answer { protocol: _, ports, flags, group, seq, stamp } => {
                put(into, 0, &ports[0].to_le_bytes());
                put(into, 2, &ports[1].to_le_bytes());
                put(into, 4, &flags.to_le_bytes());
                put(into, 6, &group.to_le_bytes());
                put(into, 8, &seq.to_le_bytes());
                put(into, 16, &stamp.to_le_bytes());
            }
            Self::Pfc { time, queue_bytes, queue } => {
                put(into, 0, &time.to_le_bytes());
                put(into, 4, &queue_bytes.to_le_bytes());
                put(into, 8, &[queue]);
            }
            Self::Notification { flow, queue, ecn, marked, total } => {
                put(into, 0, &flow.to_le_bytes());
                put(into, 2, &[queue, ecn]);
                put(into, 4, &marked.to_le_bytes());
                put(into, 6, &total.to_le_bytes());
            }
        }
    }
}

impl Record {
    /// Serializes the record.
    pub(super) fn to_bytes(self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        put(&mut bytes, 0, &self.time_ns.to_le_bytes());
        put(&mut bytes, 8, &self.node.to_le_bytes());
        put(&mut bytes, 10, &[self.interface, self.queue]);
        put(&mut bytes, 12, &self.queue_bytes.to_le_bytes());
        put(&mut bytes, 16, &self.src_address.to_le_bytes());
        put(&mut bytes, 20, &self.dst_address.to_le_bytes());
        put(&mut bytes, 24, &self.size.to_le_bytes());
        put(&mut bytes, 26, &[self.body.protocol(), self.event, self.ecn, self.node_type]);
        self.body.put(&mut bytes[BODY..]);
        bytes
    }
}

fn put(bytes: &mut [u8], at: usize, what: &[u8]) {
    bytes[at..at + what.len()].copy_from_slice(what);
}

/// An entry of the trace header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct InterfaceRate {
    pub(super) node: u16,
    pub(super) interface: u8,
    /// Line rate of the interface in bits per second.
    pub(super) rate: u64,
}

/// Writes the header. The family writes the entries in the order of a hash table, and its reader
/// accepts any order; here they are in the order of `rates`.
pub(super) fn write_header(
    to: &mut dyn Write,
    rates: &[InterfaceRate],
    largest_window: u32,
) -> io::Result<()> {
    let count = u32::try_from(rates.len()).unwrap_or(u32::MAX);
    to.write_all(&count.to_le_bytes())?;
    for rate in rates {
        to.write_all(&rate.node.to_le_bytes())?;
        to.write_all(&[rate.interface])?;
        to.write_all(&rate.rate.to_le_bytes())?;
    }
    to.write_all(&largest_window.to_le_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line that HPCC's own `analysis/README.md` explains: at 2000055540 ns, node 338, port 4,
    /// queue 3 with 100,608 B, a data packet of 1,000 B payload from 11.0.209.1:10000 to
    /// 11.1.35.1:100, first byte 161,000.
    #[test]
    fn the_documented_example_has_the_expected_bytes() {
        let record = Record {
            time_ns: 2_000_055_540,
            node: 338,
            interface: 4,
            queue: 3,
            queue_bytes: 100_608,
            src_address: 0x0b00_d101,
            dst_address: 0x0b01_2301,
            size: 1_048,
            event: 1,
            ecn: 0,
            node_type: 1,
            body: Body::Data {
                ports: [10_000, 100],
                seq: 161_000,
                stamp: 0,
                group: 3,
                payload: 1_000,
            },
        };
        let hex: String = record.to_bytes().map(|byte| format!("{byte:02x}")).concat();
        let expected = [
            "f46c367700000000", // time
            "5201",             // node
            "0403",             // interface, queue
            "00890100",         // bytes in the queue
            "01d1000b",         // from
            "0123010b",         // to
            "1804",             // size
            "11010001",         // protocol, event, ECN, a switch
            "0000",
            "10276400",
            "e8740200",
            "0000000000000000",
            "0300",
            "e803",
            "00000000",
        ];
        assert_eq!(hex, expected.concat());
    }

    #[test]
    fn the_time_stamp_of_an_acknowledgement_is_aligned_to_eight_bytes() {
        let body = Body::Answer {
            protocol: Answer::Nack,
            ports: [1, 2],
            flags: 3,
            group: 4,
            seq: 5,
            stamp: 6,
        };
        let mut bytes = [0; RECORD_BYTES - BODY];
        body.put(&mut bytes);
        assert_eq!(bytes, [1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn the_header_has_no_padding() {
        let mut bytes = Vec::new();
        let rate = InterfaceRate { node: 0x0201, interface: 3, rate: 0x0b0a_0908_0706_0504 };
        write_header(&mut bytes, &[rate], 0x0f0e_0d0c).unwrap();
        let mut expected = vec![1, 0, 0, 0];
        expected.extend(1..=15);
        assert_eq!(bytes, expected);
    }
}
