//! What follows from the constants of a recovery.

use super::{Numbering, Recovery};
use crate::nic::qp::delivery::Delivery;
use crate::nic::receive::ack::AckRange;

impl Recovery {
    /// The order of delivery where no other is asked for.
    pub const fn delivery(self) -> Delivery {
        self.deliveries()[0]
    }

    /// Whether it can deliver messages in this order.
    pub fn can_deliver(self, delivery: Delivery) -> bool {
        self.deliveries().contains(&delivery)
    }

    /// Whether WRITEs without immediate data are the only operations that are possible with it.
    pub fn writes_only(self) -> bool {
        self.numbering() == Numbering::Message || self.repeats()
    }

    /// What acknowledgements speak of where nothing else is asked for.
    pub const fn default_ack_range(self) -> AckRange {
        self.ack_ranges()[0]
    }

    /// Whether acknowledgements that speak of these packets suffice.
    pub fn can_read(self, range: AckRange) -> bool {
        self.ack_ranges().contains(&range)
    }
}
