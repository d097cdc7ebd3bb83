//! Sends and receives: an all-to-all, and each rank to the next.

use super::NcclOperation;
use super::build::{NcclError, Node, Program};
use crate::units::Span;

/// Sends of a rank that run at once (`P2P_PER_BATCH`).
const BATCH: u32 = 8;

/// Adds the messages of the operation.
pub(super) fn add(program: &mut Program) -> Result<(), NcclError> {
    match program.run.operation {
        NcclOperation::AllToAll => all_to_all(program),
        _ => to_the_next(program),
    }
}

/// Adds the messages of an all-to-all, in batches that each rank completes before the next.
fn all_to_all(program: &mut Program) -> Result<(), NcclError> {
    let ranks = program.system.ranks;
    program.expect(u64::from(ranks) * u64::from(ranks - 1))?;
    let block = program.run.bytes.get().div_ceil(u64::from(ranks)).max(1);
    let launch = program.launch();
    for rank in 0..ranks {
        let mut before: Vec<Node> = vec![program.delay(rank, launch, &[])];
        for batch in (1..ranks).step_by(BATCH as usize) {
            let sent = (batch..ranks.min(batch + BATCH))
                .map(|step| {
                    let ends = (rank, (rank + step) % ranks);
                    program.step(ends, block, 0, Span::ZERO, &before)
                })
                .collect();
            before = sent;
        }
    }
    Ok(())
}

/// Adds a message from each rank to the next.
fn to_the_next(program: &mut Program) -> Result<(), NcclError> {
    let ranks = program.system.ranks;
    program.expect(u64::from(ranks))?;
    let (bytes, launch) = (program.run.bytes.get(), program.launch());
    for rank in 0..ranks {
        let ready = program.delay(rank, launch, &[]);
        program.step((rank, (rank + 1) % ranks), bytes, 0, Span::ZERO, &[ready]);
    }
    Ok(())
}
