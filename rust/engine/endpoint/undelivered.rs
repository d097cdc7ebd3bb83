//! The flows of a connection that have not been delivered.

use std::collections::VecDeque;

/// Flows by their index among all of a connection, from the first that has not been delivered on.
/// Mostly there is one at a time, which takes no memory of its own.
#[derive(Debug)]
pub(super) struct Undelivered {
    /// The index of the first.
    first: u32,
    /// The first; [`NONE`] if there is none.
    flow: u32,
    /// Those behind it, and `None` for those delivered out of order; made when it is first needed.
    later: Option<Box<Later>>,
}

#[derive(Debug, Default)]
struct Later(VecDeque<Option<u32>>);

/// No flow: ids of flows are less.
const NONE: u32 = u32::MAX;

impl Default for Undelivered {
    fn default() -> Self {
        Self { first: 0, flow: NONE, later: None }
    }
}

impl Undelivered {
    /// The first flow.
    pub(super) fn first(&self) -> Option<u32> {
        (self.flow != NONE).then_some(self.flow)
    }

    /// The index that the next flow gets.
    pub(super) fn end(&self) -> u32 {
        let later = self.later.as_ref().map_or(0, |later| later.0.len() as u32);
        self.first.wrapping_add(u32::from(self.flow != NONE)).wrapping_add(later)
    }

    /// Adds a flow behind all others.
    pub(super) fn push(&mut self, flow: u32) {
        debug_assert!(flow != NONE, "ids of flows are less");
        match self.flow {
            NONE => self.flow = flow,
            _ => self.later.get_or_insert_default().0.push_back(Some(flow)),
        }
    }

    /// Takes the flow of that index.
    ///
    /// # Panics
    /// If it was taken before, or never added.
    pub(super) fn take(&mut self, index: u32) -> u32 {
        match index.wrapping_sub(self.first).checked_sub(1) {
            None => self.take_first(),
            Some(later) => self.take_later(later as usize),
        }
        .expect("a flow is delivered once")
    }

    fn take_first(&mut self) -> Option<u32> {
        let flow = std::mem::replace(&mut self.flow, NONE);
        self.first = self.first.wrapping_add(u32::from(flow != NONE));
        if let Some(later) = &mut self.later {
            while let Some(next) = later.0.pop_front() {
                match next {
                    Some(next) => {
                        self.flow = next;
                        break;
                    }
                    None => self.first = self.first.wrapping_add(1),
                }
            }
        }
        (flow != NONE).then_some(flow)
    }

    fn take_later(&mut self, place: usize) -> Option<u32> {
        self.later.as_mut()?.0.get_mut(place)?.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_are_taken_by_their_index_in_any_order() {
        let mut flows = Undelivered::default();
        assert_eq!(flows.end(), 0);
        (100..106).for_each(|flow| flows.push(flow));
        assert_eq!((flows.end(), flows.take(1), flows.take(2), flows.take(4)), (6, 101, 102, 104));
        assert_eq!((flows.end(), flows.take(0), flows.first), (6, 100, 3));
        assert_eq!((flows.take(3), flows.first, flows.take(5), flows.end()), (103, 5, 105, 6));
        flows.push(106);
        assert_eq!((flows.end(), flows.take(6), flows.end()), (7, 106, 7));
    }

    #[test]
    fn indices_begin_anew_after_the_last() {
        let mut flows = Undelivered { first: u32::MAX, ..Undelivered::default() };
        (1..4).for_each(|flow| flows.push(flow));
        assert_eq!((flows.end(), flows.take(1), flows.take(0)), (2, 3, 2));
    }

    #[test]
    #[should_panic(expected = "a flow is delivered once")]
    fn a_flow_is_taken_once() {
        let mut flows = Undelivered::default();
        (1..4).for_each(|flow| flows.push(flow));
        flows.take(1);
        flows.take(1);
    }
}
