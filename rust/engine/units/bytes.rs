//! Amounts of data.

use std::ops::{Add, AddAssign, Mul, Sub, SubAssign};

use super::text::{Quantity, quantity_text};

const PRINT_UNITS: &[(&str, u64)] =
    &[("GB", 1_000_000_000), ("MB", 1_000_000), ("KB", 1_000), ("B", 1)];

const BYTES: Quantity = Quantity {
    name: "an amount of data",
    units: &[
        ("B", 1),
        ("KB", 1_000),
        ("kB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
    ],
    unit_names: "B, KB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, TiB (powers of 1024)",
    smallest: "bytes",
    largest: "18446744TB",
    example: "64MB",
};

/// An amount of data, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(u64);

impl Bytes {
    /// No bytes.
    pub const ZERO: Self = Self(0);

    /// Creates an amount of `bytes` bytes.
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// Returns the number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.checked_add(other.0).expect("bytes beyond 64 bits"))
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Bytes {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.checked_sub(other.0).expect("an amount of data is never negative"))
    }
}

impl SubAssign for Bytes {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Mul<u64> for Bytes {
    type Output = Self;
    fn mul(self, times: u64) -> Self {
        Self(self.0.checked_mul(times).expect("bytes beyond 64 bits"))
    }
}

quantity_text!(Bytes, BYTES, PRINT_UNITS);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_and_binary_prefixes_are_read() {
        for (text, bytes) in
            [("4096B", 4096), ("800KB", 800_000), ("64MiB", 64 << 20), ("1.5 GB", 1_500_000_000)]
        {
            assert_eq!(text.parse::<Bytes>().unwrap().get(), bytes, "{text}");
        }
        assert_eq!(Bytes::new(800_000).to_string(), "800KB");
        assert_eq!(Bytes::new(4096).to_string(), "4096B");
    }

    #[test]
    fn an_invalid_amount_names_the_error() {
        assert!("64".parse::<Bytes>().unwrap_err().to_string().contains("has no unit"));
        assert!("64Mb".parse::<Bytes>().unwrap_err().to_string().contains("unknown unit 'Mb'"));
        assert!("0.5B".parse::<Bytes>().unwrap_err().to_string().contains("whole number"));
    }
}
