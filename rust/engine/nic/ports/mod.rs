//! The ports of a NIC: planes, queues of traffic classes, and the ports of control packets.

pub(super) mod answer_planes;
pub(super) mod classes;
pub(super) mod planes;
pub(super) mod reverse;
