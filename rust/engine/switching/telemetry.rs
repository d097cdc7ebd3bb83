//! Telemetry that switches write into data packets for congestion control.
//!
//! Sources: Li et al., "HPCC: High Precision Congestion Control" (SIGCOMM 2019), section 4.1, and
//! Ben Basat et al., "PINT: Probabilistic In-band Network Telemetry" (SIGCOMM 2020), section 4.3.
//! Both follow HPCC's simulator (alibaba-edu/High-Precision-Congestion-Control,
//! `SwitchNode::SwitchNotifyDequeue`, `Pint::encode_u`): the switch writes when a packet leaves its
//! queue.

use std::num::NonZero;

use crate::ids::PortId;
use crate::nic::congestion::{TelemetryRequest, hpcc_pint};
use crate::packet::{PortReading, Telemetry};
use crate::rng::{Purpose, Stream};
use crate::units::{BitRate, Span, Time};

/// Writes the telemetry of every port of a fabric.
#[derive(Debug)]
pub struct TelemetryWriter(Kind);

#[derive(Debug)]
enum Kind {
    Hops { multiple: u16 },
    Utilization { law: UtilizationModel, ports: Vec<PortUtilization> },
}

/// Parameters that all ports use to compute their utilization.
#[derive(Debug, Clone, Copy)]
struct UtilizationModel {
    base: f64,
    /// T in ns.
    round_trip: u64,
}

/// Utilization of a port.
#[derive(Debug, Clone)]
struct PortUtilization {
    utilization: f64,
    /// Departure time and bytes of the previous packet.
    last: (Time, u32),
    random: Stream,
}

/// Rate at which the units of telemetry are smallest.
const UNIT_RATE: u64 = 25_000_000_000;

impl TelemetryWriter {
    /// Creates the telemetry of `ports` ports. `line_rate` is the rate of the fastest host port,
    /// and `round_trip` that of the longest idle path.
    pub fn new(
        request: TelemetryRequest,
        ports: usize,
        line_rate: BitRate,
        round_trip: Span,
        seed: u64,
    ) -> Self {
        Self(match request {
            TelemetryRequest::Hops { multiple } => {
                let by_rate = (line_rate.as_bps() / UNIT_RATE).clamp(1, u64::from(u16::MAX));
                Kind::Hops { multiple: multiple.map_or(by_rate as u16, NonZero::get) }
            }
            TelemetryRequest::Utilization { base, round_trip: given } => {
                let round_trip = given.of(round_trip).as_ps() / 1_000;
                let meter = |port| PortUtilization {
                    utilization: 0.0,
                    last: (Time::ZERO, 0),
                    random: Stream::new(seed, Purpose::Telemetry, port),
                };
                Kind::Utilization {
                    law: UtilizationModel { base, round_trip: round_trip.max(1) },
                    ports: (0..ports as u64).map(meter).collect(),
                }
            }
        })
    }

    /// Writes a port's telemetry into a data packet of `bytes` that leaves its queue.
    pub fn handle_data(
        &mut self,
        port: PortId,
        reading: &PortReading,
        bytes: u32,
        telemetry: &mut Telemetry,
    ) {
        match &mut self.0 {
            Kind::Hops { multiple } => telemetry.push(reading, *multiple),
            Kind::Utilization { law, ports } => {
                let meter = &mut ports[port.index()];
                telemetry.raise_power(meter.measure(*law, reading));
                meter.last = (reading.at, bytes);
            }
        }
    }

    /// Records that a packet other than data leaves a port.
    pub fn handle_other(&mut self, port: PortId, at: Time, bytes: u32) {
        if let Kind::Utilization { ports, .. } = &mut self.0 {
            ports[port.index()].last = (at, bytes);
        }
    }
}

impl PortUtilization {
    /// Averages the utilization up to this departure and returns it as an exponent.
    fn measure(&mut self, law: UtilizationModel, reading: &PortReading) -> u16 {
        let round_trip = law.round_trip as f64;
        let elapsed = reading.at.since(self.last.0).as_ps() / 1_000;
        // Capped at one round trip: after that, the old average has no weight left.
        let elapsed = elapsed.min(law.round_trip) as f64;
        let ns_per_byte = 8e9 / (reading.rate.as_bps().max(1) as f64);
        // The simulator measures queues in units of 256 bytes.
        let queue = (reading.waiting / 256 * 256) as f64;
        let of_queue = elapsed * queue * ns_per_byte / (round_trip * round_trip);
        let of_bytes = f64::from(self.last.1) * ns_per_byte / round_trip;
        let kept = (round_trip - elapsed) * self.utilization / round_trip;
        self.utilization = of_queue + of_bytes + kept;
        self.power(law.base)
    }

    /// Returns the exponent of `base` that encodes the utilization times 512, rounded at random so
    /// that the decoded mean is unbiased.
    fn power(&mut self, base: f64) -> u16 {
        // At least 1, because the exponent must not be negative.
        let value = (self.utilization * hpcc_pint::MAX_FLOWS).ceil().max(1.0);
        let exact = value.ln() / base.ln();
        let below = exact.floor();
        let [lower, upper] = [below, below + 1.0].map(|power| base.powf(power));
        let part = (value - lower) / (upper - lower) * 65_536.0;
        let up = f64::from(self.random.next_u32() >> 16) < part;
        (below as u16).saturating_add(u16::from(up))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nic::congestion::AbsoluteOrFraction;

    const PORT: PortId = PortId(0);

    fn reading(ns: u64, waiting: u64) -> PortReading {
        let at = Time::ZERO + Span::from_ns(ns);
        PortReading { at, sent: 0, waiting, rate: BitRate::from_gbps(100) }
    }

    /// Returns the mean utilization from packets of 1000 B, one every `ns`, after warm-up.
    fn utilization(ns: u64, waiting: u64, base: f64) -> f64 {
        let request = TelemetryRequest::Utilization {
            base,
            round_trip: AbsoluteOrFraction::Absolute(Span::from_us(8)),
        };
        let mut writer = TelemetryWriter::new(request, 1, BitRate::from_gbps(100), Span::ZERO, 1);
        let (mut sum, mut count) = (0.0, 0.0);
        for packet in 0..800_000 / ns {
            let mut telemetry = Telemetry::default();
            let reading = reading(packet * ns, waiting);
            writer.handle_data(PORT, &reading, 1_000, &mut telemetry);
            if packet * ns > 400_000 {
                sum += base.powi(telemetry.power().into()) / hpcc_pint::MAX_FLOWS;
                count += 1.0;
            }
        }
        sum / count
    }

    #[test]
    fn utilization_is_throughput_plus_queue_in_bandwidth_delay_products() {
        // A packet takes 80 ns, so one every 160 ns is half the rate. The randomly rounded mean is
        // exact to the quantum of 1/512.
        assert!((utilization(160, 0, 1.01) - 0.5).abs() < 0.004);
        assert!((utilization(80, 0, 1.01) - 1.0).abs() < 0.004);
        // 51,200 B are 0.512 of a bandwidth-delay product of 100,000 B.
        assert!((utilization(80, 51_200, 1.01) - 1.512).abs() < 0.005);
        assert!((utilization(80, 51_200, 1.000_5) - 1.512).abs() < 0.003);
    }

    #[test]
    fn control_packets_count_as_sent_bytes() {
        let request = TelemetryRequest::Utilization {
            base: 1.01,
            round_trip: AbsoluteOrFraction::Absolute(Span::from_us(8)),
        };
        let mut writer = TelemetryWriter::new(request, 1, BitRate::from_gbps(100), Span::ZERO, 1);
        let mut telemetry = Telemetry::default();
        writer.handle_other(PORT, reading(7_000, 0).at, 50_000);
        writer.handle_data(PORT, &reading(8_000, 0), 1_000, &mut telemetry);
        let read = 1.01f64.powi(telemetry.power().into()) / hpcc_pint::MAX_FLOWS;
        assert!((read - 0.5).abs() < 0.01, "{read}");
    }

    #[test]
    fn units_grow_with_the_rate_of_hosts() {
        let multiple = |gbps, given| {
            let request = TelemetryRequest::Hops { multiple: NonZero::new(given) };
            let rate = BitRate::from_gbps(gbps);
            let mut writer = TelemetryWriter::new(request, 1, rate, Span::ZERO, 1);
            let mut telemetry = Telemetry::default();
            writer.handle_data(PORT, &reading(0, 0), 1_000, &mut telemetry);
            telemetry.multiple()
        };
        assert_eq!((multiple(100, 0), multiple(10, 0), multiple(100, 2)), (4, 1, 2));
    }
}
