//! The size of a policy's run-time state.

/// Run-time state of a policy in one switch: the storage that hardware would need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StateSize {
    /// Number of entries: rotation pointers, remembered ports, table cells.
    pub entries: u64,
    /// Size of all entries together, in bits.
    pub bits: u64,
}

/// Returns the number of bits of an index into a table of `count` entries; 0 for at most one entry.
pub(super) fn index_bits(count: u64) -> u64 {
    count.max(1).next_power_of_two().trailing_zeros().into()
}

#[cfg(test)]
mod tests {
    use super::index_bits;

    #[test]
    fn an_index_takes_the_binary_logarithm_of_the_count_rounded_up() {
        let counts = [0, 1, 2, 3, 4, 5, 16, 17, 65_536, 65_537];
        assert_eq!(counts.map(index_bits), [0, 0, 1, 2, 2, 3, 4, 5, 16, 17]);
    }
}
