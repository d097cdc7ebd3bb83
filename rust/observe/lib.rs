//! Observers of a run: time series, its timeline as a trace, and an independent check of every
//! packet.
//!
//! For users who ask why a run took its time, and for authors of drivers who check theirs. An
//! observer is a [`Watch`](evenkeel_engine::fabric::Watch) and does not change results:
//!
//! ```
//! use std::{collections::BTreeMap, sync::Arc};
//!
//! use evenkeel_engine::balance::{Parameters, build_scheme};
//! use evenkeel_engine::fabric::{
//!     Buffer, FabricConfig, FixedWorkload, Observers, Setup, World, drive,
//! };
//! use evenkeel_engine::ids::HostId;
//! use evenkeel_engine::nic::NicConfig;
//! use evenkeel_engine::topology::LeafSpine;
//! use evenkeel_engine::units::{BitRate, Bytes, Span, Time};
//! use evenkeel_engine::workload::{Message, Workload};
//! use evenkeel_observe::invariants::Invariants;
//!
//! let rate = BitRate::from_gbps(400);
//! let fabric = LeafSpine {
//!     leaves: 2,
//!     spines: 2,
//!     hosts_per_leaf: 2,
//!     host_rate: rate,
//!     fabric_rate: rate,
//!     delay: Span::from_ns(500),
//!     parallel_links: 1,
//! };
//! let message = Message::starting_at_zero(0, HostId(0), HostId(3), Bytes::new(1_000_000));
//! let setup = Setup {
//!     topology: Arc::new(fabric.build()?),
//!     fabric: FabricConfig::plain(Buffer::Shared(Bytes::new(64_000_000))),
//!     nic: NicConfig::default(),
//!     own_nics: BTreeMap::new(),
//!     scheme: build_scheme("ecmp", &Parameters::new())?,
//!     job_policies: Vec::new(),
//!     job_classes: Vec::new(),
//!     workload: Arc::new(Workload::independent(vec![message])),
//!     seed: 1,
//!     time_limit: Time::ZERO + Span::from_ms(100),
//!     probes: Vec::new(),
//! };
//! let mut check = Invariants::new(&setup);
//! let observers = Observers { watch: Some(&mut check), progress: &mut |_| {} };
//! let outcome = drive(World::new(&setup), &mut FixedWorkload, observers);
//! let report = check.finish(&outcome, None);
//! assert_eq!(report.count, 0, "{:?}", report.violations);
//! assert!(report.records > 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The crate `evenkeel` re-exports this one and describes the architecture.

use evenkeel_engine::{
    endpoint, fabric, ids, nic, packet, sharing, switching, topology, units, workload,
};

pub mod invariants;
pub mod record;
pub mod timeline;
