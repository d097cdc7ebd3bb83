//! Properties derived from the constants of a recovery.

use super::{Numbering, Recovery};
use crate::nic::qp::delivery::Delivery;
use crate::nic::receive::ack::AckRange;

impl Recovery {
    /// The default order of delivery.
    pub const fn delivery(self) -> Delivery {
        self.deliveries()[0]
    }

    /// True if it can deliver messages in this order.
    pub fn supports_delivery(self, delivery: Delivery) -> bool {
        self.deliveries().contains(&delivery)
    }

    /// True if it supports only WRITEs without immediate data.
    pub fn writes_only(self) -> bool {
        // Message numbering leaves no header room for other verbs; repeated packets must be
        // idempotent.
        self.numbering() == Numbering::Message || self.requires_idempotence()
    }

    /// The default range of acknowledgements.
    pub const fn default_ack_range(self) -> AckRange {
        self.ack_ranges()[0]
    }

    /// True if acknowledgements with this range suffice.
    pub fn supports_ack_range(self, range: AckRange) -> bool {
        self.ack_ranges().contains(&range)
    }
}
