//! The results of a run, for the contract and for reports.

use evenkeel_engine::fabric::{self, Outcome};
use evenkeel_engine::units::{Bytes, Time};

use super::contract::Measured;
use super::convert::{TryConvert as _, UnknownValue};
use super::core::Core;
use super::records::{FabricFlow, FabricNicCounters, FabricQpCounts};

impl Core {
    pub(super) fn flows(&self) -> Vec<FabricFlow> {
        self.endpoints.ledger().flows_in_order().iter().map(FabricFlow::from).collect()
    }

    pub(super) fn nic_counters(&self) -> FabricNicCounters {
        FabricNicCounters(self.endpoints.hosts().iter().map(|host| *host.nic.counters()).sum())
    }

    pub(super) fn qp_counts(&self) -> FabricQpCounts {
        FabricQpCounts(self.endpoints.qp_counts())
    }

    /// Returns the outcome of the run, with the simulator's measurements.
    ///
    /// # Panics
    /// If a measurement has an unknown value, or if packets or bytes are not conserved.
    #[cfg_attr(not(any(test, feature = "ns3")), expect(dead_code, reason = "for `ns3::run`"))]
    pub(crate) fn outcome(&self) -> Outcome {
        let measured = measured(&self.measured).unwrap_or_else(|unknown| panic!("{unknown}"));
        Outcome::of(measured, self.switching.states(), &self.endpoints)
    }
}

fn measured(measured: &Measured) -> Result<fabric::Measured, UnknownValue> {
    let bytes = |of: &[u64]| of.iter().map(|&bytes| Bytes::new(bytes)).collect();
    Ok(fabric::Measured {
        verdict: measured.verdict.try_convert()?,
        ended: Time::from_ps(measured.ended_ps),
        counters: measured.counters.0,
        events: measured.events,
        in_flight: measured.in_flight,
        queue_bytes_max_by_port: bytes(&measured.queue_bytes_max),
        link_bytes: bytes(&measured.link_bytes),
        pauses: measured
            .pauses
            .iter()
            .map(|pause| pause.try_convert())
            .collect::<Result<_, _>>()?,
        probes: Vec::new(),
        marked_by_port: Vec::new(),
        dropped_by_class: measured.dropped_by_class.clone(),
        held_back: Vec::new(),
    })
}
