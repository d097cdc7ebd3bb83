//! The settings of switches, links and NICs in an experiment.

use super::config::{Family, HpccConfig, WithLine};
use super::congestion;
use super::node_numbers::NodeNumbers;
use super::recovery::{self, DialectRecovery};
use super::topology::HpccTopology;
use super::{HpccError, wire};
use crate::balance::Scheme;
use crate::fabric::{
    Buffer, Direction, Ecn, EcnPoint, FabricConfig, Failure, FailureKind, Headroom, PfcAdmission,
    PfcConfig, Rounding, SwitchConfig, TieOrder,
};
use crate::ids::LinkId;
use crate::nic::{AckConfig, HardwareConfig, NicConfig};
use crate::topology::{Node, Topology};
use crate::units::{BitRate, Bytes, Fraction, Span, Time};

/// Returns the settings of switches and links. A packet is marked when it is dequeued, by the bytes
/// that remain behind it (`SwitchNode::SwitchNotifyDequeue`). There is no gap between packets and
/// no forwarding delay.
pub(super) fn fabric(
    config: &HpccConfig,
    read: &HpccTopology,
    topology_file: &str,
    rounding: Rounding,
) -> Result<FabricConfig, HpccError> {
    let mut failures = failures(config, read, topology_file)?;
    failures.extend(losses(config, read));
    Ok(FabricConfig {
        switch: SwitchConfig {
            ecn_point: EcnPoint::Dequeue,
            pfc: config.pfc.then(|| pfc(config)),
            ..SwitchConfig::plain(Buffer::Shared(config.buffer))
        },
        ecn_by_rate: ecn_by_rate(config, &read.topology)?,
        ties: TieOrder::Port,
        rounding,
        failures,
        ..FabricConfig::plain(Buffer::Shared(config.buffer))
    })
}

/// Returns priority flow control (PFC, `ENABLE_PFC`) with the rule and the constants of each
/// simulator in `switch-mmu.cc`, `third.cc` and `network-load-balance.cc`. Pauses expire after
/// `PAUSE_TIME` in ConWeave only (`QbbNetDevice::Receive`); in HPCC they last until the resume.
/// `USE_DYNAMIC_PFC_THRESHOLD` has no effect, because their switches do not read that attribute:
/// the threshold is always dynamic.
fn pfc(config: &HpccConfig) -> PfcConfig {
    match config.family() {
        Family::Hpcc => PfcConfig::HPCC,
        Family::ConWeave => PfcConfig {
            headroom: Headroom::ConWeave { packet: config.payload + wire::HEADER },
            reserve: wire::RESERVE_CONWEAVE,
            alpha: Fraction::new(1, 16).expect("not zero"),
            resume_offset: wire::RESUME_OFFSET_CONWEAVE,
            admission: PfcAdmission::ConWeave { packet: wire::PACKET_CONWEAVE },
            // A pause frame has 32 bits for its duration.
            pause_time: Some(Span::from_us(config.pause_time_us.min(u32::MAX.into()))),
        },
    }
}

/// Returns the thresholds for the rate of each switch port. As in the family, each rate needs one.
fn ecn_by_rate(config: &HpccConfig, topology: &Topology) -> Result<Vec<(BitRate, Ecn)>, HpccError> {
    if !config.ecn {
        return Ok(Vec::new());
    }
    let has_switch = |ends: &[Node; 2]| ends.iter().any(|end| end.switch().is_some());
    let links = (0..).map(LinkId).zip(topology.links());
    let mut rates: Vec<(BitRate, LinkId)> = links
        .filter(|(_, link)| has_switch(&link.ends))
        .map(|(id, link)| (link.rate, id))
        .collect();
    rates.sort_unstable();
    rates.dedup_by_key(|(rate, _)| *rate);
    rates.into_iter().map(|(rate, link)| Ok((rate, ecn(config, topology, rate, link)?))).collect()
}

/// Returns the ECN settings for a rate. Here both thresholds apply to all bytes in a queue, as in
/// HPCC. ConWeave compares only the bytes beyond the queue's reserved memory
/// (`SwitchMmu::ShouldSendCN`, `UpdateEgressAdmission`), so that memory is added to its thresholds.
fn ecn(
    config: &HpccConfig,
    topology: &Topology,
    rate: BitRate,
    link: LinkId,
) -> Result<Ecn, HpccError> {
    let missing = |key| HpccError::MissingThreshold {
        file: config.file.clone(),
        key,
        rate,
        link: topology.link_name(link).to_owned(),
    };
    let maps = &config.thresholds;
    let kmin = value_for(&maps.kmin, rate).ok_or_else(|| missing("KMIN_MAP"))?;
    let kmax = value_for(&maps.kmax, rate).ok_or_else(|| missing("KMAX_MAP"))?;
    let pmax = value_for(&maps.pmax, rate).ok_or_else(|| missing("PMAX_MAP"))?;
    let reserved = match config.family() {
        Family::Hpcc => Bytes::ZERO,
        Family::ConWeave => wire::QUEUE_OWN_CONWEAVE,
    };
    let shifted = |threshold: Bytes| Bytes::new(threshold.get().saturating_add(reserved.get()));
    match kmin.cmp(&kmax) {
        std::cmp::Ordering::Less => {
            Ok(Ecn::Ramp { kmin: shifted(kmin), kmax: shifted(kmax), pmax })
        }
        std::cmp::Ordering::Equal => Ok(Ecn::Step(shifted(kmax))),
        std::cmp::Ordering::Greater => Err(HpccError::ThresholdOrder {
            file: config.file.clone(),
            rate,
            kmin: kmin.get(),
            kmax: kmax.get(),
        }),
    }
}

/// Returns the value for a rate; the last one if there are several, as in the family.
fn value_for<T: Copy>(map: &[(BitRate, T)], rate: BitRate) -> Option<T> {
    map.iter().rev().find(|(of, _)| *of == rate).map(|&(_, value)| value)
}

/// Returns the failures of `LINK_DOWN`: every link between the two nodes fails for the rest of the
/// run. Detection and convergence take no time, because the family recomputes its routes in the
/// same instant (`TakeDownLink`).
fn failures(
    config: &HpccConfig,
    read: &HpccTopology,
    topology_file: &str,
) -> Result<Vec<Failure>, HpccError> {
    let Some(down) = config.link_down else { return Ok(Vec::new()) };
    let (file, line) = (config.file.clone(), down.line);
    let origin = match config.family() {
        Family::ConWeave => config.flowgen_start,
        Family::Hpcc => None,
    };
    let at = origin.unwrap_or(Time::from_ps(wire::LINK_DOWN_ORIGIN_PS)).saturating_add(down.after);
    if at == Time::NEVER {
        return Err(HpccError::LinkDownTooLate { file, line });
    }
    let numbers = NodeNumbers::new(read);
    let [a, b] = down.ends;
    let joins = |ends: [Node; 2]| {
        let ends = ends.map(|node| numbers.of(node));
        ends == [a, b] || ends == [b, a]
    };
    let links = (0..).map(LinkId).zip(read.topology.links());
    let failures: Vec<Failure> = links
        .filter(|(_, link)| joins(link.ends))
        .map(|(link, _)| Failure {
            link,
            direction: Direction::Both,
            kind: FailureKind::Down,
            at,
            until: Time::NEVER,
            detection: Span::ZERO,
            convergence: Span::ZERO,
        })
        .collect();
    if failures.is_empty() {
        let topology = topology_file.to_owned();
        return Err(HpccError::UnknownLink { file, line, a, b, topology });
    }
    Ok(failures)
}

/// Returns the links that lose packets during the whole run, at the link's own error rate or else
/// at `ERROR_RATE_PER_LINK`. The family applies rates to packets (`ERROR_UNIT_PACKET`). Rates are
/// rounded up to a multiple of 10^-9.
fn losses<'a>(
    config: &HpccConfig,
    read: &'a HpccTopology,
) -> impl Iterator<Item = Failure> + use<'a> {
    let billionths = |rate: f64| (rate * 1e9).ceil() as u32;
    let default = u32::try_from(config.error_rate.div_ceil(1_000)).expect("at most 10^12");
    (0..).map(LinkId).zip(&read.error_rate).filter_map(move |(link, &own)| {
        let billionths = if own > 0.0 { billionths(own) } else { default };
        let rate = Fraction::new(billionths, 1_000_000_000).filter(|rate| rate.numerator() > 0)?;
        Some(Failure {
            link,
            direction: Direction::Both,
            kind: FailureKind::Loss { rate },
            at: Time::ZERO,
            until: Time::NEVER,
            detection: Span::ZERO,
            convergence: Span::ZERO,
        })
    })
}

/// Returns the settings of every host's NIC with a loss recovery.
///
/// # Errors
/// Fails if the congestion control is unknown, or if it needs a single path and the scheme uses
/// several.
pub(super) fn nic(
    config: &HpccConfig,
    (scheme, loss): (&Scheme, DialectRecovery),
    topology: &Topology,
    rounding: Rounding,
) -> Result<NicConfig, HpccError> {
    let family = config.family();
    let congestion = congestion::of(config, topology)?;
    if congestion.telemetry().is_some() && !scheme.pins_path() {
        let WithLine { line, value: mode } = config.cc_mode;
        let (file, name) = (config.file.clone(), congestion.name());
        return Err(HpccError::SeveralPaths { file, line, mode, name, policy: scheme.name });
    }
    let overhead = congestion.overhead();
    let is_moved = congestion.telemetry().is_some() || config.window;
    Ok(NicConfig {
        hardware: HardwareConfig::default(),
        payload: config.payload,
        header: wire::HEADER + overhead,
        ack: AckConfig {
            bytes: wire::ACK.max(wire::ACK_HEADER + overhead),
            every: config.ack_interval,
            // ConWeave's script sets `AckHighPrio` for every switch.
            priority: config.ack_priority.unwrap_or(family == Family::ConWeave),
            nacks: recovery::nacks(family),
            ..AckConfig::default()
        },
        congestion,
        recovery: loss.recovery,
        retransmit_timeout: loss.timeout,
        nack_interval: match family {
            Family::Hpcc => wire::NACK_INTERVAL_HPCC,
            Family::ConWeave => wire::NACK_INTERVAL_CONWEAVE,
        },
        pace_unit: match rounding {
            Rounding::TruncateNs if is_moved => Span::from_ns(1),
            _ => Span::from_ps(1),
        },
        round_trips: congestion::round_trips(config, topology),
        ..NicConfig::default()
    })
}
