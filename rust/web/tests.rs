//! Requests without a browser.

use crate::report::{Report, report};
use crate::request::{Plan, Request};
use crate::runs::{self, Share};

const SMALL: &str = "[topology]\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n[workload]\nkind = \
                     \"permutation\"\nbytes = \"64KB\"\n";

fn request(text: &str, policies: &[&str]) -> Request {
    let policies = policies.iter().map(|&name| name.to_owned()).collect();
    let (name, text) = ("small".to_owned(), text.to_owned());
    Request { name, text, settings: Vec::new(), policies, seeds: None }
}

fn reason(text: &str, policies: &[&str]) -> String {
    request(text, policies).comparison().map(drop).unwrap_err()
}

#[test]
fn what_cannot_run_in_a_page_has_a_reason() {
    let rails = reason("[[rail]]\nkind = 'rdma'", &[]);
    assert_eq!(
        rails,
        "small.toml: a scenario with [[rail]] does not run in the page; run it on your machine"
    );
    assert!(reason("[[run]]\nname = 'a'", &[]).contains("a study with [[run]]"));
    assert!(reason(SMALL, &["sprai"]).contains("'sprai'"));
    let large = SMALL.replace("hosts_per_leaf = 2", "hosts_per_leaf = 256");
    let large = large.replace("permutation", "all-to-all").replace("leaves = 2", "leaves = 64");
    assert!(reason(&large, &[]).contains("memory"), "{}", reason(&large, &[]));
    let error = Request::read("{\"name\": \"a\", \"sed\": 1}").unwrap_err();
    assert!(error.starts_with("the request: unknown field `sed`"), "{error}");
}

#[test]
fn a_plan_has_the_runs_and_their_commands() {
    let mut of = request(SMALL, &["ecmp", "spray"]);
    of.settings = vec!["topology.spines=4".to_owned()];
    let plan = Plan::of(&of, &of.comparison().unwrap());
    let plan = serde_json::to_value(plan).unwrap();
    assert_eq!(
        (&plan["runs"], &plan["hosts"], &plan["messages"]),
        (&10.into(), &4.into(), &4.into())
    );
    assert_eq!(plan["links"].as_array().unwrap().len(), 8);
    let commands = "evenkeel compare small.toml --policies ecmp,spray --seeds 5 --set \
                    'topology.spines=4' --out results\nevenkeel report results --out small.html";
    assert_eq!(plan["commands"], commands);
    let one = request(SMALL, &[]);
    let plan = Plan::of(&one, &one.comparison().unwrap());
    assert_eq!(serde_json::to_value(plan).unwrap()["runs"], 1);
}

#[test]
fn the_report_of_a_comparison_has_its_ranking_and_a_drawing_of_each_policy() {
    let mut shown = Vec::new();
    let of = request(SMALL, &["ecmp", "spray"]);
    let show = &mut |done: f64, label: &str| shown.push((done, label.to_owned()));
    let Report { html, notes } = report(&of, show).unwrap();
    assert_eq!(notes, [""; 0]);
    assert_eq!(html.matches("<figure id=\"by-policy").count(), 1);
    assert_eq!(html.matches("<svg viewBox=").count(), 2, "a drawing of each policy");
    assert!(html.contains("How do ecmp and spray compare in small"), "the question");
    assert!(html.contains("Runs: 10 runs"), "every run once");
    assert!(html.contains("evenkeel compare small.toml --policies ecmp,spray --seeds 5"));
    assert!(shown.is_sorted_by(|a, b| a.0 <= b.0), "{shown:?}");
    assert_eq!(shown.last().unwrap().1, "spray, seed 5");
}

#[test]
fn recorded_tables_and_streamed_flows_are_files_of_the_run() {
    let text = format!("{SMALL}[record]\nevery = '1us'\nports = 'leaf0-spine0'\n");
    let of = request(&text, &[]);
    let asked = of.comparison().unwrap();
    let files = |asked: &_| {
        let mut silent = |_: f64, _: &str| {};
        let (run, mut share) = (crate::request::Asked::runs(asked)[0], Share::new(1, &mut silent));
        runs::run_with_files(asked, run, std::path::Path::new("a"), &mut share).unwrap().1
    };
    let recorded = files(&asked);
    assert!(recorded["ports.csv"].lines().count() > 5);
    let collective =
        SMALL.replace("permutation", "all-to-all") + "outstanding = 1\nstreaming = true\n";
    let streamed = files(&request(&collective, &[]).comparison().unwrap());
    assert_eq!(streamed["flows.csv"].lines().count(), 21, "20 pieces of 12 messages");
}
