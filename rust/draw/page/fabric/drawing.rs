//! The drawing: nodes in tiers, and links coloured by load.

use std::fmt::Write as _;

use crate::page::html::{CUE, escape};
use crate::plot::heat_color;
use crate::report::human;
use crate::results::{Disturbance, FabricGraph, FabricLink, FabricNode, LinkLoad};

/// Maximum number of links that can be focused with the keyboard. With more links, the table lists
/// those with the most bytes.
const MAX_FOCUSABLE: usize = 120;
const WIDTH: f64 = 960.0;
const TIER: f64 = 150.0;
const MARGIN: f64 = 40.0;

/// Draws nodes in tiers, with a line for each direction of each link.
pub(super) fn drawing(graph: &FabricGraph, failed: &[Disturbance], name: &str) -> String {
    let places = places(graph);
    let height = MARGIN * 2.0 + TIER * graph.top() as f64;
    let most = graph
        .links
        .iter()
        .flat_map(|link| [link.up.bytes, link.down.bytes])
        .fold(f64::MIN_POSITIVE, f64::max);
    let mut svg = format!(
        "{CUE}<div class=\"scroll fabric\" tabindex=\"0\" role=\"region\" \
         aria-label=\"Fabric of {0}\">\n\
         <svg viewBox=\"0 0 {WIDTH:.0} {height:.0}\" role=\"group\" aria-label=\"Links of {0}, \
         stronger with more bytes\">\n",
        escape(name)
    );
    let is_focusable = graph.links.len() <= MAX_FOCUSABLE;
    let sheet = Sheet { places: &places, most, is_focusable };
    for link in &graph.links {
        let state = failed.iter().find(|it| it.link == link.up.link);
        for load in [&link.up, &link.down] {
            line(&mut svg, link, load, state, &sheet);
        }
    }
    for (node, (x, y)) in graph.nodes.iter().zip(&places) {
        let count = graph.nodes.iter().filter(|it| it.tier == node.tier).count();
        let (name, kind) = (escape(&node.name), if node.tier == 0 { "host" } else { "switch" });
        let size = (WIDTH / count as f64 * 0.3).clamp(1.5, if node.tier == 0 { 6.0 } else { 9.0 });
        write!(
            svg,
            "<g class=\"{kind}\"><title>{name}</title><rect x=\"{:.1}\" y=\"{:.1}\" \
             width=\"{:.1}\" height=\"{:.1}\" rx=\"2\"/>",
            x - size,
            y - size,
            2.0 * size,
            2.0 * size
        )
        .expect("writing to a string cannot fail");
        label(&mut svg, node, (*x, *y), WIDTH / count as f64, graph.top());
        svg += "</g>\n";
    }
    svg + "</svg>\n</div>\n<p class=\"link-facts\" role=\"status\" aria-live=\"polite\">Point at a \
           link, or focus it with the Tab key, to see its numbers.</p>\n"
}

/// Writes the name of a node if there is room: below hosts, above the top tier, to the right of
/// other switches.
fn label(svg: &mut String, node: &FabricNode, (x, y): (f64, f64), room: f64, top: usize) {
    let long = 7.0 * node.name.chars().count() as f64 + 4.0;
    if room < long + if (1..top).contains(&node.tier) { 24.0 } else { 0.0 } {
        return;
    }
    let (dx, dy, anchor) = match node.tier {
        0 => (0.0, 22.0, "middle"),
        tier if tier == top => (0.0, -15.0, "middle"),
        _ => (14.0, 4.0, "start"),
    };
    let (x, y, name) = (x + dx, y + dy, escape(&node.name));
    write!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{name}</text>")
        .expect("writing to a string cannot fail");
}

/// The properties that all links of a drawing share.
struct Sheet<'a> {
    /// Centre of each node, by node.
    places: &'a [(f64, f64)],
    /// Bytes of the link with the highest load.
    most: f64,
    /// True if each link can be focused with the keyboard.
    is_focusable: bool,
}

/// Draws one direction of a link, offset from the centre line so that both directions are visible.
fn line(
    svg: &mut String,
    link: &FabricLink,
    load: &LinkLoad,
    state: Option<&Disturbance>,
    sheet: &Sheet<'_>,
) {
    let Sheet { places, most, is_focusable } = sheet;
    let ((x1, y1), (x2, y2)) = (places[link.lower], places[link.upper]);
    let aside = if std::ptr::eq(load, &link.up) { -1.6 } else { 1.6 };
    let color = heat_color(0.12 + 0.88 * load.bytes / most);
    let facts = escape(&facts(load, state));
    let (class, focus) = (
        if state.is_some() { "link failed" } else { "link" },
        if *is_focusable { " tabindex=\"0\"" } else { "" },
    );
    writeln!(
        svg,
        "<g class=\"{class}\" role=\"img\"{focus} aria-label=\"{facts}\" data-from=\"{}\" \
         data-to=\"{}\" data-bytes=\"{}\"><title>{facts}</title><line class=\"target\" \
         x1=\"{:.1}\" y1=\"{y1:.1}\" x2=\"{:.1}\" y2=\"{y2:.1}\"/><line x1=\"{:.1}\" \
         y1=\"{y1:.1}\" \
         x2=\"{:.1}\" y2=\"{y2:.1}\" stroke=\"{color}\"/></g>",
        escape(&load.from),
        escape(&load.to),
        load.bytes,
        x1 + aside,
        x2 + aside,
        x1 + aside,
        x2 + aside,
    )
    .expect("writing to a string cannot fail");
}

/// Returns the description of a link: bytes, queue, marks and failure.
fn facts(load: &LinkLoad, state: Option<&Disturbance>) -> String {
    let mut facts = format!("{} to {}: {} carried", load.from, load.to, human::bytes(load.bytes));
    if let Some(queue) = load.queue_bytes_max {
        facts += &format!(", longest queue {}", human::bytes(queue));
    }
    if let Some(marked) = load.marked {
        facts += &format!(", {} packets marked", human::count(marked));
    }
    if let Some(state) = state {
        facts += &format!("; {} from {}", state.kind, human::nanoseconds(state.at_ns));
        if let Some(until) = state.until_ns {
            facts += &format!(" until {}", human::nanoseconds(until));
        }
    }
    facts
}

/// Returns the centre of each node. Hosts are at the bottom, in the order of their names.
fn places(graph: &FabricGraph) -> Vec<(f64, f64)> {
    let mut places = vec![(0.0, 0.0); graph.nodes.len()];
    for tier in 0..=graph.top() {
        let nodes = graph.tier(tier);
        let room = (WIDTH - 2.0 * MARGIN) / nodes.len().max(1) as f64;
        for (index, &node) in nodes.iter().enumerate() {
            let x = MARGIN + room * (index as f64 + 0.5);
            places[node] = (x, MARGIN + TIER * (graph.top() - tier) as f64);
        }
    }
    places
}
