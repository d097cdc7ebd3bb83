//! The headers of verbs in data packets: the transport headers of the specification that matter
//! without payloads, in the 64 spare bits of a data packet.

use super::Operation;

/// The verb of a packet's message, in the upper four bits of the header; 0 is a plain WRITE. The
/// bridge to C++ compares the numbers with its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum VerbCode {
    /// RDMA WRITE.
    Write = 0,
    /// RDMA WRITE with immediate data.
    WriteWithImmediate = 1,
    /// SEND.
    Send = 2,
    /// Request of an RDMA READ.
    ReadRequest = 3,
    /// Response of an RDMA READ.
    ReadResponse = 4,
}

/// The meaning of a message to its receiver, beyond a plain WRITE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// It consumes a receive at its end and passes a number (RDMA WRITE with immediate).
    WriteWithImmediate(u32),
    /// It consumes a receive.
    Send,
    /// It requests this many bytes (RETH).
    ReadRequest(u32),
    /// It is the response to the oldest READ.
    ReadResponse,
}

/// The header of a message other than a plain WRITE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct VerbHeader {
    pub meaning: Meaning,
    /// Low bits of the message's index on its queue pair (MSN).
    message: u64,
    /// Low bits of the index of the receive that it consumes.
    receive: u64,
}

/// Position of the lowest bit of the code.
const CODE_SHIFT: u32 = 60;

/// Bits of indices on the wire, and half of their range.
const BITS: u32 = 14;
const MASK: u64 = (1 << BITS) - 1;
const HALF: u64 = 1 << (BITS - 1);

impl VerbCode {
    const ALL: [Self; 5] =
        [Self::Write, Self::WriteWithImmediate, Self::Send, Self::ReadRequest, Self::ReadResponse];

    /// Returns the code with this number; `None` if no code has it.
    const fn of_number(number: u64) -> Option<Self> {
        match number < Self::ALL.len() as u64 {
            true => Some(Self::ALL[number as usize]),
            false => None,
        }
    }
}

impl VerbHeader {
    /// Returns the header for `meaning`, with the numbers of the message and of the receive.
    pub(crate) const fn new(meaning: Meaning, message: u64, receive: u64) -> Self {
        Self { meaning, message: message & MASK, receive: receive & MASK }
    }

    /// Returns the bits on the wire; never 0.
    pub(crate) const fn to_bits(self) -> u64 {
        let (code, word) = match self.meaning {
            Meaning::WriteWithImmediate(number) => (VerbCode::WriteWithImmediate, number),
            Meaning::Send => (VerbCode::Send, 0),
            Meaning::ReadRequest(bytes) => (VerbCode::ReadRequest, bytes),
            Meaning::ReadResponse => (VerbCode::ReadResponse, 0),
        };
        (code as u64) << CODE_SHIFT | self.message << (32 + BITS) | self.receive << 32 | word as u64
    }

    /// Returns the header with these bits; `None` for a plain WRITE and for invalid bits.
    pub(crate) const fn from_bits(bits: u64) -> Option<Self> {
        let word = bits as u32;
        let meaning = match VerbCode::of_number(bits >> CODE_SHIFT) {
            Some(VerbCode::WriteWithImmediate) => Meaning::WriteWithImmediate(word),
            Some(VerbCode::Send) => Meaning::Send,
            Some(VerbCode::ReadRequest) => Meaning::ReadRequest(word),
            Some(VerbCode::ReadResponse) => Meaning::ReadResponse,
            Some(VerbCode::Write) | None => return None,
        };
        Some(Self::new(meaning, bits >> (32 + BITS), bits >> 32))
    }

    /// Returns the message's number, given one that is less than 2^13 away.
    pub(crate) const fn message_near(self, known: u64) -> u64 {
        near(self.message, known)
    }

    /// Returns the number of the receive, given one that is less than 2^13 away.
    pub(crate) const fn receive_near(self, known: u64) -> u64 {
        near(self.receive, known)
    }
}

impl Meaning {
    /// Returns the meaning of a work request to its receiver; `None` for a plain WRITE. The length
    /// of a READ must have been checked.
    pub(crate) fn of(operation: Operation, bytes: u64) -> Option<Self> {
        match operation {
            Operation::Write => None,
            Operation::WriteWithImmediate(number) => Some(Self::WriteWithImmediate(number)),
            Operation::Send => Some(Self::Send),
            // Lossless: a message has at most 2^31 bytes.
            Operation::Read => Some(Self::ReadRequest(bytes as u32)),
        }
    }

    /// True if it consumes a receive.
    pub(crate) const fn consumes(self) -> bool {
        matches!(self, Self::WriteWithImmediate(_) | Self::Send)
    }
}

const fn near(low: u64, known: u64) -> u64 {
    // Queues hold at most 4,095 requests, and responses to READs as many again: two numbers that
    // are compared always differ by less than half of the range.
    let ahead = low.wrapping_sub(known) & MASK;
    if ahead < HALF { known + ahead } else { (known + ahead).saturating_sub(MASK + 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_round_trip() {
        for meaning in [
            Meaning::WriteWithImmediate(u32::MAX),
            Meaning::Send,
            Meaning::ReadRequest(1 << 31),
            Meaning::ReadResponse,
        ] {
            for (message, receive) in [(0, 0), (16_383, 16_384), (100_000, 99_000)] {
                let header =
                    VerbHeader::from_bits(VerbHeader::new(meaning, message, receive).to_bits());
                let header = header.expect("a verb header");
                assert_eq!(header.meaning, meaning);
                assert_eq!(header.message_near(message.saturating_sub(4_000)), message);
                assert_eq!(header.message_near(message + 4_000), message);
                assert_eq!(header.receive_near(receive + 8_000), receive);
            }
        }
    }

    #[test]
    fn a_plain_write_has_no_header() {
        assert_eq!(VerbHeader::from_bits(0), None);
        assert_eq!(VerbHeader::from_bits(u64::MAX), None);
    }
}
