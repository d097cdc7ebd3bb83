//! Writes tracks and their events to a trace file, packet by packet.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::schema::{
    Annotation, CounterDescriptor, Trace, TracePacket, TrackDescriptor, TrackEvent, Value, kind,
};
use crate::units::Time;

/// A track of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Track(u64);

/// The label of an event: its category, name and facts.
#[derive(Debug)]
pub(super) struct Label<'a> {
    /// Search category.
    pub(super) category: &'a str,
    pub(super) name: String,
    pub(super) facts: &'a [(&'a str, u64)],
}

/// The arrows of a slice, by number. An arrow goes from the slice that it begins at to the one that
/// it ends at.
#[derive(Debug, Default)]
pub(super) struct Arrows {
    /// The arrow that ends at the slice.
    pub(super) to: Option<u64>,
    /// The arrows that begin at the slice.
    pub(super) from: Vec<u64>,
}

/// The unit of a counter track.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Bytes,
    BitsPerSecond,
    Packets,
}

/// Perfetto's number for the unit "bytes".
const BYTES: i32 = 3;

/// The file, and the last value of each of its counters.
pub(super) struct Tracks {
    to: Box<dyn Write>,
    /// The first write error; nothing is written after it.
    failed: Option<io::Error>,
    tracks: u64,
    values: BTreeMap<Track, i64>,
}

impl Tracks {
    pub(super) fn new(to: Box<dyn Write>) -> Self {
        Self { to, failed: None, tracks: 0, values: BTreeMap::new() }
    }

    /// Adds a track: for events, or for a counter if it has a unit.
    pub(super) fn add(&mut self, name: String, parent: Option<Track>, unit: Option<Unit>) -> Track {
        self.tracks += 1;
        let unit_name = |name: &str| CounterDescriptor { unit: None, unit_name: Some(name.into()) };
        let counter = unit.map(|unit| match unit {
            Unit::Bytes => CounterDescriptor { unit: Some(BYTES), unit_name: None },
            Unit::BitsPerSecond => unit_name("bit/s"),
            Unit::Packets => unit_name("packets"),
        });
        let track = TrackDescriptor {
            uuid: Some(self.tracks),
            name: Some(name),
            parent: parent.map(|Track(parent)| parent),
            counter,
        };
        // Only the first packet of a file clears the incremental state.
        let sequence_flags = (self.tracks == 1).then_some(1);
        self.put(TracePacket { track: Some(track), sequence_flags, ..TracePacket::default() });
        Track(self.tracks)
    }

    /// Writes the beginning of a slice.
    pub(super) fn begin(&mut self, at: Time, track: Track, label: Label<'_>, arrows: Arrows) {
        let event = TrackEvent {
            arrows_from: arrows.from,
            arrows_to: arrows.to.into_iter().collect(),
            ..event(kind::BEGIN, track, label)
        };
        self.event(at, event);
    }

    /// Writes the end of the slice that began last on the track.
    pub(super) fn end(&mut self, at: Time, track: Track) {
        let Track(track) = track;
        let event = TrackEvent { kind: Some(kind::END), track: Some(track), ..Default::default() };
        self.event(at, event);
    }

    /// Writes an instant.
    pub(super) fn instant(&mut self, at: Time, track: Track, label: Label<'_>) {
        let event = event(kind::INSTANT, track, label);
        self.event(at, event);
    }

    /// Writes a counter's value, if it has changed.
    pub(super) fn count(&mut self, at: Time, track: Track, value: u64) {
        let value = i64::try_from(value).unwrap_or(i64::MAX);
        if self.values.insert(track, value) == Some(value) {
            return;
        }
        let Track(track) = track;
        let event = TrackEvent {
            kind: Some(kind::COUNTER),
            track: Some(track),
            value: Some(value),
            ..TrackEvent::default()
        };
        self.event(at, event);
    }

    fn event(&mut self, at: Time, event: TrackEvent) {
        // Perfetto's resolution is a nanosecond; message facts have exact times.
        let timestamp = Some(at.as_ps() / 1000);
        self.put(TracePacket { timestamp, event: Some(event), ..TracePacket::default() });
    }

    fn put(&mut self, packet: TracePacket) {
        if self.failed.is_some() {
            return;
        }
        self.failed = self.to.write_all(&bytes_of(packet)).err();
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.failed.take().map_or_else(|| self.to.flush(), Err)
    }
}

/// Encodes a trace with one packet. Concatenated traces form a single trace.
fn bytes_of(packet: TracePacket) -> Vec<u8> {
    let packets = vec![TracePacket { sequence: Some(1), ..packet }];
    prost::Message::encode_to_vec(&Trace { packets })
}

/// Returns the first bytes of a file whose first track has this name.
pub(super) fn beginning(name: &str) -> Vec<u8> {
    let track = TrackDescriptor {
        uuid: Some(1),
        name: Some(name.to_owned()),
        ..TrackDescriptor::default()
    };
    bytes_of(TracePacket { track: Some(track), sequence_flags: Some(1), ..TracePacket::default() })
}

fn event(kind: i32, Track(track): Track, label: Label<'_>) -> TrackEvent {
    let Label { category, name, facts } = label;
    let annotations = facts.iter().map(|(name, value)| Annotation {
        name: Some((*name).to_owned()),
        value: Some(Value::Number(*value)),
    });
    TrackEvent {
        annotations: annotations.collect(),
        kind: Some(kind),
        track: Some(track),
        categories: vec![category.to_owned()],
        name: Some(name),
        ..TrackEvent::default()
    }
}
