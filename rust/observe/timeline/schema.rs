//! The protobuf messages of a Perfetto trace, with the fields that a time-line needs.
//!
//! Source: Perfetto, `protos/perfetto/trace/` (`trace_packet.proto`, `track_event/*.proto`): the
//! field numbers. The definitions are hand-written to avoid a dependency on a protobuf compiler.

use prost::{Message, Oneof};

/// A complete trace file.
#[derive(Clone, PartialEq, Message)]
pub struct Trace {
    /// The packets, in any order.
    #[prost(message, repeated, tag = "1")]
    pub packets: Vec<TracePacket>,
}

/// A track, or an event on a track.
#[derive(Clone, PartialEq, Message)]
pub struct TracePacket {
    /// Timestamp in nanoseconds.
    #[prost(uint64, optional, tag = "8")]
    pub timestamp: Option<u64>,
    /// Id of the writer; constant in a file.
    #[prost(uint32, optional, tag = "10")]
    pub sequence: Option<u32>,
    /// An event on a track.
    #[prost(message, optional, tag = "11")]
    pub event: Option<TrackEvent>,
    /// 1 in the first packet: incremental state is cleared.
    #[prost(uint32, optional, tag = "13")]
    pub sequence_flags: Option<u32>,
    /// The definition of a track.
    #[prost(message, optional, tag = "60")]
    pub track: Option<TrackDescriptor>,
}

/// The definition of a track.
#[derive(Clone, PartialEq, Message)]
pub struct TrackDescriptor {
    /// Number of the track in the file, from 1.
    #[prost(uint64, optional, tag = "1")]
    pub uuid: Option<u64>,
    /// Display name.
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
    /// The parent track.
    #[prost(uint64, optional, tag = "5")]
    pub parent: Option<u64>,
    /// The unit of its values, for a counter track.
    #[prost(message, optional, tag = "8")]
    pub counter: Option<CounterDescriptor>,
}

/// The unit of a counter track.
#[derive(Clone, PartialEq, Message)]
pub struct CounterDescriptor {
    /// 3 for bytes.
    #[prost(int32, optional, tag = "3")]
    pub unit: Option<i32>,
    /// Name of the unit, if Perfetto has no number for it.
    #[prost(string, optional, tag = "6")]
    pub unit_name: Option<String>,
}

/// The kinds of events.
pub mod kind {
    /// Begins a slice.
    pub const BEGIN: i32 = 1;
    /// Ends the slice that began last on the track.
    pub const END: i32 = 2;
    /// Marks a point in time.
    pub const INSTANT: i32 = 3;
    /// Sets the value of a counter.
    pub const COUNTER: i32 = 4;
}

/// An event on a track.
#[derive(Clone, PartialEq, Message)]
pub struct TrackEvent {
    /// Additional facts about the event.
    #[prost(message, repeated, tag = "4")]
    pub annotations: Vec<Annotation>,
    /// One of the constants in [`kind`].
    #[prost(int32, optional, tag = "9")]
    pub kind: Option<i32>,
    /// The track of the event.
    #[prost(uint64, optional, tag = "11")]
    pub track: Option<u64>,
    /// Search categories: `message`, `retransmission`, ...
    #[prost(string, repeated, tag = "22")]
    pub categories: Vec<String>,
    /// Display name.
    #[prost(string, optional, tag = "23")]
    pub name: Option<String>,
    /// Value of a counter.
    #[prost(int64, optional, tag = "30")]
    pub value: Option<i64>,
    /// Numbers of the arrows (flows) that begin at the slice.
    #[prost(fixed64, repeated, tag = "47")]
    pub arrows_from: Vec<u64>,
    /// Numbers of the arrows (flows) that end at the slice.
    #[prost(fixed64, repeated, tag = "48")]
    pub arrows_to: Vec<u64>,
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
    /// An unsigned integer.
    #[prost(uint64, tag = "3")]
    Number(u64),
    /// A string.
    #[prost(string, tag = "6")]
    Text(String),
}
