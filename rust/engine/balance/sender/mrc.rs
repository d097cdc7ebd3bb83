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
//! - A loss takes a value out of the rotation, and a good backup of the same plane replaces it. At
//!   least `min_active` values stay usable: below that, the value that has been out longest
//!   returns.
//! - A value that is out is probed until enough consecutive probes were answered. It then becomes a
//!   backup.
//! - When a plane comes back, its values are probed first as well, unless `back = "all"`.

mod probing;
mod rotation;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

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

/// The parameters of `mrc`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Number of values per queue pair, the same number in each plane: 128 (typically 128 to 256).
    pub evs: u16,
    /// Number of values in rotation; the others are backups: 96 (G5: three quarters). If a plane
    /// has fewer paths than values, all paths are in rotation: a backup would be an idle path.
    pub active: u16,
    /// Minimum number of usable values, whatever is lost: 32 (the headers' example, a quarter).
    pub min_active: u16,
    /// Interpretation of a value: `"ecmp"`, an input of the switches' hashes, or `"srv6"`, a path,
    /// as in its authors' clusters.
    pub encoding: Encoding,
    /// Duration of a skip: `"turn"` (the first skipped value that a packet meets is restored; G2),
    /// `"each"` (every one that it meets), or a time.
    pub skip: Skip,
    /// Losses that take a value out: `"hole"`, any loss; `"timeout"`, a timeout or the second hole
    /// in a base round-trip time; `"auto"`, the first with trimming, else the second (G3).
    pub condemn: Condemn,
    /// Cycles of a plane's rotation after which it is reshuffled: 16 (G1).
    pub reshuffle: u16,
    /// Interval between probes of a value that is out: 100 us (G6).
    pub probe_every: Span,
    /// Upper limit of that interval, which doubles with each unanswered probe: 10 ms (G6).
    pub probe_every_max: Span,
    /// Consecutive probes that must be answered: 3 (G6).
    pub probe_successes: u16,
    /// Paths of control packets. With `"echo"` they take the value of the packet that they
    /// acknowledge. With `"probe"`, a queue pair that only receives probes one value per round
    /// trip; control packets use the answered ones, one in each plane (G19).
    pub reverse: ReversePath,
    /// Values used when a plane comes back: `"probed"`, those whose probes were answered, or
    /// `"all"`, immediately (G12).
    pub back: Back,
    /// Values, by their index in the profile, that the operator denies: none.
    pub denied: Vec<u16>,
}

/// Shortest interval between probes: below it, a path that is down costs more packets than the
/// messages. \[inferred\]
const MIN_PROBE_INTERVAL: Span = Span::from_us(1);

impl Default for Config {
    fn default() -> Self {
        Self {
            evs: 128,
            active: 96,
            min_active: 32,
            encoding: Encoding::Srv6,
            skip: Skip::Turn,
            condemn: Condemn::Auto,
            reshuffle: 16,
            probe_every: Span::from_us(100),
            probe_every_max: Span::from_ms(10),
            probe_successes: 3,
            reverse: ReversePath::Echo,
            back: Back::Probed,
            denied: Vec::new(),
        }
    }
}

/// Interpretation of a value by switches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// The value is hashed.
    Ecmp,
    /// The value is the path, hop by hop.
    Srv6,
}

/// Paths of control packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReversePath {
    /// The value of the packet that they acknowledge.
    Echo,
    /// Values that probes have found to work.
    Probe,
}

/// Values used when a plane comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Back {
    /// Values whose probes were answered.
    Probed,
    /// All values, as soon as the plane is known to be back.
    All,
}

/// Duration of a skip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Skip {
    /// Until it is the first skipped value that a packet meets.
    Turn,
    /// Until any packet meets it.
    Each,
    /// This time.
    Time(Span),
}

impl Serialize for Skip {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Turn => to.serialize_str("turn"),
            Self::Each => to.serialize_str("each"),
            Self::Time(span) => span.serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for Skip {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        match text.as_str() {
            "turn" => Ok(Self::Turn),
            "each" => Ok(Self::Each),
            _ => text.parse().map(Self::Time).map_err(|error| {
                serde::de::Error::custom(format!("{error}, or 'turn', or 'each'"))
            }),
        }
    }
}

/// Losses that take a value out of rotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Condemn {
    /// `Hole` if switches trim, otherwise `Timeout`.
    Auto,
    /// Any loss.
    Hole,
    /// A timeout, or the second hole within a base round-trip time.
    Timeout,
}

/// The entropy values of one queue pair.
#[derive(Debug, Clone)]
pub struct Mrc(Box<Paths>);

#[derive(Debug, Clone)]
struct Paths {
    min_active: usize,
    condemns_holes: bool,
    back: Back,
    base_rtt: Span,
    rotation: Rotation,
    probing: Probing,
    /// Time of each value's last hole, used if a single hole does not condemn the value.
    holes: Vec<(u16, Time)>,
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

impl Config {
    fn check(&self) -> Result<(), String> {
        let Self { evs, active, min_active, .. } = *self;
        if evs == 0 || evs > 4_096 {
            return Err(format!("evs = {evs}: it must be 1 to 4096"));
        }
        if active == 0 || active > evs {
            return Err(format!("active = {active}: it must be 1 to evs = {evs}"));
        }
        if min_active > evs {
            return Err(format!("min_active = {min_active}: it must be at most evs = {evs}"));
        }
        if self.reshuffle == 0 {
            return Err("reshuffle = 0: it must be at least 1 turn".to_owned());
        }
        if self.probe_successes == 0 {
            return Err("probe_successes = 0: it must be at least 1".to_owned());
        }
        let (least, most) = (self.probe_every, self.probe_every_max);
        if least < MIN_PROBE_INTERVAL || most < least {
            return Err(format!(
                "probe_every = {least}, probe_every_max = {most}: the first must be at least \
                 {MIN_PROBE_INTERVAL}, and not longer than the second"
            ));
        }
        match self.denied.iter().find(|&&index| index >= evs) {
            Some(index) => Err(format!("denied = [{index}]: values are numbered 0 to {}", evs - 1)),
            None => Ok(()),
        }
    }
}

impl Mrc {
    pub(super) fn new(config: &Config, qp: &QpContext) -> Self {
        let condemns_holes = match config.condemn {
            Condemn::Auto => qp.network.trimming == Trimming::On,
            condemn => condemn == Condemn::Hole,
        };
        let rotation = Rotation::new(config, qp, qp.random(Purpose::Entropy));
        // With fewer paths than values, the floor keeps its share of them.
        let min_active =
            rotation.count() * usize::from(config.min_active) / usize::from(config.evs);
        Self(Box::new(Paths {
            min_active,
            condemns_holes,
            back: config.back,
            base_rtt: qp.network.base_rtt,
            rotation,
            probing: Probing::new(config),
            holes: Vec::new(),
            usable: PlaneMask::all(qp.network.planes),
        }))
    }
}

impl Paths {
    /// Handles the loss of a packet with value `index`.
    fn on_loss(&mut self, now: Time, index: u16) {
        if self.condemns_holes {
            return self.condemn(now, index);
        }
        // Only a second hole within a base round trip condemns the value.
        self.holes.retain(|&(_, at)| now.since(at) <= self.base_rtt);
        match self.holes.iter().any(|&(other, _)| other == index) {
            true => self.condemn(now, index),
            false => self.holes.push((index, now)),
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
        match feedback.signal {
            PathSignal::Good | PathSignal::TrimmedAtLastHop => {}
            PathSignal::Marked | PathSignal::Trimmed => self.0.rotation.skip(now, index),
            PathSignal::Nack => self.0.on_loss(now, index),
        }
    }

    fn handle_timeout(&mut self, now: Time, entropy: u16) -> Option<FailedPath> {
        let index = self.0.rotation.index_of(entropy)?;
        self.0.condemn(now, index);
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
