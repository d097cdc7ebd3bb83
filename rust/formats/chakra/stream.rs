//! Reads the protobuf messages of a file one by one; only one is held at a time.

use std::io::{BufRead, Read};

use prost::Message;

use super::error::{ChakraFault, NodeFault};

/// Maximum length of a message: 2^28 bytes.
const MAX_LENGTH: u64 = 1 << 28;

/// A stream of messages, each preceded by its length.
pub(super) struct MessageReader<R> {
    from: R,
    offset: u64,
    message: Vec<u8>,
}

impl<R: BufRead> MessageReader<R> {
    pub(super) fn new(from: R) -> Self {
        Self { from, offset: 0, message: Vec::new() }
    }

    /// Returns the next message with its offset; `None` at the end of the file.
    pub(super) fn next<M: Message + Default>(&mut self) -> Result<Option<(u64, M)>, NodeFault> {
        let Some((start, bytes)) = self.next_bytes()? else { return Ok(None) };
        Ok(Some((start, Self::decode(start, bytes)?)))
    }

    /// Decodes the message at an offset.
    pub(super) fn decode<M: Message + Default>(start: u64, bytes: &[u8]) -> Result<M, NodeFault> {
        let at = |error| NodeFault::of_message(start, ChakraFault::Protobuf(error));
        M::decode(bytes).map_err(at)
    }

    /// Returns the bytes of the next message with their offset.
    pub(super) fn next_bytes(&mut self) -> Result<Option<(u64, &[u8])>, NodeFault> {
        let start = self.offset;
        let at = |fault| NodeFault::of_message(start, fault);
        let Some(length) = self.length().map_err(at)? else { return Ok(None) };
        self.message.clear();
        // Memory grows with the bytes read: a corrupt file may announce any length.
        let found = (&mut self.from).take(length).read_to_end(&mut self.message);
        let found = found.map_err(|error| at(ChakraFault::Unreadable(error)))? as u64;
        self.offset += found;
        if found < length {
            return Err(at(ChakraFault::Truncated { wanted: length, found }));
        }
        Ok(Some((start, &self.message)))
    }

    /// Reads the varint before a message; `None` at the end of the file.
    fn length(&mut self) -> Result<Option<u64>, ChakraFault> {
        let mut length = 0u64;
        for index in 0..5 {
            let mut byte = [0];
            let found = self.from.read(&mut byte).map_err(ChakraFault::Unreadable)?;
            if found == 0 {
                let cut = ChakraFault::Truncated { wanted: 1, found: 0 };
                return if index == 0 { Ok(None) } else { Err(cut) };
            }
            self.offset += 1;
            length |= u64::from(byte[0] & 0x7f) << (7 * index);
            if byte[0] < 0x80 {
                return if length <= MAX_LENGTH {
                    Ok(Some(length))
                } else {
                    Err(ChakraFault::Length)
                };
            }
        }
        Err(ChakraFault::Length)
    }
}

#[cfg(test)]
mod tests {
    use super::super::schema::Node;
    use super::*;

    #[test]
    fn messages_and_errors_have_their_offsets() {
        let mut bytes = Node { id: 3, ..Node::default() }.encode_length_delimited_to_vec();
        let second = bytes.len() as u64;
        bytes.extend(Node { id: 4, ..Node::default() }.encode_length_delimited_to_vec());
        let whole = bytes.len();
        let mut messages = MessageReader::new(bytes.as_slice());
        assert_eq!(messages.next::<Node>().unwrap().unwrap().0, 0);
        assert_eq!(messages.next::<Node>().unwrap().unwrap().1.id, 4);
        assert!(messages.next::<Node>().unwrap().is_none());
        let mut cut = MessageReader::new(&bytes[..whole - 1]);
        cut.next::<Node>().unwrap();
        let NodeFault { offset, fault, .. } = cut.next::<Node>().unwrap_err();
        assert_eq!(offset, Some(second));
        let expected = "the file is truncated: expected 2 more bytes";
        assert!(fault.to_string().starts_with(expected), "{fault}");
    }

    #[test]
    fn invalid_lengths_and_messages_are_rejected() {
        for (bytes, expected) in [
            (vec![0xff; 6], "corrupt: the length"),
            (vec![0x81, 0x80, 0x80, 0x80, 0x01], "corrupt: the length"),
            (vec![0x80], "the file is truncated"),
            (vec![2, 0x0a, 0x7f], "corrupt: not a message"),
        ] {
            let mut messages = MessageReader::new(bytes.as_slice());
            let NodeFault { offset, fault, .. } = messages.next::<Node>().unwrap_err();
            assert_eq!(offset, Some(0));
            assert!(fault.to_string().starts_with(expected), "{fault}");
        }
    }
}
