//! `evenkeel check` and `trace` on files of other programs.

use std::fs;

use super::bench::Bench;

/// Returns a node of an accelerator stream: a call of a 1 KiB all-reduce, or a computation.
fn kernel(id: u8, is_call: bool, stream: u8, start: u8) -> Vec<u8> {
    let attribute = |name: &str, value: &[u8]| {
        let text = [&[0x0a, name.len() as u8], name.as_bytes(), &[0x48], value].concat();
        [vec![0x52, text.len() as u8], text].concat()
    };
    let kind = if is_call { 7 } else { 4 };
    let times = vec![0x30, start, 0x38, 1];
    let place = [attribute("is_cpu_op", &[0]), attribute("stream", &[stream])].concat();
    let call = [attribute("comm_type", &[0]), attribute("comm_size", &[0x80, 8])].concat();
    let call = if is_call { call } else { Vec::new() };
    let node = [vec![0x08, id, 0x18, kind], times, place, call].concat();
    [vec![node.len() as u8], node].concat()
}

const SCENARIO: &str = "[topology]\nleaves = 1\nspines = 1\nhosts_per_leaf = 2\n[workload]\n\
                        kind = \"chakra\"\nfile = \"et/t\"\n";

#[test]
fn unordered_streams_are_reported_and_fixed() {
    let bench = Bench::new();
    bench.write("a.toml", SCENARIO);
    fs::create_dir(bench.path("et")).unwrap();
    let nodes = [kernel(1, false, 7, 10), kernel(2, true, 7, 20)].concat();
    for rank in 0..2 {
        fs::write(bench.path(&format!("et/t.{rank}.et")), [&[0][..], &nodes].concat()).unwrap();
    }
    let told = bench.evenkeel(&["check", "a.toml"]);
    let warning = "2 of 2 kernels that follow another in their stream, including 2 that \
                   communicate,";
    assert!(told.status == 0 && told.err.contains(warning), "{told:?}");
    let cct = |file: &str| bench.evenkeel(&["run", "--json", file]).json()["cct_ns"].clone();
    let at_once = cct("a.toml").as_f64().unwrap();
    let mended = bench.evenkeel(&["check", "a.toml", "--mend", "mended"]);
    assert_eq!(mended.status, 0, "{mended:?}");
    let said = "mended/t.0.et and so on: 2 traces; 2 kernels now follow the previous one";
    assert!(mended.out.contains(said), "{mended:?}");
    bench.write("b.toml", &SCENARIO.replace("et/t", "mended/t"));
    assert_eq!(bench.evenkeel(&["check", "b.toml"]).err, "");
    assert!((cct("b.toml").as_f64().unwrap() - at_once - 1_000.0).abs() < 1e-6);
    let over = bench.evenkeel(&["check", "a.toml", "--mend", "et"]);
    assert!(over.status == 2 && over.err.contains("--mend"), "inputs are spared: {over:?}");
    bench.write("c.toml", "[workload]\nkind = \"shift\"\n");
    let other = bench.evenkeel(&["check", "c.toml", "--mend", "m"]);
    assert!(
        other.status == 2 && other.err.contains("expected a [workload] of Chakra traces"),
        "{other:?}"
    );
}

/// Traces of an earlier workload with more ranks would be read as part of this one.
#[test]
fn traces_are_not_written_next_to_those_of_more_ranks() {
    let bench = Bench::new();
    let fabric = |hosts: u32| {
        format!(
            "[topology]\nleaves = 1\nspines = 1\nhosts_per_leaf = {hosts}\n[workload]\n\
             kind = \"shift\"\n"
        )
    };
    bench.write("w.toml", &fabric(8));
    assert_eq!(bench.evenkeel(&["trace", "w.toml", "--out", "et"]).status, 0);
    bench.write("w.toml", &fabric(4));
    let left = bench.evenkeel(&["trace", "w.toml", "--out", "et"]);
    left.expect_invalid(&["et/w.7.et (or .et.gz) exists, but this workload has 4 ranks"]);
    assert_eq!(bench.names("et").len(), 8);
    assert_eq!(bench.evenkeel(&["trace", "w.toml", "--out", "other"]).status, 0);
    // If a rank has a plain and a compressed file, only one is read.
    fs::write(bench.path("other/w.1.et.gz"), "old").unwrap();
    let read = fabric(4).replace("kind = \"shift\"", "kind = \"chakra\"\nfile = \"other/w\"");
    bench.write("read.toml", &read);
    let left = bench.evenkeel(&["check", "read.toml"]);
    assert!(left.status == 0 && left.err.contains("w.1.et.gz is not read"), "{left:?}");
}

#[cfg(unix)]
#[test]
fn the_name_of_an_imported_file_stays_in_its_comment() {
    let bench = Bench::new();
    let name = "x\nseed = 77 #.cm";
    bench.write(name, "Nodes 2\n0->1 id 1 start 0 size 1000\n");
    let left = bench.evenkeel(&["import", name, "--out", "s.toml"]);
    assert_eq!(left.status, 0, "{left:?}");
    let scenario: toml::Table = toml::from_str(&bench.read("s.toml")).unwrap();
    assert!(!scenario.contains_key("seed"), "{scenario}");
    assert!(scenario["workload"]["file"].as_str().unwrap().ends_with(name));
}

#[test]
fn tables_with_reordered_columns_are_rejected() {
    let bench = Bench::new();
    bench.write("results.csv", "point,policy.name,cct_ns,seed\n1,ecmp,10.5,1\n");
    let left = bench.evenkeel(&["plot", "results.csv", "--out", "figures"]);
    left.expect_invalid(&["results.csv: its columns are in another order"]);
}
