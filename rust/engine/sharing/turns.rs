//! Scheduling of traffic classes on a wire: strict classes first, then weighted ones by bytes.
//!
//! Source: IEEE 802.1Q, clause 8.6.8.1 (strict priority) and 8.6.8.3 with clause 37 (enhanced
//! transmission selection, ETS), which gives each class a share of what strict ones leave and does
//! not specify the algorithm. \[inferred\] Here it is a surplus round-robin in bytes, as in
//! Adiseshu, Parulkar and Varghese, "A Reliable and Scalable Striping Protocol" (SIGCOMM 1996):
//!
//! - Weighted classes have turns, in order. A class whose turn begins may send its weight times a
//!   full packet, in bytes on the wire.
//! - It sends while any of that is left, so it may overshoot by less than one packet. The overshoot
//!   is deducted from its next turn.
//! - A class with nothing left to send loses the rest of its turn, but keeps its debt.
//!
//! Classes that always have packets therefore have their shares at the end of each round, to within
//! a packet. Within a round, a class may be ahead by as many packets as its weight. Gaps between
//! packets do not count. The number of steps per decision is bounded by the number of classes.

use crate::units::Bytes;

/// Maximum number of traffic classes of data. PFC has eight priorities (IEEE 802.1Qbb); control
/// packets use one of them.
pub const MOST_CLASSES: usize = 7;

/// Order of a class's packets relative to those of other classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheduling {
    /// Before all weighted classes, and before the strict classes that follow in order.
    Strict,
    /// Round-robin with the other weighted classes, in bytes by this weight, which is at least 1.
    Weighted(u32),
}

/// A set of classes: bit `i` stands for class `i`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClassSet(u8);

impl ClassSet {
    /// No class.
    pub const NONE: Self = Self(0);
    /// Every possible class.
    pub const ALL: Self = Self((1 << MOST_CLASSES) - 1);

    /// Creates a set from bits; bits beyond the last class are ignored.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits & Self::ALL.0)
    }

    /// Returns the set with `class` added.
    #[must_use]
    pub const fn with(self, class: usize) -> Self {
        Self(self.0 | 1 << class)
    }

    /// Returns the set with `class` removed.
    #[must_use]
    pub const fn without(self, class: usize) -> Self {
        Self(self.0 & !(1 << class))
    }

    /// Returns the union of both sets.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the intersection of both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns true if the set contains `class`.
    pub const fn has(self, class: usize) -> bool {
        self.0 & 1 << class != 0
    }

    /// Returns true if the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the first class of the set.
    const fn first(self) -> Option<usize> {
        if self.0 == 0 { None } else { Some(self.0.trailing_zeros() as usize) }
    }

    /// Returns the first class after `class`, wrapping around.
    fn next(self, class: usize) -> Option<usize> {
        let after = Self(self.0 & !((2 << class) - 1));
        after.first().or(self.first())
    }
}

/// Scheduling parameters of the classes on a wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Discipline {
    strict: ClassSet,
    /// By class: bytes that a turn adds; 0 for a strict class.
    turn: [i64; MOST_CLASSES],
}

/// Scheduling state of one wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turns {
    /// The weighted class whose turn it is.
    holder: usize,
    /// By class: remaining bytes of its turn, or its debt if negative. Positive only for the
    /// holder.
    left: [i64; MOST_CLASSES],
}

impl Default for Turns {
    fn default() -> Self {
        // The search starts after the holder, so the first class has the first turn.
        Self { holder: MOST_CLASSES - 1, left: [0; MOST_CLASSES] }
    }
}

impl Discipline {
    /// Creates the discipline of these classes, where a full packet has `packet` bytes on the wire.
    ///
    /// # Panics
    /// With more than [`MOST_CLASSES`].
    pub fn new(classes: impl IntoIterator<Item = Scheduling>, packet: Bytes) -> Self {
        let (mut strict, mut turn) = (ClassSet::NONE, [0; MOST_CLASSES]);
        for (class, scheduling) in classes.into_iter().enumerate() {
            assert!(class < MOST_CLASSES, "there are at most {MOST_CLASSES} traffic classes");
            match scheduling {
                Scheduling::Strict => strict = strict.with(class),
                Scheduling::Weighted(weight) => {
                    let packet = i64::try_from(packet.get()).expect("a packet is short");
                    turn[class] = i64::from(weight.max(1)) * packet.max(1);
                }
            }
        }
        Self { strict, turn }
    }

    /// Returns the class of the packet that starts next, among those that have one; `None` if none
    /// has.
    ///
    /// # Panics
    /// If a class outside this discipline has a packet.
    pub fn choose(&self, turns: &mut Turns, waiting: ClassSet) -> Option<usize> {
        if let Some(first) = waiting.and(self.strict).first() {
            return Some(first);
        }
        loop {
            let holder = turns.holder;
            if !waiting.has(holder) {
                turns.end_turn(holder);
            } else if turns.left[holder] > 0 {
                return Some(holder);
            }
            let next = waiting.next(holder)?;
            // Without a turn for some class, the loop would never end.
            assert!(self.turn[next] > 0, "class {next} has no turn in this discipline");
            turns.holder = next;
            turns.left[next] += self.turn[next];
        }
    }

    /// Charges a starting packet of `bytes` to the chosen class. `waits` is true if the class has
    /// more packets queued.
    pub fn charge(&self, turns: &mut Turns, class: usize, bytes: u16, waits: bool) {
        if self.strict.has(class) {
            return;
        }
        turns.left[class] -= i64::from(bytes);
        if !waits {
            turns.end_turn(class);
        }
    }
}

impl Turns {
    /// Ends the turn of a class with nothing to send; its debt remains.
    fn end_turn(&mut self, class: usize) {
        self.left[class] = self.left[class].min(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    const FULL: u16 = 1_000;

    fn discipline(classes: &[Scheduling]) -> Discipline {
        Discipline::new(classes.iter().copied(), Bytes::new(FULL.into()))
    }

    /// Returns the classes of `count` packets of `bytes` each that start while `waiting` always
    /// have packets.
    fn starts(of: &Discipline, turns: &mut Turns, waiting: ClassSet, count: usize) -> Vec<usize> {
        let start = |_| {
            let class = of.choose(turns, waiting).unwrap();
            of.charge(turns, class, FULL, true);
            class
        };
        (0..count).map(start).collect()
    }

    #[test]
    fn strict_classes_precede_weighted_ones_which_share_by_weight() {
        let of = discipline(&[
            Scheduling::Weighted(3),
            Scheduling::Strict,
            Scheduling::Weighted(1),
            Scheduling::Strict,
        ]);
        let mut turns = Turns::default();
        let all = ClassSet::NONE.with(0).with(1).with(2).with(3);
        assert_eq!(starts(&of, &mut turns, all, 3), [1, 1, 1]);
        assert_eq!(starts(&of, &mut turns, all.without(1), 2), [3, 3]);
        let weighted = ClassSet::NONE.with(0).with(2);
        assert_eq!(starts(&of, &mut turns, weighted, 8), [0, 0, 0, 2, 0, 0, 0, 2]);
        assert_eq!(of.choose(&mut turns, ClassSet::NONE), None);
    }

    #[test]
    fn weights_of_three_to_one_are_bytes_of_three_to_one_within_a_packet() {
        let of = discipline(&[Scheduling::Weighted(3), Scheduling::Weighted(1)]);
        let mut random = Stream::new(3, Purpose::Test, 0);
        let (mut turns, mut bytes, mut rounds) = (Turns::default(), [0i64; 2], 0);
        let mut last = 1;
        for _ in 0..100_000 {
            let class = of.choose(&mut turns, ClassSet::ALL.and(ClassSet(0b11))).unwrap();
            if (last, class) == (1, 0) {
                // After a full round, each class has sent its share, plus less than a packet.
                let full = i64::from(FULL);
                let over = [bytes[0] - 3 * full * rounds, bytes[1] - full * rounds];
                assert!(over.iter().all(|over| (0..full).contains(over)), "{over:?}");
                rounds += 1;
            }
            last = class;
            let length = 64 + random.below(u32::from(FULL) - 63) as u16;
            of.charge(&mut turns, class, length, true);
            bytes[class] += i64::from(length);
        }
        assert!(rounds > 10_000, "{rounds}");
    }

    #[test]
    fn a_class_with_nothing_to_send_loses_its_turn_but_keeps_its_debt() {
        let of = discipline(&[Scheduling::Weighted(4), Scheduling::Weighted(1)]);
        let (mut turns, both) = (Turns::default(), ClassSet::NONE.with(0).with(1));
        // One of four packets, and then nothing: its turn is over.
        assert_eq!(of.choose(&mut turns, both), Some(0));
        of.charge(&mut turns, 0, FULL, false);
        assert_eq!(starts(&of, &mut turns, both, 6), [1, 0, 0, 0, 0, 1]);
        // The overshoot is deducted from its next turn.
        let mut turns = Turns::default();
        for (length, waits) in [(FULL, true), (FULL, true), (2 * FULL - 1, true), (FULL, false)] {
            assert_eq!(of.choose(&mut turns, both), Some(0));
            of.charge(&mut turns, 0, length, waits);
        }
        assert_eq!(turns.left[0], 1 - i64::from(FULL));
        assert_eq!(starts(&of, &mut turns, both, 6), [1, 0, 0, 0, 0, 1]);
        assert_eq!(turns.left[0], 1 - i64::from(FULL));
    }

    #[test]
    #[should_panic(expected = "at most 7 traffic classes")]
    fn there_are_no_more_classes_than_priorities() {
        discipline(&[Scheduling::Strict; MOST_CLASSES + 1]);
    }

    #[test]
    #[should_panic(expected = "class 1 has no turn in this discipline")]
    fn choosing_a_class_without_a_turn_panics() {
        let of = discipline(&[Scheduling::Weighted(1)]);
        of.choose(&mut Turns::default(), ClassSet::NONE.with(1));
    }
}
