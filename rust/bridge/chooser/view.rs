//! The ports of a switch, as policies see them.

use evenkeel_engine::balance::rotation::weighted_schedule;
use evenkeel_engine::balance::switch::SwitchView;
use evenkeel_engine::ids::SwitchId;
use evenkeel_engine::units::BitRate;

use super::contract::Arrival;

/// Maximum number of destinations with policy state.
const MOST_DESTINATIONS: u32 = 1 << 16;

/// Maximum number of cached schedules, one per set of weights.
const MOST_SCHEDULES: usize = 64;

/// The candidate ports of a packet, as the caller describes them.
pub(super) struct PortView<'a> {
    pub arrival: &'a Arrival,
    pub ports: &'a [u32],
    pub queue_bytes: &'a [u64],
    pub weights: &'a [u32],
    /// The schedule of the weights, if they differ.
    pub schedule: Option<&'a [u16]>,
    pub epoch: u32,
    /// The number of ports of the switch.
    pub switch_ports: u32,
}

impl SwitchView for PortView<'_> {
    fn candidates(&self) -> u32 {
        self.ports.len() as u32
    }

    fn port(&self, candidate: u32) -> u32 {
        self.ports[candidate as usize] % self.switch_ports
    }

    fn queue_bytes(&mut self, candidate: u32) -> u64 {
        self.queue_bytes.get(candidate as usize).copied().unwrap_or(0)
    }

    /// Unknown to the caller. Only policies that count departing packets use it, and those are
    /// rejected.
    fn rate(&self, _candidate: u32) -> BitRate {
        BitRate::MAX
    }

    fn destination_edge(&self) -> SwitchId {
        SwitchId(self.arrival.edge % MOST_DESTINATIONS)
    }

    fn destination_pod(&self) -> u32 {
        self.arrival.pod % MOST_DESTINATIONS
    }

    fn epoch(&self) -> u32 {
        self.epoch
    }

    fn weight(&self, candidate: u32) -> u32 {
        self.weights.get(candidate as usize).copied().unwrap_or(1)
    }

    fn schedule_len(&self) -> Option<u32> {
        self.schedule.map(|schedule| schedule.len() as u32)
    }

    fn schedule_entry(&self, index: u32) -> u32 {
        self.schedule.map_or(index, |schedule| u32::from(schedule[index as usize]))
    }
}

/// A cache of weighted schedules for the most recent sets of weights.
#[derive(Debug, Default)]
pub(super) struct Schedules(Vec<(Vec<u32>, Vec<u16>)>);

impl Schedules {
    /// Returns the schedule of these weights; `None` if all are equal. All zeros also count as
    /// equal, because no port is preferred then.
    pub(super) fn find(&mut self, weights: &[u32]) -> Option<&[u16]> {
        if weights.iter().all(|&weight| weight == weights[0]) {
            return None;
        }
        let index = match self.0.iter().position(|(known, _)| known == weights) {
            Some(index) => index,
            None => {
                if self.0.len() == MOST_SCHEDULES {
                    self.0.remove(0);
                }
                let order: Vec<u16> = (0..=u16::MAX).take(weights.len()).collect();
                self.0.push((weights.to_vec(), weighted_schedule(&order, weights)));
                self.0.len() - 1
            }
        };
        Some(&self.0[index].1)
    }
}
