//! What is in flight, and what has arrived, in each plane of several.

use super::{Sent, State};
use crate::nic::recovery::PlaneUse;
use crate::units::Time;

/// The packets of one queue pair, by the plane of their entropy values.
#[derive(Debug, Clone)]
pub(super) struct ByPlane(Vec<PlaneUse>);

impl ByPlane {
    pub(super) fn new(planes: u32) -> Self {
        Self(vec![PlaneUse::default(); planes as usize])
    }

    pub(super) fn of(&self, plane: u32) -> PlaneUse {
        self.0.get(plane as usize).copied().unwrap_or_default()
    }

    fn with_value(&mut self, entropy: u16) -> &mut PlaneUse {
        let planes = self.0.len();
        &mut self.0[usize::from(entropy) % planes]
    }

    /// A packet goes out.
    pub(super) fn send(&mut self, entropy: u16) {
        self.with_value(entropy).in_flight += 1;
    }

    /// A packet in flight is lost.
    pub(super) fn lose(&mut self, entropy: u16) {
        self.with_value(entropy).in_flight -= 1;
    }

    /// Nothing has arrived since the acknowledgement at hand.
    pub(super) fn begin(&mut self) {
        self.0.iter_mut().for_each(|plane| (plane.arrived, plane.rtt) = (0, None));
    }

    /// A packet has arrived that was not known to.
    pub(super) fn arrive(&mut self, now: Time, sent: Sent) {
        let plane = self.with_value(sent.entropy);
        plane.in_flight -= u64::from(sent.state != State::Lost);
        plane.arrived += 1;
        // Of a packet that was sent again it is not known which copy has arrived.
        if sent.state == State::Flying {
            plane.rtt = Some(now.since(sent.at));
        }
    }
}
