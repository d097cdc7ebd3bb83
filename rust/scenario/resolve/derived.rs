//! Defaults derived from the fabric and the workload: ECN thresholds, the retransmission timeout,
//! and when acknowledgements are due.

use crate::balance::Scheme;
use crate::endpoint::LongestPath;
use crate::fabric::{Buffer, Ecn, FabricConfig, SwitchConfig};
use crate::file::ScenarioFile;
use crate::file::switch::EcnSection;
use crate::file::transport::TransportSection;
use crate::input::context::{Context, LONGEST_SPAN};
use crate::input::error::ScenarioError;
use crate::input::located::Located;
use crate::nic::NicConfig;
use crate::nic::congestion::{AbsoluteOrFraction, CongestionControl};
use crate::topology::Topology;
use crate::units::{BitRate, Bytes, Fraction, Span};
use crate::workload::Workload;

/// Start of the default ramp, which covers 20 % to 80 % of the bandwidth-delay product: the
/// defaults of Ultra Ethernet's simulator (ultraethernet/uet-htsim) and of REPS.
const KMIN: Option<Fraction> = Fraction::new(1, 5);
/// Ratio of `kmax` to `kmin`, there and in HPCC's configurations.
const RAMP: u32 = 4;
/// Minimum bandwidth-delay product, in full packets. On short links a ramp thus starts at two
/// packets, because one packet is not a queue.
const MIN_PACKETS: u64 = 10;
/// Largest threshold in bandwidth-delay products. A larger one is probably a byte count without its
/// unit.
const MAX_PRODUCTS: u64 = 1_000;
/// Slowest rate used for timers; their length is limited anyway.
const MIN_RATE: BitRate = BitRate::from_bps(1_000_000);

/// Parameter key of `rccc`.
const OVERSUBSCRIPTION: &str = "oversubscription";

/// Inputs of the defaults.
#[derive(Clone, Copy)]
pub(crate) struct Network<'a> {
    pub topology: &'a Topology,
    pub workload: &'a Workload,
    pub scheme: &'a Scheme,
    pub path: LongestPath,
}

/// Values that receive the defaults.
pub(crate) struct Filled<'a> {
    pub file: &'a mut ScenarioFile,
    pub fabric: &'a mut FabricConfig,
    pub nic: &'a mut NicConfig,
}

/// Fills in what the file as written omits. Returns warnings.
pub(crate) fn fill(
    context: &Context<'_>,
    written: &ScenarioFile,
    network: Network<'_>,
    filled: Filled<'_>,
) -> Result<Vec<String>, ScenarioError> {
    let Network { topology, workload, scheme, path } = network;
    let Filled { file, fabric, nic } = filled;
    let (switch, transport) = (&mut file.switch, &mut file.transport);
    // A previous resolution with another seed or policy may have filled these in.
    switch.ecn = written.switch.ecn.clone();
    transport.retransmit_timeout = written.transport.retransmit_timeout.clone();
    transport.ack_time = written.transport.ack_time.clone();
    oversubscription((&written.transport, &mut *transport), topology, nic);
    let product = Product { round_trip: path.round_trip, packet: nic.payload + nic.header };
    let marking = marking(context, &mut switch.ecn, topology, product)?;
    fabric.switch.ecn = marking.first().map_or(Ecn::Off, |&(_, ecn)| ecn);
    let is_one = marking.iter().all(|(_, ecn)| *ecn == fabric.switch.ecn);
    fabric.ecn_by_rate = if is_one { Vec::new() } else { marking };
    ack_time(transport, scheme, path.round_trip, nic);
    // With a timeout by code, that is resolved already.
    if nic.hardware.ack_timeout.is_none() {
        if written.transport.retransmit_timeout.is_none() {
            let coalesced = coalesced(nic, workload);
            let derived = timer(path, waiting(topology, fabric, path) + coalesced);
            transport.retransmit_timeout.fill(derived);
        }
        nic.retransmit_timeout = transport.retransmit_timeout.unwrap_or(Span::MAX);
    }
    Ok(Vec::from_iter(late_marks(context, &switch.ecn, &fabric.switch)))
}

/// Warns if marking starts only where packets are dropped or trimmed.
fn late_marks(
    context: &Context<'_>,
    section: &EcnSection,
    switch: &SwitchConfig,
) -> Option<String> {
    let (Buffer::Shared(buffer) | Buffer::PerPort(buffer)) = switch.buffer;
    let (low, key) = match switch.ecn {
        Ecn::Off => return None,
        Ecn::Step(step) => (step, section.step.key()),
        Ecn::Ramp { kmin, .. } => (kmin, section.kmin.key()),
    };
    (low >= buffer).then(|| {
        let warning = format!(
            "marking starts at {low}, but no port can hold more than {buffer}: packets are dropped \
             without being marked; use a threshold below the buffer"
        );
        context.warning(key, &warning)
    })
}

/// The bandwidth-delay product that fractional thresholds refer to.
#[derive(Debug, Clone, Copy)]
struct Product {
    round_trip: Span,
    /// Full packet on the wire.
    packet: Bytes,
}

impl Product {
    fn at(self, rate: BitRate) -> Bytes {
        rate.bytes_in(self.round_trip).max(self.packet * MIN_PACKETS)
    }
}

/// Returns the marking per port rate, fastest first.
fn marking(
    context: &Context<'_>,
    section: &mut EcnSection,
    topology: &Topology,
    product: Product,
) -> Result<Vec<(BitRate, Ecn)>, ScenarioError> {
    let is_ramp = section.kmin.is_some() || section.kmax.is_some() || section.pmax.is_some();
    if let (Some(step), true) = (section.step.given(), is_ramp) {
        let expected = "a step excludes kmin, kmax and pmax; omit either the step or the others";
        return Err(context.invalid(&step, expected));
    }
    let mut rates: Vec<BitRate> = topology.links().iter().map(|link| link.rate).collect();
    rates.sort_unstable_by(|a, b| b.cmp(a));
    rates.dedup();
    let at = |threshold: AbsoluteOrFraction<Bytes>, rate: BitRate| threshold.of(product.at(rate));
    if let Some(step) = section.step.given() {
        check(context, &step)?;
        return Ok(rates.into_iter().map(|rate| (rate, Ecn::Step(at(*step, rate)))).collect());
    }
    for given in [section.kmin.given(), section.kmax.given()].iter().flatten() {
        check(context, given)?;
    }
    let quarter = section.kmax.map(|kmax| scaled(kmax, 1, RAMP));
    let kmin =
        section.kmin.fill(quarter.unwrap_or(AbsoluteOrFraction::Fraction(KMIN.expect("not zero"))));
    let kmax = section.kmax.fill(scaled(*kmin, RAMP, 1));
    let pmax = section.pmax.fill(Fraction::ONE);
    context.at_most_one(&pmax)?;
    let ramp = |rate| {
        let [low, high] = [at(*kmin, rate), at(*kmax, rate)];
        if low > high {
            let expected = format!("it must be at most {}, which is {high} at {rate}", kmax.key());
            return Err(context.invalid(&kmin, expected));
        }
        Ok((rate, Ecn::Ramp { kmin: low, kmax: high, pmax: *pmax }))
    };
    rates.into_iter().map(ramp).collect()
}

/// Returns `times / parts` of a threshold, saturating.
fn scaled(
    threshold: AbsoluteOrFraction<Bytes>,
    times: u32,
    parts: u32,
) -> AbsoluteOrFraction<Bytes> {
    match threshold {
        AbsoluteOrFraction::Absolute(bytes) => AbsoluteOrFraction::Absolute(Bytes::new(
            bytes.get().saturating_mul(times.into()) / u64::from(parts),
        )),
        AbsoluteOrFraction::Fraction(part) => {
            let above = part.numerator().saturating_mul(times);
            let below = part.denominator().saturating_mul(parts);
            AbsoluteOrFraction::Fraction(Fraction::new(above, below).expect("not zero"))
        }
    }
}

fn check(
    context: &Context<'_>,
    threshold: &Located<AbsoluteOrFraction<Bytes>>,
) -> Result<(), ScenarioError> {
    let AbsoluteOrFraction::Fraction(part) = **threshold else { return Ok(()) };
    if part.of(1) <= MAX_PRODUCTS {
        return Ok(());
    }
    let expected = format!(
        "a fraction of rate times base round trip must be at most {MAX_PRODUCTS}; a size has a \
         unit, such as {}B",
        part.of(1)
    );
    Err(context.invalid(threshold, expected))
}

/// Most bytes that can be ahead of a packet: the whole buffer of one switch, or a port's buffer at
/// each switch. Flow control can hold packets in every switch, so that all their buffers count.
pub(crate) fn waiting(topology: &Topology, fabric: &FabricConfig, path: LongestPath) -> Bytes {
    let is_lossless = fabric.switch.pfc.is_some() || fabric.switch.cbfc.is_some();
    match fabric.switch.buffer {
        Buffer::Shared(bytes) if is_lossless => bytes * (topology.switches().len().max(1) as u64),
        Buffer::Shared(bytes) => bytes,
        Buffer::PerPort(bytes) => bytes * u64::from(path.switches.max(1)),
    }
}

/// Bytes that a host sends before each of its peers has enough packets for an acknowledgement. Zero
/// if acknowledgements do not wait for a count.
pub(crate) fn coalesced(nic: &NicConfig, workload: &Workload) -> Bytes {
    if nic.ack.every == 1 || nic.ack.within < Span::MAX {
        return Bytes::ZERO;
    }
    let mut pairs: Vec<_> = workload.messages.iter().map(|it| (it.src, it.dst)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    let peers = pairs.chunk_by(|a, b| a.0 == b.0).map(<[_]>::len).max().unwrap_or(0);
    (nic.payload + nic.header) * u64::from(nic.ack.every) * peers as u64
}

/// Returns a retransmission timeout that no queue can trigger.
fn timer(path: LongestPath, waiting: Bytes) -> Span {
    let drained = path.slowest.max(MIN_RATE).time_for(waiting);
    let timer = (path.round_trip * 2 + drained).min(LONGEST_SPAN);
    // Rounds up to three digits, for readability.
    let unit = 10_u64.pow(timer.as_ps().max(1).ilog10().saturating_sub(2));
    Span::from_ps(timer.as_ps().div_ceil(unit) * unit)
}

/// Sets the maximum acknowledgement delay, if the policy's transport has one.
fn ack_time(
    section: &mut TransportSection,
    scheme: &Scheme,
    round_trip: Span,
    nic: &mut NicConfig,
) {
    let is_own = nic.recovery.name() == scheme.recovery.name();
    if is_own && scheme.transport.ack_frequency.timed && nic.ack.every > 1 {
        nic.ack.within = *section.ack_time.fill(round_trip);
    }
}

/// Sets the oversubscription of receiver-credit control if the section omits it.
fn oversubscription(
    (written, section): (&TransportSection, &mut TransportSection),
    topology: &Topology,
    nic: &mut NicConfig,
) {
    let CongestionControl::Rccc(config) = &mut nic.congestion else { return };
    if config.nscc || written.parameters.contains_key(OVERSUBSCRIPTION) {
        return;
    }
    config.oversubscription = topology.oversubscription();
    let text = config.oversubscription.to_string();
    section.parameters.insert(OVERSUBSCRIPTION.to_owned(), text.into());
}
