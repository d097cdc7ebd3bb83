//! `cargo bench --bench speed -- --sizes`: packet-hops per CPU-second over the number of hosts.

use super::cases::{Case, LINES, Line};
use super::options::Options;
use super::page::{Table, thousands};
use super::{Median, hosts, median, millions};

/// Lines whose queue pairs do not grow with the number of paths.
const SHOWN: [Line; 3] = [LINES[0], LINES[1], LINES[3]];

/// Prints the table, from the smallest fabric to the largest.
pub(crate) fn table(options: &Options) -> Table {
    let names = SHOWN.map(|line| line.to_string().replace(" | ", ", "));
    let [a, b, c] = &names;
    let mut table = Table::new(&["hosts", a, "ratio", b, "ratio", c, "ratio"]);
    print!("{}", table.text());
    let mut cases = options.cases.clone();
    // 16 hosts, with messages long enough to measure.
    if cases.len() > 1 {
        cases.insert(0, Case { k: 4, kib: 64 << 10 });
    }
    for case in cases {
        let cells = SHOWN.map(|line| {
            let Median { ratio, ours, .. } = median(line, case, options.rounds);
            format!("{} | {ratio:.2}", millions(ours))
        });
        let hosts = thousands(hosts(case).into());
        println!("{}", table.row(format!("{hosts} | {}", cells.join(" | "))));
    }
    table
}
