//! Weights for policies that know none: a port is as many candidates as its weight says.
//!
//! Source: Zhou et al., "WCMP: Weighted Cost Multipathing for Improved Fairness in Data Centers"
//! (EuroSys 2014), section 4: members of an ECMP group are replicated in the table.

use super::View;
use crate::ids::SwitchId;

/// A view whose candidates are the entries of a weighted schedule.
#[derive(Debug)]
pub(super) struct Weighted<'a, V> {
    view: &'a mut V,
    entries: u32,
}

impl<'a, V: View> Weighted<'a, V> {
    /// `view`, whose schedule has so many `entries`.
    pub fn new(view: &'a mut V, entries: u32) -> Self {
        Self { view, entries }
    }
}

impl<V: View> View for Weighted<'_, V> {
    fn candidates(&self) -> u32 {
        self.entries
    }

    fn port(&self, candidate: u32) -> u32 {
        self.view.port(self.view.entry(candidate))
    }

    fn bytes(&mut self, candidate: u32) -> u64 {
        let candidate = self.view.entry(candidate);
        self.view.bytes(candidate)
    }

    fn edge(&self) -> SwitchId {
        self.view.edge()
    }

    fn pod(&self) -> u32 {
        self.view.pod()
    }

    fn epoch(&self) -> u32 {
        self.view.epoch()
    }
}
