//! Links that fail in a connection matrix.
//!
//! Source: `ConnectionMatrix::load` and `FatTreeTopology::add_failed_link` of uet-htsim 40ccb05 and
//! csg-htsim 841d9e7: `failure switch_type AGG switch_id 5 link_id 1` takes the uplink 1 of the
//! aggregation switch 5, numbered over all pods, to core 1 · k/2 + 1, in both directions and from
//! the start; of parallel links the first. Other types of switches, and switches and links that do
//! not exist, stop htsim.
//!
//! Neither tree can run what it reads: routes are computed over the missing link, and the program
//! stops at the first packet to which one applies. What is meant is kept: the link is down from the
//! start, and routing knows.

use super::{MatrixFault, value};

/// A failure in a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatrixFailure {
    /// Its line, from 1.
    pub line: usize,
    /// The number of the aggregation switch, from 0 over all pods.
    pub switch: u32,
    /// The number of the uplink of that switch, from 0.
    pub uplink: u32,
}

impl MatrixFailure {
    /// Reads the tokens of a line that starts with `failure`.
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

/// The number of a switch or of a link.
fn number(tokens: &[&str], index: usize) -> Result<u32, MatrixFault> {
    // The limit keeps the number within its type.
    Ok(value(tokens, index, u64::from(u32::MAX))? as u32)
}
