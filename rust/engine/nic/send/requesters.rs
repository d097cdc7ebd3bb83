//! The requesters of a NIC, by slot.

use std::ops::{Index, IndexMut};

use crate::ids::QpId;
use crate::nic::NicConfig;
use crate::nic::qp::Slot;
use crate::nic::qp::table::reserve_if_full;
use crate::nic::send::destinations::Destinations;
use crate::nic::send::requester::Requester;
use crate::prefetch::prefetch_next_slot;

/// The requesters of a NIC, by slot.
#[derive(Debug, Clone)]
#[repr(C)]
pub(in crate::nic) struct Requesters {
    pub(super) list: Vec<Requester>,
    /// The windows that queue pairs to the same host share, if they do.
    pub(super) destinations: Option<Box<Destinations>>,
    /// The queue pair of each requester.
    qps: Vec<QpId>,
}

impl Requesters {
    pub(in crate::nic) fn new(config: &NicConfig) -> Self {
        Self {
            list: Vec::new(),
            destinations: config.congestion.scope().is_per_destination().then(Box::default),
            qps: Vec::new(),
        }
    }

    #[inline]
    pub(in crate::nic) fn len(&self) -> usize {
        self.list.len()
    }

    #[inline]
    pub(in crate::nic) fn get(&self, slot: Slot) -> Option<&Requester> {
        self.list.get(slot.index())
    }

    #[inline]
    pub(in crate::nic) fn get_mut(&mut self, slot: Slot) -> Option<&mut Requester> {
        self.list.get_mut(slot.index())
    }

    pub(in crate::nic) fn iter(&self) -> std::slice::Iter<'_, Requester> {
        self.list.iter()
    }

    pub(in crate::nic) fn iter_mut(&mut self) -> std::slice::IterMut<'_, Requester> {
        self.list.iter_mut()
    }

    /// Returns the queue pair of the requester in `slot`.
    #[inline]
    pub(in crate::nic) fn qp_of(&self, slot: Slot) -> QpId {
        self.qps[slot.index()]
    }

    /// Appends the requester of `qp` and returns its slot.
    pub(in crate::nic) fn push(&mut self, qp: QpId, requester: Requester) -> Slot {
        self.list.push(requester);
        self.qps.push(qp);
        Slot::last_of(self.list.len())
    }

    /// Puts the requester of `qp` into a free slot.
    pub(in crate::nic) fn put(&mut self, slot: Slot, qp: QpId, requester: Requester) {
        self.list[slot.index()] = requester;
        self.qps[slot.index()] = qp;
    }

    /// Reserves room for `count` requesters, unless there is room for one.
    pub(in crate::nic) fn reserve(&mut self, count: usize) {
        reserve_if_full(&mut self.list, count);
        reserve_if_full(&mut self.qps, count);
    }

    pub(in crate::nic) fn prefetch_next_slot(&self) {
        prefetch_next_slot(&self.list);
        prefetch_next_slot(&self.qps);
    }
}

impl Index<Slot> for Requesters {
    type Output = Requester;

    #[inline]
    fn index(&self, slot: Slot) -> &Requester {
        &self.list[slot.index()]
    }
}

impl IndexMut<Slot> for Requesters {
    #[inline]
    fn index_mut(&mut self, slot: Slot) -> &mut Requester {
        &mut self.list[slot.index()]
    }
}
