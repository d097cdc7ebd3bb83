//! Warnings about settings that this project does not model, or models differently.

use super::config::HpccConfig;
use crate::units::Bytes;

/// A warning, one sentence each, for every setting of `config` that is ignored or has another
/// effect here and may change results.
pub(super) fn of(config: &HpccConfig) -> Vec<String> {
    let mut warnings = Vec::new();
    warnings.extend(congestion_control(config.cc_mode));
    let fixed = [
        (
            config.window,
            "HAS_WIN 1 (the default): windows are not modelled; only the rate limits a flow",
        ),
        (config.irn, "ENABLE_IRN 1: IRN is not used; the policy determines the loss recovery"),
        (!config.rate_bound, "RATE_BOUND 0 has no effect: the rate always limits a flow"),
        (
            config.back_to_zero,
            "L2_BACK_TO_ZERO 1 has no effect: a loss restarts from the lost packet, not from the \
             border of its chunk",
        ),
    ];
    let applicable = fixed.into_iter().filter(|(applies, _)| *applies);
    warnings.extend(applicable.map(|(_, warning)| warning.to_owned()));
    warnings.extend(acknowledgements(config));
    warnings
}

fn congestion_control(mode: u32) -> Option<String> {
    let name = match mode {
        1 | 8 => return None,
        3 => "HPCC",
        7 => "TIMELY",
        10 => "HPCC-PINT",
        _ => "unknown",
    };
    Some(format!(
        "CC_MODE {mode} ({name}) is not supported: DCQCN (CC_MODE 1) runs instead, with the \
         parameters of the file; completion times are not comparable with that simulator's"
    ))
}

/// The family documents `L2_ACK_INTERVAL` as a number of packets and compares it with bytes, so
/// that with any value above 1 it acknowledges nearly every packet.
fn acknowledgements(config: &HpccConfig) -> Option<String> {
    let every = config.ack_interval;
    if every == 1 {
        return None;
    }
    let chunk = match config.chunk {
        Bytes::ZERO => "",
        _ => "; L2_CHUNK_SIZE has no effect",
    };
    Some(format!(
        "L2_ACK_INTERVAL {every}: receivers send one acknowledgement for {every} packets, as the \
         family documents{chunk}; its simulators compare the value with bytes and acknowledge \
         nearly every packet"
    ))
}
