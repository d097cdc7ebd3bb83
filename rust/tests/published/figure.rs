//! The figure of the README, drawn from the committed tables.
//!
//! `INSTA_UPDATE=always cargo test --test integration figure` writes `docs/policies.svg` again.

use std::fmt::Write as _;
use std::fs;

const REPS: &str = include_str!("../../../snapshots/published-reps.snap");
const LINK_FAILURE: &str = include_str!("../../../snapshots/published-link-failure.snap");
const FIGURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/policies.svg");

const WIDTH: f64 = 820.0;
const ROW: f64 = 24.0;
const TOP: f64 = 64.0;
/// The width of the longest bar of a panel.
const BAR: f64 = 230.0;

/// A policy's value, and the value that others published.
#[derive(Debug)]
struct Bar {
    policy: String,
    value: f64,
    published: Option<f64>,
}

/// A chart with a horizontal bar for each policy.
struct Panel {
    title: &'static str,
    subtitle: &'static str,
    /// The position of the bars' left end.
    left: f64,
    bars: Vec<Bar>,
    /// The value at the left end.
    from: f64,
    is_logarithmic: bool,
    decimals: usize,
    unit: &'static str,
}

impl Panel {
    fn width_of(&self, value: f64) -> f64 {
        let values = self.bars.iter().flat_map(|bar| [Some(bar.value), bar.published]);
        let largest = values.flatten().fold(self.from, f64::max);
        match self.is_logarithmic {
            true => BAR * (value / self.from).ln() / (largest / self.from).ln(),
            false => BAR * (value - self.from) / (largest - self.from),
        }
    }

    fn draw(&self, to: &mut String) {
        let Self { title, subtitle, left, decimals, unit, .. } = self;
        let text_left = left - 84.0;
        writeln!(to, r#"<text class="title" x="{text_left:.0}" y="24">{title}</text>"#).unwrap();
        writeln!(to, r#"<text class="note" x="{text_left:.0}" y="44">{subtitle}</text>"#).unwrap();
        for (index, bar) in self.bars.iter().enumerate() {
            let top = TOP + ROW * index as f64;
            let (baseline, width) = (top + 13.0, self.width_of(bar.value));
            let Bar { policy, value, published } = bar;
            let name = left - 8.0;
            writeln!(to, r#"<text class="name" x="{name:.0}" y="{baseline:.0}">{policy}</text>"#)
                .unwrap();
            writeln!(
                to,
                r#"<rect class="bar" x="{left:.0}" y="{top:.0}" width="{width:.1}" height="17"/>"#
            )
            .unwrap();
            let end = published.map_or(width, |value| width.max(self.width_of(value)));
            if let Some(published) = published {
                let mark = left + self.width_of(*published);
                let (from, until) = (top - 2.0, top + 19.0);
                writeln!(to, r#"<path class="mark" d="M{mark:.1} {from:.0}V{until:.0}"/>"#)
                    .unwrap();
            }
            let (label, value) = (left + end + 6.0, format!("{value:.decimals$} {unit}"));
            writeln!(to, r#"<text class="value" x="{label:.1}" y="{baseline:.0}">{value}</text>"#)
                .unwrap();
        }
    }
}

/// The bars of REPS's table: the slowest flow, ours and the artifact's.
fn slowest_flows() -> Vec<Bar> {
    let shown = ["reps", "spray-rr", "spray (OPS)", "bitmap", "MPTCP-8", "plb", "flowlet", "ecmp"];
    let bar = |policy: &&str| {
        let is_row =
            |line: &&str| line.strip_prefix(*policy).is_some_and(|it| it.starts_with("  "));
        let row = REPS.lines().find(is_row).expect("the table has the policy");
        let numbers: Vec<f64> =
            row[policy.len()..].split_whitespace().map(|it| it.parse().unwrap()).collect();
        let [_, _, artifact, _, _, ours, _] = numbers[..] else { panic!("{row}") };
        let policy = policy.split(' ').next().expect("a name").to_owned();
        Bar { policy, value: ours, published: Some(artifact) }
    };
    shown.iter().map(bar).collect()
}

/// The bars of the table of a failed link: the completion time of the collective.
fn completion_times() -> Vec<Bar> {
    let rows = LINK_FAILURE.lines().skip_while(|line| !line.starts_with("policy ")).skip(1);
    let mut bars: Vec<Bar> = rows
        .map(|row| {
            let mut words = row.split_whitespace();
            let (policy, time) = (words.next().unwrap(), words.next().unwrap());
            Bar { policy: policy.to_owned(), value: time.parse().unwrap(), published: None }
        })
        .collect();
    bars.sort_by(|a, b| a.value.total_cmp(&b.value));
    bars
}

fn figure() -> String {
    let panels = [
        Panel {
            title: "No failure: slowest flow of a permutation",
            subtitle: "128 hosts, 8 MiB, 400 Gbps; the line marks REPS's artifact",
            left: 94.0,
            bars: slowest_flows(),
            from: 0.0,
            is_logarithmic: false,
            decimals: 0,
            unit: "us",
        },
        Panel {
            title: "One link fails: completion of an all-to-all",
            subtitle: "256 hosts, timeout 1 ms, repair after 100 ms; logarithmic",
            left: 504.0,
            bars: completion_times(),
            from: 0.5,
            is_logarithmic: true,
            decimals: 2,
            unit: "ms",
        },
    ];
    let rows = panels.iter().map(|panel| panel.bars.len()).max().unwrap_or(0);
    let height = TOP + ROW * rows as f64 + 8.0;
    let size = format!(r#"width="{WIDTH:.0}" height="{height:.0}""#);
    let mut svg = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {WIDTH:.0} {height:.0}">
<style>
text {{ font: 13px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #24292f; }}
.title {{ font-weight: 600; font-size: 15px; }}
.note {{ fill: #57606a; }}
.name {{ text-anchor: end; }}
.value {{ fill: #57606a; }}
.bar {{ fill: #3b7dd8; }}
.mark {{ stroke: #d1495b; stroke-width: 3; }}
</style>
<rect width="100%" height="100%" fill="#ffffff"/>
"##
    );
    panels.iter().for_each(|panel| panel.draw(&mut svg));
    svg + "</svg>\n"
}

#[test]
fn the_figure_of_the_readme_is_drawn_from_the_committed_tables() {
    let figure = figure();
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        fs::write(FIGURE, &figure).expect("docs/ is writable");
    }
    let committed = fs::read_to_string(FIGURE).unwrap_or_default();
    assert!(
        committed == figure,
        "docs/policies.svg is out of date: INSTA_UPDATE=always draws it again"
    );
}
