use super::*;
use crate::topology::Routes;

/// Returns Kim et al.'s balanced dragonfly: a = 2p = 2h, with the maximum number of groups.
fn balanced(h: u32) -> Dragonfly {
    Dragonfly {
        group: Group::Routers { routers: 2 * h },
        groups: 2 * h * h + 1,
        hosts_per_switch: h,
        global_links: h,
        host_rate: BitRate::from_gbps(400),
        fabric_rate: BitRate::from_gbps(400),
        delay: Span::from_ns(500),
        global_delay: Span::from_ns(500),
    }
}

fn plus() -> Dragonfly {
    Dragonfly {
        group: Group::LeafSpine { leaves: 2, spines: 2 },
        groups: 5,
        hosts_per_switch: 2,
        global_links: 2,
        ..balanced(2)
    }
}

/// Returns the number of links between each pair of groups.
fn between_groups(topology: &Topology) -> Vec<u32> {
    let direct = topology.direct().unwrap();
    let groups = direct.groups.iter().max().unwrap() + 1;
    let mut counts = vec![0; (groups * groups) as usize];
    for link in topology.links() {
        if let [Some(a), Some(b)] = link.ends.map(Node::switch) {
            let [a, b] = [a, b].map(|switch| direct.groups[switch.index()]);
            counts[(a.min(b) * groups + a.max(b)) as usize] += 1;
        }
    }
    let pairs = (0..groups).flat_map(|a| (a + 1..groups).map(move |b| (a * groups + b) as usize));
    pairs.map(|pair| counts[pair]).collect()
}

/// Returns the number of links of a minimal route, and how many of them are global.
fn route(topology: &Topology, routes: &Routes, src: u32, dst: u32, path: u32) -> (usize, usize) {
    let ports = routes.path_ports(HostId(src), HostId(dst), path);
    let groups = &topology.direct().unwrap().groups;
    let global = ports.iter().filter(|port| match topology.ends_of(**port) {
        (Node::Switch(a), Node::Switch(b)) => groups[a.index()] != groups[b.index()],
        _ => false,
    });
    (ports.len(), global.count())
}

#[test]
fn a_balanced_dragonfly_matches_the_papers_sizes() {
    for h in [1, 2, 3] {
        let (a, g) = (2 * h, 2 * h * h + 1);
        let topology = balanced(h).build().unwrap();
        // N = ap(ah + 1), section 3.1.
        assert_eq!(topology.host_count(), a * h * (a * h + 1));
        assert_eq!(topology.switches().len() as u32, a * g);
        let (local, global) = (g * a * (a - 1) / 2, g * (g - 1) / 2);
        assert_eq!(topology.links().len() as u32, topology.host_count() + local + global);
        assert!(between_groups(&topology).iter().all(|&links| links == 1));
        // Radix k = p + a + h − 1.
        let radix = h + a + h - 1;
        let ids = (0..a * g).map(SwitchId);
        assert!(ids.into_iter().all(|id| topology.ports_of(id).len() as u32 == radix));
    }
}

#[test]
fn minimal_routes_have_one_global_link_and_at_most_one_local_link_before_and_after() {
    for shape in [balanced(2), plus()] {
        let topology = shape.build().unwrap();
        let routes = Routes::new(&topology, &|_| true);
        let hosts = topology.host_count();
        let per_group = hosts / shape.groups;
        let mut farthest = 0;
        for (src, dst) in (0..hosts).flat_map(|a| (0..hosts).map(move |b| (a, b))) {
            for path in 0..routes.path_count(HostId(src), HostId(dst)) {
                let (links, global) = route(&topology, &routes, src, dst, path);
                let differs = src / per_group != dst / per_group;
                assert_eq!(global, usize::from(differs), "{src} {dst}");
                farthest = farthest.max(links);
            }
        }
        // Two host links, plus local, global, local.
        assert_eq!(farthest, 5, "{shape:?}");
    }
}

#[test]
fn fewer_groups_share_the_global_links_evenly() {
    let few = Dragonfly { groups: 3, ..balanced(2) }.build().unwrap();
    assert_eq!(between_groups(&few), [4, 4, 4]);
    // 8 links to 5 other groups: 3 stay unused.
    let uneven = Dragonfly { groups: 6, ..balanced(2) }.build().unwrap();
    assert!(between_groups(&uneven).iter().all(|&links| links == 1));
    let alone = Dragonfly { groups: 1, ..balanced(2) }.build().unwrap();
    assert_eq!(alone.links().len(), 8 + 6);
}

#[test]
fn a_dragonfly_plus_has_its_global_links_at_the_spines() {
    let topology = plus().build().unwrap();
    assert_eq!((topology.host_count(), topology.switches().len()), (20, 20));
    assert_eq!(topology.links().len(), 20 + 5 * 4 + 10);
    assert!(between_groups(&topology).iter().all(|&links| links == 1));
    let is_spine = |id: SwitchId| topology.switches()[id.index()].tier == 1;
    let groups = &topology.direct().unwrap().groups;
    for link in topology.links() {
        if let [Some(a), Some(b)] = link.ends.map(Node::switch) {
            let is_global = groups[a.index()] != groups[b.index()];
            assert_eq!(is_global, is_spine(a) && is_spine(b), "{a} {b}");
        }
    }
}

#[test]
fn sizes_out_of_range_are_refused() {
    let error = |shape: Dragonfly| shape.build().unwrap_err().to_string();
    let many = error(Dragonfly { groups: 10, ..balanced(2) });
    assert!(many.starts_with("groups = 10 exceeds the limit of 9"), "{many}");
    assert!(error(Dragonfly { groups: 0, ..balanced(2) }).starts_with("groups = 0"));
    let wide = Group::Routers { routers: u32::MAX };
    assert!(error(Dragonfly { group: wide, ..balanced(2) }).contains("too many"));
}
