use super::*;

/// Two servers with two NICs each, two leaves, one spine; no latency.
const CLOS: &str = "\
name: clos
devices:
- name: server
  components:
  - {name: xpu, count: 2, choice: xpu}
  - {name: nic, count: 2, choice: nic}
- name: switch
  components:
  - {name: asic, count: 1, choice: cpu}
  - {name: port, count: 8, choice: port}
links:
- name: host-link
  physical: {bandwidth: {choice: gigabits_per_second, gigabits_per_second: 100.0}}
- name: fabric-link
  physical:
    bandwidth: {gigabytes_per_second: 50}
    latency: {choice: us, us: 1.5}
instances:
- {name: host, device: server, count: 2}
- {name: leaf, device: switch, count: 2}
- {name: spine, device: switch, count: 1}
edges:
- {ep1: {instance: 'host[0]', component: nic}, ep2: {instance: leaf, component: 'port[0]'},
   scheme: one2one, link: host-link}
- {ep1: {instance: 'host[1]', component: nic}, ep2: {instance: leaf, component: 'port[1]'},
   scheme: one2one, link: host-link}
- {ep1: {instance: 'leaf[0:2]', component: 'port[2]'},
   ep2: {instance: spine, component: 'port[0:2:1]'},
   scheme: one2one, link: fabric-link}
";

const DEFAULTS: Defaults = Defaults { rate: None, delay: Some(Span::from_ns(500)) };

fn fault(text: &str) -> String {
    read(text, "f.yaml", DEFAULTS).expect_err("it is invalid").to_string()
}

#[test]
fn nics_of_servers_are_hosts_and_other_instances_are_switches() {
    let read = read(CLOS, "f.yaml", DEFAULTS).unwrap();
    let topology = &read.topology;
    let hosts = ["host.0.nic.0", "host.0.nic.1", "host.1.nic.0", "host.1.nic.1"];
    assert_eq!(topology.host_names(), hosts);
    let switches: Vec<_> =
        topology.switches().iter().map(|switch| (switch.name.as_str(), switch.tier)).collect();
    assert_eq!(switches, [("leaf.0", 0), ("leaf.1", 0), ("spine.0", 1)]);
    let names = [
        "host.0.nic.0-leaf.0",
        "host.0.nic.1-leaf.1",
        "host.1.nic.0-leaf.0",
        "host.1.nic.1-leaf.1",
        "leaf.0-spine.0",
        "leaf.1-spine.0",
    ];
    assert_eq!(topology.link_names(), names);
    let link = &topology.links()[0];
    assert_eq!((link.rate, link.delay), (BitRate::from_gbps(100), Span::from_ns(500)));
    let link = &topology.links()[4];
    assert_eq!((link.rate, link.delay), (BitRate::from_gbps(400), Span::from_ns(1_500)));
    assert!(read.warnings.is_empty(), "{:?}", read.warnings);
}

#[test]
fn json_and_nested_devices_are_read() {
    let text = r#"{"devices": [
        {"name": "dgx", "components": [{"name": "xpu", "count": 1, "choice": "xpu"},
                                       {"name": "cx5", "count": 2, "choice": "device"}]},
        {"name": "cx5", "components": [{"name": "port", "count": 2, "choice": "port"}]},
        {"name": "switch", "components": [{"name": "port", "count": 4, "choice": "port"}]}],
      "links": [{"name": "eth"}],
      "instances": [{"name": "host", "device": "dgx", "count": 1},
                    {"name": "leaf", "device": "switch", "count": 1}],
      "edges": [{"ep1": {"instance": "host", "component": "cx5.port"},
                 "ep2": {"instance": "leaf", "component": "port"},
                 "scheme": "one2one", "link": "eth"}]}"#;
    let rate = Some(BitRate::from_gbps(200));
    let read = read(text, "f.json", Defaults { rate, ..DEFAULTS }).unwrap();
    let names = ["host.0.cx5.0.port.0", "host.0.cx5.0.port.1", "host.0.cx5.1.port.0"];
    assert_eq!(read.topology.host_names()[..3], names);
    assert!(read.topology.links().iter().all(|link| Some(link.rate) == rate));
}

#[test]
fn omissions_are_warnings() {
    let rest = CLOS.replace("device: server, count: 2", "device: server, count: 5");
    let spare = CLOS.replace("'port[0:2:1]'", "port");
    let nic =
        CLOS.replace("name: port, count: 8, choice: port", "name: port, count: 8, choice: nic");
    let cases = [
        (rest, vec!["3 of 5 'host' have no edge and are ignored"]),
        (
            spare,
            vec![
                "edges[2]: one2one of 2 and 8 ends; the rest of the longer list is not connected, \
                 as in InfraGraph",
            ],
        ),
        (
            nic,
            vec![
                "instances 'leaf' have a nic but no xpu; they are treated as switches",
                "instances 'spine' have a nic but no xpu; they are treated as switches",
            ],
        ),
    ];
    for (text, warnings) in cases {
        assert_eq!(read(&text, "f.yaml", DEFAULTS).unwrap().warnings, warnings);
    }
}

#[test]
fn parallel_links_are_kept_and_repeated_edges_are_merged() {
    let many = CLOS
        .replace("'leaf[0:2]', component: 'port[2]'", "leaf, component: 'port[2:4]'")
        .replace("'port[0:2:1]'", "'port[0]'")
        .replace("scheme: one2one, link: fabric", "scheme: many2many, link: fabric");
    let last = many[many.rfind("- {ep1").unwrap()..].trim_end();
    let read = read(&format!("{many}{last}\n"), "f.yaml", DEFAULTS).unwrap();
    let names = &read.topology.link_names()[4..];
    let expected = ["leaf.0-spine.0#0", "leaf.0-spine.0#1", "leaf.1-spine.0#0", "leaf.1-spine.0#1"];
    assert_eq!(names, expected);
    let other = last.replace("link: fabric-link", "link: host-link");
    let twice = "edges[3]: leaf.0.port.2 and spine.0.port.0 are already connected by a link with \
                 a different rate or delay";
    assert!(fault(&format!("{many}{other}\n")).contains(twice));
}

#[test]
fn unsupported_elements_are_errors_with_a_position() {
    let cases: [(&str, &str, &str); 17] = [
        ("one2one, link: fabric", "ring, link: fabric", "edges[2]: scheme 'ring' is not available"),
        ("scheme: one2one, link: fabric", "link: fabric", "edges[2]: scheme '' is not available"),
        ("link: host-link}", "link: eth}", "links 'eth': unknown link 'eth'"),
        ("instance: 'host[0]'", "instance: 'hose[0]'", "edges[0].ep1: unknown instance 'hose'"),
        ("component: nic}", "component: nick}", "edges[0].ep1: unknown component 'nick'"),
        ("component: nic}", "component: nic.port}", "'nic' is not a device (choice)"),
        ("device: switch, count: 1", "device: swich, count: 1", "edges[2].ep2: unknown device"),
        ("'host[1]'", "'host[2]'", "edges[1].ep1: 'host[2]' is not NAME, NAME[i]"),
        ("'host[1]'", "'host[-1]'", "'host[-1]' is not NAME, NAME[i]"),
        ("'host[1]'", "'host[1:1]'", "'host[1:1]' is not NAME, NAME[i]"),
        ("'host[1]'", "'host[0:2:0]'", "'host[0:2:0]' is not NAME, NAME[i]"),
        (
            "gigabytes_per_second: 50",
            "gigatransfers_per_second: 50",
            "unit gigatransfers_per_second",
        ),
        ("gigabytes_per_second: 50", "gigabytes_per_second: x", "is not followed by a number"),
        (
            "gigabytes_per_second: 50",
            "gigabytes_per_second: .inf",
            "gigabytes_per_second .inf is out",
        ),
        ("us: 1.5", "us: -1.5", "us -1.5 is out of range"),
        ("{gigabytes_per_second: 50}", "null", "links 'fabric-link': it has no bandwidth"),
        ("edges:", "infrastructure: {}\nedges:", "the key 'infrastructure' comes from a response"),
    ];
    for (from, to, expected) in cases {
        let error = fault(&CLOS.replace(from, to));
        assert!(error.contains(expected), "{to}: {error}");
    }
    let unknown = read(CLOS, "f.yaml", Defaults::default()).unwrap_err().to_string();
    assert!(unknown.starts_with("f.yaml: links 'host-link': it has no latency; give"), "{unknown}");
    assert!(fault("a: [").starts_with("f.yaml: line 2: not an InfraGraph Infrastructure"));
    assert!(fault("3").contains("not an InfraGraph Infrastructure"));
    assert!(fault("").contains("there are no instances"));
    assert!(fault(&CLOS.replace("'host[1]'", "'host[0]'")).contains("has 2 links"));
}
