//! ECN marking.
//!
//! Source: RFC 3168 for the mark. The ramp between Kmin and Kmax is that of DCQCN's congestion
//! point (Zhu et al., SIGCOMM 2015, section 5.1). The step is that of DCTCP (Alizadeh et al.,
//! SIGCOMM 2010, section 3.1).

use super::config::{Ecn, EcnPoint, FabricConfig, scale_by_rate};
use crate::ids::PortId;
use crate::rng::{Purpose, Stream};
use crate::topology::Topology;
use crate::units::{BitRate, Bytes};

/// Returns the marker of each port; empty if no switch port marks. Host ports never mark.
pub(super) fn markers(topology: &Topology, config: &FabricConfig, seed: u64) -> Vec<Marker> {
    let ports = 2 * u32::try_from(topology.links().len()).expect("ids are 32 bits");
    let ports = (0..ports).map(PortId);
    let ecn = |port: PortId| config.ecn_of(topology, port);
    // With an empty table `Switching` skips the marker look-up entirely.
    if ports.clone().all(|port| ecn(port) == Ecn::Off) {
        return Vec::new();
    }
    ports.map(|port| Marker::new(ecn(port), seed, port)).collect()
}

/// Returns, for each decision point, the largest queue in bytes at which no marker marks. Marking
/// is decided at only one of the points.
pub(super) fn floors(markers: &[Marker], decided_at: EcnPoint) -> [u32; 2] {
    let floor = markers.iter().map(|marker| match marker.ecn {
        Ecn::Off => u64::MAX,
        Ecn::Step(step) => step.get(),
        Ecn::Ramp { kmin, .. } => kmin.get(),
    });
    let floor = u32::try_from(floor.min().unwrap_or(u64::MAX)).unwrap_or(u32::MAX);
    [EcnPoint::Enqueue, EcnPoint::Dequeue].map(|at| if at == decided_at { floor } else { u32::MAX })
}

/// The marker of one port.
#[derive(Debug)]
pub(super) struct Marker {
    ecn: Ecn,
    /// Thresholds at the link's full rate.
    intact: Ecn,
    random: Stream,
    /// Number of packets marked.
    pub(super) marked: u64,
}

impl Marker {
    fn new(ecn: Ecn, seed: u64, port: PortId) -> Self {
        let random = Stream::new(seed, Purpose::EcnMark, u64::from(port.0));
        Self { ecn, intact: ecn, random, marked: 0 }
    }

    /// Scales the thresholds of a port whose rate dropped from `of` to `rate`.
    pub(super) fn scale(&mut self, rate: BitRate, of: BitRate) {
        let left = |bytes: Bytes| Bytes::new(scale_by_rate(bytes.get(), rate, of));
        self.ecn = match self.intact {
            Ecn::Off => Ecn::Off,
            Ecn::Step(step) => Ecn::Step(left(step)),
            Ecn::Ramp { kmin, kmax, pmax } => {
                Ecn::Ramp { kmin: left(kmin), kmax: left(kmax), pmax }
            }
        };
    }

    /// Returns true if a packet that finds `waiting` bytes in its queue is marked.
    #[inline]
    pub(super) fn marks(&mut self, waiting: Bytes) -> bool {
        match self.ecn {
            Ecn::Off => false,
            Ecn::Step(step) => waiting > step,
            Ecn::Ramp { kmin, kmax, pmax } => {
                if waiting <= kmin {
                    return false;
                }
                if waiting > kmax {
                    return true;
                }
                // p = pmax · (waiting − kmin) / (kmax − kmin), compared as integers.
                let numerator = u128::from((waiting - kmin).get()) * u128::from(pmax.numerator());
                let denominator = u128::from((kmax - kmin).get()) * u128::from(pmax.denominator());
                // Only the ramp draws: a port's stream advances only where chance decides.
                let draw = u128::from(self.random.next_u32());
                draw * denominator < numerator << 32
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Fraction;

    fn share(ecn: Ecn, waiting: u64) -> f64 {
        let mut marker = Marker::new(ecn, 1, PortId(0));
        let marked = (0..100_000).filter(|_| marker.marks(Bytes::new(waiting))).count();
        marked as f64 / 1e5
    }

    #[test]
    fn the_ramp_rises_from_kmin_to_pmax_and_jumps_to_one() {
        let ecn = Ecn::Ramp {
            kmin: Bytes::new(100_000),
            kmax: Bytes::new(400_000),
            pmax: Fraction::new(1, 5).unwrap(),
        };
        assert_eq!(share(ecn, 100_000), 0.0);
        assert!((share(ecn, 250_000) - 0.1).abs() < 0.005);
        assert!((share(ecn, 400_000) - 0.2).abs() < 0.005);
        assert_eq!(share(ecn, 400_001), 1.0);
    }

    #[test]
    fn thresholds_scale_with_the_rate_and_recover() {
        let mut marker = Marker::new(Ecn::Step(Bytes::new(800)), 1, PortId(0));
        let [half, whole] = [200, 400].map(BitRate::from_gbps);
        marker.scale(half, whole);
        assert_eq!([400, 401].map(|waiting| marker.marks(Bytes::new(waiting))), [false, true]);
        assert_eq!(floors(&[marker], EcnPoint::Enqueue), [400, u32::MAX]);
        let mut marker = Marker::new(Ecn::Step(Bytes::new(800)), 1, PortId(0));
        marker.scale(half, whole);
        marker.scale(whole, whole);
        assert_eq!(marker.ecn, Ecn::Step(Bytes::new(800)));
    }

    #[test]
    fn the_step_is_sharp() {
        let ecn = Ecn::Step(Bytes::new(800_000));
        assert_eq!((share(ecn, 800_000), share(ecn, 800_001)), (0.0, 1.0));
        assert_eq!(share(Ecn::Off, u64::MAX), 0.0);
    }
}
