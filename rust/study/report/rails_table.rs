//! Tables of runs over several rails.

use std::borrow::Cow;

use super::human;
use super::rails::{OperationSummary, RailSummary};
use super::table::{finish, plain};
use crate::units::BitRate;

/// Maximum number of operations in a table: half from the start, half from the end.
const MAX_ROWS: usize = 16;

/// Maximum number of rails with a column.
const MAX_COLUMNS: usize = 4;

/// Returns the table of one run: a row for each operation, a row for each rail, and the timeline of
/// failures. `spread` is the spread of the rails' times relative to the longest; `reissued` counts
/// chunks.
pub fn rails_table(run: &RailSummary) -> String {
    let title = format!(
        "{} ({}), seed {}: {}, {}, {}\n",
        run.scenario,
        shown(&run.policy),
        run.seed,
        human::plural(u64::from(run.hosts), "host"),
        human::plural(run.rails.len() as u64, "rail"),
        human::plural(run.operations_planned as u64, "all-reduce"),
    );
    let sums = if run.exact { "exact at every rank" } else { "WRONG" };
    let rate = human::bytes(run.bytes_per_s);
    let facts = match run.cct_ns {
        Some(time) => format!("sums {sums}; {} in total, {rate}/s\n", human::nanoseconds(time)),
        None => {
            let done = run.operations.iter().filter(|it| it.took_ns.is_some()).count();
            let planned = run.operations_planned;
            format!("{done} of {planned} completed; their sums are {sums}\n")
        }
    };
    let mut text = title + &facts + "\n" + &operations(run) + "\n" + &rails(run);
    if !run.timeline.is_empty() {
        text = text + "\n" + &timeline(run);
    }
    text
}

fn operations(run: &RailSummary) -> String {
    let mut table = plain();
    let columns = run.rails.len().min(MAX_COLUMNS);
    let mut headings = vec!["op".to_owned(), "bytes".to_owned(), "took".to_owned()];
    headings.extend(run.rails[..columns].iter().map(|rail| format!("{} share, time", rail.name)));
    headings.extend(["spread", "reissued"].map(str::to_owned));
    table.set_header(headings);
    let count = run.operations.len();
    for (number, operation) in run.operations.iter().enumerate() {
        if count > MAX_ROWS && number == MAX_ROWS / 2 {
            table.add_row(vec!["..".to_owned(); columns + 5]);
        }
        if count <= MAX_ROWS || number < MAX_ROWS / 2 || number >= count - MAX_ROWS / 2 {
            table.add_row(row(number, operation, columns));
        }
    }
    finish(table, 0)
}

fn row(number: usize, operation: &OperationSummary, columns: usize) -> Vec<String> {
    let share = |rail: usize| {
        let percent = operation.share_bytes[rail] as f64 / operation.bytes as f64 * 100.0;
        let time = operation.rail_ns[rail].map_or_else(|| "-".to_owned(), human::nanoseconds);
        format!("{percent:.1}% {time}")
    };
    let mut row = vec![
        number.to_string(),
        human::bytes(operation.bytes as f64),
        operation.took_ns.map_or_else(|| "open".to_owned(), human::nanoseconds),
    ];
    row.extend((0..columns).map(share));
    row.push(format!("{:.1}%", operation.spread * 100.0));
    row.push(operation.reissued_chunks.to_string());
    row
}

fn rails(run: &RailSummary) -> String {
    let mut table = plain();
    table.set_header(["rail", "kind", "link", "assigned", "sent, all hops", "rate while busy"]);
    for rail in &run.rails {
        let speed = rail.bytes_per_s.map(|speed| human::bytes(speed) + "/s");
        table.add_row([
            rail.name.clone(),
            rail.kind.to_owned(),
            BitRate::from_bps(rail.rate_bps).to_string(),
            human::bytes(rail.assigned_bytes as f64),
            human::bytes(rail.carried_bytes as f64),
            speed.unwrap_or_else(|| "-".to_owned()),
        ]);
    }
    let busy = human::nanoseconds(run.cpu_busy_ns_max);
    finish(table, 2) + &format!("the busiest host's CPU was busy for {busy}\n")
}

fn timeline(run: &RailSummary) -> String {
    let mut table = plain();
    table.set_header(["at", "since", "rail", "event"]);
    let mut before = None;
    for line in &run.timeline {
        let since = before.map(|before: f64| human::nanoseconds(line.at_ns - before));
        before = Some(line.at_ns);
        table.add_row([
            human::nanoseconds(line.at_ns),
            since.unwrap_or_default(),
            line.rail.clone(),
            line.what.clone(),
        ]);
    }
    finish(table, usize::MAX)
}

/// Returns a table with a row for each policy. It has the times of all operations, of the first
/// one, and of the last quarter. Policies that did not complete come last, without times.
pub fn rails_compare_table(runs: &[RailSummary]) -> String {
    let Some(first) = runs.first() else { return String::new() };
    let mut table = plain();
    let headings = ["policy", "all", "rate", "first op", "last ops", "spread", "reissued", "sums"];
    table.set_header(headings);
    let mut rows: Vec<&RailSummary> = runs.iter().collect();
    rows.sort_by_key(|run| run.cct_ns.is_none());
    for run in rows {
        let last = last_quarter(&run.operations);
        let took = |operations: &[OperationSummary]| {
            let times: Vec<f64> = operations.iter().filter_map(|it| it.took_ns).collect();
            match times.len() {
                count if count > 0 && run.cct_ns.is_some() => {
                    human::nanoseconds(times.iter().sum::<f64>() / count as f64)
                }
                _ => "-".to_owned(),
            }
        };
        let apart = last.iter().map(|it| it.spread).sum::<f64>() / last.len().max(1) as f64;
        let again: u64 = run.operations.iter().map(|it| it.reissued_chunks).sum();
        table.add_row([
            shown(&run.policy).into_owned(),
            run.cct_ns.map_or_else(|| "open".to_owned(), human::nanoseconds),
            human::bytes(run.bytes_per_s) + "/s",
            took(&run.operations[..run.operations.len().min(1)]),
            took(last),
            format!("{:.1}%", apart * 100.0),
            again.to_string(),
            if run.exact { "exact".to_owned() } else { "WRONG".to_owned() },
        ]);
    }
    let rails: Vec<String> = first
        .rails
        .iter()
        .map(|rail| {
            let rate = BitRate::from_bps(rail.rate_bps);
            format!("{} {} {rate}", rail.name, rail.kind)
        })
        .collect();
    format!(
        "{}: {}, {}, seed {}\n{}\n\n",
        first.scenario,
        human::plural(u64::from(first.hosts), "host"),
        human::plural(first.operations_planned as u64, "all-reduce"),
        first.seed,
        rails.join("; ")
    ) + &finish(table, 1)
}

/// Returns the last quarter of the operations, at least one of them.
fn last_quarter(operations: &[OperationSummary]) -> &[OperationSummary] {
    let count = operations.len();
    &operations[count - count.div_ceil(4).min(count)..]
}

/// Returns the name of an allocator, with a remark if it is a reconstruction.
fn shown(policy: &str) -> Cow<'_, str> {
    if policy == "nezha" { format!("{policy} (reconstructed)").into() } else { policy.into() }
}
