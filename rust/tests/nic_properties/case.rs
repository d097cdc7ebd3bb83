//! The random input of a case: messages, and a script with the fate of each packet.
//!
//! A script is a list of 16-bit words, one for each packet of its direction in the order of
//! sending. Packets after its end are delivered. Zero also means delivery, so that shrinking a word
//! or the list removes disturbances.

use std::fmt;

use evenkeel::units::Span;
use proptest::collection::vec;
use proptest::prelude::*;

/// A message: its length, its queue pair, and its time after the previous message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Post {
    pub(crate) qp: u8,
    pub(crate) bytes: u32,
    pub(crate) after_us: u8,
}

/// The fates of the packets of one direction.
#[derive(Clone, Default)]
pub(crate) struct Script {
    /// Approximate number of disturbed packets out of 256.
    pub(crate) hostility: u8,
    pub(crate) words: Vec<u16>,
}

/// A port that is dead for a while.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outage {
    pub(crate) side: u8,
    pub(crate) plane: u8,
    pub(crate) at_us: u16,
    pub(crate) for_us: u16,
    /// Delay until its NIC learns of the death, and of the end.
    pub(crate) noticed_us: u8,
}

/// The input of a run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Case {
    /// Seed for entropy values and extra wake-ups.
    pub(crate) seed: u16,
    /// Data packets per acknowledgement.
    pub(crate) ack_every: u8,
    /// Interval of NACKs.
    pub(crate) nack_interval_us: u16,
    /// Number of queue pairs; even ones send to the right, odd ones to the left.
    pub(crate) qps: u8,
    pub(crate) posts: Vec<Post>,
    /// Scripts of the packets to the right and to the left.
    pub(crate) scripts: [Script; 2],
    /// Ports of each NIC; 0 stands for 1.
    pub(crate) planes: u8,
    pub(crate) outages: Vec<Outage>,
}

/// The fate of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Passes,
    Lost,
    /// It arrives in time, and a duplicate arrives after this span.
    Duplicated(Span),
    /// It arrives this much later, behind other packets.
    Delayed(Span),
    /// A switch marks it.
    Marked,
    /// A switch trims it to its header.
    Trimmed,
}

impl Script {
    /// Returns the fate of the packet with this index in the order of sending.
    pub(crate) fn fate(&self, index: usize) -> Fate {
        let word = self.words.get(index).copied().unwrap_or(0);
        let [amount, choice] = word.to_le_bytes();
        if u16::from(choice) + u16::from(self.hostility) < 256 || word == 0 {
            return Fate::Passes;
        }
        // From 100 ns, within a round trip, to 1.6 ms, many retransmission timeouts.
        let span = Span::from_ns(100 << (amount / 8 % 15));
        match amount % 8 {
            0 | 1 => Fate::Lost,
            2 => Fate::Duplicated(span),
            3 | 4 => Fate::Delayed(span),
            5 => Fate::Trimmed,
            _ => Fate::Marked,
        }
    }
}

impl fmt::Debug for Script {
    /// Prints only the disturbed packets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fates = (0..self.words.len()).map(|index| (index, self.fate(index)));
        f.debug_map().entries(fates.filter(|&(_, fate)| fate != Fate::Passes)).finish()
    }
}

/// Generates any script.
pub(crate) fn script() -> impl Strategy<Value = Script> {
    let hostility = prop_oneof![3 => 0u8..=40, 2 => 0u8..=120, 1 => any::<u8>()];
    (hostility, vec(any::<u16>(), 0..300))
        .prop_map(|(hostility, words)| Script { hostility, words })
}

fn post() -> impl Strategy<Value = Post> {
    // Empty, about a packet, a few packets, or up to a hundred.
    let bytes = prop_oneof![
        1 => Just(0u32),
        2 => 1u32..=2_001,
        5 => 1u32..=20_000,
        2 => 1u32..=100_000,
    ];
    (any::<u8>(), bytes, prop_oneof![2 => Just(0u8), 1 => any::<u8>()])
        .prop_map(|(qp, bytes, after_us)| Post { qp, bytes, after_us })
}

/// Generates any case.
pub(crate) fn case() -> impl Strategy<Value = Case> {
    let ack_every = prop_oneof![1 => Just(1u8), 2 => 1u8..=8];
    let nack_interval_us = prop_oneof![Just(50u16), Just(500u16)];
    let parts = (any::<u16>(), ack_every, nack_interval_us, 1u8..=3, vec(post(), 1..7));
    (parts, script(), script()).prop_map(
        |((seed, ack_every, nack_interval_us, qps, posts), right, left)| Case {
            seed,
            ack_every,
            nack_interval_us,
            qps,
            posts,
            scripts: [right, left],
            planes: 1,
            outages: Vec::new(),
        },
    )
}

/// Generates any case of NICs with several ports; some ports are dead for a while.
pub(crate) fn case_of_planes() -> impl Strategy<Value = Case> {
    let outage = (any::<u8>(), any::<u8>(), prop_oneof![0u16..40, 0u16..600], 1u16..300, 0u8..100);
    let outage = outage.prop_map(|(side, plane, at_us, for_us, noticed_us)| Outage {
        side,
        plane,
        at_us,
        for_us,
        noticed_us,
    });
    (case(), 2u8..=4, vec(outage, 0..5)).prop_map(|(case, planes, outages)| Case {
        planes,
        outages,
        ..case
    })
}
