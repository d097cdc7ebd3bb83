use proptest::prelude::*;

use super::*;

fn data(link: u32, share: f64) -> Use {
    Use { link, share, service: Service::Fair }
}

fn acks(link: u32, share: f64) -> Use {
    Use { link, share, service: Service::First }
}

/// Returns the rates of flows over links with these capacities; each flow uses its links in full.
fn rates(capacities: &[f64], flows: &[&[u32]]) -> Vec<f64> {
    let mut sharing = Sharing::default();
    for &capacity in capacities {
        sharing.add_link(capacity);
    }
    let whole = |&link: &u32| data(link, 1.0);
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
fn a_class_limited_elsewhere_leaves_its_share_to_others() {
    // Two flows of 1 through the slow link leave 10 of the fast one to two others.
    assert_eq!(rates(&[12.0, 2.0], &[&[0, 1], &[0, 1], &[0], &[0]]), [1.0, 1.0, 5.0, 5.0]);
}

#[test]
fn in_a_parking_lot_the_long_flow_gets_the_least_fair_share() {
    assert_eq!(rates(&[10.0, 6.0, 8.0], &[&[0, 1, 2], &[0], &[1], &[2]]), [3.0, 7.0, 3.0, 5.0]);
}

#[test]
fn shares_count_as_fractions_of_a_flow() {
    let mut sharing = Sharing::default();
    let [up, down] = [9.0, 4.0].map(|capacity| sharing.add_link(capacity));
    let spread = sharing.add(&[data(up, 0.5), data(down, 0.25)]);
    let whole = sharing.add(&[data(up, 1.0)]);
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
    let whole = |link| data(link, 1.0);
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
fn unaffected_flows_are_not_recomputed() {
    let mut sharing = Sharing::default();
    let [a, b, c] = [8.0, 2.0, 5.0].map(|capacity| sharing.add_link(capacity));
    let whole = |link| data(link, 1.0);
    let apart = sharing.add(&[whole(c)]);
    let slow = sharing.add(&[whole(a), whole(b)]);
    let fast = [sharing.add(&[whole(a)]), sharing.add(&[whole(a)])];
    sharing.compute();
    assert_eq!(sharing.rate(slow), 2.0);
    sharing.remove(fast[0]);
    assert_eq!(sharing.compute(), [fast[1]]);
    let found = [apart, slow, fast[1]].map(|flow| sharing.seen[flow as usize].affected);
    assert_eq!(found, [1, 1, 2]);
}

#[test]
fn acknowledgements_are_served_first_and_do_not_limit_their_flow() {
    let mut sharing = Sharing::default();
    let [a, b] = [10.0, 10.0].map(|capacity| sharing.add_link(capacity));
    // Four flows on `b`, which also carries the acknowledgements of the one on `a`.
    let alone = sharing.add(&[data(a, 1.0), acks(b, 0.1)]);
    let four = [(); 4].map(|()| sharing.add(&[data(b, 1.0)]));
    sharing.compute();
    assert_eq!(sharing.rate(alone), 10.0);
    assert_eq!(four.map(|flow| sharing.rate(flow)), [2.25; 4]);
    sharing.remove(alone);
    sharing.compute();
    assert_eq!(four.map(|flow| sharing.rate(flow)), [2.5; 4]);
}

#[test]
fn flows_in_both_directions_leave_each_other_room_for_acknowledgements() {
    let mut sharing = Sharing::default();
    let [there, back] = [11.0, 11.0].map(|capacity| sharing.add_link(capacity));
    let one = sharing.add(&[data(there, 1.0), acks(back, 0.1)]);
    let other = sharing.add(&[data(back, 1.0), acks(there, 0.1)]);
    sharing.compute();
    for flow in [one, other] {
        assert!((sharing.rate(flow) - 10.0).abs() < 1e-9, "{}", sharing.rate(flow));
    }
}

/// The uses of a generated flow: links and quarters of shares.
type Drawn = Vec<(usize, u8)>;

fn flow(drawn: &Drawn, links: usize) -> Vec<Use> {
    let mut uses: Vec<Use> = Vec::new();
    for &(link, quarters) in drawn {
        let link = (link % links) as u32;
        if uses.iter().all(|other| other.link != link) {
            uses.push(data(link, f64::from(quarters) / 4.0));
        }
    }
    uses
}

/// Checks that no link exceeds its capacity, and that every flow has a full link on which no other
/// is faster. Both hold up to the relative error `rounding`.
fn check_max_min(sharing: &Sharing, flows: &[u32], rounding: f64) {
    let loads: Vec<f64> = (0..sharing.links.len())
        .map(|link| {
            let of = |it: &Member| sharing.rate(it.flow) * it.share;
            sharing.links[link].members.iter().flatten().map(of).sum()
        })
        .collect();
    for (link, load) in sharing.links.iter().zip(&loads) {
        assert!(*load <= link.capacity * (1.0 + rounding), "{load} over {}", link.capacity);
    }
    for &flow in flows {
        let rate = sharing.rate(flow);
        let limits = |link: u32| {
            let at = &sharing.links[link as usize];
            let is_full = loads[link as usize] >= at.capacity * (1.0 - rounding);
            let slower = |it: &Member| sharing.rate(it.flow) <= rate * (1.0 + rounding);
            is_full && at.members[0].iter().all(slower)
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
            // Sometimes several changes are applied before a computation.
            if index % 3 != 1 {
                sharing.compute();
                check_max_min(&sharing, &flows, 1e-9);
            }
        }
    }

    #[test]
    fn acknowledgements_of_two_per_cent_leave_rates_fair_within_one_per_cent(
        capacities in prop::collection::vec(10u32..13, 2..8),
        steps in prop::collection::vec(
            (any::<bool>(), any::<prop::sample::Index>(), 0usize..8, 1usize..8), 1..40,
        ),
    ) {
        let mut sharing = Sharing::default();
        for &capacity in &capacities {
            sharing.add_link(f64::from(capacity));
        }
        let mut flows: Vec<u32> = Vec::new();
        for (leaves, which, first, second) in steps {
            if leaves && !flows.is_empty() {
                sharing.remove(flows.swap_remove(which.index(flows.len())));
            } else {
                let links = capacities.len();
                let other = (first + 1 + second % (links - 1)) % links;
                let [there, back] = [first % links, other].map(|link| link as u32);
                flows.push(sharing.add(&[data(there, 1.0), acks(back, 0.02)]));
            }
            sharing.compute();
            check_max_min(&sharing, &flows, 1e-2);
        }
    }
}
