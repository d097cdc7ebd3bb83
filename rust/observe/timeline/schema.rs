//! The protobuf messages of a Perfetto trace, with the fields that a time-line needs.
//!
//! Source: Perfetto, `protos/perfetto/trace/` (`trace_packet.proto`, `track_event/*.proto`): the
//! field numbers. The definitions are written by hand, so that no protobuf compiler is needed.

use prost::{Message, Oneof};

/// A whole file.
#[derive(Clone, PartialEq, Message)]
pub struct Trace {
    /// What it holds, in any order.
    #[prost(message, repeated, tag = "1")]
    pub packets: Vec<TracePacket>,
}

/// A track, or an event on one.
#[derive(Clone, PartialEq, Message)]
pub struct TracePacket {
    /// When, in nanoseconds.
    #[prost(uint64, optional, tag = "8")]
    pub timestamp: Option<u64>,
    /// Who wrote it: always the same writer.
    #[prost(uint32, optional, tag = "10")]
    pub sequence: Option<u32>,
    /// An event.
    #[prost(message, optional, tag = "11")]
    pub event: Option<TrackEvent>,
    /// 1 in the first packet: nothing is left of an earlier state.
    #[prost(uint32, optional, tag = "13")]
    pub sequence_flags: Option<u32>,
    /// A track.
    #[prost(message, optional, tag = "60")]
    pub track: Option<TrackDescriptor>,
}

/// A track.
#[derive(Clone, PartialEq, Message)]
pub struct TrackDescriptor {
    /// Its number in the file, from 1.
    #[prost(uint64, optional, tag = "1")]
    pub uuid: Option<u64>,
    /// What it is called.
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
    /// The track that it belongs to.
    #[prost(uint64, optional, tag = "5")]
    pub parent: Option<u64>,
    /// What its numbers are of, if it has numbers.
    #[prost(message, optional, tag = "8")]
    pub counter: Option<CounterDescriptor>,
}

/// What the numbers of a track are of.
#[derive(Clone, PartialEq, Message)]
pub struct CounterDescriptor {
    /// 3 for bytes.
    #[prost(int32, optional, tag = "3")]
    pub unit: Option<i32>,
    /// The unit if it has no number.
    #[prost(string, optional, tag = "6")]
    pub unit_name: Option<String>,
}

/// The kinds of events.
pub mod kind {
    /// Something begins.
    pub const BEGIN: i32 = 1;
    /// What began last on the track ends.
    pub const END: i32 = 2;
    /// Something happens.
    pub const INSTANT: i32 = 3;
    /// A number changes.
    pub const COUNTER: i32 = 4;
}

/// An event on a track.
#[derive(Clone, PartialEq, Message)]
pub struct TrackEvent {
    /// What is known of it beside its name.
    #[prost(message, repeated, tag = "4")]
    pub annotations: Vec<Annotation>,
    /// One of [`kind`].
    #[prost(int32, optional, tag = "9")]
    pub kind: Option<i32>,
    /// The track.
    #[prost(uint64, optional, tag = "11")]
    pub track: Option<u64>,
    /// What to search for: `message`, `retransmission`, ...
    #[prost(string, repeated, tag = "22")]
    pub categories: Vec<String>,
    /// What it is called.
    #[prost(string, optional, tag = "23")]
    pub name: Option<String>,
    /// The number of a counter.
    #[prost(int64, optional, tag = "30")]
    pub value: Option<i64>,
}

/// A name and its value.
#[derive(Clone, PartialEq, Message)]
pub struct Annotation {
    /// The name.
    #[prost(string, optional, tag = "10")]
    pub name: Option<String>,
    /// The value.
    #[prost(oneof = "Value", tags = "3, 6")]
    pub value: Option<Value>,
}

/// The value of an annotation.
#[derive(Clone, PartialEq, Oneof)]
pub enum Value {
    /// A whole number.
    #[prost(uint64, tag = "3")]
    Number(u64),
    /// A text.
    #[prost(string, tag = "6")]
    Text(String),
}
