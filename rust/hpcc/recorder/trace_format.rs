//! The family's binary trace: how its bytes are laid out.
//!
//! Source: HPCC's `trace-format.h` (`TraceFormat`), `sim-setting.h` (`SimSetting`) and
//! `qbb-helper.cc`, read by `analysis/trace_reader.cpp`. All of it is little-endian, as the
//! machines that it is written on.
//!
//! First the rate of each interface: a count of 32 bits, and as many entries without padding of
//! node (16 bits), interface (8) and bits a second (64); then the largest window in bytes (32).
//! Then records of 56 bytes, laid out as the compiler lays out the structure:
//!
//! | bytes | field |
//! |---|---|
//! | 0..8 | time, ns |
//! | 8..10 | node |
//! | 10 | interface, from 1 |
//! | 11 | queue |
//! | 12..16 | bytes in that queue |
//! | 16..20, 20..24 | addresses of source and destination |
//! | 24..26 | size of the packet with all headers, bytes |
//! | 26 | protocol: 0x11 data, 0xFC ACK, 0xFD NACK, 0xFE flow control, 0xFF CNP |
//! | 27 | event: 0 received, 1 enqueued, 2 dequeued, 3 dropped |
//! | 28 | ECN bits of the IP header |
//! | 29 | 0 for a host, 1 for a switch |
//! | 30..32 | nothing |
//! | 32..56 | by protocol, see [`Body`] |
//!
//! The family leaves in gaps what the stack happens to hold; here they are 0.

use std::io::{self, Write};

/// Bytes of a record.
pub(super) const RECORD_BYTES: usize = 56;

/// Where the part by protocol begins.
const BODY: usize = 32;

/// A record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Record {
    pub time_ns: u64,
    pub node: u16,
    pub interface: u8,
    pub queue: u8,
    pub queue_bytes: u32,
    pub src_address: u32,
    pub dst_address: u32,
    pub size: u16,
    pub event: u8,
    pub ecn: u8,
    pub node_type: u8,
    pub body: Body,
}

/// What a record says by protocol, in order of the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    /// Ports 0..2 and 2..4, first byte 4..8, time stamp 8..16, priority group 16..18, payload
    /// 18..20.
    Data { ports: [u16; 2], seq: u32, stamp: u64, group: u16, payload: u16 },
    /// Ports 0..2 and 2..4, flags 4..6, priority group 6..8, next byte 8..12, time stamp 16..24.
    Answer { protocol: Answer, ports: [u16; 2], flags: u16, group: u16, seq: u32, stamp: u64 },
    /// Microseconds to pause 0..4 (0 for a resume), bytes that wait 4..8, queue 8.
    FlowControl { time: u32, queue_bytes: u32, queue: u8 },
    /// Flow 0..2, queue 2, ECN bits 3, marked packets 4..6, all packets 6..8.
    Notification { flow: u16, queue: u8, ecn: u8, marked: u16, total: u16 },
}

/// Protocol numbers of answers.
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
            Self::FlowControl { .. } => 0xfe,
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
            Self::FlowControl { time, queue_bytes, queue } => {
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
    /// Its bytes.
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

/// An interface and its rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct InterfaceRate {
    pub node: u16,
    pub interface: u8,
    /// Bits a second.
    pub rate: u64,
}

/// Writes what comes before the records. The family's order of entries is that of a hash table,
/// which its reader does not mind; here it is that of `rates`.
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
    fn the_family_s_own_example_is_laid_out_as_its_structure_is() {
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
            "00890100",         // bytes in it
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
    fn an_answer_has_its_stamp_at_a_multiple_of_eight() {
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
