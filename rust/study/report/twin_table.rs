//! Table that compares one run in Rust and in ns-3.

use super::human;
use super::table::{finish, plain};
use super::twin::{LinkDifference, Twin};

/// Returns a summary of what is equal, and a table of the flows that differ.
pub fn twin_table(twin: &Twin) -> String {
    let mut table = plain();
    for (what, much) in rows(twin) {
        table.add_row([what, &much]);
    }
    let mut text = finish(table, usize::MAX);
    if !twin.differences.is_empty() {
        text += "\n";
        text += &differences(twin);
    }
    text
}

fn rows(twin: &Twin) -> Vec<(&'static str, String)> {
    let verdict = if twin.agrees { "the worlds agree" } else { "the worlds DIFFER" };
    let mut rows = vec![
        ("scenario", format!("{} (seed {})", twin.scenario, twin.seed)),
        ("policy", twin.policy.clone()),
        ("verdict", verdict.to_owned()),
        (
            "flows",
            format!(
                "{} of {} equal to the picosecond; they differ by at most {:.4} %",
                twin.flows_equal,
                twin.flows,
                twin.worst_difference * 100.0
            ),
        ),
        ("links", format!("{} of {} directions carried the same", twin.ports_equal, twin.ports)),
    ];
    rows.extend(twin.link_differences.iter().map(|it| {
        let LinkDifference { link, from, rust_bytes, ns3_bytes } = it;
        ("", format!("{link} from {from}: {rust_bytes} B in Rust, {ns3_bytes} B in ns-3"))
    }));
    let (equal, mismatches): (Vec<_>, Vec<_>) =
        twin.counts.iter().partition(|count| count.rust == count.ns3);
    rows.push(("counts", format!("{} of {} equal", equal.len(), twin.counts.len())));
    let mismatches = mismatches.iter();
    rows.extend(
        mismatches.map(|it| ("", format!("{}: {} in Rust, {} in ns-3", it.what, it.rust, it.ns3))),
    );
    rows.push((
        "wall time",
        format!(
            "{} in Rust, {} in ns-3: {:.1} times",
            human::seconds(twin.rust_wall_s),
            human::seconds(twin.ns3_wall_s),
            twin.speed_ratio
        ),
    ));
    rows
}

fn differences(twin: &Twin) -> String {
    let mut table = plain();
    table.set_header(["flow", "from", "to", "FCT in Rust", "FCT in ns-3"]);
    let shown = |ns: Option<f64>| ns.map_or_else(|| "-".to_owned(), |ns| format!("{ns} ns"));
    for it in &twin.differences {
        let flow = format!("{}.{}", it.message, it.piece);
        let (ours, theirs) = (shown(it.rust_fct_ns), shown(it.ns3_fct_ns));
        table.add_row([flow, it.src.clone(), it.dst.clone(), ours, theirs]);
    }
    finish(table, 3)
}
