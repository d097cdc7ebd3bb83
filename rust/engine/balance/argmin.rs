//! Index of the minimum, with ties broken at random or by the lowest index.

use crate::rng::Stream;

/// Returns the index of the least value among 0 to `count` − 1; ties are broken at random.
///
/// `count` is at least 1. A unique minimum draws nothing from `random`, so the stream advances only
/// where chance decides.
#[inline]
pub(super) fn argmin_random<V: Ord>(
    count: u32,
    mut value: impl FnMut(u32) -> V,
    random: &mut Stream,
) -> u32 {
    let (mut least, mut first, mut ties) = (value(0), 0, 1);
    for index in 1..count {
        let other = value(index);
        if other < least {
            (least, first, ties) = (other, index, 1);
        } else if other == least {
            ties += 1;
        }
    }
    if ties == 1 {
        return first;
    }
    // A second pass over the values is cheaper than a list of ties, which would allocate for each
    // packet.
    let chosen = random.below(ties) as usize;
    let mut minima = (first..count).filter(|&index| value(index) == least);
    minima.nth(chosen).unwrap_or(first)
}

/// Returns the index of the least value among 0 to `count` − 1 (`count` ≥ 1); the lowest index wins
/// a tie.
#[inline]
pub(super) fn argmin_first<V: Ord>(count: u32, mut value: impl FnMut(u32) -> V) -> u32 {
    let (mut least, mut first) = (value(0), 0);
    for index in 1..count {
        let other = value(index);
        if other < least {
            (least, first) = (other, index);
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    #[test]
    fn tied_minima_are_equally_likely_and_other_values_are_never_chosen() {
        let values = [3, 1, 2, 1, 1, 9];
        let mut random = Stream::new(1, Purpose::Test, 0);
        let mut counts = [0u32; 6];
        for _ in 0..3_000 {
            counts[argmin_random(6, |index| values[index as usize], &mut random) as usize] += 1;
        }
        assert_eq!([counts[0], counts[2], counts[5]], [0; 3]);
        assert!([1, 3, 4].iter().all(|&at| (900..1_100).contains(&counts[at])), "{counts:?}");
        assert_eq!(argmin_first(6, |index| values[index as usize]), 1);
    }

    #[test]
    fn a_unique_minimum_draws_no_random_number() {
        let fresh = Stream::new(1, Purpose::Test, 0);
        let mut random = fresh.clone();
        assert_eq!(argmin_random(4, |index| (index + 2) % 4, &mut random), 2);
        assert_eq!(random, fresh);
    }
}
