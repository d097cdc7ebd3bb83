//! REPS: reuses entropy values that were acknowledged unmarked; after a timeout it uses no others.
//!
//! Source: "REPS: Recycled Entropy Packet Spraying for Adaptive Load Balancing and Failure
//! Mitigation" (arXiv 2407.21625, EuroSys 2026), sections 3 and 4, in the form of its public
//! artifact (tommasobo/REPS_EuroSys_Artifact, `buffer_reps.cpp` and `uec.cpp`). If text and
//! artifact differ, this follows the artifact:
//!
//! - Every packet explores while exploration lasts (the text forces one in eight).
//! - Frozen packets cycle through the buffer's entries, used or not (the text takes unused ones
//!   first).
//! - No packet explores at the start, where the buffer is empty and all values are random anyway.
//!
//! One difference from the artifact remains: an entry that may be used n times is used n times in
//! frozen mode too, not n + 1 times.
//!
//! The first version, without freezing, is [`super::reps_legacy`].

use serde::{Deserialize, Serialize};

use super::entropy_space::EntropySpace;
use super::{FailedPath, Feedback, PathSignal, QpContext, SenderConfig, SenderPolicy, Trimming};
use crate::balance::{Preset, Scheme, parse_config};
use crate::nic::Recovery;
use crate::rng::{Purpose, Stream};
use crate::units::{Fraction, Span, Time};

/// Largest supported buffer, in entries.
const LARGEST_BUFFER: usize = 32;

/// The parameters of `reps`: its buffer, its freeze and the exploration after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Number of buffer entries, 1 to 32. Default 8 (paper and artifact).
    pub buffer: BufferSize,
    /// Number of entropy values to draw from. Default 65,536 (paper and artifact; swept from 32).
    pub entropies: EntropySpace,
    /// Duration of the frozen mode. Default 10 ms (artifact); 100 us in the paper's runs of
    /// transient failures.
    pub freeze: Span,
    /// Number of times that a value acknowledged unmarked may be reused. Default 1; larger values
    /// are the paper's "Reuse EVs" for acknowledgements of several packets.
    pub reuse: Reuse,
    /// Number of packets that explore after freezing, in bandwidth-delay products. Default 1
    /// (artifact); Ultra Ethernet's simulator has 16 packets.
    pub explore: Fraction,
    /// Limit for freezing without trimming, as a multiple of the base round-trip time. A timeout
    /// freezes only if the highest recent round-trip time was below it; otherwise congestion may
    /// have dropped the packet. Default 33/20 (1.65, artifact).
    pub freeze_below: Fraction,
    /// Treatment of the value of a packet that was trimmed at the last hop, where no path is at
    /// fault. Default "drop" (artifact); other simulators of Ultra Ethernet recycle it.
    pub last_hop_trims: LastHopTrims,
}

/// Number of buffer entries: 1 to 32.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct BufferSize(u8);

/// Number of times that a value may be reused: 1 to 255.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Reuse(u8);

/// Treatment of the entropy value of a packet that was trimmed at the last hop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LastHopTrims {
    /// The value is not reused.
    Drop,
    /// The value is reused as if it had been acknowledged unmarked.
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
        Err(format!("a buffer of {entries} is out of range: expected 1 to {LARGEST_BUFFER}"))
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
        if times > 0 { Ok(Self(times)) } else { Err("0 is out of range: expected 1 to 255".into()) }
    }
}

impl From<Reuse> for u8 {
    fn from(reuse: Reuse) -> Self {
        reuse.0
    }
}

/// The state of one queue pair.
#[derive(Debug, Clone)]
pub struct Reps(Box<State>);

#[derive(Debug, Clone)]
struct State {
    buffer: Buffer,
    /// Number of packets that still have to explore.
    explore: u32,
    mode: Mode,
    round_trips: RoundTrips,
    random: Stream,
    config: Config,
    trimming: Trimming,
    /// Number of packets that explore after a freeze.
    exploration: u32,
}

/// Source of entropy values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// The buffer, each value as often as it may be reused; random if the buffer is empty.
    Recycling,
    /// The buffer alone, cyclically, until the first feedback after this time.
    Frozen(Time),
}

/// The preset `reps`: hashing switches, and a retransmission timer for each packet.
pub const PRESETS: &[Preset] = &[Preset {
    name: "reps",
    summary: "reuses entropy values that were acknowledged unmarked; freezes after timeouts",
    source: "REPS: Recycled Entropy Packet Spraying (EuroSys 2026), sections 3 and 4",
    build: |parameters| {
        let sender = SenderConfig::Reps(parse_config("reps", parameters)?);
        Ok(Scheme { recovery: Recovery::PER_PACKET, ..Scheme::new("reps", sender) })
    },
}];

impl Reps {
    pub(super) fn new(config: &Config, qp: &QpContext) -> Self {
        let network = &qp.network;
        let exploration = config.explore.of(network.bdp_packets.into());
        Self(Box::new(State {
            buffer: Buffer::new(config.buffer, config.reuse),
            explore: 0,
            mode: Mode::Recycling,
            round_trips: RoundTrips::new(network.base_rtt, network.retransmit_timeout, config),
            random: qp.random(Purpose::Entropy),
            config: *config,
            trimming: network.trimming,
            exploration: u32::try_from(exploration).unwrap_or(u32::MAX),
        }))
    }
}

impl SenderPolicy for Reps {
    const TAKES_ANY_PLANE: bool = true;

    #[inline]
    fn entropy(&mut self, _now: Time) -> u16 {
        let State { buffer, explore, mode, random, config, .. } = &mut *self.0;
        // After a freeze, a bandwidth-delay product of packets looks for new paths (section 4).
        if *explore > 0 {
            *explore -= 1;
            return config.entropies.draw(random);
        }
        // Section 3: each good acknowledgement permits one reuse. While frozen, the buffer's values
        // repeat, used or not: unknown paths may contain the failure (section 4).
        let known = match mode {
            Mode::Recycling => buffer.take_oldest(),
            Mode::Frozen(_) => buffer.take_frozen(),
        };
        known.unwrap_or_else(|| config.entropies.draw(random))
    }

    #[inline]
    fn handle_feedback(&mut self, now: Time, feedback: Feedback) {
        let state = &mut *self.0;
        // Reports of missing packets do not count: a trimmed packet's header has priority, so its
        // round trip would hide the queue.
        if feedback.packets > 0 {
            state.round_trips.record(now, feedback.rtt);
        }
        // The freeze ends lazily, with the first feedback after its time. Values stored before or
        // during it may be stale, so the buffer starts empty and packets explore.
        if let Mode::Frozen(until) = state.mode
            && now > until
        {
            state.mode = Mode::Recycling;
            state.buffer = Buffer::new(state.config.buffer, state.config.reuse);
            state.explore = state.exploration;
        }
        let good = match feedback.signal {
            PathSignal::Good => true,
            PathSignal::TrimmedAtLastHop => state.config.last_hop_trims == LastHopTrims::Recycle,
            PathSignal::Marked | PathSignal::Nack | PathSignal::Trimmed | PathSignal::Condemned => {
                false
            }
        };
        if good {
            state.buffer.store(feedback.entropy);
        }
    }

    fn handle_timeout(&mut self, now: Time, _entropy: u16) -> Option<FailedPath> {
        let state = &mut *self.0;
        // With trimming, congestion never loses a packet, so a timeout means a failure. Without it,
        // long round-trip times indicate congestion, and the timeout is ignored.
        let is_failure = match state.trimming {
            Trimming::On => true,
            Trimming::Off => state.round_trips.are_short(),
        };
        // A freeze is not extended. Exploring packets are likely to meet the failure again, so
        // their timeouts do not freeze either.
        if is_failure && state.mode == Mode::Recycling && state.explore == 0 {
            state.mode = Mode::Frozen(now.saturating_add(state.config.freeze));
        }
        None
    }

    /// 193 bits by default: 17 per entry, and 57 for head, count, exploration, mode and the end of
    /// the freeze. Entries that may be reused more often also have a counter.
    fn state_bits(&self) -> u64 {
        let lives = u64::from(u8::BITS - (self.0.config.reuse.0 - 1).leading_zeros());
        u64::from(self.0.config.buffer.0) * (17 + lives) + 57
    }
}

/// Ring of values that were acknowledged unmarked.
#[derive(Debug, Clone)]
struct Buffer {
    entries: [Entry; LARGEST_BUFFER],
    size: u8,
    /// Index at which the next value is stored.
    head: u8,
    /// Number of entries with uses left: those just before `head`, except in frozen mode.
    valid: u8,
    /// Number of entries ever stored, at most `size`.
    filled: u8,
    /// Index of the next entry to use in frozen mode.
    frozen: u8,
    reuse: u8,
}

/// A value and its remaining uses.
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

    /// Stores a value, overwriting the oldest one.
    #[inline]
    fn store(&mut self, value: u16) {
        let entry = &mut self.entries[usize::from(self.head)];
        // An overwritten entry with uses left was already counted as valid.
        self.valid += u8::from(entry.lives == 0);
        *entry = Entry { value, lives: self.reuse };
        self.head = (self.head + 1) % self.size;
        self.filled = (self.filled + 1).min(self.size);
    }

    /// Takes the oldest value with uses left.
    #[inline]
    fn take_oldest(&mut self) -> Option<u16> {
        if self.valid == 0 {
            return None;
        }
        // The valid entries are the most recently stored ones. Frozen mode breaks this invariant,
        // and the buffer is recreated when it ends.
        Some(self.take((self.head + self.size - self.valid) % self.size))
    }

    /// Takes the next value in cyclic order, whether it has uses left or not.
    fn take_frozen(&mut self) -> Option<u16> {
        if self.filled == 0 {
            return None;
        }
        let index = self.frozen;
        self.frozen = (index + 1) % self.filled;
        Some(self.take(index))
    }

    #[inline]
    fn take(&mut self, index: u8) -> u16 {
        let entry = &mut self.entries[usize::from(index)];
        if entry.lives > 0 {
            entry.lives -= 1;
            self.valid -= u8::from(entry.lives == 0);
        }
        entry.value
    }
}

/// Highest recent round-trip time, which distinguishes congestion from failure.
#[derive(Debug, Clone, Copy)]
struct RoundTrips {
    highest: Span,
    /// Expiry of `highest`: two timeouts after its window began (artifact).
    until: Time,
    window: Span,
    /// Round-trip times below this do not indicate congestion.
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
    fn record(&mut self, now: Time, rtt: Span) {
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
