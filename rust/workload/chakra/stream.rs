//! The messages of a file one by one: only one is held at a time.

use std::io::{BufRead, Read};

use prost::Message;

use super::error::ChakraFault;

/// No message may be longer: 2^28 bytes.
const LONGEST: u64 = 1 << 28;

/// A fault and the byte at which the message begins that has it.
pub(super) type At<T> = Result<T, (u64, ChakraFault)>;

/// A stream of messages, each behind its length.
pub(super) struct Messages<R> {
    from: R,
    offset: u64,
    message: Vec<u8>,
}

impl<R: BufRead> Messages<R> {
    pub fn new(from: R) -> Self {
        Self { from, offset: 0, message: Vec::new() }
    }

    /// The next message and where it begins; none at the end of the file.
    pub fn next<M: Message + Default>(&mut self) -> At<Option<(u64, M)>> {
        let begin = self.offset;
        let at = |fault| (begin, fault);
        let Some(length) = self.length().map_err(at)? else { return Ok(None) };
        self.message.clear();
        // Memory is taken as bytes are found, whatever length is announced.
        let found = (&mut self.from).take(length).read_to_end(&mut self.message);
        let found = found.map_err(|error| at(ChakraFault::Unreadable(error)))? as u64;
        self.offset += found;
        if found < length {
            return Err(at(ChakraFault::Truncated { wanted: length, found }));
        }
        let message = M::decode(self.message.as_slice());
        Ok(Some((begin, message.map_err(|error| at(ChakraFault::Protobuf(error)))?)))
    }

    /// The varint before a message; none at the end of the file.
    fn length(&mut self) -> Result<Option<u64>, ChakraFault> {
        let mut length = 0u64;
        for place in 0..5 {
            let mut byte = [0];
            let found = self.from.read(&mut byte).map_err(ChakraFault::Unreadable)?;
            if found == 0 {
                let cut = ChakraFault::Truncated { wanted: 1, found: 0 };
                return if place == 0 { Ok(None) } else { Err(cut) };
            }
            self.offset += 1;
            length |= u64::from(byte[0] & 0x7f) << (7 * place);
            if byte[0] < 0x80 {
                let sound = length <= LONGEST;
                return if sound { Ok(Some(length)) } else { Err(ChakraFault::Length) };
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
    fn messages_come_with_their_places_and_faults_with_theirs() {
        let mut bytes = Node { id: 3, ..Node::default() }.encode_length_delimited_to_vec();
        let second = bytes.len() as u64;
        bytes.extend(Node { id: 4, ..Node::default() }.encode_length_delimited_to_vec());
        let whole = bytes.len();
        let mut messages = Messages::new(bytes.as_slice());
        assert_eq!(messages.next::<Node>().unwrap().unwrap().0, 0);
        assert_eq!(messages.next::<Node>().unwrap().unwrap().1.id, 4);
        assert!(messages.next::<Node>().unwrap().is_none());
        let mut cut = Messages::new(&bytes[..whole - 1]);
        cut.next::<Node>().unwrap();
        let (at, fault) = cut.next::<Node>().unwrap_err();
        assert_eq!(at, second);
        assert!(fault.to_string().starts_with("the file is cut off: 2 bytes"), "{fault}");
    }

    #[test]
    fn lengths_and_bytes_that_are_none_are_refused() {
        for (bytes, says) in [
            (vec![0xff; 6], "corrupt: the length"),
            (vec![0x81, 0x80, 0x80, 0x80, 0x01], "corrupt: the length"),
            (vec![0x80], "the file is cut off"),
            (vec![2, 0x0a, 0x7f], "corrupt: not a message"),
        ] {
            let (at, fault) = Messages::new(bytes.as_slice()).next::<Node>().unwrap_err();
            assert_eq!(at, 0);
            assert!(fault.to_string().starts_with(says), "{fault}");
        }
    }
}
