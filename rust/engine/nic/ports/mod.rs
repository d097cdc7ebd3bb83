//! The ports of a NIC: planes, queues of traffic classes, and the ports of control packets.

pub(super) mod classes;
pub(super) mod control_paths;
pub(super) mod planes;
pub(super) mod reverse;
