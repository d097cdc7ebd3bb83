//! Tests of routes in small fabrics, intact and with failed links.

use super::*;
use crate::topology::fixtures::{self, RATE};
use crate::topology::{LeafSpine, Node};

fn leaf_spine(leaves: u32, spines: u32, parallel_links: u32) -> Topology {
    let shape = LeafSpine { parallel_links, ..fixtures::leaf_spine(leaves, spines, 2) };
    shape.build().unwrap()
}

fn fat_tree(k: u32) -> Topology {
    fixtures::fat_tree(k).build().unwrap()
}

fn names(topology: &Topology, ports: &[PortId]) -> Vec<String> {
    let name = |port: &PortId| topology.node_name(topology.ends_of(*port).1).to_owned();
    ports.iter().map(name).collect()
}

#[test]
fn a_leaf_spine_offers_every_spine_up_and_one_port_down() {
    let topology = leaf_spine(3, 4, 1);
    let routes = Routes::new(&topology, &|_| true);
    let hops = |switch, dst| names(&topology, routes.next_hops(SwitchId(switch), HostId(dst)));
    assert_eq!(hops(0, 5), ["spine0", "spine1", "spine2", "spine3"]);
    assert_eq!(hops(0, 1), ["host1"]);
    assert_eq!(hops(4, 5), ["leaf2"]);
    assert_eq!(routes.edge_of(HostId(3)), SwitchId(1));
    assert!(routes.same_edge(HostId(2), HostId(3)) && !routes.same_edge(HostId(1), HostId(2)));
    assert_eq!((routes.hops(HostId(0), HostId(5)), routes.hops(HostId(0), HostId(1))), (4, 2));
    assert_eq!(routes.delay(HostId(0), HostId(5)), Span::from_us(2));
    let counts = (routes.path_count(HostId(0), HostId(5)), routes.path_count(HostId(0), HostId(1)));
    assert_eq!(counts, (4, 1));
}

/// Short groups keep their length in the table entry; long ones keep it in the list.
#[test]
fn lookup_agrees_with_next_hops_for_any_number_of_candidates() {
    for (spines, failed) in [1, 2, 61, 62, 63, 64, 130].into_iter().zip([0, 0, 0, 3, 0, 1, 7]) {
        let topology = leaf_spine(3, spines, 1);
        let first = topology.link_named("leaf0-spine0").unwrap().0;
        let routes = Routes::new(&topology, &|link| !(first..first + failed).contains(&link.0));
        let mut most = 0;
        for (switch, host) in
            (0..3 + spines).flat_map(|switch| (0..6).map(move |host| (switch, host)))
        {
            let (switch, host) = (SwitchId(switch), HostId(host));
            let said = match routes.lookup(switch, host) {
                Lookup::None => Vec::new(),
                Lookup::One(only) => vec![only],
                Lookup::Multiple(group) => routes.candidates_at(group).to_vec(),
            };
            assert_eq!(said, routes.next_hops(switch, host), "{spines} spines, {switch:?}");
            most = most.max(said.len());
        }
        assert_eq!(most, spines as usize);
    }
}

#[test]
fn parallel_links_are_separate_candidates_in_order_of_spine_and_link() {
    let topology = leaf_spine(2, 2, 2);
    let routes = Routes::new(&topology, &|_| true);
    let up = routes.next_hops(SwitchId(0), HostId(2));
    let links: Vec<_> = up.iter().map(|port| topology.link_name(port.link())).collect();
    assert_eq!(links, ["leaf0-spine0#0", "leaf0-spine0#1", "leaf0-spine1#0", "leaf0-spine1#1"]);
    assert_eq!(routes.path_count(HostId(0), HostId(2)), 8, "two links down from each spine");
}

#[test]
fn every_next_hop_is_one_link_closer() {
    for topology in [leaf_spine(4, 3, 2), fat_tree(4), fat_tree(6)] {
        let routes = Routes::new(&topology, &|_| true);
        let rest = |switch: SwitchId, dst| {
            let (mut at, mut links) = (Node::Switch(switch), 0);
            while let Node::Switch(switch) = at {
                at = topology.ends_of(routes.next_hops(switch, dst)[0]).1;
                links += 1;
            }
            assert_eq!(at, Node::Host(dst));
            links
        };
        for switch in (0..topology.switches().len() as u32).map(SwitchId) {
            for dst in (0..topology.host_count()).map(HostId) {
                for &port in routes.next_hops(switch, dst) {
                    let (from, to) = topology.ends_of(port);
                    assert_eq!(from, Node::Switch(switch));
                    let left = to.switch().map_or(0, |next| rest(next, dst));
                    assert_eq!(left + 1, rest(switch, dst));
                }
            }
        }
    }
}

#[test]
fn a_source_route_crosses_the_same_core_from_every_pod_and_back() {
    let k = 8;
    let half = k / 2;
    let topology = fat_tree(k);
    let routes = Routes::new(&topology, &|_| true);
    let per_pod = half * half;
    for (src, dst) in [(0, per_pod), (3 * per_pod + 5, 1), (7 * per_pod + 2, 2 * per_pod)] {
        let (src, dst) = (HostId(src), HostId(dst));
        assert_eq!(routes.path_count(src, dst), half * half);
        for path in 0..half * half {
            let core = format!("core{}", path % half * half + path / half);
            for (from, to) in [(src, dst), (dst, src)] {
                let ports = routes.path_ports(from, to, path);
                assert_eq!(ports.len() as u32, routes.hops(from, to));
                assert_eq!(names(&topology, &ports)[2], core, "path {path}");
                assert_eq!(topology.ends_of(ports[5]).1, Node::Host(to));
            }
        }
    }
    let in_pod = routes.path_ports(HostId(0), HostId(half), 3);
    assert_eq!(names(&topology, &in_pod), ["pod0-edge0", "pod0-agg3", "pod0-edge1", "host4"]);
}

#[test]
fn routes_avoid_unusable_links_until_no_path_remains() {
    let topology = leaf_spine(3, 2, 1);
    let dead = [topology.link_named("leaf0-spine0").unwrap()];
    let routes = Routes::new(&topology, &|link| !dead.contains(&link));
    let hops = |switch, dst| names(&topology, routes.next_hops(SwitchId(switch), HostId(dst)));
    assert_eq!(hops(0, 4), ["spine1"]);
    assert_eq!(hops(1, 0), ["spine1"], "routing elsewhere avoids the dead end");
    assert_eq!(hops(1, 4), ["spine0", "spine1"]);
    let cut = topology.links_of(SwitchId(0)).filter(|link| topology.is_fabric_link(*link));
    let cut: Vec<_> = cut.chain([LinkId(5)]).collect();
    let routes = Routes::new(&topology, &|link| !cut.contains(&link));
    assert!(routes.next_hops(SwitchId(0), HostId(4)).is_empty());
    assert!(routes.next_hops(SwitchId(2), HostId(5)).is_empty(), "the host's own link");
    for (src, dst) in [(0, 4), (4, 0), (4, 5), (5, 4), (3, 3)] {
        let (src, dst) = (HostId(src), HostId(dst));
        assert_eq!((routes.hops(src, dst), routes.path_count(src, dst)), (0, 0));
        assert!(routes.path_ports(src, dst, 0).is_empty());
    }
    assert_eq!(routes.hops(HostId(0), HostId(1)), 2);
}

#[test]
fn hosts_back_to_back_have_one_path_of_one_link() {
    let ends = [Node::Host(HostId(0)), Node::Host(HostId(1))];
    let link = crate::topology::Link { ends, rate: RATE, delay: Span::from_ns(7) };
    let topology = Topology::new(vec!["a".into(), "b".into()], vec![], vec![link]).unwrap();
    let routes = Routes::new(&topology, &|_| true);
    let (a, b) = (HostId(0), HostId(1));
    assert_eq!((routes.hops(a, b), routes.path_count(a, b)), (1, 1));
    assert_eq!(routes.delay(b, a), Span::from_ns(7));
    assert_eq!(routes.path_ports(b, a, 9), [PortId(1)]);
    assert_eq!(routes.edge_of(a), Routes::NO_EDGE);
    assert!(routes.same_edge(a, b));
}

#[test]
fn the_table_of_eight_thousand_hosts_takes_a_few_megabytes() {
    let topology = fat_tree(32);
    let routes = Routes::new(&topology, &|_| true);
    assert_eq!((topology.host_count(), topology.switches().len()), (8_192, 1_280));
    assert_eq!(routes.table.len() * size_of::<u32>(), 1_280 * 512 * 4);
    assert!(routes.groups.len() < 100_000, "{}", routes.groups.len());
    assert_eq!(routes.path_count(HostId(0), HostId(8_191)), 256);
}
