//! Tests of capacities after failures and of the resulting shares.

use super::*;
use crate::topology::fixtures::{self, RATE};
use crate::units::Fraction;

fn leaf_spine() -> Topology {
    fixtures::leaf_spine(3, 4, 2).build().unwrap()
}

fn fat_tree() -> Topology {
    fixtures::fat_tree(8).build().unwrap()
}

/// Links that are down, and links at a fraction of their rate.
struct LinkFaults<'a> {
    down: &'a [&'a str],
    slow: &'a [(&'a str, Fraction)],
}

/// Returns the weights by candidate at `switch` towards a host; empty if all are equal.
fn weights(topology: &Topology, faults: &LinkFaults<'_>, switch: &str, dst: u32) -> Vec<u32> {
    let link = |name: &&str| topology.link_named(name).unwrap();
    let down: Vec<LinkId> = faults.down.iter().map(link).collect();
    let routes = Routes::new(topology, &|link| !down.contains(&link));
    let left = |id: LinkId| {
        let slow = faults.slow.iter().find(|(name, _)| link(name) == id);
        slow.map_or(RATE, |&(_, factor)| RATE.scaled(factor))
    };
    let intact = Routes::new(topology, &|_| true);
    let capacities = Capacities::new(topology, &routes, &intact, &left);
    let switch = topology.switch_named(switch).unwrap();
    let shares = capacities.shares(&routes, switch, HostId(dst));
    shares.map(|shares| shares.weights.to_vec()).unwrap_or_default()
}

#[test]
fn an_intact_fabric_has_equal_next_hops_everywhere() {
    for topology in [leaf_spine(), fat_tree()] {
        let routes = Routes::new(&topology, &|_| true);
        let capacities = Capacities::new(&topology, &routes, &routes, &|_| RATE);
        assert!(capacities.groups.is_empty() && capacities.table.iter().all(|&it| it == EQUAL));
    }
}

#[test]
fn a_slow_link_changes_weights_only_of_paths_across_it() {
    let topology = leaf_spine();
    let slow = [("leaf2-spine1", Fraction::new(1, 4).unwrap())];
    let faults = LinkFaults { down: &[], slow: &slow };
    let at = |switch, dst| weights(&topology, &faults, switch, dst);
    assert_eq!(at("leaf0", 5), [4, 1, 4, 4], "hosts 4 and 5 are behind it");
    assert_eq!(at("leaf2", 0), [4, 1, 4, 4], "it is one of leaf2's uplinks");
    assert_eq!(at("leaf0", 2), [0; 0], "hosts of leaf1 are not behind it");
}

/// Aggregation 0 of pod 0 lost one of its four cores. Three of its four uplinks remain towards
/// every other pod, so its edge switches give it weight 3 where others have 4.
#[test]
fn a_down_link_changes_weights_two_tiers_below_it() {
    let topology = fat_tree();
    let faults = LinkFaults { down: &["pod0-agg0-core0"], slow: &[] };
    let at = |switch, dst| weights(&topology, &faults, switch, dst);
    assert_eq!(at("pod0-edge0", 127), [3, 4, 4, 4]);
    assert_eq!(at("pod0-edge0", 4), [0; 0], "within the pod nothing is lost");
    // From another pod into pod 0, core 0 is not a next hop and aggregation 0 has three cores.
    assert_eq!(at("pod7-edge0", 0), [3, 4, 4, 4]);
    assert_eq!(at("pod7-agg0", 0), [0; 0], "its three next hops are equal");
}

/// The example of the source: three links of 1600 and one of 800 Gbps give 2, 2, 2 and 1.
#[test]
fn capacities_are_divided_by_their_greatest_common_divisor() {
    let gbps = |of: [u128; 4]| shares(&of.map(|it| it * 1_000_000_000));
    assert_eq!(gbps([1_600, 1_600, 1_600, 800]), [2, 2, 2, 1]);
    assert_eq!(gbps([400, 40, 400, 400]), [10, 1, 10, 10]);
    assert_eq!(gbps([0, 400, 400, 400]), [0, 1, 1, 1]);
    assert_eq!(shares(&[0, 0]), [0, 0]);
    assert_eq!(shares(&[]), [0u32; 0]);
}

#[test]
fn odd_capacities_are_rounded_to_schedules_of_bounded_length() {
    let odd = shares(&[399_999_999_999, 400_000_000_000, 200_000_000_001, 1]);
    assert_eq!(odd, [2, 2, 1, 0], "102, 102, 51 and almost 0 of 256");
    for ports in [2u32, 3, 16, 64, 1_000] {
        let odd: Vec<u128> =
            (1..=ports.into()).map(|it| it * 1_000_003 + 7 * (it % 3) + 1).collect();
        let (shares, capacity) = (shares(&odd), odd.iter().sum::<u128>() as f64);
        let (entries, most) = (shares.iter().sum::<u32>(), 256.max(16 * ports));
        assert!(entries.abs_diff(most) <= ports / 2, "{entries} entries for {ports} ports");
        for (&share, &odd) in shares.iter().zip(&odd) {
            let exact = odd as f64 / capacity * f64::from(most);
            assert!((f64::from(share) - exact).abs() <= 0.5, "{share} for {exact}");
        }
    }
}

#[test]
fn a_schedule_interleaves_its_candidates() {
    let group = WeightGroup::new(&[4, 1, 2]);
    assert_eq!(group.schedule, [0, 1, 2, 0, 2, 0, 0]);
}

#[test]
fn the_share_of_a_source_route_follows_its_slowest_link() {
    let topology = fat_tree();
    let routes = Routes::new(&topology, &|_| true);
    let link = |name: &str| topology.link_named(name).unwrap();
    let (down, slow) = (link("pod0-agg1-core5"), link("pod7-edge3-pod7-agg2"));
    let host = topology.host_port(HostId(127)).link();
    let left = |it: LinkId| match it {
        it if it == down => BitRate::from_bps(0),
        it if it == slow || it == host => BitRate::from_gbps(100),
        _ => RATE,
    };
    let shares = path_shares(&topology, &routes, HostId(0), HostId(127), &left);
    // Path a + 4c crosses aggregation a and its core c.
    let expected: Vec<u32> = (0..16)
        .map(|path| match (path % 4, path / 4) {
            (1, 1) => 0,
            (2, _) => 1,
            _ => 4,
        })
        .collect();
    assert_eq!(shares, expected);
    assert_eq!(path_shares(&topology, &routes, HostId(0), HostId(4), &left), [1; 4]);
}
