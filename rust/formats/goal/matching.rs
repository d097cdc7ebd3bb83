//! Matches receives with messages.

use std::collections::BTreeMap;

use super::error::GoalFault;
use super::scan::GoalOperation;
use super::{GoalFile, LineFault};

/// Maximum number of any-source receives per rank and tag: 4,096. The number of dependencies grows
/// with the square of it.
const MAX_ANY: usize = 4_096;

/// Equal numbers of sends and receives that match each other. The first receive gets the message
/// that arrives first, and so on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Match {
    /// The sends, by index.
    pub sends: Vec<usize>,
    /// The receives, by index.
    pub receives: Vec<usize>,
}

/// The sends and receives of a file, each in order of the file.
#[derive(Debug, Default)]
struct Ends {
    /// By sender, receiver and tag.
    sends: BTreeMap<(u32, u32, u32), Vec<usize>>,
    /// By sender, receiver and tag.
    receives: BTreeMap<(u32, u32, u32), Vec<usize>>,
    /// Receives from any source, by receiver and tag.
    any: BTreeMap<(u32, u32), Vec<usize>>,
}

/// Matches the sends and receives of a file.
///
/// # Errors
/// Fails for a send or a receive without a counterpart, and for sizes that differ.
pub(super) fn match_all(file: &GoalFile) -> Result<Vec<Match>, LineFault> {
    let ends = Ends::of(file);
    let mut matches = Vec::new();
    for (&(src, dst, tag), sends) in &ends.sends {
        if ends.any.contains_key(&(dst, tag)) {
            continue;
        }
        let receives = ends.receives.get(&(src, dst, tag)).map_or(&[][..], Vec::as_slice);
        if let Some(&send) = sends.get(receives.len()) {
            return Err((file.line(send), GoalFault::NoReceive { dst, src, tag }));
        }
        for (&send, &receive) in sends.iter().zip(receives) {
            matches.push(one_size(file, Match { sends: vec![send], receives: vec![receive] })?);
        }
    }
    for (&(src, dst, tag), receives) in &ends.receives {
        if let Some(&any) = ends.any.get(&(dst, tag)).and_then(|any| any.first()) {
            let other = file.line(receives[0]);
            return Err((file.line(any), GoalFault::AnyAmongOthers { dst, tag, other }));
        }
        let sends = ends.sends.get(&(src, dst, tag)).map_or(0, Vec::len);
        if let Some(&receive) = receives.get(sends) {
            return Err((file.line(receive), GoalFault::NoSend { src, dst, tag }));
        }
    }
    matches.extend(match_any(file, &ends)?);
    Ok(matches)
}

/// Matches the receives from any source.
fn match_any(file: &GoalFile, ends: &Ends) -> Result<Vec<Match>, LineFault> {
    let mut to: BTreeMap<(u32, u32), Vec<usize>> = BTreeMap::new();
    for (&(_, dst, tag), sends) in &ends.sends {
        if ends.any.contains_key(&(dst, tag)) {
            to.entry((dst, tag)).or_default().extend(sends);
        }
    }
    let mut matches = Vec::new();
    for (&(dst, tag), receives) in &ends.any {
        let sends = to.remove(&(dst, tag)).unwrap_or_default();
        if let Some(&send) = sends.get(receives.len()) {
            return Err((file.line(send), GoalFault::NoReceiveFromAny { dst, tag }));
        }
        if let Some(&receive) = receives.get(sends.len()) {
            return Err((file.line(receive), GoalFault::NoSendFromAny { dst, tag }));
        }
        if let Some(&receive) = receives.get(MAX_ANY) {
            return Err((file.line(receive), GoalFault::TooManyFromAny { dst, tag, max: MAX_ANY }));
        }
        matches.push(one_size(file, Match { sends, receives: receives.clone() })?);
    }
    Ok(matches)
}

/// Fails unless all sends and receives of `found` have the same size.
fn one_size(file: &GoalFile, found: Match) -> Result<Match, LineFault> {
    let bytes = file.bytes(found.sends[0]);
    let differs = |&&end: &&usize| file.bytes(end) != bytes;
    if let Some(&end) = found.receives.iter().chain(&found.sends).find(differs) {
        let (found, send_line) = (file.bytes(end), file.line(found.sends[0]));
        return Err((file.line(end), GoalFault::Sizes { found, bytes, send_line }));
    }
    Ok(found)
}

impl Ends {
    fn of(file: &GoalFile) -> Self {
        let mut ends = Self::default();
        for (index, it) in file.operations.iter().enumerate() {
            match it.operation {
                GoalOperation::Calc { .. } => {}
                GoalOperation::Send { peer, tag, .. } => {
                    ends.sends.entry((it.rank, peer, tag)).or_default().push(index);
                }
                GoalOperation::Receive { peer: Some(peer), tag, .. } => {
                    ends.receives.entry((peer, it.rank, tag)).or_default().push(index);
                }
                GoalOperation::Receive { peer: None, tag, .. } => {
                    ends.any.entry((it.rank, tag)).or_default().push(index);
                }
            }
        }
        ends
    }
}

impl GoalFile {
    fn line(&self, operation: usize) -> usize {
        self.operations[operation].line
    }

    fn bytes(&self, operation: usize) -> u64 {
        self.operations[operation].operation.bytes()
    }
}
