//! A reconstruction: the chunks to repeat and their rails, derived from all ranks' reports on one
//! view.
//!
//! Source: \[inferred\]; Nezha's abstract says that operations continue on the other rails.
//!
//! The plan is a function of the reports alone, so every rank that has all of them derives the same
//! one. A chunk counts as done only if *all* ranks have its sum. Any other chunk continues if its
//! rail is up and every rank that knows it has it in the same placement. Otherwise all ranks repeat
//! it, including those that already have its sum.

use std::collections::BTreeMap;

use super::message::{ChunkPlacement, OperationId, OperationProgress, RailView, Report, chunks};
use crate::ids::{RailId, RankId};
use crate::units::Bytes;

/// The agreed placements of an operation's chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AgreedOperation {
    /// The operation as reported by one of the ranks, with its division.
    pub(super) progress: OperationProgress,
    /// The new placement of each chunk.
    pub(super) placements: Vec<ChunkPlacement>,
    /// The indices of the chunks to repeat.
    pub(super) repeated: Vec<u32>,
}

/// Returns the agreed placements of all operations that are not complete at all ranks.
pub(super) fn plan(
    view: &RailView,
    reports: &BTreeMap<RankId, Report>,
    chunk: Bytes,
) -> BTreeMap<OperationId, AgreedOperation> {
    let rates = reports.values().next().map_or(&[][..], |first| &first.rates);
    let mut plan = BTreeMap::new();
    for progress in reports.values().flat_map(|report| &report.operations) {
        let id = progress.operation;
        if plan.contains_key(&id) || reports.values().all(|report| report.complete > id) {
            continue;
        }
        plan.insert(id, agree(view, reports, progress, chunk, rates));
    }
    plan
}

fn agree(
    view: &RailView,
    reports: &BTreeMap<RankId, Report>,
    progress: &OperationProgress,
    chunk: Bytes,
    rates: &[u64],
) -> AgreedOperation {
    let id = progress.operation;
    let mut load = vec![0; rates.len()];
    let mut placements = progress.placements.clone();
    let mut repeated = Vec::new();
    for (index, (_, range)) in (0u32..).zip(chunks(&progress.division, chunk)) {
        let at = index as usize;
        let Some(&placement) = progress.placements.get(at) else { break };
        let has = |report: &Report| {
            let done = progress_of(report, id).and_then(|it| it.done.get(at).copied());
            report.complete > id || done.unwrap_or(false)
        };
        let same = |report: &Report| {
            progress_of(report, id).is_none_or(|it| it.placements.get(at) == Some(&placement))
        };
        let all_have_it = reports.values().all(has);
        let continues = placement.is_valid(view) && reports.values().all(same);
        if all_have_it || continues {
            continue;
        }
        if let Some(rail) = least_loaded(view, rates, &mut load, range.end - range.start) {
            placements[at] =
                ChunkPlacement { rail, incarnation: view.incarnation(rail), epoch: view.epoch() };
            repeated.push(index);
        }
    }
    AgreedOperation { progress: progress.clone(), placements, repeated }
}

fn progress_of(report: &Report, id: OperationId) -> Option<&OperationProgress> {
    report.operations.iter().find(|progress| progress.operation == id)
}

/// Returns the rail that is up and would finish `bytes` more first, by its rate; the lower id in a
/// tie.
fn least_loaded(view: &RailView, rates: &[u64], load: &mut [u64], bytes: u64) -> Option<RailId> {
    let up = view.up();
    let done = |rail: RailId| {
        let (load, rate) = (load.get(rail.index()), rates.get(rail.index()));
        let bytes = u128::from(load.copied().unwrap_or(0)) + u128::from(bytes);
        // An unknown rate counts as one bit per second.
        (bytes << 32) / u128::from(rate.copied().unwrap_or(0).max(1))
    };
    let rail = up.iter().min_by_key(|&rail| done(rail))?;
    if let Some(load) = load.get_mut(rail.index()) {
        *load = load.saturating_add(bytes);
    }
    Some(rail)
}

#[cfg(test)]
mod tests {
    use super::super::super::Division;
    use super::super::message::Epoch;
    use super::*;

    const CHUNK: Bytes = Bytes::new(4);

    fn first(rail: u32) -> ChunkPlacement {
        ChunkPlacement { rail: RailId(rail), incarnation: 0, epoch: Epoch(0) }
    }

    /// Returns a report of three chunks on rail 0, three on rail 1 and one on rail 2. The chunks in
    /// `done` are complete.
    fn report(view: &RailView, done: &[usize], rates: [u64; 3]) -> Report {
        let progress = OperationProgress {
            operation: OperationId(7),
            division: Division::new([12, 12, 4].map(Bytes::new).to_vec()),
            placements: [0, 0, 0, 1, 1, 1, 2].map(first).to_vec(),
            done: (0..7).map(|chunk| done.contains(&chunk)).collect(),
        };
        let operations = vec![progress];
        Report { view: view.clone(), complete: OperationId(7), operations, rates: rates.to_vec() }
    }

    fn repeated(view: &RailView, reports: Vec<Report>) -> Vec<(u32, u32)> {
        let reports = (0..).map(RankId).zip(reports).collect();
        let plan = plan(view, &reports, CHUNK);
        let Some(agreed) = plan.get(&OperationId(7)) else { return Vec::new() };
        let on = |chunk: u32| agreed.placements[chunk as usize].rail.0;
        agreed.repeated.iter().map(|&chunk| (chunk, on(chunk))).collect()
    }

    #[test]
    fn chunks_of_a_failed_rail_that_any_rank_lacks_are_repeated_by_rate() {
        let view = RailView::new(3).advanced(RailId(0), 1);
        let rates = [1, 2, 1];
        let reports = [&[0, 1][..], &[0, 2], &[0]].map(|done| report(&view, done, rates));
        assert_eq!(repeated(&view, reports.to_vec()), [(1, 1), (2, 1)], "12 bytes: 2/2 and 1/1");
        let reports = [&[][..], &[0, 1, 2], &[0, 1, 2]].map(|done| report(&view, done, rates));
        assert_eq!(repeated(&view, reports.to_vec()), [(0, 1), (1, 1), (2, 2)]);
    }

    #[test]
    fn complete_chunks_and_chunks_on_rails_that_are_up_are_not_repeated() {
        let view = RailView::new(3).advanced(RailId(0), 1);
        let reports = vec![report(&view, &[0, 1, 2], [1; 3]); 3];
        assert_eq!(repeated(&view, reports), []);
    }

    #[test]
    fn a_rank_that_has_not_started_lacks_all_chunks_and_one_beyond_has_all() {
        let view = RailView::new(3).advanced(RailId(1), 1);
        let has_all = Report {
            complete: OperationId(8),
            operations: Vec::new(),
            ..report(&view, &[], [1; 3])
        };
        let not_started = Report { operations: Vec::new(), ..report(&view, &[], [1; 3]) };
        let started = report(&view, &[0, 1, 2, 3], [1; 3]);
        assert_eq!(repeated(&view, vec![has_all.clone(), started.clone()]), [(4, 0), (5, 2)]);
        let all = repeated(&view, vec![not_started, started, has_all]);
        assert_eq!(all, [(3, 0), (4, 2), (5, 0)]);
    }

    #[test]
    fn a_chunk_with_different_placements_is_repeated_although_its_rail_is_up() {
        // Rank 0 concluded an agreement that the other rank did not.
        let view = RailView::new(3).advanced(RailId(0), 1).advanced(RailId(2), 1);
        let mut ahead = report(&view, &[3, 4, 5, 6], [1; 3]);
        let moved = ChunkPlacement { rail: RailId(1), incarnation: 0, epoch: Epoch(1) };
        ahead.operations[0].placements[..3].fill(moved);
        let behind = report(&view, &[3, 4, 5, 6], [1; 3]);
        let all = [(0, 1), (1, 1), (2, 1)];
        assert_eq!(repeated(&view, vec![ahead.clone(), behind.clone()]), all);
        assert_eq!(repeated(&view, vec![behind, ahead]), all);
    }

    #[test]
    fn without_a_rail_no_chunk_is_repeated() {
        let view = (0..3).fold(RailView::new(3), |view, rail| view.advanced(RailId(rail), 1));
        assert_eq!(repeated(&view, vec![report(&view, &[], [1; 3])]), []);
    }

    #[test]
    fn an_operation_that_all_ranks_have_is_in_no_plan() {
        let view = RailView::new(3).advanced(RailId(0), 1);
        let all: Vec<usize> = (0..7).collect();
        let has_all = Report { complete: OperationId(8), ..report(&view, &all, [1; 3]) };
        let reports = [0, 1].map(|rank| (RankId(rank), has_all.clone())).into();
        assert_eq!(plan(&view, &reports, CHUNK), BTreeMap::new());
    }
}
