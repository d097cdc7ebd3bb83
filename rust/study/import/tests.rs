use std::path::Path;

use super::*;

const TOPOLOGY: &str = "4 1 3\n3\n0 3 100Gbps 1us 0\n1 3 100Gbps 1us 0\n2 3 100Gbps 1us 0\n";
const FLOWS: &str = "2\n0 2 3 100 100000 2.0\n1 2 3 100 200000 2.000001\n";
const CONFIG: &str = "TOPOLOGY_FILE topology.txt\nFLOW_FILE flow.txt\nKMIN_MAP 1 100000000000 100\n\
                      KMAX_MAP 1 100000000000 400\nPMAX_MAP 1 100000000000 0.2\n";

/// Creates a folder with an experiment.
fn bench(config: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("scenarios")).unwrap();
    for (name, text) in [("topology.txt", TOPOLOGY), ("flow.txt", FLOWS), ("config.txt", config)] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn import(folder: &Path, file: &str, settings: &[&str]) -> Result<Imported, ImportError> {
    let settings: Vec<Setting> = settings.iter().map(|text| text.parse().unwrap()).collect();
    Import {
        file: &folder.join(file),
        source: Source::Hpcc,
        topology: (file == "flow.txt").then(|| folder.join("topology.txt")).as_deref(),
        settings: &settings,
        folder: &folder.join("scenarios"),
    }
    .scenario()
}

#[test]
fn an_experiment_becomes_a_scenario_with_the_same_setup() {
    let pfc = "ENABLE_PFC 1\nCC_MODE 8\nLINK_DOWN 1 0 3\nL2_ACK_INTERVAL 4\nBUFFER_SIZE 32\n";
    let lossy = "ENABLE_PFC 0\nERROR_RATE_PER_LINK 0.001\nSIMULATOR_STOP_TIME 2.5\n";
    let conweave = "LB_MODE 0\nRANDOM_SEED 7\nENABLE_PFC 1\nFLOWGEN_START_TIME 2.0\n";
    for keys in ["", pfc, lossy, conweave] {
        let folder = bench(&format!("{CONFIG}{keys}"));
        let imported = import(folder.path(), "config.txt", &["policy.name=spray"]);
        let text = imported.unwrap_or_else(|error| panic!("{keys}: {error}")).text;
        assert!(text.contains("path = \"../topology.txt\""), "{text}");
    }
}

#[test]
fn the_error_names_what_a_scenario_cannot_express() {
    let two_rates = CONFIG
        .replace("MIN_MAP 1", "MIN_MAP 2 25000000000 25")
        .replace("MAX_MAP 1 100000000000 400", "MAX_MAP 2 25000000000 90 100000000000 400")
        .replace("PMAX_MAP 1", "PMAX_MAP 2 25000000000 0.2");
    let cases = [
        (CONFIG.to_owned(), &[][..], "LB_MODE 0 hashes the ports of flows"),
        (format!("{CONFIG}ENABLE_QCN 0\n"), &["policy.name=ecmp"], "do not mark packets"),
        (CONFIG.to_owned(), &["policy.name=ecmp", "topology.gap=20B"], "switches would be differ"),
        (CONFIG.to_owned(), &["policy.name=ecmp", "a.b.c=1"], "expected a key of a section"),
        (CONFIG.to_owned(), &["policy.name=ecmp", "seed.b=1"], "expected a key of a section"),
    ];
    for (config, settings, expected) in cases {
        let folder = bench(&config);
        let error = import(folder.path(), "config.txt", settings).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    // All links of this topology have 100 Gbps.
    let folder = bench(&two_rates);
    assert!(import(folder.path(), "config.txt", &["policy.name=ecmp"]).is_ok());
    let mixed = TOPOLOGY.replace("2 3 100Gbps", "2 3 25Gbps");
    std::fs::write(folder.path().join("topology.txt"), mixed).unwrap();
    let error = import(folder.path(), "config.txt", &["policy.name=ecmp"]).unwrap_err().to_string();
    assert!(error.contains("depend on the rate of the port"), "{error}");
    std::fs::write(folder.path().join("topology.txt"), TOPOLOGY.replace("1us 0\n", "1us 0.1\n"))
        .unwrap();
    let error = import(folder.path(), "config.txt", &["policy.name=ecmp"]).unwrap_err().to_string();
    assert!(error.contains("has an error rate"), "{error}");
}

#[test]
fn a_flow_file_uses_its_fabric_or_an_example() {
    let folder = bench(CONFIG);
    let imported = import(folder.path(), "flow.txt", &["policy.name=spray", "switch.pfc=true"]);
    let text = imported.unwrap().text;
    let expected = "[topology]\nkind = \"file\"\npath = \"../topology.txt\"\n\n[workload]\n\
                    kind = \"flows\"\nfile = \"../flow.txt\"\n\n[policy]\nname = \"spray\"\n\n\
                    [switch]\npfc = true\n";
    assert!(text.ends_with(expected), "{text}");
    let file = folder.path().join("flow.txt");
    let import = Import {
        file: &file,
        source: Source::Hpcc,
        topology: None,
        settings: &[],
        folder: folder.path(),
    };
    let Imported { text, notes, .. } = import.scenario().unwrap();
    assert!(text.contains("leaves = 2\nspines = 2\nhosts_per_leaf = 2\n"), "{text}");
    let note =
        "flow.txt has no fabric: [topology] is an example, with 2 leaves of 2 hosts for its 3";
    assert!(notes.len() == 1 && notes[0].contains(note), "{notes:?}");
    let settings = ["topology.leaves=4".parse().unwrap()];
    assert!(Import { settings: &settings, ..import }.scenario().unwrap().notes.is_empty());
}

#[test]
fn an_example_fabric_has_two_leaves_at_least_and_room_for_all_hosts() {
    for (hosts, expected) in [(1, [2, 1]), (2, [2, 1]), (16, [2, 8]), (17, [2, 9]), (33, [3, 16])] {
        let [leaves, hosts_per_leaf] = file::leaf_spine(&mut Draft::default(), hosts);
        assert_eq!([leaves, hosts_per_leaf], expected, "{hosts} hosts");
        assert!(leaves * hosts_per_leaf >= hosts);
    }
}
