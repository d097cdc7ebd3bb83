//! Rates of a collective operation, as nccl-tests defines them.

use schemars::JsonSchema;
use serde::Serialize;

use crate::units::Span;
use crate::workload::Operation;

/// Rates of a collective operation, in bytes per second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Rates {
    /// Algorithm bandwidth: bytes of the larger of a rank's buffers over the completion time.
    pub algbw_bytes_per_s: f64,
    /// Bus bandwidth: the algorithm bandwidth times the least bytes that a rank must send or
    /// receive per byte of its buffer, for comparison with the rate of its link.
    pub busbw_bytes_per_s: f64,
}

impl Rates {
    /// Returns the rates of an operation that took `cct`; `None` if it did not complete.
    pub(crate) fn of(operation: Option<&Operation>, cct: Option<Span>) -> Option<Self> {
        let (operation, cct) = (operation?, cct.filter(|cct| *cct > Span::ZERO)?);
        let rate = operation.bytes.get() as f64 * 1e9 / cct.as_ns_f64();
        let (times, over) = operation.bus_factor;
        let bus = rate * f64::from(times) / f64::from(over);
        Some(Self { algbw_bytes_per_s: rate, busbw_bytes_per_s: bus })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    #[test]
    fn bus_bandwidth_multiplies_by_the_factor() {
        let bytes = Bytes::new(1_000_000);
        let all_reduce = Operation { name: "all-reduce", ranks: 8, bytes, bus_factor: (14, 8) };
        let rates = Rates::of(Some(&all_reduce), Some(Span::from_us(100))).unwrap();
        assert_eq!((rates.algbw_bytes_per_s, rates.busbw_bytes_per_s), (1e10, 1.75e10));
        assert_eq!(Rates::of(Some(&all_reduce), None), None);
        assert_eq!(Rates::of(None, Some(Span::from_us(100))), None);
    }
}
