//! REPS: entropy values that came back unmarked are used again; after a time-out only those.
//!
//! Source: "REPS: Recycled Entropy Packet Spraying for Adaptive Load Balancing and Failure
//! Mitigation" (arXiv 2407.21625, EuroSys 2026), sections 3 and 4, in the form of its public
//! artifact (tommasobo/REPS_EuroSys_Artifact, `buffer_reps.cpp` and `uec.cpp`). Where text and
//! artifact differ this is the artifact: all packets explore while exploring lasts (the text
//! forces each eighth), frozen packets take the buffer's entries in turn whether they were used
//! or not (the text takes unused ones first), and nothing explores at the start, where the buffer
//! is empty and all values are random anyway. Different from the artifact: an entry that may be
//! used n times is used n times in frozen mode too, not n + 1 times.
//!
//! Its first version, without freezing, is [`super::reps_legacy`].

use serde::{Deserialize, Serialize};

use super::entropy_space::EntropySpace;
use super::{FailedPath, Feedback, QpContext, SenderConfig, SenderPolicy, Trimming, Verdict};
use crate::balance::{Preset, Scheme, configured};
use crate::nic::Recovery;
use crate::rng::{Purpose, Stream};
use crate::units::{Fraction, Span, Time};

/// No buffer has more entries.
const LARGEST_BUFFER: usize = 32;

/// What can be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Entries of the buffer, 1 to 32. Default 8 (paper and artifact).
    pub buffer: BufferSize,
    /// Entropy values to draw from. Default 65,536 (paper and artifact; swept from 32).
    pub entropies: EntropySpace,
    /// How long it stays frozen. Default 10 ms (artifact); 100 us in the paper's runs of
    /// transient failures.
    pub freeze: Span,
    /// How often a value that came back well may be used again. Default 1; more is the paper's
    /// "Reuse EVs" for acknowledgements of several packets.
    pub reuse: Reuse,
    /// Packets that explore after freezing, in bandwidth-delay products. Default 1 (artifact);
    /// Ultra Ethernet's simulator has 16 packets.
    pub explore: Fraction,
    /// Without trimming: a time-out freezes only if the highest round-trip time of late was below
    /// so many base ones, or else congestion may have dropped the packet. Default 33/20 (1.65,
    /// artifact).
    pub freeze_below: Fraction,
    /// What becomes of the value of a packet that was cut at the last hop, which is the fault of
    /// no path. Default "drop" (artifact); other simulators of Ultra Ethernet recycle it.
    pub last_hop_trims: LastHopTrims,
}

/// Entries of the buffer: 1 to 32.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct BufferSize(u8);

/// How often a value may be used again: 1 to 255 times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Reuse(u8);

/// What becomes of the entropy value of a packet that was cut at the last hop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LastHopTrims {
    /// It is not used again.
    Drop,
    /// It counts as one that came back well.
    Recycle,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            buffer: BufferSize(8),
            entropies: EntropySpace::ALL,
            freeze: Span::from_ms(10),
            reuse: Reuse(1),
            explore: Fraction::ONE,
            freeze_below: Fraction::new(33, 20).expect("not zero"),
            last_hop_trims: LastHopTrims::Drop,
        }
    }
}

impl TryFrom<u8> for BufferSize {
    type Error = String;

    fn try_from(entries: u8) -> Result<Self, String> {
        if (1..=LARGEST_BUFFER).contains(&usize::from(entries)) {
            return Ok(Self(entries));
        }
        Err(format!("a buffer of {entries} cannot be: it must be from 1 to {LARGEST_BUFFER}"))
    }
}

impl From<BufferSize> for u8 {
    fn from(size: BufferSize) -> Self {
        size.0
    }
}

impl TryFrom<u8> for Reuse {
    type Error = String;

    fn try_from(times: u8) -> Result<Self, String> {
        if times > 0 { Ok(Self(times)) } else { Err("it must be at least 1".to_owned()) }
    }
}

impl From<Reuse> for u8 {
    fn from(reuse: Reuse) -> Self {
        reuse.0
    }
}

/// What one queue pair keeps.
#[derive(Debug, Clone)]
pub struct Reps(Box<State>);

#[derive(Debug, Clone)]
struct State {
    buffer: Buffer,
    /// Packets that have still to explore.
    explore: u32,
    mode: Mode,
    round_trips: RoundTrips,
    random: Stream,
    config: Config,
    trimming: Trimming,
    /// Packets that explore after freezing.
    exploration: u32,
}

/// Whether only known values are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Recycling,
    /// Until the first feedback after this time.
    Frozen(Time),
}

/// `reps`.
pub const PRESETS: &[Preset] = &[Preset {
    name: "reps",
    summary: "entropy values that came back unmarked are used again; freezing after time-outs",
    source: "REPS: Recycled Entropy Packet Spraying (EuroSys 2026), sections 3 and 4",
    build: |parameters| {
        let sender = SenderConfig::Reps(configured("reps", parameters)?);
        Ok(Scheme { recovery: Recovery::PerPacket, ..Scheme::new("reps", sender) })
    },
}];

impl Reps {
    pub(super) fn new(config: &Config, qp: &QpContext) -> Self {
        let facts = &qp.facts;
        let exploration = config.explore.of(facts.bdp_packets.into());
        Self(Box::new(State {
            buffer: Buffer::new(config.buffer, config.reuse),
            explore: 0,
            mode: Mode::Recycling,
            round_trips: RoundTrips::new(facts.base_rtt, facts.retransmit_timeout, config),
            random: qp.random(Purpose::Entropy),
            config: *config,
            trimming: facts.trimming,
            exploration: u32::try_from(exploration).unwrap_or(u32::MAX),
        }))
    }
}

impl SenderPolicy for Reps {
    #[inline]
    fn entropy(&mut self, _now: Time) -> u16 {
        let State { buffer, explore, mode, random, config, .. } = &mut *self.0;
        if *explore > 0 {
            *explore -= 1;
            return config.entropies.draw(random);
        }
        let known = match mode {
            Mode::Recycling => buffer.take_oldest(),
            Mode::Frozen(_) => buffer.take_frozen(),
        };
        known.unwrap_or_else(|| config.entropies.draw(random))
    }

    #[inline]
    fn handle_feedback(&mut self, now: Time, feedback: Feedback) {
        let state = &mut *self.0;
        if feedback.packets > 0 {
            state.round_trips.note(now, feedback.rtt);
        }
        if let Mode::Frozen(until) = state.mode
            && now > until
        {
            state.mode = Mode::Recycling;
            state.buffer = Buffer::new(state.config.buffer, state.config.reuse);
            state.explore = state.exploration;
        }
        let good = match feedback.verdict {
            Verdict::Good => true,
            Verdict::TrimmedAtLastHop => state.config.last_hop_trims == LastHopTrims::Recycle,
            Verdict::Marked | Verdict::Nack | Verdict::Trimmed => false,
        };
        if good {
            state.buffer.store(feedback.entropy);
        }
    }

    fn handle_timeout(&mut self, now: Time, _entropy: u16) -> Option<FailedPath> {
        let state = &mut *self.0;
        let failure = match state.trimming {
            Trimming::On => true,
            Trimming::Off => state.round_trips.are_short(),
        };
        if failure && state.mode == Mode::Recycling && state.explore == 0 {
            state.mode = Mode::Frozen(now.saturating_add(state.config.freeze));
        }
        None
    }

    /// 193 bits by default: 17 an entry, and 57 for head, count, exploration, mode and the time
    /// that freezing ends. Entries that may be used more often have a counter.
    fn state_bits(&self) -> u64 {
        let lives = u64::from(u8::BITS - (self.0.config.reuse.0 - 1).leading_zeros());
        u64::from(self.0.config.buffer.0) * (17 + lives) + 57
    }
}

/// The ring of values that came back well.
#[derive(Debug, Clone)]
struct Buffer {
    entries: [Entry; LARGEST_BUFFER],
    size: u8,
    /// Where the next value is stored.
    head: u8,
    /// Entries not yet used up: those just before `head`, except in frozen mode.
    valid: u8,
    /// Entries ever stored, at most `size`.
    filled: u8,
    /// The next entry to be used in frozen mode.
    frozen: u8,
    reuse: u8,
}

/// A value and how often it may still be used.
#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    value: u16,
    lives: u8,
}

impl Buffer {
    fn new(size: BufferSize, reuse: Reuse) -> Self {
        let entries = [Entry::default(); LARGEST_BUFFER];
        Self { entries, size: size.0, head: 0, valid: 0, filled: 0, frozen: 0, reuse: reuse.0 }
    }

    /// Stores a value over the oldest one.
    #[inline]
    fn store(&mut self, value: u16) {
        let entry = &mut self.entries[usize::from(self.head)];
        self.valid += u8::from(entry.lives == 0);
        *entry = Entry { value, lives: self.reuse };
        self.head = (self.head + 1) % self.size;
        self.filled = (self.filled + 1).min(self.size);
    }

    /// The oldest value that is not used up.
    #[inline]
    fn take_oldest(&mut self) -> Option<u16> {
        if self.valid == 0 {
            return None;
        }
        Some(self.take((self.head + self.size - self.valid) % self.size))
    }

    /// The next value in turn, used up or not.
    fn take_frozen(&mut self) -> Option<u16> {
        if self.filled == 0 {
            return None;
        }
        let place = self.frozen;
        self.frozen = (place + 1) % self.filled;
        Some(self.take(place))
    }

    #[inline]
    fn take(&mut self, place: u8) -> u16 {
        let entry = &mut self.entries[usize::from(place)];
        if entry.lives > 0 {
            entry.lives -= 1;
            self.valid -= u8::from(entry.lives == 0);
        }
        entry.value
    }
}

/// The highest round-trip time of late, by which congestion is told from failure.
#[derive(Debug, Clone, Copy)]
struct RoundTrips {
    highest: Span,
    /// When it is forgotten: two time-outs after it was (artifact).
    until: Time,
    window: Span,
    /// A failure's are below.
    short: Span,
}

impl RoundTrips {
    fn new(base_rtt: Span, timeout: Span, config: &Config) -> Self {
        Self {
            highest: Span::ZERO,
            until: Time::ZERO,
            window: Span::from_ps(timeout.as_ps().saturating_mul(2)),
            short: Span::from_ps(config.freeze_below.of(base_rtt.as_ps())),
        }
    }

    #[inline]
    fn note(&mut self, now: Time, rtt: Span) {
        if now > self.until {
            self.highest = Span::ZERO;
            self.until = now.saturating_add(self.window);
        }
        self.highest = self.highest.max(rtt);
    }

    fn are_short(&self) -> bool {
        self.highest < self.short
    }
}

#[cfg(test)]
#[path = "reps/tests.rs"]
mod tests;
