//! MRC's paths: an active part of a profile of entropy values (EVs) over all planes is in rotation.
//! Marks skip a value once, losses take it out, and probes bring it back.
//!
//! Source: "MRC, Multipath Reliable Connection" (OCP specification 1.0, 2026, section 9.3.1; arXiv
//! 2605.04333), as described by public notes and the published headers (`mrc.h`). The texts were
//! not available: `docs/multi-plane.md` lists what they leave open (G1 to G21). \[inferred\]: the
//! defaults of the parameters that name a G below.
//!
//! - A value fixes the path, including its plane. A packet takes the next value of the rotation
//!   that is good and whose port is free. Planes are used round-robin, and each cycles through its
//!   own values.
//! - A mark or a trimmed packet sets a good value to skip. The first such value that a packet meets
//!   becomes good again but is not used; further ones stay skipped. If none was good, that first
//!   one is used.
//! - A time-out takes a value out of the rotation, and so does a receiver's ALWAYS_SKIP. A good
//!   backup of the same plane replaces it. At least `min_active` values stay usable: below that,
//!   the value that has been out longest returns.
//! - A value that is out is probed until an answer comes. It is then good again: in the rotation
//!   if its plane has too few values there, else a backup.
//! - When a plane comes back, its values are probed first as well, unless `back = "all"`.

mod config;
mod probing;
mod rotation;

pub use config::{Back, Condemn, Config, Encoding, ReversePath, Skip};

use super::{
    FailedPath, Feedback, PathSignal, Prober, QpContext, SenderConfig, SenderPolicy, Trimming,
};
use crate::balance::{
    AckFrequency, Forwarding, Origin, Preset, Scheme, SchemeError, Transport, parse_config,
};
use crate::nic::congestion::{CongestionName, nscc};
use crate::nic::{ControlPaths, Marked, Recovery, recovery};
use crate::packet::PlaneMask;
use crate::rng::Purpose;
use crate::units::{Bytes, Span, Time};
use probing::{Condemned, Probing};
use rotation::{Rotation, State};

/// The entropy values of one queue pair.
#[derive(Debug, Clone)]
pub struct Mrc(Box<Paths>);

#[derive(Debug, Clone)]
struct Paths {
    min_active: usize,
    /// Not `Auto`.
    condemn: Condemn,
    condemn_timeouts: u16,
    back: Back,
    base_rtt: Span,
    rotation: Rotation,
    probing: Probing,
    /// Time of each value's last hole, used if the second one condemns the value.
    holes: Vec<(u16, Time)>,
    /// Time-outs of values since their last arrival, used if one does not condemn the value.
    timeouts: Vec<(u16, u16)>,
    usable: PlaneMask,
}

/// The preset `mrc`.
pub const PRESETS: &[Preset] = &[Preset {
    name: "mrc",
    summary: "reconstruction of MRC: a rotation over entropy values of all planes, with probes",
    source: "OCP, Multipath Reliable Connection 1.0 (2026), section 9.3.1, by public notes",
    build: |parameters| {
        let config: Config = parse_config("mrc", parameters)?;
        config.check().map_err(|reason| SchemeError::Parameter { name: "mrc", reason })?;
        let forwarding = match config.encoding {
            Encoding::Ecmp => Forwarding::Hashed,
            Encoding::Srv6 => Forwarding::SourceRouted,
        };
        let control_paths = match (config.reverse, config.encoding) {
            (ReversePath::Echo, _) => ControlPaths::Rotate,
            (ReversePath::Probe, Encoding::Ecmp) => ControlPaths::ProbedHash,
            (ReversePath::Probe, Encoding::Srv6) => ControlPaths::ProbedRoute,
        };
        Ok(Scheme {
            forwarding,
            recovery: Recovery::Mrc(recovery::mrc::Config::default()),
            transport: transport(config.encoding),
            control_paths,
            origin: Origin::Reconstructed,
            ..Scheme::new("mrc", SenderConfig::Mrc(config))
        })
    },
}];

/// Returns the transport's defaults. A header has Ethernet's 18 B, 40 B of IPv6, 8 B of UDP, and 36
/// B of BTH, METH, RETH and ICRC, which a trimmed packet keeps (G21). A SACK has 52 B instead of
/// the 36 B; SRv6 adds 40 B. A SACK is due after 16 KiB, where each packet counts as at least 1 KiB
/// (G8). It is also due at a mark, so that none is lost (G18), or one base round trip after an
/// arrival \[inferred\].
fn transport(encoding: Encoding) -> Transport {
    let more = match encoding {
        Encoding::Ecmp => 0,
        Encoding::Srv6 => 40,
    };
    Transport {
        congestion_control: CongestionName::of::<nscc::Config>(),
        header: Bytes::new(102 + more),
        ack: Bytes::new(118 + more),
        trimmed: None,
        ack_frequency: AckFrequency {
            every: 16,
            bytes: Some(Bytes::new(16 << 10)),
            timed: true,
            marked: Marked::AtOnce,
        },
    }
}

impl Mrc {
    pub(super) fn new(config: &Config, qp: &QpContext) -> Self {
        let condemn = match (config.condemn, qp.network.trimming) {
            (Condemn::Auto, Trimming::On) => Condemn::Hole,
            (Condemn::Auto, _) => Condemn::Repeated,
            (condemn, _) => condemn,
        };
        let rotation = Rotation::new(config, qp, qp.random(Purpose::Entropy));
        // With fewer paths than values, the floor keeps its share of them.
        let min_active =
            rotation.count() * usize::from(config.min_active) / usize::from(config.evs);
        Self(Box::new(Paths {
            min_active,
            condemn,
            condemn_timeouts: config.condemn_timeouts,
            back: config.back,
            base_rtt: qp.network.base_rtt,
            rotation,
            probing: Probing::new(config),
            holes: Vec::new(),
            timeouts: Vec::new(),
            usable: PlaneMask::all(qp.network.planes),
        }))
    }
}

impl Paths {
    /// Handles the loss of a packet with value `index`, found before its timeout.
    fn on_hole(&mut self, now: Time, index: u16) {
        match self.condemn {
            Condemn::Timeout => {}
            Condemn::Hole | Condemn::Auto => self.condemn(now, index),
            // Only a second hole within a base round trip condemns the value.
            Condemn::Repeated => {
                self.holes.retain(|&(_, at)| now.since(at) <= self.base_rtt);
                match self.holes.iter().any(|&(other, _)| other == index) {
                    true => self.condemn(now, index),
                    false => self.holes.push((index, now)),
                }
            }
        }
    }

    /// Handles the timeout of a packet with value `index`.
    fn on_timeout(&mut self, now: Time, index: u16) {
        let place = self.timeouts.iter().position(|&(other, _)| other == index);
        let before = place.map_or(0, |place| self.timeouts.swap_remove(place).1);
        match before + 1 >= self.condemn_timeouts || self.condemn == Condemn::Hole {
            true => self.condemn(now, index),
            false => self.timeouts.push((index, before + 1)),
        }
    }

    /// Takes a value out of use, unless too few would be left.
    fn condemn(&mut self, now: Time, index: u16) {
        // Already out or denied: further reports of the same loss change nothing.
        if !self.rotation.is_usable(index) {
            return;
        }
        if self.rotation.usable_count() > self.min_active {
            self.rotation.remove(index);
            self.probing.add(now, index, self.rotation.plane_of(index));
            return;
        }
        // At the floor, the value that has been out longest replaces it, if possible one of its
        // plane.
        let plane = self.rotation.plane_of(index);
        if let Some(oldest) = self.probing.take_oldest(plane) {
            self.rotation.restore(oldest, State::Good);
            self.rotation.remove(index);
            self.probing.add(now, index, plane);
        }
    }

    /// Takes all values of a returning plane out of use until their probes are answered.
    fn distrust(&mut self, now: Time, plane: u32) {
        for index in self.rotation.of_plane(plane) {
            if self.rotation.is_usable(index) {
                self.rotation.remove(index);
                self.probing.add(now, index, plane);
            }
        }
    }
}

impl SenderPolicy for Mrc {
    fn entropy(&mut self, now: Time) -> u16 {
        let Paths { rotation, usable, .. } = &mut *self.0;
        rotation.next(now, *usable).or_else(|| rotation.any(*usable)).unwrap_or_default()
    }

    fn choose(&mut self, now: Time, free: PlaneMask) -> Option<u16> {
        let Paths { rotation, usable, .. } = &mut *self.0;
        if let Some(value) = rotation.next(now, free) {
            return Some(value);
        }
        // If no usable plane has a value in rotation, send by a value that is out: stalling is
        // worse.
        match rotation.has_usable(*usable) {
            true => None,
            false => rotation.any(free),
        }
    }

    #[inline]
    fn handle_feedback(&mut self, now: Time, feedback: Feedback) {
        // Echoes of values outside the profile are ignored.
        let Some(index) = self.0.rotation.index_of(feedback.entropy) else { return };
        let paths = &mut *self.0;
        if feedback.packets > 0 && !paths.timeouts.is_empty() {
            paths.timeouts.retain(|&(other, _)| other != index);
        }
        match feedback.signal {
            PathSignal::Good | PathSignal::TrimmedAtLastHop => {}
            PathSignal::Marked | PathSignal::Trimmed => paths.rotation.skip(now, index),
            PathSignal::Nack => paths.on_hole(now, index),
            PathSignal::Condemned => paths.condemn(now, index),
        }
    }

    fn handle_timeout(&mut self, now: Time, entropy: u16) -> Option<FailedPath> {
        let index = self.0.rotation.index_of(entropy)?;
        self.0.on_timeout(now, index);
        None
    }

    fn handle_planes(&mut self, now: Time, usable: PlaneMask) {
        let before = std::mem::replace(&mut self.0.usable, usable);
        if self.0.back == Back::Probed {
            for plane in usable.planes().filter(|&plane| !before.has(plane)) {
                self.0.distrust(now, plane);
            }
        }
        self.0.probing.set_usable(now, usable);
    }

    fn prober(&mut self) -> Option<&mut dyn Prober> {
        Some(self)
    }

    /// Two bits and a position per value, plus the record of each value that is out.
    fn state_bits(&self) -> u64 {
        self.0.rotation.state_bits() + self.0.probing.len() as u64 * Condemned::BITS
    }
}

impl Prober for Mrc {
    fn next_probe(&self) -> Time {
        self.0.probing.next()
    }

    fn poll_probe(&mut self, now: Time) -> Option<u16> {
        let index = self.0.probing.poll(now)?;
        Some(self.0.rotation.value(index))
    }

    fn handle_probe(&mut self, now: Time, entropy: u16, signal: PathSignal) {
        let Paths { rotation, probing, .. } = &mut *self.0;
        let Some(index) = rotation.index_of(entropy) else { return };
        if probing.handle_reply(now, index) {
            rotation.restore(index, State::Good);
            // The path works but is congested.
            if signal == PathSignal::Marked {
                rotation.skip(now, index);
            }
        }
    }
}

#[cfg(test)]
mod tests;
