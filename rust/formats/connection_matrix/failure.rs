//! Links that fail in a connection matrix.
//!
//! Source: `ConnectionMatrix::load` and `FatTreeTopology::add_failed_link` of uet-htsim 40ccb05 and
//! csg-htsim 841d9e7. `failure switch_type AGG switch_id 5 link_id 1` removes uplink 1 of
//! aggregation switch 5, which leads to core 1 · k/2 + 1. Switches are numbered over all pods. The
//! link is missing in both directions and from the start; of parallel links, only the first is
//! removed. htsim stops at other switch types, and at switches and links that do not exist.
//!
//! Neither tree can run such a matrix: routes still use the missing link, and the program stops at
//! the first packet on such a route. Here the intent is kept: the link is down from the start, and
//! routing knows it.

use super::{MatrixFault, value};

/// A link failure in a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatrixFailure {
    /// The line of the failure, from 1.
    pub line: usize,
    /// Number of the aggregation switch, from 0 over all pods.
    pub switch: u32,
    /// Number of the switch's uplink, from 0.
    pub uplink: u32,
}

impl MatrixFailure {
    /// Parses the tokens of a line that starts with `failure`.
    pub(super) fn read(line: usize, tokens: &[&str]) -> Result<Self, MatrixFault> {
        let (mut kind, mut switch, mut uplink) = (None, None, None);
        for index in (1..tokens.len()).step_by(2) {
            match tokens[index] {
                "switch_type" => kind = tokens.get(index + 1).copied(),
                "switch_id" => switch = Some(number(tokens, index)?),
                "link_id" => uplink = Some(number(tokens, index)?),
                _ => return Err(MatrixFault::Failure),
            }
        }
        match (kind, switch, uplink) {
            (Some("AGG"), Some(switch), Some(uplink)) => Ok(Self { line, switch, uplink }),
            (Some(other), Some(_), Some(_)) => Err(MatrixFault::SwitchType(other.to_owned())),
            _ => Err(MatrixFault::Failure),
        }
    }
}

/// Parses the number of a switch or a link.
fn number(tokens: &[&str], index: usize) -> Result<u32, MatrixFault> {
    // The limit guarantees that the number fits 32 bits.
    Ok(value(tokens, index, u64::from(u32::MAX))? as u32)
}
