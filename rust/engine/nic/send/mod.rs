//! The sending side of a NIC: requesters, their schedule, pacing and prefetches.

pub(super) mod agenda;
pub(super) mod destinations;
pub(super) mod pacer;
pub(super) mod prefetch;
pub(super) mod requester;
pub(super) mod requesters;
pub(super) mod schedule;
pub(super) mod sending_state;
pub(super) mod sent_entropies;
