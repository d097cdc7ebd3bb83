//! The parameters of `mrc`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::units::Span;

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
    /// Losses that take a value out: `"timeout"`, time-outs alone; `"repeated"`, also the second
    /// hole in a base round-trip time; `"hole"`, any loss; `"auto"`, the last with trimming, else
    /// `"repeated"` (G3). A hole as old as the timer is a time-out.
    pub condemn: Condemn,
    /// Time-outs of a value, without an arrival between them, that take it out: 1 (G3).
    pub condemn_timeouts: u16,
    /// Cycles of a plane's rotation after which it is reshuffled: 16 (G1).
    pub reshuffle: u16,
    /// Interval between probes of a value that is out: 100 us (G6).
    pub probe_every: Span,
    /// Upper limit of that interval, which doubles with each unanswered probe: 10 ms (G6).
    pub probe_every_max: Span,
    /// Consecutive probes that must be answered: 1 (G6).
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
            condemn: Condemn::Timeout,
            condemn_timeouts: 1,
            reshuffle: 16,
            probe_every: Span::from_us(100),
            probe_every_max: Span::from_ms(10),
            probe_successes: 1,
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
    /// Time-outs alone.
    Timeout,
    /// A time-out, or the second hole within a base round-trip time.
    Repeated,
    /// Any loss.
    Hole,
    /// `Hole` if switches trim, otherwise `Repeated`.
    Auto,
}

impl Config {
    /// Checks that values are in range and agree.
    pub(super) fn check(&self) -> Result<(), String> {
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
        let least_is_1 = [
            ("probe_successes", self.probe_successes),
            ("condemn_timeouts", self.condemn_timeouts),
        ];
        if let Some((key, _)) = least_is_1.iter().find(|(_, value)| *value == 0) {
            return Err(format!("{key} = 0: it must be at least 1"));
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
