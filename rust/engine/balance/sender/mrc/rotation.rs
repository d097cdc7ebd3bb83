//! The values of a queue pair, their states, and the rotation over them.
//!
//! Each plane has its own order of active values and a position in it; planes are used round-robin.
//! With all ports free this is one rotation over all values in which planes alternate (G1).

use super::{Config, Encoding, QpContext, Skip};
use crate::packet::PlaneMask;
use crate::rng::Stream;
use crate::units::Time;

/// State of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// May be used.
    Good,
    /// Skipped: until a packet meets it, or until this time if skips are timed.
    Skip(Time),
    /// Taken out: a loss suggests that its path is broken.
    AssumedBad,
    /// Denied by the operator.
    Denied,
}

/// Rotation of one plane.
#[derive(Debug, Clone)]
struct PlaneOrder {
    /// Indices of the active values, in order of use.
    indices: Vec<u16>,
    /// Position in `indices`.
    position: usize,
    /// Completed cycles since `indices` were shuffled.
    cycles: u16,
    /// Good values outside the rotation, which replace values that are lost.
    backups: Vec<u16>,
}

/// The values of a queue pair. Value `i` is in plane `i mod planes`.
#[derive(Debug, Clone)]
pub(super) struct Rotation {
    values: Vec<u16>,
    /// (value, index) pairs, sorted by value.
    sorted: Vec<(u16, u16)>,
    states: Vec<State>,
    planes: Vec<PlaneOrder>,
    /// Configured number of active values per plane.
    active: usize,
    /// The plane that is next in round-robin order.
    next_plane: usize,
    usable: usize,
    skip: Skip,
    reshuffle: u16,
    random: Stream,
}

impl Rotation {
    pub(super) fn new(config: &Config, qp: &QpContext, mut random: Stream) -> Self {
        let planes = usize::try_from(qp.network.planes).unwrap_or(1).max(1);
        let values = match config.encoding {
            Encoding::Ecmp => draw(config.evs, planes, 1 << 16, &mut random),
            Encoding::Srv6 => draw(config.evs, planes, qp.paths.count(), &mut random),
        };
        let mut states = vec![State::Good; values.len()];
        for &denied in &config.denied {
            if let Some(state) = states.get_mut(usize::from(denied)) {
                *state = State::Denied;
            }
        }
        // With fewer paths than values, every path is active: a backup would be an idle path.
        let uses_all_paths = values.len() < usize::from(config.evs);
        let share = match uses_all_paths {
            true => values.len(),
            false => values.len() * usize::from(config.active) / usize::from(config.evs),
        };
        let mut sorted: Vec<(u16, u16)> = values.iter().copied().zip(0..).collect();
        sorted.sort_unstable();
        let mut rotation = Self {
            sorted,
            active: share.div_ceil(planes).max(1),
            planes: Vec::new(),
            // Spreads the first packets of queue pairs over all planes.
            next_plane: random.below(planes as u32) as usize,
            usable: states.iter().filter(|&&state| state == State::Good).count(),
            skip: config.skip,
            reshuffle: config.reshuffle,
            random,
            values,
            states,
        };
        rotation.planes = (0..planes).map(|plane| rotation.shuffled_order(plane, planes)).collect();
        rotation
    }

    /// Shuffles the values of a plane and divides them into active ones and backups.
    fn shuffled_order(&mut self, plane: usize, planes: usize) -> PlaneOrder {
        let own = (plane..self.values.len()).step_by(planes).map(|index| index as u16);
        let good = own.filter(|&index| self.states[usize::from(index)] == State::Good);
        let mut indices: Vec<u16> = good.collect();
        shuffle(&mut indices, &mut self.random);
        let backups = indices.split_off(self.active.min(indices.len()));
        PlaneOrder { indices, position: 0, cycles: 0, backups }
    }

    /// Returns the index of a value, or `None` if the profile does not contain it.
    pub(super) fn index_of(&self, value: u16) -> Option<u16> {
        let found = self.sorted.binary_search_by_key(&value, |&(value, _)| value).ok()?;
        Some(self.sorted[found].1)
    }

    pub(super) fn value(&self, index: u16) -> u16 {
        self.values[usize::from(index)]
    }

    pub(super) fn plane_of(&self, index: u16) -> u32 {
        (usize::from(index) % self.planes.len()) as u32
    }

    /// Returns the indices of a plane's values.
    pub(super) fn of_plane(&self, plane: u32) -> Vec<u16> {
        let all = 0..self.values.len() as u16;
        all.filter(|&index| self.plane_of(index) == plane).collect()
    }

    /// Returns true if the value is neither out nor denied.
    pub(super) fn is_usable(&self, index: u16) -> bool {
        matches!(self.states[usize::from(index)], State::Good | State::Skip(_))
    }

    /// Returns the number of values.
    pub(super) fn count(&self) -> usize {
        self.values.len()
    }

    /// Returns the number of values that are neither out nor denied, including backups.
    pub(super) const fn usable_count(&self) -> usize {
        self.usable
    }

    /// Returns true if at least one of `planes` has a value in rotation.
    pub(super) fn has_usable(&self, planes: PlaneMask) -> bool {
        (0u32..).zip(&self.planes).any(|(plane, it)| planes.has(plane) && !it.indices.is_empty())
    }

    /// Returns the value of the next packet, in one of the planes `free`.
    pub(super) fn next(&mut self, now: Time, free: PlaneMask) -> Option<u16> {
        let planes = self.planes.len();
        let lengths = (0u32..).zip(&self.planes);
        let lengths =
            lengths.filter(|(plane, order)| free.has(*plane) && !order.indices.is_empty());
        // Returning early leaves `next_plane` unchanged, so polls without a free plane have no
        // effect. The loop makes one full round over the rotation and so ends where it began.
        let steps = lengths.map(|(_, order)| order.indices.len()).max()? * planes;
        let mut restored = false;
        for _ in 0..steps {
            let plane = self.next_plane;
            self.next_plane = if plane + 1 == planes { 0 } else { plane + 1 };
            if !free.has(plane as u32) || self.planes[plane].indices.is_empty() {
                continue;
            }
            let index = usize::from(self.advance(plane));
            match self.states[index] {
                State::Good => return Some(self.values[index]),
                State::Skip(until) if self.ends_skip(now, until, &mut restored) => {
                    self.states[index] = State::Good;
                    // A timed skip has expired, so the value is used immediately.
                    if matches!(self.skip, Skip::Time(_)) {
                        return Some(self.values[index]);
                    }
                }
                _ => {}
            }
        }
        // All were skipped. Use the next one anyway: the first restored value, if there was one.
        self.next_in_rotation(free)
    }

    /// Returns true if the skip of a value that a packet meets ends now.
    fn ends_skip(&self, now: Time, until: Time, restored: &mut bool) -> bool {
        match self.skip {
            Skip::Turn => !std::mem::replace(restored, true),
            Skip::Each => true,
            Skip::Time(_) => until <= now,
        }
    }

    /// Returns the next value in rotation in one of the planes `free`, whatever its state.
    fn next_in_rotation(&mut self, free: PlaneMask) -> Option<u16> {
        let planes = self.planes.len();
        for _ in 0..planes {
            let plane = self.next_plane;
            self.next_plane = (plane + 1) % planes;
            if free.has(plane as u32) && !self.planes[plane].indices.is_empty() {
                let index = self.advance(plane);
                return Some(self.value(index));
            }
        }
        None
    }

    /// Returns a random value in one of the planes `free` that is not denied.
    pub(super) fn any(&mut self, free: PlaneMask) -> Option<u16> {
        let denied = |index: &u16| self.states[usize::from(*index)] == State::Denied;
        let left: Vec<u16> = (0..self.values.len() as u16)
            .filter(|index| free.has(self.plane_of(*index)) && !denied(index))
            .collect();
        if left.is_empty() {
            return None;
        }
        let drawn = self.random.below(left.len() as u32) as usize;
        Some(self.value(left[drawn]))
    }

    /// Returns the index at a plane's position and advances the position.
    fn advance(&mut self, plane: usize) -> u16 {
        let Self { planes, random, reshuffle, .. } = self;
        let order = &mut planes[plane];
        if order.position >= order.indices.len() {
            order.position = 0;
            order.cycles += 1;
            if order.cycles >= *reshuffle {
                order.cycles = 0;
                shuffle(&mut order.indices, random);
            }
        }
        order.position += 1;
        order.indices[order.position - 1]
    }

    /// Marks a good value to be skipped.
    pub(super) fn skip(&mut self, now: Time, index: u16) {
        let state = &mut self.states[usize::from(index)];
        if *state == State::Good {
            let time =
                if let Skip::Time(span) = self.skip { span } else { crate::units::Span::ZERO };
            *state = State::Skip(now.saturating_add(time));
        }
    }

    /// Takes a usable value out. A good backup of its plane, if there is one, replaces it.
    pub(super) fn remove(&mut self, index: u16) {
        self.states[usize::from(index)] = State::AssumedBad;
        self.usable -= 1;
        let plane = self.plane_of(index) as usize;
        let order = &mut self.planes[plane];
        order.backups.retain(|&other| other != index);
        let Some(position) = order.indices.iter().position(|&other| other == index) else { return };
        match order.backups.pop() {
            Some(backup) => order.indices[position] = backup,
            None => {
                order.indices.remove(position);
                // Keep pointing at the same next value.
                order.position -= usize::from(position < order.position);
            }
        }
    }

    /// Makes a value usable again: in rotation if its plane has too few active values, otherwise as
    /// a backup.
    pub(super) fn restore(&mut self, index: u16, state: State) {
        self.states[usize::from(index)] = state;
        self.usable += 1;
        let (plane, active) = (self.plane_of(index) as usize, self.active);
        let order = &mut self.planes[plane];
        match order.indices.len() < active {
            true => order.indices.push(index),
            // `remove` pops from the other end: a value that has failed before is used last.
            false => order.backups.insert(0, index),
        }
    }

    /// Two bits and a position for each value, and a position for each plane.
    pub(super) fn state_bits(&self) -> u64 {
        let count = self.values.len() as u64;
        let position = u64::from(u64::BITS - count.leading_zeros());
        count * (2 + position) + self.planes.len() as u64 * position
    }

    #[cfg(test)]
    pub(super) fn state(&self, index: u16) -> State {
        self.states[usize::from(index)]
    }

    #[cfg(test)]
    pub(super) fn in_rotation(&self) -> Vec<u16> {
        let mut all: Vec<u16> = self.planes.iter().flat_map(|it| it.indices.clone()).collect();
        all.sort_unstable();
        all
    }

    #[cfg(test)]
    pub(super) fn straighten(&mut self) {
        self.next_plane = 0;
        self.planes.iter_mut().for_each(|order| order.indices.sort_unstable());
        self.reshuffle = u16::MAX;
    }
}

/// Draws `count` different values below `space`; value `i` is in plane `i mod planes`. If `space`
/// is too small, every plane gets the same smaller number of values.
fn draw(count: u16, planes: usize, space: u32, random: &mut Stream) -> Vec<u16> {
    let rows = (space as usize / planes).max(1);
    let of_plane = usize::from(count).div_ceil(planes).min(rows);
    let mut values = vec![0; of_plane * planes];
    for plane in 0..planes {
        // Floyd's sampling algorithm, then a shuffle: every set of rows is equally likely.
        let mut drawn: Vec<usize> = Vec::with_capacity(of_plane);
        for last in rows - of_plane..rows {
            let row = random.below(last as u32 + 1) as usize;
            drawn.push(if drawn.contains(&row) { last } else { row });
        }
        shuffle(&mut drawn, random);
        for (place, row) in drawn.into_iter().enumerate() {
            values[place * planes + plane] = (row * planes + plane) as u16;
        }
    }
    values
}

/// Fisher–Yates shuffle.
fn shuffle<T>(items: &mut [T], random: &mut Stream) {
    for last in (1..items.len()).rev() {
        items.swap(last, random.below(last as u32 + 1) as usize);
    }
}
