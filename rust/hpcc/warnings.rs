//! What a configuration asks for that is done otherwise here: a sentence each.

use super::config::HpccConfig;
use crate::units::Bytes;

/// One warning for each thing that is not modelled, or not alike, and would matter.
pub(super) fn differences(config: &HpccConfig) -> Vec<String> {
    let mut found = Vec::new();
    found.extend(control(config.cc_mode));
    if config.window {
        found.push(
            "HAS_WIN 1 (the default): windows are not modelled yet; the rate alone limits a flow"
                .to_owned(),
        );
    }
    if config.irn {
        found.push(
            "ENABLE_IRN 1: IRN is not held yet; losses are made good as the policy is made for"
                .to_owned(),
        );
    }
    if !config.rate_bound {
        found.push("RATE_BOUND 0: flows keep to their rate here all the same".to_owned());
    }
    if config.back_to_zero {
        found.push(
            "L2_BACK_TO_ZERO 1: a loss restarts from the lost packet here, not from the border of \
             its chunk"
                .to_owned(),
        );
    }
    found.extend(acknowledgements(config));
    found
}

fn control(mode: u32) -> Option<String> {
    let name = match mode {
        1 | 8 => return None,
        3 => "HPCC",
        7 => "TIMELY",
        10 => "HPCC-PINT",
        _ => "unknown here",
    };
    Some(format!(
        "CC_MODE {mode} ({name}) is not held yet: DCQCN (CC_MODE 1) runs instead, with the file's \
         numbers; completion times are not comparable with that simulator's"
    ))
}

/// The family documents packets and compares bytes, so that above 1 it acknowledges nearly every
/// packet.
fn acknowledgements(config: &HpccConfig) -> Option<String> {
    let every = config.ack_interval;
    if every == 1 {
        return None;
    }
    let chunk = if config.chunk == Bytes::ZERO { "" } else { ", nor at each L2_CHUNK_SIZE" };
    Some(format!(
        "L2_ACK_INTERVAL {every}: one acknowledgement for {every} packets here, as the family \
         documents it{chunk}; its simulators compare it with bytes and acknowledge nearly all"
    ))
}
