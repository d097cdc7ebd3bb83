//! The least of some values, where equals are told apart by chance.

use crate::rng::Stream;

/// Which of `count` (at least 1) has the least value; one of the equals at random.
#[inline]
pub(super) fn random_least<V: Ord>(
    count: u32,
    mut value: impl FnMut(u32) -> V,
    random: &mut Stream,
) -> u32 {
    let (mut least, mut first, mut equals) = (value(0), 0, 1);
    for index in 1..count {
        let other = value(index);
        if other < least {
            (least, first, equals) = (other, index, 1);
        } else if other == least {
            equals += 1;
        }
    }
    if equals == 1 {
        return first;
    }
    let which = random.below(equals) as usize;
    let mut minima = (first..count).filter(|&index| value(index) == least);
    minima.nth(which).unwrap_or(first)
}

/// Which of `count` (at least 1) has the least value; the first of equals.
#[inline]
pub(super) fn first_least<V: Ord>(count: u32, mut value: impl FnMut(u32) -> V) -> u32 {
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
    fn equals_have_equal_chances_and_others_none() {
        let values = [3, 1, 2, 1, 1, 9];
        let mut random = Stream::new(1, Purpose::Test, 0);
        let mut counts = [0u32; 6];
        for _ in 0..3_000 {
            counts[random_least(6, |index| values[index as usize], &mut random) as usize] += 1;
        }
        assert_eq!([counts[0], counts[2], counts[5]], [0; 3]);
        assert!([1, 3, 4].iter().all(|&at| (900..1_100).contains(&counts[at])), "{counts:?}");
        assert_eq!(first_least(6, |index| values[index as usize]), 1);
    }

    #[test]
    fn without_equals_nothing_is_drawn() {
        let fresh = Stream::new(1, Purpose::Test, 0);
        let mut random = fresh.clone();
        assert_eq!(random_least(4, |index| (index + 2) % 4, &mut random), 2);
        assert_eq!(random, fresh);
    }
}
