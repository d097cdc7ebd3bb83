//! A reconstruction: what all ranks' reports of one view say is to be done again, and where.
//!
//! Source: \[inferred\]; Nezha's abstract says that operations go on with the other rails.
//!
//! A function of the reports alone, so every rank that has all of them comes to the same. A chunk
//! counts as done only where *all* ranks have its sum. Any other goes on as it is if every rank
//! that knows it has it in the same place and the rail there is alive; if not, it is done again by
//! all ranks, also by those that have its sum already.

use std::collections::BTreeMap;

use super::message::{OperationId, Place, Progress, Report, View, chunks};
use crate::ids::{RailId, RankId};
use crate::units::Bytes;

/// Where each chunk of an operation is done from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Agreed {
    /// A report's progress that has the division.
    pub progress: Progress,
    /// Where its chunks are done.
    pub places: Vec<Place>,
    /// The chunks that are to be done again.
    pub again: Vec<u32>,
}

/// The operations that are not complete at all ranks.
pub(super) fn plan(
    view: &View,
    reports: &BTreeMap<RankId, Report>,
    chunk: Bytes,
) -> BTreeMap<OperationId, Agreed> {
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
    view: &View,
    reports: &BTreeMap<RankId, Report>,
    progress: &Progress,
    chunk: Bytes,
    rates: &[u64],
) -> Agreed {
    let id = progress.operation;
    let mut load = vec![0; rates.len()];
    let mut places = progress.places.clone();
    let mut again = Vec::new();
    for (index, (_, range)) in (0u32..).zip(chunks(&progress.division, chunk)) {
        let at = index as usize;
        let Some(&place) = progress.places.get(at) else { break };
        let has = |report: &Report| {
            let done = progress_of(report, id).and_then(|it| it.done.get(at).copied());
            report.complete > id || done.unwrap_or(false)
        };
        let same = |report: &Report| {
            progress_of(report, id).is_none_or(|it| it.places.get(at) == Some(&place))
        };
        let all_have_it = reports.values().all(has);
        let goes_on = place.is_alive(view) && reports.values().all(same);
        if all_have_it || goes_on {
            continue;
        }
        if let Some(rail) = least_loaded(view, rates, &mut load, range.end - range.start) {
            places[at] = Place { rail, turn: view.turn(rail), epoch: view.epoch() };
            again.push(index);
        }
    }
    Agreed { progress: progress.clone(), places, again }
}

fn progress_of(report: &Report, id: OperationId) -> Option<&Progress> {
    report.operations.iter().find(|progress| progress.operation == id)
}

/// The rail that is up and would be done first with `bytes` more, by rate; the lower of two.
fn least_loaded(view: &View, rates: &[u64], load: &mut [u64], bytes: u64) -> Option<RailId> {
    let up = view.up();
    let done = |rail: RailId| {
        let (load, rate) = (load.get(rail.index()), rates.get(rail.index()));
        let bytes = u128::from(load.copied().unwrap_or(0)) + u128::from(bytes);
        // A rail of which nothing is known counts for one bit per second.
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

    fn first(rail: u32) -> Place {
        Place { rail: RailId(rail), turn: 0, epoch: Epoch(0) }
    }

    /// Three chunks on rail 0, three on rail 1, one on rail 2; `done` are those that a rank has.
    fn report(view: &View, done: &[usize], rates: [u64; 3]) -> Report {
        let progress = Progress {
            operation: OperationId(7),
            division: Division::new([12, 12, 4].map(Bytes::new).to_vec()),
            places: [0, 0, 0, 1, 1, 1, 2].map(first).to_vec(),
            done: (0..7).map(|chunk| done.contains(&chunk)).collect(),
        };
        let operations = vec![progress];
        Report { view: view.clone(), complete: OperationId(7), operations, rates: rates.to_vec() }
    }

    fn again(view: &View, reports: Vec<Report>) -> Vec<(u32, u32)> {
        let reports = (0..).map(RankId).zip(reports).collect();
        let plan = plan(view, &reports, CHUNK);
        let Some(agreed) = plan.get(&OperationId(7)) else { return Vec::new() };
        agreed.again.iter().map(|&chunk| (chunk, agreed.places[chunk as usize].rail.0)).collect()
    }

    #[test]
    fn what_any_rank_lacks_of_a_dead_rail_is_done_again_by_rate() {
        let view = View::new(3).turned(RailId(0), 1);
        let rates = [1, 2, 1];
        let reports = [&[0, 1][..], &[0, 2], &[0]].map(|done| report(&view, done, rates));
        assert_eq!(again(&view, reports.to_vec()), [(1, 1), (2, 1)], "12 bytes: 2/2 and 1/1");
        let reports = [&[][..], &[0, 1, 2], &[0, 1, 2]].map(|done| report(&view, done, rates));
        assert_eq!(again(&view, reports.to_vec()), [(0, 1), (1, 1), (2, 2)]);
    }

    #[test]
    fn what_all_have_and_what_is_on_live_rails_is_not() {
        let view = View::new(3).turned(RailId(0), 1);
        let reports = vec![report(&view, &[0, 1, 2], [1; 3]); 3];
        assert_eq!(again(&view, reports), []);
    }

    #[test]
    fn a_rank_that_has_not_started_has_nothing_and_one_beyond_has_all() {
        let view = View::new(3).turned(RailId(1), 1);
        let has_all = Report {
            complete: OperationId(8),
            operations: Vec::new(),
            ..report(&view, &[], [1; 3])
        };
        let not_started = Report { operations: Vec::new(), ..report(&view, &[], [1; 3]) };
        let started = report(&view, &[0, 1, 2, 3], [1; 3]);
        assert_eq!(again(&view, vec![has_all.clone(), started.clone()]), [(4, 0), (5, 2)]);
        let all = again(&view, vec![not_started, started, has_all]);
        assert_eq!(all, [(3, 0), (4, 2), (5, 0)]);
    }

    #[test]
    fn a_chunk_that_ranks_place_apart_is_done_again_though_its_rail_lives() {
        // Rank 0 had concluded an agreement that the other was torn out of.
        let view = View::new(3).turned(RailId(0), 1).turned(RailId(2), 1);
        let mut ahead = report(&view, &[3, 4, 5, 6], [1; 3]);
        let moved = Place { rail: RailId(1), turn: 0, epoch: Epoch(1) };
        ahead.operations[0].places[..3].fill(moved);
        let behind = report(&view, &[3, 4, 5, 6], [1; 3]);
        let all = [(0, 1), (1, 1), (2, 1)];
        assert_eq!(again(&view, vec![ahead.clone(), behind.clone()]), all);
        assert_eq!(again(&view, vec![behind, ahead]), all);
    }

    #[test]
    fn with_no_rail_left_all_stays_lost() {
        let view = (0..3).fold(View::new(3), |view, rail| view.turned(RailId(rail), 1));
        assert_eq!(again(&view, vec![report(&view, &[], [1; 3])]), []);
    }
}
