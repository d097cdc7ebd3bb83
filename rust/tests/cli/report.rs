//! `evenkeel report`: the page of results, also in a real browser if one is installed.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::bench::Bench;
use crate::support::extent;

/// Returns the page of the committed example, and the folder with its results.
fn page() -> (Bench, String) {
    let bench = Bench::new();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/recording.toml");
    assert_eq!(bench.evenkeel(&["run", example, "--out", "results"]).status, 0);
    let left = bench.evenkeel(&["report", "results", "--out", "page.html"]);
    assert_eq!((left.status, left.err.as_str()), (0, ""));
    let html = bench.read("page.html");
    (bench, html)
}

/// Returns the text between two others.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let (_, rest) = text.split_once(from).unwrap_or_else(|| panic!("there is no {from}"));
    rest.split_once(to).unwrap_or_else(|| panic!("there is no {to} after {from}")).0
}

#[test]
fn the_page_shows_the_numbers_of_the_files() {
    let (bench, html) = page();
    let summary: Value = serde_json::from_str(&bench.read("results/summary.json")).unwrap();
    let row = between(between(&html, "<caption>Runs</caption>", "</table>"), "<tbody>", "</tbody>");
    let values: Vec<f64> = row
        .split("data-value=\"")
        .skip(1)
        .map(|cell| cell.split('"').next().unwrap().parse().unwrap())
        .collect();
    let keys = [
        "seed",
        "cct_ns",
        "slowdown",
        "fct_ns.p50",
        "fct_ns.p99",
        "queue_bytes_max",
        "packets.sent",
        "packets.retransmitted",
        "packets.dropped",
        "packets.marked",
        "packets.out_of_order",
        "pfc_pauses",
        "qps.extra_per_nic_max",
    ];
    let wanted = keys.map(|key| key.split('.').fold(&summary, |it, part| &it[part]).as_f64());
    assert_eq!(values.into_iter().map(Some).collect::<Vec<_>>(), wanted);
    for line in bench.read("results/links.csv").lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let [_, from, to, bytes, ..] = cells[..] else { panic!("{line}") };
        let link = format!("data-from=\"{from}\" data-to=\"{to}\" data-bytes=\"{bytes}\"");
        assert!(html.contains(&link), "{link}");
    }
    let data = between(&html, "<script type=\"application/json\" id=\"data\">", "</script>");
    let data: Value = serde_json::from_str(data).unwrap();
    let charts = data["charts"].as_array().unwrap();
    let queues = charts.iter().find(|it| it["name"] == "queues-recording-reps").unwrap();
    let line = &queues["chart"]["series"][0];
    let spine = line["name"].as_str().and_then(|name| name.strip_prefix("leaf0 to ")).unwrap();
    let points: Vec<(f64, f64)> = line["points"]
        .as_array()
        .unwrap()
        .iter()
        .map(|point| (point["x"].as_f64().unwrap(), point["y"].as_f64().unwrap()))
        .collect();
    let rows: Vec<(f64, f64)> = bench
        .read("results/ports.csv")
        .lines()
        .filter(|line| line.contains(&format!(",leaf0,{spine},")))
        .map(|line| line.split(',').collect::<Vec<_>>())
        .map(|cells| (cells[0].parse().unwrap(), cells[3].parse().unwrap()))
        .collect();
    assert_eq!(points, rows);
}

#[test]
fn the_page_is_a_single_file_with_landmarks_and_its_commands() {
    let (bench, html) = page();
    for landmark in [
        "<html lang=\"en\">",
        "<a class=\"skip\" href=\"#main\">",
        "<a class=\"skip\" href=\"#charts\">Skip to Charts</a>",
        "<a class=\"skip\" href=\"#fabric-end-0\">Skip the links of the drawing</a>",
        "<div id=\"fabric-end-0\" tabindex=\"-1\">",
        "<header>",
        "<main id=\"main\">",
        "<nav aria-label=\"Sections\">",
        "<footer>",
        "<h1>How long does recording take with reps",
        "aria-labelledby=\"fabric-title\"",
        "role=\"status\" aria-live=\"polite\"",
    ] {
        assert!(html.contains(landmark), "{landmark}");
    }
    let loads = ["src=", "href=\"http", "url(http", "@import", "fetch(", "XMLHttpRequest"];
    assert!(loads.iter().all(|load| !html.contains(load)), "the page loads something");
    assert!(html.contains("default-src 'none'") && html.contains("MIT License"));
    let commands = between(&html, "<code id=\"command\">", "</code>");
    let expected = "cp results/scenario.toml results/recording.toml\n\
                    evenkeel run results/recording.toml --out results\n\
                    evenkeel report results --out page.html";
    assert_eq!(commands, expected);
    fs::copy(bench.path("results/scenario.toml"), bench.path("results/recording.toml")).unwrap();
    for line in expected.lines().skip(1) {
        let words: Vec<&str> = line.split(' ').skip(1).collect();
        assert_eq!(bench.evenkeel(&words).status, 0, "{line}");
    }
    // The scenario records the origin of each value, which differs now.
    let again = bench.read("page.html");
    let parts = |page: &str| {
        let before = between(page, "<body>", "<section id=\"scenario\"").to_owned();
        before + between(page, "id=\"data\">", "</script>")
    };
    assert!(parts(&again) == parts(&html), "the commands make the same page");
    let ask = ["report", "results", "--out", "a.html", "--question", "Is 1 < 2?"];
    assert_eq!(bench.evenkeel(&ask).status, 0);
    assert!(bench.read("a.html").contains("<h1>Is 1 &lt; 2?</h1>"));
}

#[test]
fn a_page_of_studies_has_their_tables_and_charts() {
    let bench = Bench::with_studies();
    let page = || {
        let left = bench.evenkeel(&["report", "studies/reps-failures.csv", "--out", "page.html"]);
        assert_eq!((left.status, left.err.as_str()), (0, ""));
        bench.read("page.html")
    };
    let html = page();
    assert!(html.contains("<h1>REPS when links fail</h1>"), "the title of the study");
    assert!(html.contains("reproduce reps-failures") && !html.contains("the first 200 of"));
    let table = bench.read("studies/reps-failures.csv");
    let (columns, rows) = table.split_once('\n').expect("it has rows");
    assert_eq!(rows.lines().count(), 37);
    bench.write("studies/reps-failures.csv", &format!("{columns}\n{}", rows.repeat(6)));
    assert!(page().contains("the first 200 of 222 runs"));
}

/// Asserts that the texts are on the page in this order.
fn assert_order(html: &str, texts: &[&str]) {
    let mut rest = html;
    for text in texts {
        let (_, after) = rest.split_once(text).unwrap_or_else(|| panic!("no {text} in its place"));
        rest = after;
    }
}

#[test]
fn the_page_of_a_comparison_begins_with_its_answer() {
    let bench = Bench::new();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/recording.toml");
    let policies = ["--policies", "ecmp,reps", "--set", "workload.bytes=100KB"];
    let compare = [&["compare", example, "--out", "both"], &policies[..]].concat();
    assert_eq!(bench.evenkeel(&compare).status, 0);
    assert_eq!(bench.evenkeel(&["report", "both", "--out", "page.html"]).status, 0);
    let html = bench.read("page.html");
    let question = "<h1>How do ecmp and reps compare in recording, on 8 hosts and 16 links, when \
                    leaf0-spine0 is down?</h1>";
    let order = [
        question,
        "<section id=\"answer\"",
        "<p class=\"answer\">reps has the lowest completion time, ",
        "(median of 5 seeds); ecmp takes ",
        "<figure id=\"by-policy\"",
        "<section id=\"results\"",
        "<strong>best</strong>",
        "<h3>Why, against reps</h3>",
        "<section id=\"fabric\"",
        "8 hosts, 6 switches and 16 links. Failures:",
        "<strong>leaf0-spine0</strong> down",
        "<section id=\"runs\"",
        "<details><summary>Runs: 10 runs</summary>",
    ];
    assert_order(&html, &order);
    let runs: Value = serde_json::from_str(&bench.read("both/runs.json")).unwrap();
    let reason = runs["reasons"][0]["reason"].as_str().unwrap();
    assert!(html.contains(&format!("<li><strong>ecmp</strong>: {reason}</li>")), "{reason}");
}

#[test]
fn the_page_of_a_sweep_has_its_title_and_a_row_for_each_swept_value() {
    let bench = Bench::new();
    bench.write(
        "study.toml",
        "title = \"Does size matter?\"\n[scenario.topology]\nleaves = 2\nspines = 2\n\
         hosts_per_leaf = 2\n[scenario.workload]\nkind = \"permutation\"\n[[run]]\nname = \"r\"\n\
         seeds = 5\n[run.over]\npolicy = [\"ecmp\", \"spray\"]\n\"workload.bytes\" = [\"64KB\", \
         \"256KB\"]\n",
    );
    assert_eq!(bench.evenkeel(&["sweep", "study.toml", "--out", "sizes"]).status, 0);
    assert_eq!(bench.evenkeel(&["report", "sizes", "--out", "page.html"]).status, 0);
    let html = bench.read("page.html");
    let order = [
        "<h1>Does size matter?</h1>",
        "<p class=\"answer\">",
        " at both values of workload.bytes (64KB to 256KB)",
        "data-chart=\"0\"",
        "<section id=\"results\"",
        "<th scope=\"col\">bytes</th><th scope=\"col\">ecmp</th><th scope=\"col\">spray</th>",
        "<th scope=\"row\">64KB</th><td data-value=",
        "<th scope=\"row\">256KB</th><td data-value=",
        "4 hosts, 4 switches and 8 links, without failures",
        "<details><summary>sizes: 20 runs</summary>",
        "title = &quot;Does size matter?&quot;",
    ];
    assert_order(&html, &order);
}

/// Script appended to a copy of the page. It counts the pixels of each chart in its lines' colours,
/// before and after pressing a button. It also focuses a link as the keyboard would.
const PROBE: &str = r#"<script>
window.addEventListener("load", () => setTimeout(() => {
  const { colors, charts } = JSON.parse(document.getElementById("data").textContent);
  const rgb = (color) => [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
  const drawn = (place) => {
    const canvas = place.querySelector("canvas");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return charts[Number(place.dataset.chart)].chart.series.map((_, index) => {
      const [r, g, b] = rgb(colors[index % colors.length]);
      let count = 0;
      for (let at = 0; at < data.length; at += 4) {
        const far = [r, g, b].map((value, part) => Math.abs(data[at + part] - value));
        const near = far[0] + far[1] + far[2];
        count += near < 24 && data[at + 3] > 200 ? 1 : 0;
      }
      return count;
    });
  };
  const places = [...document.querySelectorAll(".chart")];
  const before = places.map(drawn);
  const image = places[1].querySelector("canvas").toDataURL();
  document.querySelector("button[data-zoom=in][data-chart='1']").click();
  setTimeout(() => {
    const zoomed = places[1].querySelector("canvas").toDataURL() !== image;
    const link = document.querySelector(".link");
    link.focus();
    const facts = document.querySelector(".link-facts").textContent;
    const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    const found = { before, zoomed, facts, label: link.getAttribute("aria-label"), wide };
    const place = document.createElement("pre");
    place.id = "probe";
    place.textContent = JSON.stringify(found);
    document.body.append(place);
  }, 300);
}, 300));
</script></body>"#;

/// Returns the browser's rendering of a page, and its console output.
fn browse(browser: &str, bench: &Bench, page: &str, width: u32) -> (String, Vec<String>) {
    let output = Command::new(browser)
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"])
        .args(["--virtual-time-budget=5000", "--dump-dom"])
        .arg(format!("--window-size={width},900"))
        .arg(format!("--user-data-dir={}", bench.path("profile").display()))
        .arg(format!("file://{}", bench.path(page).display()))
        .stdin(Stdio::null())
        .output()
        .expect("the browser starts");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let console = errors.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned);
    (String::from_utf8_lossy(&output.stdout).into_owned(), console.collect())
}

fn browser() -> Option<&'static str> {
    let is_there = |name: &&str| {
        let version = Command::new(name).arg("--version").stderr(Stdio::null()).output();
        version.is_ok_and(|output| output.status.success())
    };
    ["chromium", "chromium-browser", "google-chrome"].into_iter().find(is_there)
}

#[test]
fn a_browser_draws_the_charts_without_an_error() {
    if extent::is_left_out("cli::report::a_browser_draws") {
        return;
    }
    let Some(browser) = browser() else {
        eprintln!("a_browser_draws_the_charts_without_an_error: skipped, chromium is missing");
        return;
    };
    let (bench, html) = page();
    fs::write(bench.path("probe.html"), html.replacen("</body>", PROBE, 1)).unwrap();
    for width in [1200, 500] {
        let (dom, console) = browse(browser, &bench, "probe.html", width);
        assert!(console.is_empty(), "{console:?}");
        let found = between(&dom, "<pre id=\"probe\">", "</pre>");
        let found: Value = serde_json::from_str(&found.replace("&gt;", ">")).unwrap();
        let charts = found["before"].as_array().unwrap();
        assert_eq!(charts.len(), 5);
        for (chart, lines) in charts.iter().enumerate() {
            // A line may be hidden behind others; together they are visible.
            let pixels: Vec<u64> =
                lines.as_array().unwrap().iter().map(|it| it.as_u64().unwrap()).collect();
            assert!(pixels.iter().sum::<u64>() > 300, "chart {chart}, width {width}: {pixels:?}");
        }
        assert_eq!(found["zoomed"], true, "the button zooms");
        assert_eq!(found["facts"], found["label"], "the keyboard shows a link");
        assert_eq!(found["wide"], 0, "nothing is wider than a screen of {width}");
    }
}
