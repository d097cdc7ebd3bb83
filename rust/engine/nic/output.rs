//! The packets and events that a NIC emits.

use std::collections::VecDeque;

use crate::nic::hardware::CnpOutput;
use crate::nic::{HardwareConfig, NicCounters, NicEvent};
use crate::packet::Packet;

/// Everything that a NIC has produced and its driver has not yet taken.
#[derive(Debug, Clone, Default)]
#[repr(C)]
pub(super) struct Output {
    /// Control packets that wait for the wire. They leave before data.
    pub control: VecDeque<Packet>,
    pub events: VecDeque<NicEvent>,
    pub counters: NicCounters,
    /// Present with limits of hardware.
    pub cnps: Option<Box<CnpOutput>>,
}

impl Output {
    /// Returns no packets and no events.
    pub(super) fn new(config: &HardwareConfig) -> Self {
        let cnps = (!config.is_neutral()).then(|| Box::new(CnpOutput::new(config.cnp)));
        Self { cnps, ..Self::default() }
    }
}
