//! The receiving side of a NIC: responders, acknowledgements and granted credit.

pub(super) mod ack;
pub(super) mod board;
pub(super) mod credits;
pub(super) mod receiver;
pub(super) mod responder;
pub(super) mod responders;
pub(super) mod telemetry;
