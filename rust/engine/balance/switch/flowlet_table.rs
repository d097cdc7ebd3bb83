//! Flowlet table of a switch: port and time of each flow's last packet.
//!
//! Source: Alizadeh et al., "CONGA" (SIGCOMM 2014), section 3.4, adopted by LetFlow (NSDI 2017): a
//! hash table without chains. Two flows in one entry share their flowlet, and are balanced as one.

use super::{StateSize, SwitchView, index_bits};
use crate::packet::Packet;
use crate::rng::mix32;
use crate::units::{Span, Time};

/// Largest supported table, in entries: 16 times that of CONGA.
const MAX_FLOWLETS: u32 = 1 << 20;

/// Returns an error message if the number of entries is invalid.
pub(super) fn config_error(entries: u32) -> Option<&'static str> {
    (entries == 0 || entries > MAX_FLOWLETS)
        .then_some("'flowlets' must be from 1 to 1048576, for example 65536")
}

/// The flowlets of one switch.
#[derive(Debug, Clone)]
pub(super) struct FlowletTable {
    gap: Span,
    /// See [`Flowlet`]. Zero-initialized, so that pages that no flow uses are never touched.
    entries: Vec<[u64; 2]>,
}

/// Entry of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Flowlet {
    index: usize,
    /// Port index of the flowlet, plus 1; 0 in an unused entry.
    port: u32,
    candidate: u32,
    /// True if a packet that arrives now belongs to the flowlet.
    pub(super) continues: bool,
}

impl FlowletTable {
    /// Creates a table in which a gap of more than `gap` ends a flowlet.
    pub(super) fn new(entries: u32, gap: Span) -> Self {
        Self { gap, entries: vec![[0; 2]; entries as usize] }
    }

    /// Returns the entry of the packet's flow.
    #[inline]
    pub(super) fn find(&self, now: Time, packet: &Packet) -> Flowlet {
        // The odd constant keeps label and value from cancelling out, as in `Hash::pick`.
        let key = mix32(packet.label ^ u32::from(packet.entropy).wrapping_mul(0x9e37_79b1));
        // Scales the hash to the table without a division.
        let index = ((u64::from(key) * self.entries.len() as u64) >> 32) as usize;
        let [last, port] = self.entries[index];
        Flowlet {
            index,
            port: port as u32,
            candidate: (port >> 32) as u32,
            // Also true for an unused entry early in a run, but its port 0 matches no candidate.
            continues: now.since(Time::from_ps(last)) <= self.gap,
        }
    }

    /// Stores the choice for a packet in its flow's entry. The gap counts from each packet, not
    /// from the first: a flowlet lasts while packets follow closely.
    #[inline]
    pub(super) fn store(&mut self, now: Time, entry: Flowlet, port: u32, candidate: u32) {
        self.entries[entry.index] = [now.as_ps(), u64::from(candidate) << 32 | u64::from(port + 1)];
    }

    /// Returns the size in a switch with `ports` ports: a port, a valid bit and an age bit per
    /// entry.
    pub(super) fn size(&self, ports: u64) -> StateSize {
        let entries = self.entries.len() as u64;
        StateSize { entries, bits: entries * (index_bits(ports) + 2) }
    }

    /// Returns the port index of each used entry whose last packet came at `time`.
    #[cfg(test)]
    pub(super) fn ports_at(&self, time: Time) -> Vec<u32> {
        let at = |entry: &&[u64; 2]| entry[0] == time.as_ps() && entry[1] != 0;
        self.entries.iter().filter(at).map(|entry| entry[1] as u32 - 1).collect()
    }
}

impl Flowlet {
    /// Returns the candidate of the flow's last packet, if its index still denotes the same port.
    /// After a failure it may denote another one.
    #[inline]
    pub(super) fn candidate<V: SwitchView>(&self, view: &V) -> Option<u32> {
        let same = self.candidate < view.candidates() && self.port == view.port(self.candidate) + 1;
        same.then_some(self.candidate)
    }

    /// Returns the candidate with the port of the flow's last packet, whatever its index is now;
    /// `None` if that port is no longer a candidate.
    #[inline]
    pub(super) fn find_candidate<V: SwitchView>(&self, view: &V) -> Option<u32> {
        let all =
            || (0..view.candidates()).find(|&candidate| self.port == view.port(candidate) + 1);
        self.candidate(view).or_else(all)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::test_view::Ports;
    use super::*;

    fn table() -> FlowletTable {
        FlowletTable::new(1 << 16, Span::from_us(100))
    }

    #[test]
    fn entropy_values_of_one_label_have_separate_entries() {
        for label in [0, u32::MAX] {
            let index = |entropy| {
                let packet = Packet { label, entropy, ..Packet::default() };
                table().find(Time::ZERO, &packet).index
            };
            let entries: BTreeSet<usize> = (0..100).map(index).collect();
            assert!(entries.len() > 98, "{} for label {label}", entries.len());
        }
    }

    #[test]
    fn a_flowlet_loses_its_candidate_when_fewer_remain() {
        let (mut table, packet) = (table(), Packet::default());
        let entry = table.find(Time::ZERO, &packet);
        table.store(Time::ZERO, entry, 7, 7);
        let entry = table.find(Time::ZERO, &packet);
        for (candidates, expected) in [(8, Some(7)), (7, None)] {
            let view = Ports::empty(candidates);
            assert_eq!(entry.candidate(&view), expected);
            assert_eq!(entry.find_candidate(&view), expected);
        }
    }
}
