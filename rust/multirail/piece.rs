//! A chunk of an operation on its way over a rail.

use super::numbers::Range;
use crate::units::Bytes;

/// Which chunk, and the how-manieth try at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PieceId {
    /// Of which operation, from 0.
    pub operation: u32,
    /// Which chunk of the operation, from 0.
    pub chunk: u32,
    /// 0, and one more each time it is issued again.
    pub epoch: u64,
}

/// A chunk that a rail is to add up over all ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// Its name.
    pub id: PieceId,
    /// Its elements.
    pub range: Range,
}

/// What a rail has to tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// A rank has the final sums of a part of a piece.
    Sums {
        /// Of which piece.
        piece: PieceId,
        /// Who has them.
        rank: u32,
        /// Which elements.
        range: Range,
        /// The sums.
        numbers: Vec<i64>,
    },
    /// A small message between two ranks has arrived.
    Control(Control),
}

/// A small message between two ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Control {
    /// Who sends it.
    pub from: u32,
    /// Who gets it.
    pub to: u32,
    /// Its length.
    pub bytes: Bytes,
    /// Whatever the sender calls it.
    pub cookie: u64,
}
