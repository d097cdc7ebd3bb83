//! The ports of a NIC: planes, lines of traffic classes, and the ports of answers.

pub(super) mod answer_planes;
pub(super) mod classes;
pub(super) mod planes;
pub(super) mod reverse;
