//! `evenkeel plot`: figures of the results of runs and studies.

use std::fs;

use super::bench::Bench;

/// Returns the committed example of figures, with its results in `results`.
fn recorded() -> Bench {
    let bench = Bench::with_small();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/recording.toml");
    let left = bench.evenkeel(&["run", example, "--out", "results"]);
    assert_eq!(left.status, 0, "{}", left.err);
    bench
}

#[test]
fn a_recorded_run_has_six_reproducible_figures_with_units() {
    let bench = recorded();
    let left = bench.evenkeel(&["plot", "results", "--out", "figures"]);
    assert_eq!((left.status, left.err.as_str()), (0, ""));
    let svg = |name: &str| fs::read_to_string(bench.path(&format!("figures/{name}.svg"))).unwrap();
    for (name, texts) in [
        ("completion-cdf", &["message completion time (us)", "share of messages"][..]),
        ("link-load-recording-reps", &["carried", "(MB)", "leaf1", "spine3"]),
        ("queues-recording-reps", &["queue (KB)", "time (us)", "leaf0-spine0 restored"]),
        ("utilisation-recording-reps", &["utilisation", "time (us)", "leaf0 to spine3"]),
        ("send-rates-recording-reps", &["rate sent (Gbps)", "host3 to host7"]),
        ("windows-recording-reps", &["window (KB)"]),
    ] {
        let svg = svg(name);
        assert!(svg.starts_with("<svg xmlns") && svg.trim_end().ends_with("</svg>"), "{name}");
        for text in texts {
            assert!(svg.contains(&format!("\n{text}\n")), "{name} has no text '{text}'");
        }
        assert!(left.out.contains(&format!("{name}.svg: ")), "{}", left.out);
    }
    assert_eq!(left.out.lines().count(), 6, "{}", left.out);
    bench.evenkeel(&["plot", "results", "--out", "again"]);
    let again = fs::read_to_string(bench.path("again/queues-recording-reps.svg")).unwrap();
    assert_eq!(svg("queues-recording-reps"), again);
}

#[test]
fn a_single_output_file_takes_one_figure() {
    let bench = recorded();
    let left = bench.evenkeel(&["plot", "results", "--out", "a.svg"]);
    assert_eq!(left.status, 2);
    assert!(left.err.contains("use --figure with one of completion-cdf, "), "{}", left.err);
    let only = ["plot", "results", "--out", "a.svg", "--figure", "queues"];
    assert_eq!(bench.evenkeel(&only).status, 0);
    assert!(bench.path("a.svg").is_file());
    let left = bench.evenkeel(&["plot", "results", "--out", "a.svg", "--figure", "cdf"]);
    assert!(left.err.contains("--figure cdf: no such figure in the results"), "{}", left.err);
}

#[test]
fn policies_with_seeds_are_compared() {
    let bench = Bench::with_small();
    let mut folders = Vec::new();
    for (policy, seed) in [("ecmp", "1"), ("ecmp", "2"), ("spray", "1"), ("spray", "2")] {
        let folder = format!("{policy}-{seed}");
        let run = ["run", "small.toml", "--policy", policy, "--seed", seed, "--out", &folder];
        assert_eq!(bench.evenkeel(&run).status, 0);
        folders.push(folder);
    }
    let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
    let plot = [&["plot", "--out", "figures"][..], &folders].concat();
    assert_eq!(bench.evenkeel(&plot).status, 0);
    let svg = fs::read_to_string(bench.path("figures/by-policy.svg")).unwrap();
    assert!(svg.contains("medians of up to 2 seeds with their intervals"), "{svg}");
    let metric = [&["plot", "--out", "figures", "--metric", "no_such"][..], &folders].concat();
    let left = bench.evenkeel(&metric);
    assert_eq!(left.status, 0, "the other figures are drawn: {}", left.err);
    assert!(!left.out.contains("by-policy"), "{}", left.out);
}

#[test]
fn file_errors_name_the_place_and_the_expected_content() {
    let bench = recorded();
    let fault = |name: &str, from: &str, to: &str| {
        let path = bench.path(&format!("results/{name}"));
        let before = fs::read_to_string(&path).unwrap();
        fs::write(&path, before.replacen(from, to, 1)).unwrap();
        let left = bench.evenkeel(&["plot", "results", "--out", "figures"]);
        fs::write(&path, before).unwrap();
        assert_eq!(left.status, 2, "{}", left.err);
        left.err
    };
    let err = fault("flows.csv", "8000000", "eight");
    assert!(err.contains("flows.csv:2: column 5 (bytes): 'eight' is not a number"), "{err}");
    let err = fault("links.csv", "link,from", "wire,from");
    assert!(err.contains("links.csv:1: no column is called 'link'; the columns are wire"), "{err}");
    let err = fault("summary.json", "\"seed\": 1", "\"seed\": x");
    assert!(err.contains("summary.json:4:"), "{err}");
    let err = fault("ports.csv", "5000,leaf0", "5000,extra,leaf0");
    assert!(err.contains("ports.csv:2: the line has 7 values; expected a line of 6"), "{err}");
    fs::remove_file(bench.path("results/flows.csv")).unwrap();
    let err = bench.evenkeel(&["plot", "results", "--out", "figures"]).err;
    assert!(err.contains("flows.csv: cannot be read") && err.contains("run --out writes it"));
    let err = bench.evenkeel(&["plot", ".", "--out", "figures"]).err;
    assert!(err.contains("no results found; expected a folder with summary.json"), "{err}");
}

#[test]
fn a_studys_table_is_plotted_over_its_keys() {
    let bench = Bench::with_studies();
    let left = bench.evenkeel(&["plot", "studies/reps-failures.csv", "--out", "figures"]);
    assert_eq!((left.status, left.err.as_str()), (0, ""));
    let svg = bench.read("figures/over-failed-reps-failures-growing.svg");
    assert!(svg.contains("\nfailed\n") && svg.contains("\nreps\n"), "{svg}");
    let svg = bench.read("figures/by-policy-reps-failures-transient.svg");
    assert!(svg.contains("\nmedians of up to 2 seeds with their intervals"), "{svg}");
    // The folder contains one table, so it gives the same figures.
    assert_eq!(bench.evenkeel(&["plot", "studies", "--out", "again"]).out.lines().count(), 3);
}

#[test]
fn the_full_name_of_a_figure_selects_only_that_figure() {
    let bench = Bench::new();
    let table = "run,parameters,seed,cct_ns\na,policy ecmp,1,5\na,policy spray,1,4\n\
                 a-b,policy ecmp,1,5\na-b,policy spray,1,4\n";
    bench.write("s.csv", table);
    let plot =
        |figure: &str| bench.evenkeel(&["plot", "s.csv", "--out", "a.svg", "--figure", figure]);
    let left = plot("by-policy-s");
    assert!(left.err.contains("use --figure with one of by-policy-s-a, by-policy-s-a-b"));
    assert_eq!(plot("by-policy-s-a").out, "a.svg: Completion time: s, a\n");
    assert_eq!(plot("by-policy-s-a-b").out, "a.svg: Completion time: s, a-b\n");
}

#[test]
fn sweeps_and_comparisons_are_plotted_with_confidence_intervals() {
    let bench = Bench::with_small();
    let study = "[scenario.topology]\nleaves = 2\nspines = 2\nhosts_per_leaf = 4\n\
                 [scenario.workload]\nkind = \"permutation\"\n[[run]]\nname = \"sizes\"\n\
                 seeds = 2\n[run.over]\npolicy = [\"ecmp\", \"spray\"]\n\
                 \"workload.bytes\" = [\"16KB\", \"64KB\"]\n";
    bench.write("study.toml", study);
    let sweep = bench.evenkeel(&["sweep", "study.toml", "--out", "swept"]);
    assert_eq!(sweep.status, 0, "{}", sweep.err);
    let left = bench.evenkeel(&["plot", "swept", "--out", "sweep.svg"]);
    assert_eq!((left.status, left.err.as_str()), (0, ""));
    let svg = bench.read("sweep.svg");
    assert!(svg.contains("\nworkload.bytes (KB)\n") && svg.contains("\necmp\n"), "{svg}");
    assert!(svg.contains("the bands are their intervals"), "{svg}");
    let report = ["report", "swept", "--out", "sweep.html"];
    assert_eq!(bench.evenkeel(&report).status, 0);
    assert!(bench.read("sweep.html").contains("evenkeel sweep swept/study.toml --out swept"));
    let policies = ["--policies", "ecmp,spray", "--seeds", "3", "--format", "csv"];
    let csv = bench.evenkeel(&[&["compare", "small.toml"][..], &policies].concat());
    assert_eq!(csv.status, 0, "{}", csv.err);
    bench.write("compare.csv", &csv.out);
    let left = bench.evenkeel(&["plot", "compare.csv", "--out", "compare.svg"]);
    assert_eq!((left.status, left.err.as_str()), (0, ""));
    assert!(bench.read("compare.svg").contains("medians of up to 3 seeds with their intervals"));
}

#[test]
fn rows_with_an_error_are_reported_in_figures_and_on_the_page() {
    let bench = Bench::new();
    let study = "[scenario.topology]\nleaves = 2\nhosts_per_leaf = 4\n[[run]]\nname = \"spines\"\n\
                 [run.over]\npolicy = [\"ecmp\", \"spray\"]\n\"topology.spines\" = [0, 2, 4]\n";
    bench.write("study.toml", study);
    assert_eq!(bench.evenkeel(&["sweep", "study.toml", "--out", "swept"]).status, 1);
    let left = bench.evenkeel(&["plot", "swept", "--out", "sweep.svg"]);
    assert_eq!(left.status, 0, "{}", left.err);
    let first = "results.csv: 2 runs with an error, not drawn; the first is policy ecmp, \
                 topology.spines 0, seed 1: topology.spines = 0 is invalid";
    assert!(left.err.contains(first), "{}", left.err);
    let svg = bench.read("sweep.svg");
    assert!(svg.contains("2 of 6 runs have an error and are not drawn"), "{svg}");
    let left = bench.evenkeel(&["report", "swept", "--out", "sweep.html"]);
    assert_eq!(left.status, 0, "{}", left.err);
    let page = bench.read("sweep.html");
    assert!(page.contains("2 runs with an error, not drawn"), "the page names them");
    assert_eq!(page.matches("<td class=\"words\">topology.spines = 0 is invalid").count(), 2);
}

#[test]
fn figures_do_not_depend_on_the_location_of_the_topology_file() {
    let bench = Bench::new();
    assert_eq!(bench.evenkeel(&["init", "hpcc", "--out", "start"]).status, 0);
    let failure =
        "\n[[failure]]\nlink = \"switch4-switch6\"\nat = \"2us\"\nuntil = \"30us\"\n\n[record]\n";
    bench.write("start/hpcc.toml", &(bench.read("start/hpcc.toml") + failure));
    let flows = "3\n0 2 3 100 50000 0.0\n1 3 3 101 200000 0.0\n2 1 3 102 400000 0.0\n";
    bench.write("start/flows.txt", flows);
    let left = bench.evenkeel(&["run", "start/hpcc.toml", "--out", "results"]);
    assert_eq!(left.status, 0, "{}", left.err);
    let topology = bench.read("start/topology.txt");
    assert_eq!(bench.read("results/topology.hpcc"), topology);
    fs::remove_dir_all(bench.path("start")).unwrap();
    let left = bench.evenkeel(&["plot", "results", "--out", "figures"]);
    assert_eq!((left.status, left.err.as_str()), (0, ""));
    assert!(bench.read("figures/slowdown-by-size.svg").contains("\nslowdown\n"));
    assert!(bench.read("figures/queues-hpcc-ecmp.svg").contains("\nswitch4-switch6 restored\n"));
    let left = bench.evenkeel(&["report", "results", "--out", "page.html"]);
    assert_eq!(left.status, 0, "{}", left.err);
    assert!(
        bench
            .read("page.html")
            .contains("<strong>switch4-switch6</strong> down: from 2.000us until")
    );
}

#[test]
fn each_recording_has_separate_figures() {
    let bench = Bench::with_small();
    let record = "\n[[record]]\nname = \"uplinks\"\nevery = \"2us\"\n\
                  ports = \"leaf0-spine0, leaf0-spine1\"\n\
                  paths = \"none\"\nqueue_pairs = \"none\"\n\n[[record]]\nname = \"fine\"\n\
                  on = \"change\"\nevery = \"1us\"\nports = \"leaf0-host0\"\npaths = \"0..1\"\n\
                  queue_pairs = \"none\"\n";
    bench.write("small.toml", &(bench.read("small.toml") + record));
    let left = bench.evenkeel(&["run", "small.toml", "--out", "results", "--json"]);
    assert_eq!(left.status, 0, "{}", left.err);
    let summary = left.json();
    assert_eq!(summary["record"]["uplinks"]["window_ns"], 2_000.0);
    assert_eq!(summary["record"]["fine"]["window_ns"], 1_000.0);
    let names = bench.names("results");
    for file in ["ports-uplinks.csv", "queue_changes-fine.csv", "path_changes-fine.csv"] {
        assert!(names.contains(&file.to_owned()), "{names:?}");
    }
    let left = bench.evenkeel(&["plot", "results", "--out", "figures"]);
    assert_eq!((left.status, left.err.as_str()), (0, ""));
    assert!(bench.read("figures/utilisation-small-ecmp-uplinks.svg").contains("leaf0 to spine1"));
    assert!(bench.read("figures/queue-changes-small-ecmp-fine.svg").contains("queue (KB)"));
    // The written scenario records both; a later run without them removes their tables.
    let left = bench.evenkeel(&["run", "results/scenario.toml", "--out", "again", "--json"]);
    assert_eq!(left.json()["record"], summary["record"]);
    bench.write("small.toml", super::bench::SMALL);
    assert_eq!(bench.evenkeel(&["run", "small.toml", "--out", "results"]).status, 0);
    assert!(!bench.names("results").iter().any(|name| name.contains("fine")));
}

#[test]
fn the_ending_of_the_file_is_the_format_of_the_figure() {
    let bench = recorded();
    let plot = |out: &str| {
        let figure = ["--figure", "queues", "--size", "12cmx8cm", "--units", "si"];
        bench.evenkeel(&[&["plot", "results", "--out", out][..], &figure].concat())
    };
    let bytes = |out: &str| {
        for _again in 0..2 {
            let left = plot(out);
            assert_eq!((left.status, left.err.as_str()), (0, ""), "{out}");
        }
        fs::read(bench.path(out)).unwrap()
    };
    let png = bytes("a.png");
    assert_eq!((&png[1..4], &png[16..24]), (&b"PNG"[..], &[0, 0, 3, 140, 0, 0, 2, 92][..]));
    let pdf = String::from_utf8_lossy(&bytes("a.pdf")).into_owned();
    assert!(pdf.starts_with("%PDF-1.5\n") && pdf.contains("/MediaBox [0 0 340.5 226.5]"), "{pdf}");
    assert!(String::from_utf8(bytes("a.svg")).unwrap().contains("\ntime (µs)\n"));
    let csv = String::from_utf8(bytes("a.csv")).unwrap();
    let row = "queues-recording-reps,,leaf0 to spine0,point,130000,12474,,,time (ns),queue (B)";
    assert!(csv.lines().any(|line| line == row), "{csv}");
    plot("a.eps").expect_invalid(&["--out a.eps: no format has the ending .eps; use .svg, .pdf"]);
    bench.write("b.pdf", "%PDF-1.7 of another program");
    assert_eq!(plot("b.pdf").status, 2, "it is not replaced");
}

#[test]
fn the_look_of_a_figure_can_be_chosen() {
    let bench = recorded();
    let plot = |more: &[&str]| {
        let cdf = ["plot", "results", "--out", "a.svg", "--figure", "completion-cdf"];
        bench.evenkeel(&[&cdf, more].concat())
    };
    let look = ["--title", "All of it", "--x-label", "FCT", "--y-label", "CDF", "--x-scale", "log"];
    assert_eq!(plot(&look).status, 0);
    let svg = bench.read("a.svg");
    for text in ["All of it", "FCT (us)", "CDF"] {
        assert!(svg.contains(&format!("\n{text}\n")), "{text}: {svg}");
    }
    let error = "completion-cdf: its vertical axis has 0, which a logarithmic axis cannot show";
    plot(&["--y-scale", "log"]).expect_invalid(&[error]);
    plot(&["--order", "ecmp"]).expect_invalid(&["no line or row is called 'ecmp'; expected"]);
    plot(&["--facet", "topology.spines"]).expect_invalid(&["only studies and sweeps have"]);
    assert_eq!(plot(&["--size", "1x1"]).status, 2);
    let all = bench.evenkeel(&["plot", "results", "--out", "figures", "--title", "T"]);
    all.expect_invalid(&["--title 'T': it is for one figure; use --figure with one of"]);
}

/// Runs that differ in more than their seeds are no seeds of one line.
#[test]
fn runs_that_differ_in_a_key_are_lines_named_by_it() {
    let bench = Bench::with_small();
    for spines in ["1", "2"] {
        for seed in ["1", "2"] {
            let (set, out) = (format!("topology.spines={spines}"), format!("{spines}-{seed}"));
            let run = ["run", "small.toml", "--set", &set, "--seed", seed, "--out", &out];
            assert_eq!(bench.evenkeel(&run).status, 0);
        }
    }
    let plot = ["plot", "1-1", "1-2", "2-1", "2-2", "--out", "figures"];
    assert_eq!(bench.evenkeel(&plot).status, 0);
    let svg = bench.read("figures/completion-cdf.svg");
    assert!(svg.contains("\necmp, spines …\n") && svg.contains("\n2\n"), "{svg}");
    assert!(bench.names("figures").contains(&"by-policy.svg".to_owned()));
}

/// Files of another run, missing rows, and mixed versions.
#[test]
fn inconsistent_results_are_rejected_or_reported() {
    let bench = Bench::with_small();
    for (folder, policy) in [("a", "ecmp"), ("b", "spray")] {
        let policy = format!("policy.name={policy}");
        assert_eq!(
            bench.evenkeel(&["run", "small.toml", "--set", &policy, "--out", folder]).status,
            0
        );
    }
    let plot = || bench.evenkeel(&["plot", "a", "b", "--out", "figures"]);
    assert_eq!((plot().status, plot().err.as_str()), (0, ""));
    let [flows, links, scenario, summary] =
        ["flows.csv", "links.csv", "scenario.toml", "summary.json"].map(|name| format!("b/{name}"));
    let whole = [&flows, &links, &scenario, &summary].map(|name| (name, bench.read(name)));
    let without_last = |name: &str| {
        let text = bench.read(name);
        let lines: Vec<&str> = text.lines().collect();
        bench.write(name, &(lines[..lines.len() - 1].join("\n") + "\n"));
    };
    let restore = || whole.iter().for_each(|(name, text)| bench.write(name, text));
    without_last(&flows);
    let expected = ["b/flows.csv: it has 55 completed pieces", "has 56", "rows are missing"];
    plot().expect_invalid(&expected);
    restore();
    without_last(&links);
    plot().expect_invalid(&["b/links.csv: it has 23 directions of links", "has 24"]);
    restore();
    bench.write(&scenario, &bench.read("a/scenario.toml"));
    plot().expect_invalid(&["b/scenario.toml: it has policy=ecmp", "has policy=spray"]);
    restore();
    let old = bench.read(&summary).replace("\"version\": \"0.1.0\"", "\"version\": \"0.0.9\"");
    bench.write(&summary, &old);
    let said = plot();
    let expected = "note: the results are from evenkeel 0.0.9 and 0.1.0: differences may be due";
    assert!(said.status == 0 && said.err.contains(expected), "{said:?}");
}
