//! Scenarios in files, and the files that they name.

use std::path::{Path, PathBuf};

use super::{parse, snapshot};
use crate::extent;
use crate::{Overrides, RailScenario, Scenario};

#[test]
fn every_example_is_valid_and_renders_to_itself() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let entries = std::fs::read_dir(&folder).expect("the project has examples");
    let is_scenario = |path: &PathBuf| path.extension().is_some_and(|it| it == "toml");
    let all: Vec<PathBuf> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_scenario).collect();
    assert!(all.len() >= 7, "{} examples", all.len());
    // These models have millions of messages; two others of the same kind are short.
    let is_short = |path: &PathBuf| {
        !["fsdp-llama-3", "gpt-step"].iter().any(|name| path.ends_with(format!("{name}.toml")))
    };
    for path in extent::cases("scenario::every_example", all, is_short) {
        if RailScenario::is_in(&path) {
            let scenario = RailScenario::load(&path, &Overrides::default()).unwrap();
            let again = RailScenario::parse(scenario.render(), &path, &Overrides::default());
            assert_eq!(again.unwrap().file, scenario.file, "{}", path.display());
            continue;
        }
        let scenario = Scenario::load(&path, &Overrides::default()).unwrap();
        let again =
            Scenario::parse(&scenario.render(), "again", &folder, &Overrides::default()).unwrap();
        assert_eq!(again.file, scenario.file, "{}", path.display());
        assert_eq!(again.workload, scenario.workload, "{}", path.display());
    }
}

/// Uses real files of the HPCC family, if they exist.
#[test]
fn topology_and_flow_files_are_read_relative_to_the_scenario() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/hpcc/conweave");
    if !folder.is_dir() {
        println!("skipped: the HPCC family's files are not in ../shared/data/hpcc");
        return;
    }
    let text = "[topology]\nkind = \"file\"\npath = \"leaf_spine_128_100G_OS2.txt\"\n\
        [workload]\nkind = \"flows\"\nfile = \"flow_perm.txt\"\n";
    let scenario = Scenario::parse(text, "real", &folder, &Overrides::default()).unwrap();
    assert_eq!(scenario.topology.host_count(), 128);
    assert!(!scenario.workload.messages.is_empty());
    let again = Scenario::parse(&scenario.render(), "again", &folder, &Overrides::default());
    assert_eq!(again.unwrap().workload, scenario.workload);
    let wrong = text.replace("128_100G_OS2", "129");
    let error = Scenario::parse(&wrong, "real", &folder, &Overrides::default()).unwrap_err();
    assert!(error.to_string().contains("real.toml:3:8"), "{error}");
}

#[test]
fn a_fault_in_a_named_file_has_its_position_in_that_file() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("topology.txt", "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n");
    write("lossy.txt", "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0.01\n");
    write("short.txt", "3 1 3\n2\n0 2 100Gbps 1us 0\n");
    write("flow.txt", "1\n0 1 3 100 5000 0\n");
    write("switch.txt", "1\n0 2 3 100 5000 0\n");
    let read = |topology: &str, flows: &str| {
        let text = format!(
            "[topology]\nkind = \"file\"\npath = \"{topology}\"\n\
             [workload]\nkind = \"flows\"\nfile = \"{flows}\"\n"
        );
        Scenario::parse(&text, "test", folder.path(), &Overrides::default())
    };
    let sound = read("topology.txt", "flow.txt").unwrap();
    assert_eq!((sound.topology.host_count(), sound.workload.messages.len()), (2, 1));
    let says = |topology: &str, flows: &str| {
        let error = read(topology, flows).unwrap_err().to_string();
        let here = format!("{}/", folder.path().display());
        error.lines().next().unwrap_or_default().replace(&here, "")
    };
    let faults = [
        says("lossy.txt", "flow.txt"),
        says("short.txt", "flow.txt"),
        says("topology.txt", "switch.txt"),
        says("topology.txt", "absent.txt"),
    ];
    snapshot("scenario_file_faults", &faults.join("\n"));
}

#[test]
fn an_empty_path_is_reported_as_such() {
    for (text, key) in [
        ("[topology]\nkind = \"file\"\npath = \"\"\n", "topology.path"),
        ("[workload]\nkind = \"flows\"\nfile = \"\"\n", "workload.file"),
        ("[workload]\nkind = \"goal\"\nfile = \"\"\n", "workload.file"),
        ("[workload]\nkind = \"chakra\"\nfile = \"\"\n", "workload.file"),
        ("[workload]\nkind = \"simccl\"\nfile = \"\"\n", "workload.file"),
        ("[workload]\nkind = \"connection-matrix\"\nfile = \"\"\n", "workload.file"),
    ] {
        let said = parse(text).unwrap_err().to_string();
        let expected = format!("{key} = \"\" is invalid: expected the path of a file");
        assert!(said.starts_with("test.toml:3:8:") && said.contains(&expected), "{said}");
    }
}
