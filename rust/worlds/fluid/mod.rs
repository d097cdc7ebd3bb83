//! The fluid model: flows of bytes instead of packets, for fabrics of 100,000 hosts.
//!
//! Hosts behave as in [`crate::fabric`]: messages with dependencies and computations, splitters,
//! queue pairs, jobs with their own policies. Flows are not divided into packets. At any time a
//! flow has its max-min fair rate on the links that it loads (`sharing`). Those are the links of
//! its path, or all links over which its policy spreads it (`paths`). The latency of its first and
//! last packets is added at its end (`timing`).
//!
//! Effects between packets are not modelled: queues, losses, marks, pauses, reordering, and the
//! convergence time of congestion control. [`Estimate::warnings`] reports where they matter.
//! `docs/fluid.md` compares completion times with those of packet runs.

mod changes;
mod end_queue;
mod event;
mod links;
mod paths;
mod queue_estimate;
mod rate_deadline;
mod timing;
mod transfer;
mod warnings;
mod world;

#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fabric::Measured;
use crate::fabric::{Outcome, Progress, Setup, Verdict};
use crate::units::Time;
use links::{Grouping, Ungrouped};
use warnings::WarningContext;
use world::World;

/// Number of steps between two progress reports.
const PROGRESS_EVERY: u64 = 1 << 12;

/// Whether a run simulates packets or flows of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fidelity {
    /// Every packet, on every link.
    #[default]
    Packet,
    /// Flows with max-min fair rates, without packets.
    Fluid,
}

/// The results of a fluid run.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// Times, flows, queue pairs and link bytes. Counts of packets and queues are zero.
    pub outcome: Outcome,
    /// Reasons why a packet run may take a different time, as sentences.
    pub warnings: Vec<String>,
}

/// Runs the workload of a setup to its end. Calls `progress` periodically and at the end.
pub fn run(setup: &Setup, progress: &mut dyn FnMut(&Progress)) -> Estimate {
    // A failure makes equal links unequal, so groups would not stay valid.
    let first = match setup.fabric.failures.is_empty() {
        true => Grouping::Allowed,
        false => Grouping::Off,
    };
    run_grouped(setup, first, progress).unwrap_or_else(|Ungrouped| {
        let again = run_grouped(setup, Grouping::Off, progress);
        again.unwrap_or_else(|Ungrouped| unreachable!("every port is a separate link"))
    })
}

fn run_grouped(
    setup: &Setup,
    grouping: Grouping,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Estimate, Ungrouped> {
    let mut world = World::new(setup, grouping);
    let verdict = run_to_end(&mut world, setup.time_limit, progress)?;
    progress(&world.progress());
    let measured = Measured {
        verdict,
        ended: world.now,
        counters: Default::default(),
        events: world.handled,
        in_flight: 0,
        queue_bytes_max_by_port: Vec::new(),
        link_bytes: world.links.bytes(),
        probes: Vec::new(),
        pauses: Vec::new(),
        marked_by_port: Vec::new(),
        held_back: Vec::new(),
        dropped_by_class: Vec::new(),
    };
    let outcome = Outcome::of_flows(measured, &world.endpoints);
    let hashes_packets = world.paths.hashes_packets;
    let context = WarningContext {
        setup,
        outcome: &outcome,
        queue_estimate: &world.queue_estimate,
        hashes_packets,
    };
    let warnings = context.warnings();
    Ok(Estimate { outcome, warnings })
}

fn run_to_end(
    world: &mut World<'_>,
    time_limit: Time,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Verdict, Ungrouped> {
    for step in 1u64.. {
        if world.endpoints.ledger().open == 0 {
            return Ok(Verdict::Completed);
        }
        let Some(next) = world.next_time() else { return Ok(Verdict::Stalled) };
        // An event exactly at the limit is still handled.
        if next > time_limit {
            world.now = time_limit;
            return Ok(Verdict::TimeLimit);
        }
        world.step(next)?;
        if step.is_multiple_of(PROGRESS_EVERY) {
            progress(&world.progress());
        }
    }
    unreachable!("a run ends before 2^64 steps")
}
