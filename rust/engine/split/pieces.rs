//! Positions at which a splitter may cut a message, and the lengths of the pieces.
//!
//! Source: this project \[inferred\]. Papers on splitting leave it open; the public simulator of
//! Addanki et al., Ethereal (arXiv 2407.00550 v2, 2025) cuts down to single bytes. A cut within a
//! packet saves no transmission time and adds a header, and a piece shorter than a packet wastes a
//! queue pair. By default messages are therefore cut between packets. A message then has the same
//! packets cut or whole, and the lower bounds of completion times hold for both.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::units::Bytes;

/// Smallest piece of a message. In scenarios: `"packet"`, or a number of bytes, `"512B"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SmallestPiece {
    /// A packet: messages are cut between packets.
    #[default]
    Packet,
    /// This number of bytes, at least 1: messages are cut between any two bytes.
    Bytes(Bytes),
}

impl SmallestPiece {
    /// Returns the cutter of messages whose full packets carry `payload`.
    pub fn cutter(self, payload: Bytes) -> Cutter {
        match self {
            Self::Packet => Cutter { granule: payload.get().max(1), least: 1 },
            Self::Bytes(bytes) => Cutter { granule: 1, least: bytes.get().max(1) },
        }
    }
}

/// Cuts messages into pieces of nearly equal length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cutter {
    /// Cuts are at multiples of this number of bytes.
    granule: u64,
    /// Minimum length of a piece, in bytes.
    least: u64,
}

impl Cutter {
    /// Returns the minimum length of a piece in bytes. If messages are cut between packets, the
    /// last piece of a message may be shorter.
    pub const fn least(self) -> u64 {
        self.least
    }

    /// Returns the last permitted cut at or before `offset`, in bytes from the start of a message.
    pub const fn cut_before(self, offset: u64) -> u64 {
        offset - offset % self.granule
    }

    /// Returns the number of pieces of a message of `bytes`: at most `requested`, and at least one.
    pub fn count(self, bytes: u64, requested: u64) -> u64 {
        requested.min(bytes.div_ceil(self.granule)).min(bytes / self.least).max(1)
    }

    /// Returns the lengths of `count` pieces of a message of `bytes`. Lengths differ by at most one
    /// packet or byte, except that the last packet may be shorter. The longer pieces are the
    /// `longer(bytes, count)` ones that start at index `first`, wrapping around at the end.
    pub fn lengths(self, bytes: u64, count: u64, first: u64) -> impl Iterator<Item = u64> {
        let units = bytes.div_ceil(self.granule);
        let mut left = bytes;
        (0..count).map(move |index| {
            let is_longer = (index + count - first % count) % count < units % count;
            let length = (units / count + u64::from(is_longer)).saturating_mul(self.granule);
            let length = length.min(left);
            left -= length;
            length
        })
    }

    /// Returns how many of `count` pieces of a message of `bytes` are longer than the others.
    pub const fn longer(self, bytes: u64, count: u64) -> u64 {
        bytes.div_ceil(self.granule) % count
    }
}

/// Name of [`SmallestPiece::Packet`] in scenarios.
const PACKET: &str = "packet";

impl fmt::Display for SmallestPiece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packet => f.write_str(PACKET),
            Self::Bytes(bytes) => bytes.fmt(f),
        }
    }
}

impl Serialize for SmallestPiece {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SmallestPiece {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        if text == PACKET {
            return Ok(Self::Packet);
        }
        let bytes: Result<Bytes, _> = text.parse();
        match bytes {
            Ok(bytes) if bytes > Bytes::ZERO => Ok(Self::Bytes(bytes)),
            Ok(_) => Err(serde::de::Error::custom("must be \"packet\", or at least 1B")),
            Err(error) => Err(serde::de::Error::custom(format!("{error}, or \"packet\""))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(smallest: SmallestPiece, bytes: u64, requested: u64, first: u64) -> Vec<u64> {
        let cutter = smallest.cutter(Bytes::new(4_096));
        let count = cutter.count(bytes, requested);
        cutter.lengths(bytes, count, first).collect()
    }

    #[test]
    fn messages_are_cut_between_packets() {
        let packets =
            |bytes, requested, first| lengths(SmallestPiece::Packet, bytes, requested, first);
        assert_eq!(packets(8, 8, 0), [8]);
        assert_eq!(packets(0, 8, 0), [0]);
        assert_eq!(packets(4_097, 8, 0), [4_096, 1]);
        assert_eq!(packets(16_384, 4, 0), [4_096; 4]);
        assert_eq!(packets(5 * 4_096, 4, 0), [8_192, 4_096, 4_096, 4_096]);
        assert_eq!(packets(5 * 4_096, 4, 3), [4_096, 4_096, 4_096, 8_192]);
        assert_eq!(packets(6 * 4_096 - 1, 4, 3), [8_192, 4_096, 4_096, 8_191]);
    }

    #[test]
    fn messages_are_cut_between_bytes_on_request() {
        let bytes = |least, bytes, requested| {
            lengths(SmallestPiece::Bytes(Bytes::new(least)), bytes, requested, 0)
        };
        assert_eq!(bytes(1, 8, 16), [1; 8]);
        assert_eq!(bytes(1, 0, 16), [0]);
        assert_eq!(bytes(1, 1_002, 4), [251, 251, 250, 250]);
        assert_eq!(bytes(400, 1_000, 8), [500, 500]);
    }

    #[test]
    fn pieces_have_all_bytes_and_the_same_packets_as_the_message() {
        let cutter = SmallestPiece::Packet.cutter(Bytes::new(1_000));
        for (bytes, requested) in (1..40).flat_map(|n| (1..20).map(move |k| (n * 333, k))) {
            for first in 0..requested {
                let count = cutter.count(bytes, requested);
                let lengths: Vec<u64> = cutter.lengths(bytes, count, first).collect();
                assert_eq!(lengths.iter().sum::<u64>(), bytes);
                let packets: u64 = lengths.iter().map(|length| length.div_ceil(1_000)).sum();
                assert_eq!(packets, bytes.div_ceil(1_000), "{bytes} bytes in {requested} pieces");
                let (last, others) = lengths.split_last().unwrap();
                assert!(*last > 0 && others.iter().all(|length| length % 1_000 == 0));
            }
        }
    }

    #[test]
    fn the_name_of_a_packet_and_sizes_are_read_and_written() {
        let read = |text: &str| {
            SmallestPiece::deserialize(toml::Value::String(text.to_owned()))
                .map_err(|error| error.to_string())
        };
        assert_eq!(read("packet"), Ok(SmallestPiece::Packet));
        assert_eq!(read("512B"), Ok(SmallestPiece::Bytes(Bytes::new(512))));
        assert_eq!(SmallestPiece::Bytes(Bytes::new(512)).to_string(), "512B");
        assert!(read("0B").unwrap_err().contains("at least 1B"));
        assert!(read("paket").unwrap_err().contains("or \"packet\""));
    }
}
