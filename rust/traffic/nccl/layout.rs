//! Channels: what NCCL's graph search finds on servers whose GPUs all reach each other.
//!
//! Source: `graph/search.cc`, `graph/connect.cc`. The search itself is not repeated: on such
//! servers each ring occupies its rate once on every GPU's port and, between servers, on one NIC.

use super::System;

/// Most channels that the search finds.
const MAX_FOUND: u32 = 32;

/// Most channels of a communicator.
const MAX_CHANNELS: u32 = 64;

/// Most heads of NVLS (`NCCL_MAX_NVLS_ARITY`).
pub(super) const MAX_HEADS: u32 = 32;

/// Channels of rings and trees, and heads of NVLS.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Layout {
    /// Rings that differ.
    pub found: u32,
    /// Rate of each of them, in GB/s.
    pub speed: f64,
    /// Channels, which repeat the rings.
    pub channels: u32,
    /// Heads of NVLS: GPUs among which a server divides the vector.
    pub heads: u32,
    /// Rate of a head within the server, in GB/s.
    pub head_speed: f64,
}

impl Layout {
    /// Returns the layout of a system.
    pub fn of(system: &System) -> Self {
        let (found, speed) = rings(system);
        let alone = system.servers() == 1;
        let mut channels = 2 * found;
        if !alone && speed > 45.0 && channels < 16 && system.gpu >= super::Gpu::Hopper {
            channels *= 2;
        }
        let heads = system.server.min(MAX_HEADS);
        let share = system.scale_up_gbytes() / f64::from(heads + 1);
        let speeds = system.gpu.speeds(alone);
        let head_speed = speeds.iter().copied().find(|speed| *speed <= share).unwrap_or(0.0);
        Self { found, speed, channels: channels.min(MAX_CHANNELS), heads, head_speed }
    }
}

/// Returns the number of rings and their rate.
fn rings(system: &System) -> (u32, f64) {
    let alone = system.servers() == 1;
    let (port, nic) = (system.scale_up_gbytes(), system.nic_gbytes());
    let has_port = system.server > 1;
    let path = match (alone, has_port) {
        (true, _) => port,
        (false, true) => port.min(nic),
        (false, false) => nic,
    };
    let limit = if alone { MAX_FOUND } else { MAX_FOUND.min(system.server) };
    let count = |speed: f64| match has_port {
        true => ((port / speed) as u32).clamp(1, limit),
        false => 1,
    };
    let speeds = system.gpu.speeds(alone);
    let mut best = (1, path.min(speeds[speeds.len() - 1]));
    let mut total = 0.0;
    for &speed in speeds.iter().filter(|speed| **speed <= path) {
        // Slower rings are tried down to half the rate of the best.
        if total > 0.0 && speed <= 0.49 * best.1 {
            break;
        }
        let rings = count(speed);
        if f64::from(rings) * speed > total {
            (best, total) = ((rings, speed), f64::from(rings) * speed);
        }
        if has_port && total >= port {
            break;
        }
    }
    let (found, speed) = best;
    let many = system.gpu >= super::Gpu::Hopper && speed < 50.0 && found > 4;
    if speed >= 25.0 && !many && 2 * found <= MAX_FOUND {
        return (2 * found, speed / 2.0);
    }
    best
}
