//! From what was typed to what a run is made from, a section of the file each.

pub(super) mod buffering;
pub(super) mod collective;
pub(super) mod failure;
pub(super) mod flow_file;
pub(super) mod host_set;
pub(super) mod job;
pub(super) mod limits;
pub(super) mod policy;
pub(super) mod recovery;
pub(super) mod switch;
pub(super) mod topology;
pub(super) mod topology_file;
pub(super) mod trace_file;
pub(super) mod training;
pub(super) mod transport;
pub(super) mod workload;
