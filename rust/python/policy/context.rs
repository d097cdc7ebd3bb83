//! The arguments of a policy in Python: the same as for a policy in Rust, as objects.

use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

use super::pickle::{Reduced, reduce, restore, signal};
use evenkeel::balance::sender::{self, PathSignal};
use evenkeel::balance::switch;
use evenkeel::packet::{self, Flags, PacketKind};
use evenkeel::rng::{Purpose, Stream};

/// A stream of random numbers, determined by the seed of the run.
#[pyclass(module = "evenkeel")]
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Random(Stream);

#[pymethods]
impl Random {
    #[staticmethod]
    fn _unpickle(state: &str) -> PyResult<Self> {
        restore(state)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        reduce(slf)
    }

    /// Returns 32 uniform bits.
    fn next_u32(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// Returns 16 uniform bits: an entropy value.
    fn next_u16(&mut self) -> u16 {
        self.0.next_u16()
    }

    /// Returns a uniform number from 0 to `bound` - 1.
    fn below(&mut self, bound: u32) -> PyResult<u32> {
        match bound {
            0 => Err(PyValueError::new_err("bound = 0 is out of range; expected at least 1")),
            _ => Ok(self.0.below(bound)),
        }
    }

    /// Returns true with probability `numerator` / `denominator`.
    fn chance(&mut self, numerator: u32, denominator: u32) -> PyResult<bool> {
        Ok(self.below(denominator)? < numerator)
    }

    fn __deepcopy__(&self, _memo: Bound<'_, PyAny>) -> Self {
        self.clone()
    }
}

/// The queue pair of a sender policy: `balance::sender::QpContext`.
#[pyclass(frozen, get_all, module = "evenkeel")]
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct QpContext {
    seed: u64,
    src: u32,
    dst: u32,
    stream: u32,
    qp_index: u32,
    path: u16,
    /// Number of equal-cost choices at each tier.
    paths: Vec<u16>,
    base_rtt_ps: u64,
    bdp_packets: u32,
    retransmit_timeout_ps: u64,
    trimming: bool,
    /// Number of ports of its NIC; each is in a separate plane.
    planes: u32,
    key: u64,
}

impl QpContext {
    pub(super) fn of(qp: &sender::QpContext) -> Self {
        Self {
            seed: qp.seed,
            src: qp.src.0,
            dst: qp.dst.0,
            stream: qp.stream,
            qp_index: qp.qp_index,
            path: qp.path,
            paths: qp.paths.radices().to_vec(),
            base_rtt_ps: qp.network.base_rtt.as_ps(),
            bdp_packets: qp.network.bdp_packets,
            retransmit_timeout_ps: qp.network.retransmit_timeout.as_ps(),
            trimming: qp.network.trimming == sender::Trimming::On,
            planes: qp.network.planes,
            key: qp.key(),
        }
    }
}

#[pymethods]
impl QpContext {
    #[staticmethod]
    fn _unpickle(state: &str) -> PyResult<Self> {
        restore(state)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        reduce(slf)
    }

    /// Returns the queue pair's random stream, from its start.
    fn random(&self) -> Random {
        Random(Stream::new(self.seed, Purpose::Entropy, self.key))
    }

    fn __deepcopy__(&self, _memo: Bound<'_, PyAny>) -> Self {
        self.clone()
    }
}

/// The report of an acknowledgement: `balance::sender::Feedback`.
#[pyclass(frozen, get_all, module = "evenkeel")]
#[derive(Debug, Clone, Hash, Serialize, Deserialize)]
pub(crate) struct Feedback {
    entropy: u16,
    /// `good`, `marked`, `nack`, `trimmed`, `trimmed-at-last-hop` or `condemned`.
    #[serde(deserialize_with = "signal")]
    signal: Signal,
    packets: u32,
    marked: u32,
    rtt_ps: u64,
}

#[pymethods]
impl Feedback {
    #[staticmethod]
    fn _unpickle(state: &str) -> PyResult<Self> {
        restore(state)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        reduce(slf)
    }
}

impl Feedback {
    pub(super) fn of(feedback: sender::Feedback) -> Self {
        Self {
            entropy: feedback.entropy,
            signal: signal_name(feedback.signal),
            packets: feedback.packets,
            marked: feedback.marked,
            rtt_ps: feedback.rtt.as_ps(),
        }
    }
}

/// Name of a signal. An alias, because serde would borrow a reference from the text that it reads.
type Signal = &'static str;

/// Names of signals.
pub(super) const SIGNALS: [&str; 6] = [
    signal_name(PathSignal::Good),
    signal_name(PathSignal::Marked),
    signal_name(PathSignal::Nack),
    signal_name(PathSignal::Trimmed),
    signal_name(PathSignal::TrimmedAtLastHop),
    signal_name(PathSignal::Condemned),
];

/// Returns the name of the event that befell a packet or a probe on its path.
pub(super) const fn signal_name(signal: PathSignal) -> &'static str {
    match signal {
        PathSignal::Good => "good",
        PathSignal::Marked => "marked",
        PathSignal::Nack => "nack",
        PathSignal::Trimmed => "trimmed",
        PathSignal::TrimmedAtLastHop => "trimmed-at-last-hop",
        PathSignal::Condemned => "condemned",
    }
}

/// The switch of a switch policy: `balance::switch::SwitchContext`.
#[pyclass(frozen, get_all, module = "evenkeel")]
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SwitchContext {
    seed: u64,
    id: u32,
    tier: u8,
    ports: u32,
    port_rate_bps: u64,
    port_buffer_bytes: u64,
}

impl SwitchContext {
    pub(super) fn of(switch: &switch::SwitchContext) -> Self {
        Self {
            seed: switch.seed,
            id: switch.id.0,
            tier: switch.tier,
            ports: switch.ports,
            port_rate_bps: switch.port_rate.as_bps(),
            port_buffer_bytes: switch.port_buffer.get(),
        }
    }
}

#[pymethods]
impl SwitchContext {
    #[staticmethod]
    fn _unpickle(state: &str) -> PyResult<Self> {
        restore(state)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        reduce(slf)
    }

    /// Returns the switch's random stream, from its start.
    fn random(&self) -> Random {
        Random(Stream::new(self.seed, Purpose::SwitchPolicy, u64::from(self.id)))
    }

    fn __deepcopy__(&self, _memo: Bound<'_, PyAny>) -> Self {
        self.clone()
    }
}

/// The header of a packet, as a switch reads it.
#[pyclass(frozen, get_all, module = "evenkeel")]
#[derive(Debug, Clone, Hash, Serialize, Deserialize)]
pub(crate) struct Packet {
    src: u32,
    dst: u32,
    /// Hash of the 5-tuple without the entropy value.
    label: u32,
    entropy: u16,
    /// The field that switches may write.
    route: u16,
    wire_bytes: u16,
    is_data: bool,
    is_marked: bool,
}

#[pymethods]
impl Packet {
    #[staticmethod]
    fn _unpickle(state: &str) -> PyResult<Self> {
        restore(state)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        reduce(slf)
    }
}

impl Packet {
    pub(super) fn of(packet: &packet::Packet) -> Self {
        Self {
            src: packet.src.0,
            dst: packet.dst.0,
            label: packet.label,
            entropy: packet.entropy,
            route: packet.route,
            wire_bytes: packet.wire_bytes,
            is_data: packet.kind == PacketKind::Data,
            is_marked: packet.flags.has(Flags::MARKED),
        }
    }
}

/// The state of a switch at a decision: `balance::switch::SwitchView`.
#[pyclass(frozen, module = "evenkeel")]
#[derive(Debug, Clone, Hash, Serialize, Deserialize)]
pub(crate) struct SwitchView {
    /// Port, queued bytes and rate of each candidate.
    candidates: Vec<(u32, u64, u64)>,
    #[pyo3(get)]
    destination_edge: u32,
    #[pyo3(get)]
    destination_pod: u32,
    #[pyo3(get)]
    epoch: u32,
}

impl SwitchView {
    pub(super) fn of(view: &mut dyn switch::SwitchView) -> Self {
        let count = view.candidates();
        let candidate =
            |index| (view.port(index), view.queue_bytes(index), view.rate(index).as_bps());
        let candidates = (0..count).map(candidate).collect();
        Self {
            candidates,
            destination_edge: view.destination_edge().0,
            destination_pod: view.destination_pod(),
            epoch: view.epoch(),
        }
    }

    /// Returns the number of candidates.
    pub(super) fn count(&self) -> u32 {
        self.candidates.len() as u32
    }

    fn candidate(&self, index: usize) -> PyResult<(u32, u64, u64)> {
        self.candidates.get(index).copied().ok_or_else(|| {
            let count = self.candidates.len();
            PyIndexError::new_err(format!(
                "candidate {index} is out of range; there are {count}, from 0"
            ))
        })
    }
}

#[pymethods]
impl SwitchView {
    #[staticmethod]
    fn _unpickle(state: &str) -> PyResult<Self> {
        restore(state)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        reduce(slf)
    }

    /// Number of equal-cost ports.
    #[getter]
    fn candidates(&self) -> u32 {
        self.count()
    }

    /// Returns the port of a candidate, as an index into all ports of the switch.
    fn port(&self, candidate: usize) -> PyResult<u32> {
        Ok(self.candidate(candidate)?.0)
    }

    /// Returns the bytes queued at a candidate, including the packet in transmission.
    fn queue_bytes(&self, candidate: usize) -> PyResult<u64> {
        Ok(self.candidate(candidate)?.1)
    }

    /// Returns the rate of a candidate's link.
    fn rate_bps(&self, candidate: usize) -> PyResult<u64> {
        Ok(self.candidate(candidate)?.2)
    }
}

/// A packet that leaves a switch: `balance::switch::Departure`.
#[pyclass(frozen, get_all, module = "evenkeel")]
#[derive(Debug, Clone, Hash, Serialize, Deserialize)]
pub(crate) struct Departure {
    port: u32,
    source_edge: u32,
    destination_edge: u32,
}

#[pymethods]
impl Departure {
    #[staticmethod]
    fn _unpickle(state: &str) -> PyResult<Self> {
        restore(state)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        reduce(slf)
    }
}

impl Departure {
    pub(super) fn of(departure: &switch::Departure) -> Self {
        Self {
            port: departure.port,
            source_edge: departure.source_edge.0,
            destination_edge: departure.destination_edge.0,
        }
    }
}
