//! The fluid world: flows of bytes in place of packets, for fabrics of 100,000 hosts.
//!
//! A run is the same as in [`crate::fabric`] in all that hosts do: messages with their dependencies
//! and computations, splitters, queue pairs, jobs with policies of their own. A flow is then not
//! divided into packets. At every time it has the max-min fair rate on the links that it loads
//! (`sharing`): those of the path that it would take, or all that its policy spreads it over
//! (`ways`). What its first and last packets need on their way is added at its end (`timing`).
//!
//! It does not know what takes place between packets: queues, losses, marks, pauses, reordering,
//! and the time that a congestion control takes to find its rate. [`Estimate::warnings`] says where
//! that matters; `docs/fluid.md` compares its times with those of packets.

mod changes;
mod due;
mod ends;
mod event;
mod links;
mod timing;
mod transfer;
mod waiting;
mod warnings;
mod ways;
mod world;

#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fabric::Measured;
use crate::fabric::{Outcome, Progress, Setup, Verdict};
use crate::units::Time;
use links::{Grouping, Ungrouped};
use warnings::Seen;
use world::World;

/// The number of steps between two reports of progress.
const PROGRESS_EVERY: u64 = 1 << 12;

/// Whether a run moves packets or flows of bytes.
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
    /// Times, flows, queue pairs and bytes of links; counts of packets and queues are zero.
    pub outcome: Outcome,
    /// Why the times of packets may be others, in sentences.
    pub warnings: Vec<String>,
}

/// Runs the workload of a setup to its end. `progress` is called now and then, and at the end.
pub fn run(setup: &Setup, progress: &mut dyn FnMut(&Progress)) -> Estimate {
    // Where links fail, those that were alike are no longer.
    let first = match setup.fabric.failures.is_empty() {
        true => Grouping::Allowed,
        false => Grouping::Off,
    };
    run_grouped(setup, first, progress).unwrap_or_else(|Ungrouped| {
        let again = run_grouped(setup, Grouping::Off, progress);
        again.unwrap_or_else(|Ungrouped| unreachable!("every port is a link of its own"))
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
    let hashes_packets = world.ways.hashes_packets;
    let seen = Seen { setup, outcome: &outcome, waiting: &world.waiting, hashes_packets };
    let warnings = seen.warnings();
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
        // An event exactly at the limit still happens.
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
