//! The packets and events that a NIC emits.

use std::collections::VecDeque;

use crate::nic::{NicCounters, NicEvent};
use crate::packet::Packet;

/// Everything that a NIC has produced and its driver has not yet taken.
#[derive(Debug, Clone, Default)]
#[repr(C)]
pub(super) struct Output {
    /// Control packets that wait for the wire. They leave before data.
    pub control: VecDeque<Packet>,
    pub events: VecDeque<NicEvent>,
    pub counters: NicCounters,
}
