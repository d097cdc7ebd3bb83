//! A reconstruction: the cost of a rail as a line, and the split with which all rails end together.
//!
//! Source: \[inferred\] a start-up and a time per byte, T(x) = α + x/β, is the textbook cost of a
//! collective on one rail (Hockney's model). The common end of all participating rails follows from
//! water-filling in the order of their start-ups: T = (x + Σ αβ) / Σ β over the rails with α < T.
//! For two rails a split pays off from x = β1 (α2 − α1) on, where rail 1 starts sooner.

/// The time of a rail for `x` bytes: a start-up plus a time per byte.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CostLine {
    /// Start-up (α), in picoseconds; not negative.
    pub start_ps: f64,
    /// Time per byte (1/β), in picoseconds; above zero.
    pub ps_per_byte: f64,
}

impl CostLine {
    /// Returns the time for `bytes`, in picoseconds.
    pub fn at(&self, bytes: f64) -> f64 {
        self.start_ps + bytes * self.ps_per_byte
    }

    /// Returns the line of a rail that is `factor` times as slow.
    #[must_use]
    pub fn times(&self, factor: f64) -> Self {
        Self { start_ps: self.start_ps * factor, ps_per_byte: self.ps_per_byte * factor }
    }

    /// Returns the rate in bytes per picosecond (β).
    fn rate(&self) -> f64 {
        1.0 / self.ps_per_byte
    }
}

/// A split with which all participating rails end at the same time.
#[derive(Debug, Clone, PartialEq)]
pub struct EqualFinish {
    /// The common end, in picoseconds.
    pub ps: f64,
    /// The bytes of each rail; zero for rails that do not participate.
    pub bytes: Vec<f64>,
}

impl EqualFinish {
    /// Returns the number of participating rails.
    pub fn rails(&self) -> usize {
        self.bytes.iter().filter(|&&bytes| bytes > 0.0).count()
    }

    /// Returns true if `rail` participates, that is, has more than zero bytes.
    pub fn uses(&self, rail: usize) -> bool {
        self.bytes.get(rail).is_some_and(|&bytes| bytes > 0.0)
    }
}

/// Divides `bytes` over the rails that have a line, such that the last rail ends as soon as
/// possible.
///
/// A rail whose share would be below `floor` of the bytes does not participate: its start-up would
/// cost more than it contributes. The rail with the smallest start-up always participates, because
/// the others are filled from it; with equal start-ups, the fastest. Returns `None` if no rail has
/// a line.
pub fn equal_finish(bytes: f64, lines: &[Option<CostLine>], floor: f64) -> Option<EqualFinish> {
    let mut order: Vec<(usize, CostLine)> =
        lines.iter().enumerate().filter_map(|(rail, line)| Some((rail, (*line)?))).collect();
    // By start-up, then by the time for all bytes, then by id.
    order.sort_by(|(a, x), (b, y)| {
        x.start_ps.total_cmp(&y.start_ps).then(x.at(bytes).total_cmp(&y.at(bytes))).then(a.cmp(b))
    });
    loop {
        let (ps, taken) = fill(bytes, &order)?;
        let share = |line: &CostLine| (ps - line.start_ps) * line.rate();
        // Removing a rail gives more to the others, so only the rail with the smallest share is
        // removed before all are reconsidered.
        let least = (1..taken).min_by(|&a, &b| share(&order[a].1).total_cmp(&share(&order[b].1)));
        match least {
            Some(least) if share(&order[least].1) < floor * bytes => {
                order.remove(least);
            }
            _ => {
                let mut shares = vec![0.0; lines.len()];
                for (rail, line) in &order[..taken] {
                    shares[*rail] = share(line).max(0.0);
                }
                if taken == 1 {
                    shares[order[0].0] = bytes;
                }
                return Some(EqualFinish { ps, bytes: shares });
            }
        }
    }
}

/// Returns the common end, and the number of participating rails, which are the first in `order`.
fn fill(bytes: f64, order: &[(usize, CostLine)]) -> Option<(f64, usize)> {
    let (_, first) = order.first()?;
    let mut ps = first.at(bytes);
    let (mut weighted, mut rates) = (bytes + first.start_ps * first.rate(), first.rate());
    for (taken, (_, line)) in order.iter().enumerate().skip(1) {
        if line.start_ps >= ps {
            return Some((ps, taken));
        }
        weighted += line.start_ps * line.rate();
        rates += line.rate();
        ps = weighted / rates;
    }
    Some((ps, order.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(start_ps: f64, ps_per_byte: f64) -> Option<CostLine> {
        Some(CostLine { start_ps, ps_per_byte })
    }

    #[test]
    fn two_rails_split_by_the_closed_form() {
        // β = 1/10 and 1/40 bytes per ps, α = 5,000 and 1,000 ps.
        let lines = [line(5_000.0, 10.0), line(1_000.0, 40.0)];
        let split = equal_finish(1_000.0, &lines, 0.0).unwrap();
        let (b1, b2) = (0.1, 0.025);
        let first = b1 * (1_000.0 + b2 * (1_000.0 - 5_000.0)) / (b1 + b2);
        assert!((split.bytes[0] - first).abs() < 1e-9);
        assert!((split.bytes[1] - (1_000.0 - first)).abs() < 1e-9);
        assert_eq!([0, 1, 2].map(|rail| split.uses(rail)), [true, true, false]);
        let ends = [0, 1].map(|rail| lines[rail].unwrap().at(split.bytes[rail]));
        assert!((ends[0] - ends[1]).abs() < 1e-6 && (ends[0] - split.ps).abs() < 1e-6);
    }

    #[test]
    fn a_split_pays_off_above_the_crossing_point() {
        // β1 (α2 − α1), where rail 1 starts first: 0.025 · 4,000 = 100 bytes.
        let lines = [line(5_000.0, 10.0), line(1_000.0, 40.0)];
        assert_eq!(equal_finish(99.0, &lines, 0.0).unwrap().bytes, [0.0, 99.0]);
        assert_eq!(equal_finish(100.0, &lines, 0.0).unwrap().rails(), 1);
        assert_eq!(equal_finish(101.0, &lines, 0.0).unwrap().rails(), 2);
    }

    #[test]
    fn a_rail_with_exactly_the_minimum_share_participates() {
        let lines = [line(0.0, 10.0), line(0.0, 10.0)];
        assert_eq!(equal_finish(1_000.0, &lines, 0.5).unwrap().bytes, [500.0, 500.0]);
        let alone = equal_finish(1_000.0, &lines, 0.51).unwrap();
        assert_eq!([0, 1].map(|rail| alone.uses(rail)), [true, false]);
    }

    #[test]
    fn four_rails_join_one_after_the_other_as_bytes_grow() {
        let all = [line(0.0, 4.0), line(400.0, 2.0), line(1_200.0, 1.0), line(9_000.0, 1.0)];
        // With rails 0 and 1: T = (x + 400/2) / (1/4 + 1/2), which is 1,200 at x = 700.
        for (bytes, rails) in [(100.0, 1), (101.0, 2), (700.0, 2), (701.0, 3), (1e6, 4)] {
            let split = equal_finish(bytes, &all, 0.0).unwrap();
            assert_eq!(split.rails(), rails, "{bytes}");
            assert!((split.bytes.iter().sum::<f64>() - bytes).abs() < 1e-6);
            for (line, &share) in all.iter().zip(&split.bytes).filter(|(_, bytes)| **bytes > 0.0) {
                assert!((line.unwrap().at(share) - split.ps).abs() < 1e-6);
            }
        }
        // T = (x + Σ αβ) / Σ β with all four.
        let ps = (1e6 + 200.0 + 1_200.0 + 9_000.0) / (0.25 + 0.5 + 1.0 + 1.0);
        assert!((equal_finish(1e6, &all, 0.0).unwrap().ps - ps).abs() < 1e-3);
    }

    /// T = (x + Σ αβ) / Σ β = (1,000 + 1,000) / (1 + 0.01), and the first rail has 1 % of it.
    #[test]
    fn the_rail_that_starts_first_participates_with_a_share_below_the_floor() {
        let lines = [line(0.0, 100.0), line(1_000.0, 1.0)];
        let split = equal_finish(1_000.0, &lines, 1.0 / 32.0).unwrap();
        let ps = 2_000.0 / 1.01;
        assert!((split.ps - ps).abs() < 1e-9 && (split.bytes[0] - ps / 100.0).abs() < 1e-9);
        assert_eq!([0, 1].map(|rail| split.uses(rail)), [true, true]);
        // With equal start-ups the faster rail comes first, and carries everything.
        let lines = [line(0.0, 100.0), line(0.0, 1.0)];
        assert_eq!(equal_finish(1_000.0, &lines, 1.0 / 32.0).unwrap().bytes, [0.0, 1_000.0]);
    }

    #[test]
    fn a_rail_with_a_share_below_the_floor_does_not_participate() {
        let lines = [line(0.0, 1.0), line(0.0, 100.0), None];
        assert_eq!(equal_finish(1_010.0, &lines, 0.0).unwrap().bytes, [1_000.0, 10.0, 0.0]);
        assert_eq!(equal_finish(1_010.0, &lines, 1.0 / 64.0).unwrap().bytes, [1_010.0, 0.0, 0.0]);
        assert_eq!(equal_finish(1.0, &[None, None], 0.0), None);
    }
}
