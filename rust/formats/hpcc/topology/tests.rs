//! Topology files of the HPCC family: dialects, errors, and published files.

use super::*;
use crate::ids::LinkId;
use crate::topology::{CrossRail, ScaleUp};

const SMALL: &str = "6 2 5\n4 5\n0 4 100Gbps 1us 0\n1 4 25000000000 1000ns 0.000000\n\
                     2 5 25000000000.0 0.001ms 1e-3\n3 5 100Gbps 1us 0\n5 4 400Gbps 5us 0\n\
                     \n# a comment\n0 5 100Gbps 1us 0\nsrc0 dst0 rate delay error_rate\n";

fn error(text: &str) -> String {
    read(text, "t.txt").unwrap_err().to_string()
}

/// Returns the small file with line `number` replaced.
fn with_line(number: usize, line: &str) -> String {
    let swap = |(n, old)| if n == number { line } else { old };
    (1..).zip(SMALL.lines()).map(swap).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_small_file_is_read() {
    let read = read(SMALL, "t.txt").unwrap();
    let topology = &read.topology;
    assert_eq!(topology.host_names(), ["host0", "host1", "host2", "host3"]);
    let switches: Vec<_> = topology.switches().iter().map(|s| (&*s.name, s.tier)).collect();
    assert_eq!(switches, [("switch4", 0), ("switch5", 0)]);
    assert_eq!(topology.links().len(), 5);
    for link in [1, 2] {
        assert_eq!(topology.link(LinkId(link)).rate, BitRate::from_gbps(25));
        assert_eq!(topology.link(LinkId(link)).delay, Span::from_us(1));
    }
    assert_eq!(topology.link_name(LinkId(4)), "switch4-switch5");
    assert_eq!(read.error_rate, [0.0, 0.0, 1e-3, 0.0, 0.0]);
    assert_eq!(read.node_of_switch, [4, 5]);
    assert_eq!(read.host_of_node[3..5], [Some(HostId(3)), None]);
    assert_eq!(read.warnings.len(), 1);
    assert!(read.warnings[0].contains("1 more lines"), "{}", read.warnings[0]);
}

#[test]
fn every_dialect_of_the_first_line_is_read() {
    let plain = read(SMALL, "t.txt").unwrap().topology;
    for first in
        ["6 2 2 5", "6 2 2 5 100 400", "6 2 5 0 1 2 3", "6 1 0 2 5 H100", "6 1 0 2 5 A100 8"]
    {
        assert_eq!(read(&with_line(1, first), "t").unwrap().topology, plain, "{first}");
    }
}

/// Two servers with two hosts and two internal switches each, and a leaf.
const SERVERS: &str = "9 2 4 1 12 H100\n4 5\n6 7 8\n\
                       0 4 100Gbps 1us 0\n1 4 100Gbps 1us 0\n2 5 100Gbps 1us 0\n\
                       3 5 100Gbps 1us 0\n0 6 200Gbps 1us 0\n1 6 200Gbps 1us 0\n\
                       2 7 200Gbps 2us 0\n3 7 200Gbps 1us 0\n0 8 400Gbps 1us 0\n\
                       1 8 400Gbps 1us 0\n2 8 400Gbps 1us 0\n3 8 400Gbps 1us 1e-3\n";

#[test]
fn switches_inside_servers_are_scale_up_networks() {
    let read = read(SERVERS, "t").unwrap();
    let expected = ScaleUp {
        gpus: 2,
        rate: BitRate::from_gbps(300),
        latency: Span::from_us(4),
        cross_rail: CrossRail::Fabric,
    };
    assert_eq!(read.topology.scale_up(), Some(&expected));
    assert_eq!((read.node_of_switch, read.host_of_node.len()), (vec![8], 9));
    assert_eq!(read.error_rate, [0.0, 0.0, 0.0, 1e-3]);
    for (from, to, what) in [
        ("1 6 200Gbps", "2 6 200Gbps", "switch 6 is linked to two servers"),
        ("1 6 200Gbps", "1 6 201Gbps", "switch 4 has links of different rates"),
        ("1 6 200Gbps", "8 6 200Gbps", "switch 6 is linked to another switch"),
        ("0 6 200Gbps 1us 0\n1 6", "0 4 200Gbps 1us 0\n1 4", "switch 6 has no link"),
    ] {
        let said = error(&SERVERS.replace(from, to));
        assert!(said.contains(what), "{to}: {said}");
    }
    assert!(error(&SERVERS.replace("9 2 4", "9 3 4")).contains("servers"));
}

#[test]
fn hosts_may_have_higher_ids_than_switches_and_links_may_be_parallel() {
    let text = "4 2 4\n2 0\n0 1 1Gbps 1us 0\n2 3 1Gbps 1us 0\n0 2 1Gbps 1us 0\n2 0 1Gbps 1us 0";
    let read = read(text, "t").unwrap();
    assert_eq!(read.node_of_host, [1, 3]);
    assert_eq!(read.topology.link_name(LinkId(3)), "switch0-switch2#1");
    assert!(read.warnings[0].contains("switch0-switch2#0"), "{:?}", read.warnings);
}

#[test]
fn each_error_names_file_line_value_and_what_is_expected() {
    let line = |number, text: &str| error(&with_line(number, text));
    assert!(error("").starts_with("t.txt:1: the file is empty; expected a first line"));
    assert!(line(1, "6 2").contains("t.txt:1: '6 2' has 2 values; expected a first line"));
    assert!(line(1, "6 two 5").contains("'two' is not a number of switches"));
    assert!(line(1, "-6 2 5").contains("'-6' is not a number of nodes"));
    assert!(line(1, "1 2 5").contains("2 switches of 1 nodes"));
    let ids = |found| {
        format!("found {found} switch ids; line 1 announces 2 switches, on one line or several")
    };
    assert_eq!(line(2, "4"), format!("t.txt:3: {}", ids(1)));
    assert_eq!(line(2, "4 5 0"), format!("t.txt:2: {}", ids(3)));
    assert_eq!(line(2, "4 6"), "t.txt:2: unknown node '6'; ids are whole numbers from 0 to 5");
    assert!(line(2, "4 4").contains("switch 4 is listed twice"));
    assert!(line(3, "0 4 100Gbps 1us").starts_with("t.txt:3: '0 4 100Gbps 1us' has 4 values"));
    assert!(line(3, "0 9 100Gbps 1us 0").contains("unknown node '9'"));
    assert!(line(3, "4 4 100Gbps 1us 0").contains("connects node 4 to itself"));
    assert!(line(3, "0 4 fast 1us 0").contains("rate: 'fast' does not start with a number"));
    assert!(line(3, "0 4 100Gbit 1us 0").contains("unknown unit 'Gbit' in '100Gbit'"));
    assert!(line(3, "0 4 0Gbps 1us 0").contains("rate '0Gbps' is zero"));
    assert!(line(3, "0 4 1Gbps 1 0").contains("delay: '1' has no unit"));
    assert!(line(3, "0 4 1Gbps 18446744s 0").contains("'18446744s' is too long"));
    for rate in ["-0.1", "1.5", "x", "NaN"] {
        let message = line(3, &format!("0 4 1Gbps 1us {rate}"));
        assert!(message.contains(&format!("invalid error rate '{rate}'")), "{message}");
    }
    assert!(line(3, "1 4 1Gbps 1us 0").starts_with("t.txt:1: host node 0 has no link"));
}

#[test]
fn counts_beyond_the_file_are_rejected_before_allocation() {
    let line = |text: &str| error(&with_line(1, text));
    assert!(error("6 2 5\n4 5\n0 4 1Gbps 1us 0\n").contains("t.txt:1: 5 links are announced"));
    assert!(error("2 0 9000000").contains("found only 0 link lines"));
    assert!(line("5000000 2 5").contains("host node 6 has no link"));
    assert!(line("99999999999 2 5").contains("99999999999 nodes are too many"));
    assert!(line("6 2 99999999999").contains("99999999999 links are too many"));
    assert!(line("99999999999999999999999 2 5").contains("is not a number of nodes"));
}

#[test]
fn published_files_of_the_family_are_read() {
    let files = [
        ("hpcc/topology.txt", [65, 1, 65]),
        ("powertcp/topology-256.txt", [256, 20, 288]),
        ("astra/128_nodes_16_switch_topology.txt", [128, 16, 192]),
        ("conweave/leaf_spine_128_100G_OS2.txt", [128, 16, 192]),
        ("conweave/fat_k8_100G_OS2.txt", [256, 80, 512]),
    ];
    for (name, expected) in files {
        let Some(text) = real(name) else { continue };
        let topology = read(&text, name).unwrap().topology;
        let hosts = topology.host_count() as usize;
        assert_eq!([hosts, topology.switches().len(), topology.links().len()], expected);
    }
    if let Some(text) = real("astra/8nodes_ring_topology.txt") {
        assert_eq!(
            read(&text, "ring.txt").unwrap_err().to_string(),
            "ring.txt: host0 has 2 links and there is no switch: hosts do not forward, so \
             host0 and host2 cannot reach each other; connect each host to a switch with one \
             link"
        );
    }
}

fn real(name: &str) -> Option<String> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/hpcc/");
    let text = std::fs::read_to_string(format!("{root}{name}")).ok();
    if text.is_none() {
        println!("skipped: ../shared/data/hpcc/{name} is not there");
    }
    text
}

#[test]
fn tiers_are_counted_from_the_hosts() {
    let Some(text) = real("conweave/fat_k8_100G_OS2.txt") else { return };
    let topology = read(&text, "fat").unwrap().topology;
    let in_tier = |tier| topology.switches().iter().filter(|s| s.tier == tier).count();
    assert_eq!([in_tier(0), in_tier(1), in_tier(2)], [32, 32, 16]);
}
