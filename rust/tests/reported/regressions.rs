//! Inputs that were once mishandled, one test per kind, each next to a valid input.

use std::fs;
use std::path::Path;

use evenkeel::fabric;
use evenkeel::hpcc::{Experiment, Overrides as HpccOverrides};
use evenkeel::scenario::{Overrides, Scenario};

/// Four hosts on one switch.
const SMALL: &str = "[topology]\nleaves = 1\nspines = 1\nhosts_per_leaf = 4\n";

fn parse_in(folder: &Path, text: &str) -> Result<Scenario, String> {
    let scenario = Scenario::parse(text, "tried", folder, &Overrides::default());
    scenario.map_err(|error| error.to_string())
}

fn parse(text: &str) -> Result<Scenario, String> {
    parse_in(Path::new(""), text)
}

/// Loads the scenario of a workload file.
fn with_file(kind: &str, name: &str, text: &str) -> Result<Scenario, String> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), text).unwrap();
    let workload = format!("{SMALL}[workload]\nkind = \"{kind}\"\nfile = \"{name}\"\n");
    parse_in(folder.path(), &workload)
}

fn cct_ns(text: &str) -> f64 {
    let outcome = fabric::run(&parse(text).unwrap().setup(), &mut |_| ());
    outcome.cct.expect("it completes").as_ns_f64()
}

#[test]
fn policies_that_number_paths_reject_too_many_paths() {
    let fabric = "[topology]\nleaves = 2\nspines = 1\nhosts_per_leaf = 1\nparallel_links = 257\n";
    for policy in ["ethereal", "host-dr", "line-cut"] {
        let error = parse(&format!("{fabric}[policy]\nname = \"{policy}\"\n")).unwrap_err();
        assert!(error.contains("at most 65,536 in four tiers"), "{policy}: {error}");
    }
    let job = format!("{fabric}[policy]\nname = \"ecmp\"\n[[job]]\npolicy = \"ethereal\"\n");
    let error = parse(&job).unwrap_err();
    assert!(error.contains("from host0 to host1 there are 257 x 257"), "{error}");
    assert!(parse(&format!("{fabric}[policy]\nname = \"spray\"\n")).is_ok());
}

/// A start time is not part of a completion time, whether or not messages wait for others.
#[test]
fn completion_times_count_from_the_start_of_every_workload() {
    for more in ["", "gap = \"1ps\"\n", "step_after = \"acknowledgement\"\n"] {
        let ring =
            format!("{SMALL}[workload]\nkind = \"ring-all-reduce\"\nbytes = \"100KB\"\n{more}");
        let late = cct_ns(&format!("{ring}start = \"1ms\"\n"));
        assert!((late - cct_ns(&ring)).abs() < 1e-6, "{more}: {late}");
        let jobs = ring.replace("[workload]", "[[job]]\nname = \"a\"");
        let after = "[[job]]\nafter = \"a\"\nkind = \"shift\"\nstart = \"5us\"\n";
        let both = [format!("{jobs}start = \"1ms\"\n{after}"), format!("{jobs}{after}")];
        let [late, soon] = both.map(|text| cct_ns(&text));
        assert!((late - soon).abs() < 1e-6, "{more}: {late} and {soon}");
    }
}

#[test]
fn a_fluid_run_rejects_a_context_cache() {
    let cache = format!("fidelity = \"fluid\"\n{SMALL}[transport]\nqp_cache = {{ entries = 1 }}\n");
    assert!(parse(&cache).unwrap_err().contains("no packets that wait for a context"));
}

#[test]
fn a_matrix_is_read_completely_and_its_counts_are_checked() {
    let line = "0->1 id 1 start 0 size 1000\n";
    for (text, expected) in [
        (
            "Nodes 4\rConnections 1\r0->1 id 1 start 0 size 1000\r".to_owned(),
            "expected the end of the line",
        ),
        (format!("Nodes 4 5\n{line}"), "unexpected '5' after 'Nodes N'"),
        (format!("Nodes 4\nTriggers 3\n{line}"), "3 triggers are announced, found 0"),
        (format!("Nodes 4\nConnections 1\nConnections 1\n{line}"), "Connections is given twice"),
        ("Nodes 4\n0->1 id 1 start 0 size 1 size 2\n".to_owned(), "size is given twice"),
        (format!("Nodes 4\n{line}trigger id 1 oneshot count 5\n"), "invalid trigger"),
        (format!("Nodes 4\n{line}trigger id 1 oneshot multishot\n"), "invalid trigger"),
    ] {
        let error = with_file("connection-matrix", "m.cm", &text).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn schedules_and_flow_files_reject_repeated_counts() {
    let twice = "num_ranks 2\nnum_ranks 3\nrank 0 {\na: calc 1\n}\n";
    let error = with_file("goal", "s.goal", twice).unwrap_err();
    assert!(error.contains("duplicate num_ranks; it was already set to 2"), "{error}");
    let tags = "num_ranks 2\nrank 0 {\na: send 1b to 1 tag 1 tag 2\n}\n";
    let error = with_file("goal", "s.goal", tags).unwrap_err();
    assert!(error.contains("each attribute once"), "{error}");
    let flows = "1\n0 1 3 100 100000 2.0\n1 2 3 100 100000 2.0\n";
    let warnings = with_file("flows", "f.txt", flows).unwrap().warnings;
    assert!(warnings[0].contains(":3: 1 more lines after the 1 flows"), "{warnings:?}");
}

#[test]
fn computation_rates_that_are_zero_or_too_low_are_errors() {
    for flops in ["0Tflops", "1flops"] {
        let text = format!(
            "{SMALL}[workload]\nkind = \"training\"\nmodel = {{ layers = 2, hidden = 128 }}\n\
             flops = \"{flops}\"\n"
        );
        assert!(parse(&text).unwrap_err().contains("workload.flops"), "{flops}");
    }
}

#[test]
fn infragraph_units_agree_with_their_choice() {
    let folder = tempfile::tempdir().unwrap();
    let fabric = |physical: &str| {
        let text = format!(
            "devices:\n- name: server\n  components:\n  - {{name: xpu, count: 1, choice: xpu}}\n  \
             - {{name: nic, count: 1, choice: nic}}\n- name: switch\n  components:\n  \
             - {{name: port, count: 4, choice: port}}\nlinks:\n- name: eth\n  physical:\n    \
             bandwidth: {{gigabits_per_second: 400}}\n    {physical}\ninstances:\n\
             - {{name: host, device: server, count: 4}}\n\
             - {{name: leaf, device: switch, count: 1}}\nedges:\n\
             - {{ep1: {{instance: host, component: nic}}, ep2: {{instance: leaf, component: \
             port}}, scheme: one2one, link: eth}}\n"
        );
        fs::write(folder.path().join("g.yaml"), text).unwrap();
        let scenario = "[topology]\nkind = \"file\"\npath = \"g.yaml\"\nformat = \"infragraph\"\n\
                        delay = \"500ns\"\n";
        parse_in(folder.path(), scenario)
    };
    let error = fabric("latency: {choice: ms, us: 1}").unwrap_err();
    assert!(error.contains("choice is ms, but the value is in us"), "{error}");
    assert!(fabric("latancy: {us: 1}").unwrap_err().contains("latancy"));
    assert!(fabric("latency: {choice: us, us: 1}").is_ok());
}

#[test]
fn hpcc_output_files_with_taken_names_give_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("t.txt"), "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n").unwrap();
    fs::write(path("f.txt"), "1\n0 1 3 100 100000 2.0\n").unwrap();
    let config = "TOPOLOGY_FILE t.txt\nFLOW_FILE f.txt\nFCT_OUTPUT_FILE pfc.txt\n\
                  PFC_OUTPUT_FILE fct.txt\nCC_MODE 1\nKMAX_MAP 1 100000000000 400\n\
                  KMIN_MAP 1 100000000000 100\nPMAX_MAP 1 100000000000 0.2\n";
    fs::write(path("config.txt"), config).unwrap();
    let experiment = Experiment::load(&path("config.txt"), &HpccOverrides::default()).unwrap();
    for said in ["FCT_OUTPUT_FILE pfc.txt: another result", "PFC_OUTPUT_FILE fct.txt: another"] {
        assert!(experiment.warnings.iter().any(|it| it.starts_with(said)), "{said}");
    }
}

#[test]
fn policy_parameters_are_checked_even_if_another_policy_runs() {
    let overrides = Overrides { policy: Some("reps".to_owned()), ..Overrides::default() };
    let typo = format!("{SMALL}[policy]\nname = \"ethereal\"\nbuffr = 3\n");
    let error = Scenario::parse(&typo, "tried", Path::new(""), &overrides).unwrap_err();
    assert!(error.to_string().contains("buffr"), "{error}");
}

#[test]
fn parameters_that_would_be_truncated_are_rejected() {
    for (control, parameters) in [
        ("swift", "min_window = \"10/1\", max_window = \"3/2\""),
        ("new-reno", "initial_window = 0"),
        ("new-reno", "receive_window = \"0B\""),
    ] {
        let text = format!(
            "{SMALL}[transport]\ncongestion_control = \"{control}\"\n\
             parameters = {{ {parameters} }}\n"
        );
        let name = parameters.split(' ').next().unwrap();
        let error = parse(&text).unwrap_err();
        assert!(error.contains(name), "{control}: {error}");
    }
    let dense = format!(
        "{SMALL}[workload]\nkind = \"training\"\n[workload.model]\nlayers = 2\nhidden = 128\n\
         experts = 4\ndense_layers = 2\n"
    );
    assert!(parse(&dense).unwrap_err().contains("no layer has experts"));
}

#[test]
fn detours_in_a_fabric_without_groups_give_a_warning() {
    for policy in ["valiant", "ugal"] {
        let warnings = parse(&format!("{SMALL}[policy]\nname = \"{policy}\"\n")).unwrap().warnings;
        assert!(warnings[0].contains("this fabric has no groups"), "{policy}: {warnings:?}");
    }
}
