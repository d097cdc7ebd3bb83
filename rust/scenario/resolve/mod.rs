//! Resolution: from the content of the file to the input of a run, one module per section. Fills in
//! defaults that depend on other sections, so that the resolved file shows them.

pub(super) mod buffering;
pub(super) mod class;
pub(super) mod congestion;
pub(super) mod derived;
pub(super) mod fabric;
pub(super) mod failure;
pub(super) mod hardware;
pub(super) mod host_set;
pub(super) mod immediates;
pub(super) mod job;
pub(super) mod job_policy;
pub(super) mod limits;
pub(super) mod messages;
pub(super) mod networks;
pub(super) mod parameters;
pub(super) mod planes;
pub(super) mod policy;
pub(super) mod policy_warnings;
pub(super) mod record;
pub(super) mod recovery;
pub(super) mod scale_up;
pub(super) mod servers;
pub(super) mod switch;
pub(super) mod topology;
pub(super) mod transport;
pub(super) mod unused_keys;
pub(super) mod workload;
