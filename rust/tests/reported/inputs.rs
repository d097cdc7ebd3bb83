//! Files of other programs: their contents are simulated, rejected or reported in a warning.

use std::path::Path;

use evenkeel::hpcc::{Experiment, Overrides as HpccOverrides};
use evenkeel::scenario::{Overrides, Scenario};
use evenkeel::study::{Import, Source, lower_bound};

use super::{cct, folder, input, load};

/// Returns the error of an invalid scenario.
fn refused(path: &Path) -> String {
    Scenario::load(path, &Overrides::default()).expect_err("it is refused").to_string()
}

fn warns(path: &Path, what: &str) -> bool {
    load(path, &[]).warnings.iter().any(|it| it.contains(what))
}

fn experiment(path: &Path) -> Result<Experiment, String> {
    Experiment::load(path, &HpccOverrides::default()).map_err(|error| error.to_string())
}

fn import(path: &Path, topology: Option<&Path>) -> String {
    let folder = Path::new("");
    let import = Import { file: path, source: Source::Hpcc, topology, settings: &[], folder };
    import.scenario().expect_err("it is refused").to_string()
}

#[test]
fn a_group_of_a_collective_is_named_by_either_attribute() {
    let Some(folder) = folder("named-groups") else { return };
    for name in ["text.toml", "pg.toml"] {
        assert_eq!(load(&folder.join(name), &[]).setup().workload.messages.len(), 48, "{name}");
    }
    let [text, group] = ["text.toml", "pg.toml"].map(|name| cct(&folder.join(name), &[]));
    assert!(text == group, "{text} and {group}");
}

#[test]
fn memory_nodes_without_a_duration_are_a_warning() {
    let Some(folder) = folder("memory-nodes") else { return };
    let said = "2 memory nodes without a duration take no time";
    assert!(warns(&folder.join("load.toml"), said));
    assert!(!warns(&folder.join("duration.toml"), "duration"));
    assert!(warns(&folder.join("num_ops.toml"), "2 compute nodes have operations"));
}

#[test]
fn flows_and_keys_of_ns3_rdma_are_rejected() {
    let Some(folder) = folder("packet-counts") else { return };
    let of_config = experiment(&folder.join("config.txt")).expect_err("it has such keys");
    assert!(of_config.contains("config.txt:3: PACKET_LEVEL_ECMP is a key of ns3-rdma"));
    let of_flows = import(&folder.join("flow.txt"), Some(&folder.join("topology.txt")));
    assert!(of_flows.contains("flow.txt:3: '3 1 3 100000 2 9' is not a flow of the HPCC family"));
}

#[test]
fn ns3_attributes_are_keys_or_rejected() {
    let Some(folder) = folder("attributes") else { return };
    let [classic, attributes] = ["classic.txt", "config.txt"].map(|name| {
        let experiment = experiment(&folder.join(name)).expect("it is valid");
        assert!(experiment.warnings.iter().all(|it| !it.contains("unknown key")), "{name}");
        (experiment.setup.nic.clone(), experiment.setup.fabric.clone())
    });
    assert_eq!(classic, attributes);
}

#[test]
fn differing_priorities_are_a_warning() {
    let Some(folder) = folder("matrix-priority") else { return };
    assert!(warns(&folder.join("a.toml"), "line 4 has a different prio than earlier connections"));
}

#[test]
fn simai_workloads_are_distinguished_from_configurations() {
    let Some(folder) = folder("simai-workload") else { return };
    let (train, topology) = (folder.join("train.txt"), folder.join("topology.txt"));
    let said = "a workload of ASTRA-sim 1.0 or SimAI (a policy, here HYBRID_TRANSFORMER";
    for error in [
        experiment(&train).expect_err("it is no configuration"),
        import(&train, None),
        import(&train, Some(&topology)),
    ] {
        assert!(error.contains(said), "{error}");
    }
}

/// Four accelerators per server: messages within one use its switch, at 2,400 Gbps.
#[test]
fn switches_inside_servers_are_scale_up_networks() {
    let Some(folder) = folder("nvswitch") else { return };
    let file = folder.join("topology.toml");
    let scenario = load(&file, &[]);
    let topology = scenario.setup().topology;
    let scale_up = topology.scale_up().expect("it has servers");
    assert_eq!((scale_up.gpus, scale_up.rate.as_bps()), (4, 2_400_000_000_000));
    assert_eq!(scale_up.latency.as_ps(), 50_000);
    assert_eq!((topology.host_count(), topology.switches().len()), (8, 1));
    // Four of a host's seven messages leave its server.
    let bound = lower_bound(&scenario.setup()).time.as_ns_f64() / 1e3;
    let took = cct(&file, &[]);
    assert!(took > bound && took < 1.1 * bound, "{took} and {bound}");
    let error = import(&folder.join("topology.txt"), None);
    assert!(error.contains("a topology file is given by --topology"), "{error}");
}

#[test]
fn a_binary_schedule_is_recognized() {
    let Some(folder) = folder("binary-schedule") else { return };
    let error = refused(&folder.join("job.toml"));
    assert!(error.contains("it is a binary GOAL schedule; expected its text"), "{error}");
}

#[test]
fn links_from_a_switch_to_itself_are_skipped_with_a_warning() {
    let Some(folder) = folder("self-link") else { return };
    let [with, without] = ["fabric.toml", "without.toml"].map(|name| cct(&folder.join(name), &[]));
    assert!(with == without, "{with} and {without}");
    assert!(warns(&folder.join("fabric.toml"), "links from an instance to itself"));
}

#[test]
fn switch_ids_may_span_several_lines() {
    let Some(folder) = folder("ids-by-line") else { return };
    let [several, one] =
        ["topology.toml", "one-line.toml"].map(|name| cct(&folder.join(name), &[]));
    assert!(several == one, "{several} and {one}");
}

#[test]
fn wildcard_tags_are_rejected_and_other_tags_are_not() {
    let Some(folder) = folder("any-tag") else { return };
    assert!(
        refused(&folder.join("a.toml")).contains("-1 (any) is only valid as the source of a recv")
    );
    assert!((cct(&folder.join("named.toml"), &[]) - 45.07).abs() < 0.01);
}

#[test]
fn empty_sends_give_a_warning_in_schedules_too() {
    let Some(file) = input("robust", "goal-zero.toml") else { return };
    assert!(warns(&file, "sends of 0 bytes are sent as 1 byte"));
}

#[test]
fn a_probe_interval_has_a_minimum() {
    let Some(file) = input("robust", "probes-without-end.toml") else { return };
    assert!(refused(&file).contains("probe_every = 1ns"), "{}", refused(&file));
}
