//! The undelivered flows of a connection.

use std::collections::VecDeque;

/// Undelivered flows, by index among all flows of the connection. Most connections have one at a
/// time, which needs no allocation.
#[derive(Debug)]
pub(super) struct Undelivered {
    /// Index of the first undelivered flow.
    first: u32,
    /// The first undelivered flow; [`NONE`] without one.
    flow: u32,
    /// Later flows, or `None` for those delivered out of order. Allocated on first use.
    later: Option<Box<Later>>,
}

#[derive(Debug, Default)]
struct Later(VecDeque<Option<u32>>);

/// No flow. Ids of flows are smaller.
const NONE: u32 = u32::MAX;

impl Default for Undelivered {
    fn default() -> Self {
        Self { first: 0, flow: NONE, later: None }
    }
}

impl Undelivered {
    /// Returns the first undelivered flow.
    pub(super) fn first(&self) -> Option<u32> {
        (self.flow != NONE).then_some(self.flow)
    }

    /// Returns the index that the next flow will get.
    pub(super) fn end(&self) -> u32 {
        let later = self.later.as_ref().map_or(0, |later| later.0.len() as u32);
        self.first.wrapping_add(u32::from(self.flow != NONE)).wrapping_add(later)
    }

    /// Appends a flow.
    pub(super) fn push(&mut self, flow: u32) {
        debug_assert!(flow != NONE, "flow ids are smaller");
        match self.flow {
            NONE => self.flow = flow,
            _ => self.later.get_or_insert_default().0.push_back(Some(flow)),
        }
    }

    /// Removes the flow with this index, and returns its id.
    ///
    /// # Panics
    /// If the flow was already taken or never added.
    pub(super) fn take(&mut self, index: u32) -> u32 {
        // Indices wrap, so the distance to the first one decides.
        match index.wrapping_sub(self.first).checked_sub(1) {
            None => self.take_first(),
            Some(later) => self.take_later(later as usize),
        }
        .expect("a flow is delivered once")
    }

    fn take_first(&mut self) -> Option<u32> {
        let flow = std::mem::replace(&mut self.flow, NONE);
        self.first = self.first.wrapping_add(u32::from(flow != NONE));
        // Skips the flows that were delivered out of order, up to the next undelivered one.
        if let Some(later) = &mut self.later {
            while let Some(next) = later.0.pop_front() {
                match next {
                    Some(next) => {
                        self.flow = next;
                        break;
                    }
                    // This flow was delivered out of order.
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
    fn flows_are_taken_by_index_in_any_order() {
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
    fn indices_wrap_around() {
        let mut flows = Undelivered { first: u32::MAX, ..Undelivered::default() };
        (1..4).for_each(|flow| flows.push(flow));
        assert_eq!((flows.end(), flows.take(1), flows.take(0)), (2, 3, 2));
    }

    #[test]
    #[should_panic(expected = "a flow is delivered once")]
    fn taking_a_flow_twice_panics() {
        let mut flows = Undelivered::default();
        (1..4).for_each(|flow| flows.push(flow));
        flows.take(1);
        flows.take(1);
    }
}
