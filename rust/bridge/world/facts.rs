//! What became of a run, as the contract and as the reports want it.

use super::contract::{FlowFacts, Measured, NicFacts, PauseFacts, QpFacts};
use super::core::Core;
use crate::fabric::parts::Sums;
use crate::fabric::{Outcome, PauseOrder, PauseRecord, Verdict};
use crate::ids::PortId;
use crate::units::{Bytes, Time};

impl Core {
    pub(super) fn flows(&self) -> Vec<FlowFacts> {
        let flows = self.endpoints.ledger().flows_in_order();
        let facts = flows.iter().map(|flow| FlowFacts {
            message: flow.message.0,
            piece: flow.piece,
            src: flow.src.0,
            dst: flow.dst.0,
            bytes: flow.bytes.get(),
            start_ps: flow.start.as_ps(),
            delivered_ps: flow.delivered.as_ps(),
            completed_ps: flow.completed.as_ps(),
            source_port: flow.source_port,
        });
        facts.collect()
    }

    pub(super) fn nic_counters(&self) -> NicFacts {
        let mut sum = NicFacts::default();
        for host in self.endpoints.hosts() {
            let nic = host.nic.counters();
            sum.data_sent += nic.data_sent;
            sum.retransmitted += nic.retransmitted;
            sum.control_sent += nic.control_sent;
            sum.data_received += nic.data_received;
            sum.marked += nic.marked;
            sum.out_of_order += nic.out_of_order;
            sum.control_received += nic.control_received;
        }
        sum
    }

    pub(super) fn qp_counts(&self) -> QpFacts {
        let counts = self.endpoints.qp_counts();
        QpFacts {
            per_nic_max: counts.per_nic_max,
            total: counts.total,
            extra_per_nic_max: counts.extra_per_nic_max,
            extra_total: counts.extra_total,
        }
    }

    /// What the run came to, with what the world measured.
    pub(in crate::bridge) fn outcome(&self) -> Outcome {
        let switch_states = self.switch_states();
        Outcome::of(sums(&self.measured), switch_states, &self.endpoints)
    }
}

fn sums(measured: &Measured) -> Sums {
    let bytes = |of: &[u64]| of.iter().map(|&bytes| Bytes::new(bytes)).collect();
    let pause = |pause: &PauseFacts| PauseRecord {
        at: Time::from_ps(pause.at_ps),
        port: PortId(pause.port),
        order: if pause.is_pause { PauseOrder::Pause } else { PauseOrder::Resume },
    };
    Sums {
        verdict: match measured.verdict {
            0 => Verdict::Completed,
            1 => Verdict::Stalled,
            _ => Verdict::TimeLimit,
        },
        ended: Time::from_ps(measured.ended_ps),
        data_dropped: measured.data_dropped,
        control_dropped: measured.control_dropped,
        trimmed: measured.trimmed,
        pfc_pauses: measured.pfc_pauses,
        packet_hops: measured.packet_hops,
        events: measured.events,
        in_flight: measured.in_flight,
        queue_bytes_mean: measured.queue_bytes_mean,
        queue_bytes_max_by_port: bytes(&measured.queue_bytes_max),
        link_bytes: bytes(&measured.link_bytes),
        pauses: measured.pauses.iter().map(pause).collect(),
        probes: Vec::new(),
    }
}
