//! The bytes that each link carried, as a heat map.

use std::collections::BTreeMap;

use crate::plot::{Axis, Drawing, Figure, HeatMap, Panel};
use crate::results::{
    Dimension, Disturbance, FabricGraph, FabricLink, LinkLoad, ResultsError, RunFolder,
};

/// Returns the matrices of the links between switches, upwards and downwards; `None` without such
/// links.
pub(super) fn figure(
    run: &RunFolder,
    label: &str,
    failed: &[Disturbance],
) -> Result<Option<Figure>, ResultsError> {
    let graph = FabricGraph::of(&run.links()?);
    let mut panels = Vec::new();
    for tier in 1..graph.top() {
        for is_up in [true, false] {
            panels.extend(panel(&graph, tier, is_up, failed));
        }
    }
    if panels.is_empty() {
        return Ok(None);
    }
    let values = || panels.iter().flat_map(|it: &Panel| it.values.iter().flatten().flatten());
    let axis = Axis::new("carried", Dimension::Size, values().copied());
    let note = match panels.iter().any(|panel| !panel.failed.is_empty()) {
        true => "for parallel links, the most loaded one; framed links failed",
        false => "for parallel links, the most loaded one",
    };
    let is_parallel = graph.links.iter().any(|link| link.up.link.contains('#'));
    let note = if is_parallel { note } else { note.trim_start_matches(PARALLEL_NOTE) };
    let note = note.trim_start_matches("; ").to_owned();
    let map = HeatMap { title: format!("Load of links: {label}"), note, axis, panels };
    Ok(Some(Figure::new(&format!("link-load-{label}"), Drawing::Heat(map))))
}

const PARALLEL_NOTE: &str = "for parallel links, the most loaded one";

/// Returns the matrix of the links from a tier to the next one: a row for each lower switch, a
/// column for each of its upper neighbours.
fn panel(graph: &FabricGraph, tier: usize, is_up: bool, failed: &[Disturbance]) -> Option<Panel> {
    let (lower, upper) = (graph.tier(tier), graph.tier(tier + 1));
    let place = |nodes: &[usize]| -> BTreeMap<usize, usize> {
        nodes.iter().enumerate().map(|(place, &node)| (node, place)).collect()
    };
    let (row_of, order) = (place(&lower), place(&upper));
    let mut links: Vec<(usize, usize, &FabricLink)> = graph
        .links
        .iter()
        .filter_map(|link| Some((*row_of.get(&link.lower)?, *order.get(&link.upper)?, link)))
        .collect();
    links.sort_by_key(|(row, upper, _)| (*row, *upper));
    // The upper neighbours of each row. In a fat-tree they differ between pods.
    let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); lower.len()];
    for (row, upper, _) in &links {
        if neighbours[*row].last() != Some(upper) {
            neighbours[*row].push(*upper);
        }
    }
    let columns = neighbours.iter().map(Vec::len).max().filter(|&count| count > 0)?;
    let is_complete = neighbours.iter().all(|it| *it == neighbours[0]);
    let mut values = vec![vec![None; columns]; lower.len()];
    let mut frames = Vec::new();
    for (row, upper, link) in links {
        let column = neighbours[row].iter().position(|it| *it == upper)?;
        let load: &LinkLoad = if is_up { &link.up } else { &link.down };
        let cell: &mut Option<f64> = &mut values[row][column];
        // Parallel links share a cell, which shows the highest load.
        *cell = Some(cell.unwrap_or(0.0).max(load.bytes));
        if failed.iter().any(|it| it.link == load.link) {
            frames.push((row, column));
        }
    }
    let name = |node: &usize| graph.nodes[*node].name.clone();
    let columns = match is_complete {
        true => upper.iter().map(name).collect(),
        false => (0..columns).map(|index| format!("uplink {index}")).collect(),
    };
    let between = match (graph.top(), is_up) {
        (2, true) => "up".to_owned(),
        (2, false) => "down".to_owned(),
        (_, true) => format!("tier {tier} up"),
        (_, false) => format!("down to tier {tier}"),
    };
    let rows = lower.iter().map(name).collect();
    Some(Panel { title: between, rows, columns, values, failed: frames })
}
