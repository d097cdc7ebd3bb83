//! Rates of messages: payload over the time from a message's start to its completion.

use serde_json::{Value, json};

use crate::endpoint::FlowRecord;
use crate::units::{Bytes, Time};

/// Returns the distribution of the rates of all messages in Gbit/s, by nearest rank. An incomplete
/// message has rate 0. Empty for a run that keeps no flows.
pub(super) fn of(flows: &[FlowRecord]) -> Value {
    let mut rates: Vec<f64> = flows
        .chunk_by(|a, b| a.message == b.message)
        .map(|pieces| {
            let bytes: u64 = pieces.iter().map(|piece| piece.bytes.get()).sum();
            let start = pieces.iter().map(|piece| piece.start).min();
            let completed = pieces.iter().map(|piece| piece.completed).max();
            gbps(Bytes::new(bytes), start.unwrap_or(Time::ZERO), completed.unwrap_or(Time::NEVER))
        })
        .collect();
    rates.sort_unstable_by(f64::total_cmp);
    let Some(last) = rates.len().checked_sub(1) else { return json!({}) };
    let rank = |percent: usize| rates[(rates.len() * percent).div_ceil(100).max(1) - 1];
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    json!({
        "min": rates[0], "p01": rank(1), "p50": rank(50), "mean": mean, "max": rates[last],
    })
}

fn gbps(bytes: Bytes, start: Time, completed: Time) -> f64 {
    if completed == Time::NEVER || completed <= start {
        return 0.0;
    }
    let ps = completed.since(start).as_ps();
    bytes.get() as f64 * 8.0 * 1e3 / ps as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{HostId, MessageId};

    fn piece(message: u32, piece: u32, bytes: u64, completed: Time) -> FlowRecord {
        FlowRecord {
            message: MessageId(message),
            piece,
            src: HostId(0),
            dst: HostId(1),
            bytes: Bytes::new(bytes),
            start: Time::from_ps(1_000_000),
            delivered: completed,
            completed,
            source_port: 49_152,
        }
    }

    #[test]
    fn a_message_has_the_bytes_of_all_pieces_and_the_time_of_the_last() {
        let at = |us: u64| Time::from_ps(us * 1_000_000);
        let flows = [
            piece(0, 0, 1_000, at(2)),
            piece(0, 1, 3_000, at(3)),
            piece(1, 0, 1_000, at(2)),
            piece(2, 0, 1_000, Time::NEVER),
        ];
        // 4,000 B in 2 us, 1,000 B in 1 us, and a message that never completes.
        let expected = json!({ "min": 0.0, "p01": 0.0, "p50": 8.0, "mean": 8.0, "max": 16.0 });
        assert_eq!(of(&flows), expected);
        assert_eq!(of(&[]), json!({}));
    }
}
