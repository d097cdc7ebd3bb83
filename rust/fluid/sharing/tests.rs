use proptest::prelude::*;

use super::*;

/// Links with these capacities, and flows that use these of them in full.
fn rates(capacities: &[f64], flows: &[&[u32]]) -> Vec<f64> {
    let mut sharing = Sharing::default();
    for &capacity in capacities {
        sharing.add_link(capacity);
    }
    let whole = |&link: &u32| Use { link, share: 1.0 };
    let flows: Vec<u32> =
        flows.iter().map(|uses| sharing.add(&uses.iter().map(whole).collect::<Vec<_>>())).collect();
    sharing.compute();
    flows.into_iter().map(|flow| sharing.rate(flow)).collect()
}

#[test]
fn flows_share_one_bottleneck_equally() {
    assert_eq!(rates(&[12.0], &[&[0], &[0], &[0]]), [4.0; 3]);
}

#[test]
fn a_class_that_is_limited_elsewhere_leaves_its_part_to_the_others() {
    // Two flows of 1 through the slow link leave 10 of the fast one to two others.
    assert_eq!(rates(&[12.0, 2.0], &[&[0, 1], &[0, 1], &[0], &[0]]), [1.0, 1.0, 5.0, 5.0]);
}

#[test]
fn in_a_parking_lot_the_long_flow_gets_the_least_fair_share() {
    assert_eq!(rates(&[10.0, 6.0, 8.0], &[&[0, 1, 2], &[0], &[1], &[2]]), [3.0, 7.0, 3.0, 5.0]);
}

#[test]
fn shares_count_as_parts_of_a_flow() {
    let mut sharing = Sharing::default();
    let [up, down] = [9.0, 4.0].map(|capacity| sharing.add_link(capacity));
    let spread = sharing.add(&[Use { link: up, share: 0.5 }, Use { link: down, share: 0.25 }]);
    let whole = sharing.add(&[Use { link: up, share: 1.0 }]);
    assert_eq!(sharing.compute(), [spread, whole]);
    assert_eq!([spread, whole].map(|flow| sharing.rate(flow)), [6.0, 6.0]);
    sharing.remove(whole);
    assert_eq!(sharing.compute(), [spread]);
    assert_eq!((sharing.rate(spread), sharing.bottleneck(spread)), (16.0, down));
}

#[test]
fn a_link_without_capacity_stops_its_flows() {
    let mut sharing = Sharing::default();
    let [a, b] = [4.0, 4.0].map(|capacity| sharing.add_link(capacity));
    let whole = |link| Use { link, share: 1.0 };
    let flows = [sharing.add(&[whole(a), whole(b)]), sharing.add(&[whole(a)])];
    sharing.compute();
    assert_eq!(flows.map(|flow| sharing.rate(flow)), [2.0, 2.0]);
    sharing.set_capacity(b, 0.0);
    sharing.compute();
    assert_eq!(flows.map(|flow| sharing.rate(flow)), [0.0, 4.0]);
    sharing.set_capacity(b, 1.0);
    sharing.compute();
    assert_eq!(flows.map(|flow| sharing.rate(flow)), [1.0, 3.0]);
}

#[test]
fn flows_that_no_change_reaches_are_not_computed_again() {
    let mut sharing = Sharing::default();
    let [a, b, c] = [8.0, 2.0, 5.0].map(|capacity| sharing.add_link(capacity));
    let whole = |link| Use { link, share: 1.0 };
    let apart = sharing.add(&[whole(c)]);
    let slow = sharing.add(&[whole(a), whole(b)]);
    let fast = [sharing.add(&[whole(a)]), sharing.add(&[whole(a)])];
    sharing.compute();
    assert_eq!(sharing.rate(slow), 2.0);
    sharing.remove(fast[0]);
    assert_eq!(sharing.compute(), [fast[1]]);
    let found = [apart, slow, fast[1]].map(|flow| sharing.flows[flow as usize].affected);
    assert_eq!(found, [1, 1, 2]);
}

/// The uses of a flow as drawn: links and quarters of shares.
type Drawn = Vec<(usize, u8)>;

fn flow(drawn: &Drawn, links: usize) -> Vec<Use> {
    let mut uses: Vec<Use> = Vec::new();
    for &(link, quarters) in drawn {
        let link = (link % links) as u32;
        if uses.iter().all(|other| other.link != link) {
            uses.push(Use { link, share: f64::from(quarters) / 4.0 });
        }
    }
    uses
}

/// No link is beyond its capacity, and every flow has a full link on which no other is faster.
fn check_max_min(sharing: &Sharing, flows: &[u32]) {
    let loads: Vec<f64> = (0..sharing.links.len())
        .map(|link| {
            let members = &sharing.links[link].members;
            let of = |it: &Member| {
                let flow = &sharing.flows[it.flow as usize];
                flow.rate * flow.entries[it.nth as usize].share
            };
            members.iter().map(of).sum()
        })
        .collect();
    for (link, load) in sharing.links.iter().zip(&loads) {
        assert!(*load <= link.capacity * (1.0 + 1e-9), "{load} over {}", link.capacity);
    }
    for &flow in flows {
        let rate = sharing.rate(flow);
        let limits = |link: u32| {
            let at = &sharing.links[link as usize];
            let is_full = loads[link as usize] >= at.capacity * (1.0 - 1e-9);
            let slower = |it: &Member| sharing.rate(it.flow) <= rate * (1.0 + 1e-9);
            is_full && at.members.iter().all(slower)
        };
        assert!(sharing.uses(flow).any(|it| limits(it.link)), "flow {flow} may have more");
        assert!(limits(sharing.bottleneck(flow)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(1),
        ..ProptestConfig::with_cases(300)
    })]

    #[test]
    fn rates_are_max_min_fair_after_every_change(
        capacities in prop::collection::vec(1u32..20, 1..8),
        steps in prop::collection::vec(
            (any::<bool>(), any::<prop::sample::Index>(),
             prop::collection::vec((0usize..8, 1u8..6), 1..5)),
            1..40,
        ),
    ) {
        let mut sharing = Sharing::default();
        for &capacity in &capacities {
            sharing.add_link(f64::from(capacity));
        }
        let mut flows: Vec<u32> = Vec::new();
        for (index, (leaves, which, drawn)) in steps.iter().enumerate() {
            if *leaves && !flows.is_empty() {
                sharing.remove(flows.swap_remove(which.index(flows.len())));
            } else {
                flows.push(sharing.add(&flow(drawn, capacities.len())));
            }
            // Now and then several changes come at once.
            if index % 3 != 1 {
                sharing.compute();
                check_max_min(&sharing, &flows);
            }
        }
    }
}
