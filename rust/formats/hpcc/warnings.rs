//! Warnings about settings that this project does not model, or models differently.

use super::config::{Family, HpccConfig};
use crate::units::Bytes;

/// Returns a warning of one sentence for every setting of `config` that is ignored or modelled
/// differently here and may change results.
pub(super) fn of(config: &HpccConfig) -> Vec<String> {
    let mut warnings = Vec::new();
    let fixed = [
        (
            config.irn && config.pfc,
            "ENABLE_IRN 1 with ENABLE_PFC 1: IRN's timers stay enabled; the simulator disables \
             them",
        ),
        (
            config.back_to_zero,
            "L2_BACK_TO_ZERO 1 has no effect: a loss restarts from the lost packet, not from the \
             start of its chunk",
        ),
    ];
    let applicable = fixed.into_iter().filter(|(applies, _)| *applies);
    warnings.extend(applicable.map(|(_, warning)| warning.to_owned()));
    warnings.extend(acknowledgements(config));
    warnings.extend(monitors(config));
    warnings
}

/// Returns a warning if the parameters of an `LB_MODE` policy differ from the simulator's.
pub(super) fn lb_mode(config: &HpccConfig, policy: &str) -> Option<String> {
    let mode = config.lb_mode.as_ref().filter(|mode| matches!(mode.value, 3 | 6))?;
    let differs = match mode.value {
        3 => {
            "a path is identified by its uplink (there by all its ports), and acknowledgements \
             have their own flowlets (there they are hashed)"
        }
        _ => "acknowledgements have their own flowlets (there they are hashed)",
    };
    Some(format!(
        "LB_MODE {}: policy '{policy}' is used; unlike in the simulator, {differs}",
        mode.value
    ))
}

/// Returns a warning for each file that the configuration requests and that is not written.
fn monitors(config: &HpccConfig) -> Vec<String> {
    let mut warnings = Vec::new();
    let of_conweave = [
        ("UPLINK_MON_FILE", &config.outputs.uplinks),
        ("CONN_MON_FILE", &config.outputs.connections),
        ("CNP_OUTPUT_FILE", &config.outputs.notifications),
    ];
    let is_conweave = config.family() == Family::ConWeave;
    for (key, _) in of_conweave.iter().filter(|(_, name)| name.is_some() && !is_conweave) {
        warnings.push(format!(
            "{key} is not written: it is a key of ConWeave, but without LB_MODE and \
             FLOWGEN_START_TIME the file is not a ConWeave configuration"
        ));
    }
    // The monitor is disabled in ConWeave's own simulator.
    if config.outputs.queues.is_some() && !is_conweave {
        let why = match (config.queues_from, config.queues_until) {
            (Some(from), Some(until)) if from < until => None,
            (Some(_), Some(_)) => Some("QLEN_MON_START is not before QLEN_MON_END"),
            _ => Some("it needs QLEN_MON_START and QLEN_MON_END"),
        };
        warnings.extend(why.map(|why| format!("QLEN_MON_FILE is not written: {why}")));
    }
    warnings
}

/// Returns a warning about `L2_ACK_INTERVAL`. The family documents it as a number of packets but
/// compares it with bytes, so any value above 1 acknowledges nearly every packet.
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
        "L2_ACK_INTERVAL {every}: receivers send one acknowledgement per {every} packets, as \
         documented{chunk}; the simulators of this family compare it with bytes and acknowledge \
         nearly every packet"
    ))
}
