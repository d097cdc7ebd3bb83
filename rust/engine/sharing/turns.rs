//! Turns of traffic classes at a wire: strict classes first, then weighted ones by bytes.
//!
//! Source: IEEE 802.1Q, clause 8.6.8.1 (strict priority) and 8.6.8.3 with clause 37 (enhanced
//! transmission selection, ETS), which gives each class a share of what strict ones leave and does
//! not say by which algorithm. \[inferred\] Here it is a surplus round robin in bytes, as in
//! Adiseshu, Parulkar and Varghese, "A Reliable and Scalable Striping Protocol" (SIGCOMM 1996):
//!
//! - weighted classes have turns, in order; a class whose turn begins may send its weight times a
//!   full packet, in bytes on the wire;
//! - it sends while any of that is left, so that it may send less than one packet too much, which
//!   is taken from its next turn;
//! - a class that has nothing to send any more loses what is left of its turn, and what it has sent
//!   too much stays taken.
//!
//! So classes that always have packets have their shares at the end of each round, to within a
//! packet; within one a class may be as many packets ahead as its weight. Gaps between packets do
//! not count. One decision takes a number of steps that is bounded by that of the classes.

use crate::units::Bytes;

/// The most traffic classes of data. PFC knows eight priorities (IEEE 802.1Qbb), of which one is
/// that of control packets.
pub const MOST_CLASSES: usize = 7;

/// When packets of a class start, relative to those of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheduling {
    /// Before those of all weighted classes, and of strict classes after it in order.
    Strict,
    /// In turns with the other weighted classes, in bytes by this weight, which is at least 1.
    Weighted(u32),
}

/// A set of classes: bit `i` is for class `i`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClassSet(u8);

impl ClassSet {
    /// No class.
    pub const NONE: Self = Self(0);
    /// Every class that there may be.
    pub const ALL: Self = Self((1 << MOST_CLASSES) - 1);

    /// The classes whose bits are set; other bits are ignored.
    #[must_use]
    pub const fn of_bits(bits: u8) -> Self {
        Self(bits & Self::ALL.0)
    }

    /// The set with class `class` too.
    #[must_use]
    pub const fn with(self, class: usize) -> Self {
        Self(self.0 | 1 << class)
    }

    /// The set without class `class`.
    #[must_use]
    pub const fn without(self, class: usize) -> Self {
        Self(self.0 & !(1 << class))
    }

    /// The classes that are in one of the two, or in both.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The classes that are in both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether class `class` is in it.
    pub const fn has(self, class: usize) -> bool {
        self.0 & 1 << class != 0
    }

    /// Whether no class is in it.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The first class in it.
    const fn first(self) -> Option<usize> {
        if self.0 == 0 { None } else { Some(self.0.trailing_zeros() as usize) }
    }

    /// The first class in it after `class`, or else the first one of all.
    fn next(self, class: usize) -> Option<usize> {
        let after = Self(self.0 & !((2 << class) - 1));
        after.first().or(self.first())
    }
}

/// How the classes of a wire take turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Discipline {
    strict: ClassSet,
    /// By class: bytes that a turn adds; 0 for a strict class.
    turn: [i64; MOST_CLASSES],
}

/// Whose turn it is, at one wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turns {
    /// The weighted class whose turn it is.
    holder: usize,
    /// By class: bytes that are left of its turn; below 0 what it has sent too much. More than 0
    /// for the holder alone.
    left: [i64; MOST_CLASSES],
}

impl Default for Turns {
    fn default() -> Self {
        // The first class has the first turn.
        Self { holder: MOST_CLASSES - 1, left: [0; MOST_CLASSES] }
    }
}

impl Discipline {
    /// The discipline of these classes, where a full packet has `packet` bytes on the wire.
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

    /// The class of the packet that starts next, of those that have one; `None` if none has.
    ///
    /// # Panics
    /// If a class has a packet that is none of this discipline.
    pub fn choose(&self, turns: &mut Turns, waiting: ClassSet) -> Option<usize> {
        if let Some(first) = waiting.and(self.strict).first() {
            return Some(first);
        }
        loop {
            let holder = turns.holder;
            if !waiting.has(holder) {
                turns.give_up(holder);
            } else if turns.left[holder] > 0 {
                return Some(holder);
            }
            let next = waiting.next(holder)?;
            // Without one the loop would never end.
            assert!(self.turn[next] > 0, "class {next} is none of this discipline");
            turns.holder = next;
            turns.left[next] += self.turn[next];
        }
    }

    /// A packet of `bytes` starts, of the class that was chosen; `waits` says whether others of the
    /// class do still.
    pub fn charge(&self, turns: &mut Turns, class: usize, bytes: u16, waits: bool) {
        if self.strict.has(class) {
            return;
        }
        turns.left[class] -= i64::from(bytes);
        if !waits {
            turns.give_up(class);
        }
    }
}

impl Turns {
    /// A class that has nothing to send loses what is left of its turn.
    fn give_up(&mut self, class: usize) {
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

    /// The classes of `count` packets that start while `waiting` always wait, of `bytes` each.
    fn starts(of: &Discipline, turns: &mut Turns, waiting: ClassSet, count: usize) -> Vec<usize> {
        let start = |_| {
            let class = of.choose(turns, waiting).unwrap();
            of.charge(turns, class, FULL, true);
            class
        };
        (0..count).map(start).collect()
    }

    #[test]
    fn strict_classes_go_first_in_order_and_weighted_ones_by_weight() {
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
                // A round is over: each class has had its turns, less than a packet more.
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
    fn a_class_that_has_nothing_to_send_loses_its_turn_but_not_its_debt() {
        let of = discipline(&[Scheduling::Weighted(4), Scheduling::Weighted(1)]);
        let (mut turns, both) = (Turns::default(), ClassSet::NONE.with(0).with(1));
        // One of four packets, and then nothing: its turn is over.
        assert_eq!(of.choose(&mut turns, both), Some(0));
        of.charge(&mut turns, 0, FULL, false);
        assert_eq!(starts(&of, &mut turns, both, 6), [1, 0, 0, 0, 0, 1]);
        // What it has sent too much is taken from its next turn.
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
    #[should_panic(expected = "class 1 is none of this discipline")]
    fn a_class_without_a_turn_does_not_wait_for_ever() {
        let of = discipline(&[Scheduling::Weighted(1)]);
        of.choose(&mut Turns::default(), ClassSet::NONE.with(1));
    }
}
