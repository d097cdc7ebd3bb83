//! The protobuf messages of a Chakra file, with the fields that a simulation needs.
//!
//! Source: MLCommons Chakra, `schema/protobuf/et_def.proto`, from 0.0.4 to the main branch of May
//! 2026 (21585d8), which all share these field numbers. The definitions are written by hand, so no
//! protobuf compiler is needed; readers skip fields that are not defined here.

use prost::{Message, Oneof};

/// The first message of a file.
#[derive(Clone, PartialEq, Message)]
pub(super) struct GlobalMetadata {
    /// The schema's version. Writers of version 1.0 put it in an attribute `schema` instead.
    #[prost(string, tag = "1")]
    pub version: String,
    #[prost(message, repeated, tag = "2")]
    pub attributes: Vec<Attribute>,
}

/// Every other message of a file.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Node {
    #[prost(uint64, tag = "1")]
    pub id: u64,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(int32, tag = "3")]
    pub kind: i32,
    #[prost(uint64, repeated, tag = "4")]
    pub control_dependencies: Vec<u64>,
    #[prost(uint64, repeated, tag = "5")]
    pub data_dependencies: Vec<u64>,
    #[prost(uint64, tag = "6")]
    pub start_micros: u64,
    #[prost(uint64, tag = "7")]
    pub duration_micros: u64,
    #[prost(message, repeated, tag = "10")]
    pub attributes: Vec<Attribute>,
}

/// The type numbers of nodes.
pub(super) mod kind {
    /// Metadata, the lowest type.
    pub(crate) const METADATA: i32 = 1;
    /// A load of data from memory.
    pub(crate) const MEMORY_LOAD: i32 = 2;
    /// A store of data to memory.
    pub(crate) const MEMORY_STORE: i32 = 3;
    /// A computation, with a duration or a number of operations.
    pub(crate) const COMPUTE: i32 = 4;
    /// A send to another rank.
    pub(crate) const SEND: i32 = 5;
    /// A receive from another rank.
    pub(crate) const RECEIVE: i32 = 6;
    /// A collective operation, the highest type.
    pub(crate) const COLLECTIVE: i32 = 7;
}

/// A named value of a node.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Attribute {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(
        oneof = "AttributeValue",
        tags = "3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 28, 29"
    )]
    pub value: Option<AttributeValue>,
}

/// The value of an attribute. Lists are needed only for booleans.
#[derive(Clone, PartialEq, Oneof)]
pub(super) enum AttributeValue {
    #[prost(double, tag = "3")]
    Double(f64),
    #[prost(float, tag = "5")]
    Float(f32),
    #[prost(int32, tag = "7")]
    Int32(i32),
    #[prost(int64, tag = "9")]
    Int64(i64),
    #[prost(uint32, tag = "11")]
    Uint32(u32),
    #[prost(uint64, tag = "13")]
    Uint64(u64),
    #[prost(sint32, tag = "15")]
    Sint32(i32),
    #[prost(sint64, tag = "17")]
    Sint64(i64),
    #[prost(fixed32, tag = "19")]
    Fixed32(u32),
    #[prost(fixed64, tag = "21")]
    Fixed64(u64),
    #[prost(sfixed32, tag = "23")]
    Sfixed32(i32),
    #[prost(sfixed64, tag = "25")]
    Sfixed64(i64),
    #[prost(bool, tag = "27")]
    Bool(bool),
    #[prost(message, tag = "28")]
    Bools(Bools),
    #[prost(string, tag = "29")]
    Text(String),
}

/// A list of booleans.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Bools {
    #[prost(bool, repeated, tag = "1")]
    pub values: Vec<bool>,
}

impl Attribute {
    pub(super) fn uint64(name: &str, value: u64) -> Self {
        Self { name: name.to_owned(), value: Some(AttributeValue::Uint64(value)) }
    }

    /// Returns the value as a whole number if it is of any integer type.
    pub(super) fn integer(&self) -> Option<i128> {
        Some(match *self.value.as_ref()? {
            AttributeValue::Int32(value)
            | AttributeValue::Sint32(value)
            | AttributeValue::Sfixed32(value) => value.into(),
            AttributeValue::Int64(value)
            | AttributeValue::Sint64(value)
            | AttributeValue::Sfixed64(value) => value.into(),
            AttributeValue::Uint32(value) | AttributeValue::Fixed32(value) => value.into(),
            AttributeValue::Uint64(value) | AttributeValue::Fixed64(value) => value.into(),
            AttributeValue::Bool(value) => value.into(),
            AttributeValue::Double(_)
            | AttributeValue::Float(_)
            | AttributeValue::Bools(_)
            | AttributeValue::Text(_) => return None,
        })
    }
}

impl Node {
    /// Returns the attribute called `name`.
    pub(super) fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_of_every_integer_type_give_the_same_number() {
        // Field number and wire type, then the number 7: as a varint, zigzag, 4 and 8 bytes.
        let seven = [
            vec![7 << 3, 7],
            vec![9 << 3, 7],
            vec![11 << 3, 7],
            vec![13 << 3, 7],
            vec![15 << 3, 14],
            vec![0x88, 1, 14],
            vec![0x9d, 1, 7, 0, 0, 0],
            vec![0xa9, 1, 7, 0, 0, 0, 0, 0, 0, 0],
            vec![0xbd, 1, 7, 0, 0, 0],
            vec![0xc9, 1, 7, 0, 0, 0, 0, 0, 0, 0],
        ];
        for bytes in seven {
            let attribute = Attribute::decode(bytes.as_slice()).unwrap();
            assert_eq!(attribute.integer(), Some(7), "{bytes:?}");
        }
        let truth = Attribute::decode([0xd8, 1, 1].as_slice()).unwrap();
        assert_eq!(truth.integer(), Some(1));
        let text = Attribute::decode([0xea, 1, 1, b'7'].as_slice()).unwrap();
        assert_eq!(text.integer(), None);
    }

    #[test]
    fn dependencies_are_read_packed_and_one_by_one() {
        let packed = Node::decode([5 << 3 | 2, 2, 3, 4].as_slice()).unwrap();
        let single = Node::decode([5 << 3, 3, 5 << 3, 4].as_slice()).unwrap();
        assert_eq!(packed.data_dependencies, [3, 4]);
        assert_eq!(packed, single);
    }
}
