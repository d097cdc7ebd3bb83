//! What an experiment makes of switches, links and NICs.

use super::config::{Family, HpccConfig};
use super::{HpccError, wire};
use crate::balance::Scheme;
use crate::fabric::{
    Buffer, Ecn, EcnPoint, FabricConfig, Failure, FailureKind, Rounding, SwitchConfig,
};
use crate::ids::LinkId;
use crate::nic::congestion::{CongestionControl, dcqcn_mlx, dctcp_rate};
use crate::nic::verbs::QpConfig;
use crate::nic::{AckConfig, NicConfig};
use crate::topology::hpcc::HpccTopology;
use crate::topology::{Node, Topology};
use crate::units::{BitRate, Bytes, Span, Time};

/// Switches and links. Marking is judged as a packet leaves, by what is left behind it
/// (`SwitchNode::SwitchNotifyDequeue`); there is no gap and no forwarding delay.
pub(super) fn fabric(
    config: &HpccConfig,
    read: &HpccTopology,
    topology_file: &str,
    rounding: Rounding,
) -> Result<FabricConfig, HpccError> {
    Ok(FabricConfig {
        switch: SwitchConfig {
            buffer: Buffer::Shared(config.buffer),
            ecn: Ecn::Off,
            ecn_point: EcnPoint::Dequeue,
        },
        ecn_by_rate: ecn_by_rate(config, &read.topology)?,
        gap: Bytes::ZERO,
        forwarding_delay: Span::ZERO,
        rounding,
        failures: failures(config, read, topology_file)?,
    })
}

/// The thresholds of every rate that a switch port has. As in the family, each must be there.
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

/// Both thresholds are of all bytes that wait. HPCC counts so; ConWeave compares only what a queue
/// has beyond its own share (`SwitchMmu::ShouldSendCN`, `UpdateEgressAdmission`).
fn ecn(
    config: &HpccConfig,
    topology: &Topology,
    rate: BitRate,
    link: LinkId,
) -> Result<Ecn, HpccError> {
    let missing = |key| HpccError::NoThreshold {
        file: config.file.clone(),
        key,
        rate,
        link: topology.link_name(link).to_owned(),
    };
    let maps = &config.thresholds;
    let kmin = of(&maps.kmin, rate).ok_or_else(|| missing("KMIN_MAP"))?;
    let kmax = of(&maps.kmax, rate).ok_or_else(|| missing("KMAX_MAP"))?;
    let pmax = of(&maps.pmax, rate).ok_or_else(|| missing("PMAX_MAP"))?;
    let own = match config.family() {
        Family::Hpcc => Bytes::ZERO,
        Family::ConWeave => wire::QUEUE_OWN_CONWEAVE,
    };
    let with_own = |threshold: Bytes| Bytes::new(threshold.get().saturating_add(own.get()));
    match kmin.cmp(&kmax) {
        std::cmp::Ordering::Less => {
            Ok(Ecn::Ramp { kmin: with_own(kmin), kmax: with_own(kmax), pmax })
        }
        std::cmp::Ordering::Equal => Ok(Ecn::Step(with_own(kmax))),
        std::cmp::Ordering::Greater => Err(HpccError::ThresholdOrder {
            file: config.file.clone(),
            rate,
            kmin: kmin.get(),
            kmax: kmax.get(),
        }),
    }
}

/// The value for a rate; of several, the last, as in the family.
fn of<T: Copy>(map: &[(BitRate, T)], rate: BitRate) -> Option<T> {
    map.iter().rev().find(|(of, _)| *of == rate).map(|&(_, value)| value)
}

/// `LINK_DOWN`: every link between the two nodes, for ever; everybody knows at once, because the
/// family computes its routes anew in the same instant (`TakeDownLink`).
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
    let id_of = |node: Node| match node {
        Node::Host(host) => read.node_of_host[host.index()],
        Node::Switch(switch) => read.node_of_switch[switch.index()],
    };
    let [a, b] = down.ends;
    let joins = |ends: [Node; 2]| {
        let ends = ends.map(id_of);
        ends == [a, b] || ends == [b, a]
    };
    let links = (0..).map(LinkId).zip(read.topology.links());
    let failures: Vec<Failure> = links
        .filter(|(_, link)| joins(link.ends))
        .map(|(link, _)| Failure {
            link,
            kind: FailureKind::Down,
            at,
            until: Time::NEVER,
            detection: Span::ZERO,
            convergence: Span::ZERO,
        })
        .collect();
    if failures.is_empty() {
        let topology = topology_file.to_owned();
        return Err(HpccError::NoSuchLink { file, line, a, b, topology });
    }
    Ok(failures)
}

/// Every host's NIC. Loss recovery is what the scheme is made for: go-back-N for ECMP.
pub(super) fn nic(config: &HpccConfig, scheme: &Scheme) -> NicConfig {
    let family = config.family();
    NicConfig {
        payload: config.payload,
        header: wire::HEADER,
        ack: AckConfig {
            bytes: wire::ACK,
            every: config.ack_interval,
            // ConWeave's script sets `AckHighPrio` for every switch.
            priority: config.ack_priority.unwrap_or(family == Family::ConWeave),
        },
        congestion: congestion(config),
        recovery: scheme.recovery,
        retransmit_timeout: wire::RETRANSMIT_TIMEOUT,
        nack_interval: match family {
            Family::Hpcc => wire::NACK_INTERVAL_HPCC,
            Family::ConWeave => wire::NACK_INTERVAL_CONWEAVE,
        },
        // Marks travel in acknowledgements here; nothing asks for notification packets.
        cnp_interval: Span::from_us(50),
        queue_pairs: QpConfig::default(),
    }
}

/// DCTCP for `CC_MODE` 8, otherwise DCQCN as ConnectX NICs do it, with the file's numbers.
fn congestion(config: &HpccConfig) -> CongestionControl {
    let rates = &config.rates;
    if config.cc_mode == 8 {
        return CongestionControl::DctcpRate(dctcp_rate::Config {
            g: rates.gain,
            additive_increase: rates.dctcp_increase,
            min_rate: rates.min_rate,
        });
    }
    CongestionControl::DcqcnMlx(dcqcn_mlx::Config {
        g: rates.gain,
        alpha_timer: rates.alpha_timer,
        decrease_timer: rates.decrease_timer,
        increase_timer: rates.increase_timer,
        fast_recovery_steps: rates.fast_recovery_steps,
        additive_increase: rates.additive_increase,
        hyper_increase: rates.hyper_increase,
        min_rate: rates.min_rate,
        clamp_target_rate: rates.clamp_target_rate,
        ..dcqcn_mlx::Config::default()
    })
}
