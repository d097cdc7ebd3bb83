//! The capacity that is left behind each next hop, and the shares that routing makes of it.
//!
//! Source: Zhou et al., "WCMP: Weighted Cost Multipathing for Improved Fairness in Data Centers"
//! (EuroSys 2014), section 3: next hops weighted by the capacity behind them; "Load Balancing for
//! AI Training Workloads" (arXiv 2507.21372 v2, 2026), destination rotation after failures: the
//! capacities towards a destination, divided by their greatest common divisor.
//!
//! Towards one edge switch, by distance from it: all of what it takes is left there. Of another
//! switch as much is left as its next hops are worth now to what they were worth when nothing had
//! failed, and a next hop is worth what is left of its link, times what is left of the switch
//! behind it.
//!
//! \[inferred\] The sources say "capacity" and leave open whose. An uplink to a switch that has
//! lost one of its four ways up counts three quarters although it alone could still be filled: the
//! switch's other neighbours use those ways too.
//!
//! \[inferred\] Schedules have at most 256 entries, or 16 a next hop if that is more: odd
//! capacities are rounded to the nearest such shares, and what rounds to nothing is left out.

use std::collections::BTreeMap;

use super::{Routes, Topology};
use crate::balance::rotation::weighted_schedule;
use crate::ids::{HostId, LinkId, SwitchId};
use crate::units::BitRate;

/// Entries that a schedule may have, whatever the number of next hops.
const ENTRIES: u128 = 256;
/// Entries a next hop that a schedule may have.
const ENTRIES_EACH: u128 = 16;
/// All of a switch's capacity, in the parts that it is counted in: whole numbers for every number
/// of next hops up to 16, twice over.
const ALL: u128 = 720_720 * 720_720;
/// Capacity that is not known yet.
const UNKNOWN: u128 = u128::MAX;
/// Stands in the table where all next hops are worth the same.
const EQUAL: u32 = 0;

/// The next hops that are not worth the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capacities {
    /// `table[switch * columns + column]`: one more than a place in `groups`.
    table: Vec<u32>,
    columns: usize,
    groups: Vec<Group>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Group {
    weights: Vec<u32>,
    schedule: Vec<u16>,
}

/// What the candidates of a switch for a destination are worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shares<'a> {
    /// By candidate.
    pub weights: &'a [u32],
    /// Candidates in turns, each in as many turns as its weight.
    pub schedule: &'a [u16],
}

impl Capacities {
    /// Of the next hops of `routes`, with what is left of the rate of each link; `intact` are the
    /// routes of the fabric when nothing has failed.
    pub fn new(
        topology: &Topology,
        (routes, intact): (&Routes, &Routes),
        left: &dyn Fn(LinkId) -> BitRate,
    ) -> Self {
        let links = || (0u32..).zip(topology.links());
        let fabric = Fabric {
            routes,
            intact,
            whole: links().map(|(_, link)| u128::from(link.rate.as_bps())).collect(),
            left: links().map(|(id, _)| u128::from(left(LinkId(id)).as_bps())).collect(),
        };
        let (switches, columns) = (topology.switches().len(), routes.columns());
        let mut table = vec![EQUAL; switches * columns];
        let mut groups = Vec::new();
        let mut known = BTreeMap::<Vec<u32>, u32>::new();
        let mut behind = vec![UNKNOWN; switches];
        let mut open = Vec::new();
        for column in 0..columns {
            behind.fill(UNKNOWN);
            for switch in 0..switches {
                open.push(switch);
                fabric.fill(&mut behind, &mut open, column);
                let mut worths = fabric.worths(&behind, switch, column);
                let first = worths.next();
                if worths.all(|worth| Some(worth) == first) {
                    continue;
                }
                let worths: Vec<u128> = fabric.worths(&behind, switch, column).collect();
                let weights = shares(&worths);
                table[switch * columns + column] = *known.entry(weights).or_insert_with_key(|it| {
                    groups.push(Group::new(it));
                    u32::try_from(groups.len()).expect("ids are 32 bits")
                });
            }
        }
        Self { table, columns, groups }
    }

    /// The shares of the next hops of `switch` towards `dst`, in the order of
    /// [`Routes::next_hops`]; `None` if they are all alike.
    #[inline]
    pub fn shares(&self, routes: &Routes, switch: SwitchId, dst: HostId) -> Option<Shares<'_>> {
        let place = self.table[switch.index() * self.columns + routes.column_of(dst)];
        let group = self.groups.get(place.checked_sub(1)? as usize)?;
        Some(Shares { weights: &group.weights, schedule: &group.schedule })
    }
}

impl Group {
    fn new(weights: &[u32]) -> Self {
        let order: Vec<u16> = (0..=u16::MAX).take(weights.len()).collect();
        Self { schedule: weighted_schedule(&order, weights), weights: weights.to_vec() }
    }
}

/// What capacities are made from.
struct Fabric<'a> {
    routes: &'a Routes,
    intact: &'a Routes,
    /// Rates of links, in bits per second: as built, and now.
    whole: Vec<u128>,
    left: Vec<u128>,
}

impl Fabric<'_> {
    /// Finds what is left of the `open` switches towards `column`, and whatever it has to know for
    /// that.
    fn fill(&self, behind: &mut [u128], open: &mut Vec<usize>, column: usize) {
        while let Some(&switch) = open.last() {
            if behind[switch] != UNKNOWN {
                open.pop();
                continue;
            }
            let Some(next_hops) = self.routes.candidates(switch, column) else {
                behind[switch] = ALL;
                open.pop();
                continue;
            };
            let before = open.len();
            let next = next_hops.iter().map(|&port| self.routes.switch_behind(port).index());
            open.extend(next.filter(|&next| behind[next] == UNKNOWN));
            if open.len() == before {
                let worth: u128 = self.worths(behind, switch, column).sum();
                let once = self.intact.candidates(switch, column).unwrap_or_default();
                let once: u128 = once.iter().map(|port| self.whole[port.link().index()]).sum();
                // A way round a failure may be wider than the one that failed.
                behind[switch] = (worth / once.max(1)).min(ALL);
                open.pop();
            }
        }
    }

    /// What each next hop of `switch` is worth: bits per second in parts of [`ALL`].
    fn worths(&self, behind: &[u128], switch: usize, column: usize) -> impl Iterator<Item = u128> {
        let next_hops = self.routes.candidates(switch, column).unwrap_or_default();
        next_hops.iter().map(|&port| {
            self.left[port.link().index()] * behind[self.routes.switch_behind(port).index()]
        })
    }
}

/// What each source route from host to host is worth: the least that is `left` of its links
/// between switches, as a share. The hosts' own links are the same for all of them.
pub fn path_shares(
    topology: &Topology,
    intact: &Routes,
    (src, dst): (HostId, HostId),
    left: &dyn Fn(LinkId) -> BitRate,
) -> Vec<u32> {
    let worth = |path| {
        let ports = intact.path_ports(src, dst, path);
        let links = ports.into_iter().map(|port| port.link());
        let fabric = links.filter(|&link| topology.is_fabric_link(link));
        fabric.map(|link| u128::from(left(link).as_bps())).min().unwrap_or(1)
    };
    let worths: Vec<u128> = (0..intact.path_count(src, dst)).map(worth).collect();
    shares(&worths)
}

/// Whole numbers in the proportions of `capacities`, as small as can be.
fn shares(capacities: &[u128]) -> Vec<u32> {
    let whole = divided(capacities.to_vec());
    let sum: u128 = whole.iter().sum();
    let most = ENTRIES.max(ENTRIES_EACH * capacities.len() as u128);
    let small = if sum > most {
        divided(whole.iter().map(|it| (it * most + sum / 2) / sum).collect())
    } else {
        whole
    };
    small.into_iter().map(|it| u32::try_from(it).expect("16 a next hop")).collect()
}

fn divided(numbers: Vec<u128>) -> Vec<u128> {
    let divisor = numbers.iter().copied().fold(0, gcd).max(1);
    numbers.into_iter().map(|number| number / divisor).collect()
}

const fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{FatTree, LeafSpine};
    use crate::units::{Fraction, Span};

    const RATE: BitRate = BitRate::from_gbps(400);

    fn leaf_spine() -> Topology {
        let shape = LeafSpine {
            leaves: 3,
            spines: 4,
            hosts_per_leaf: 2,
            host_rate: RATE,
            fabric_rate: RATE,
            delay: Span::from_ns(500),
            parallel_links: 1,
        };
        shape.build().unwrap()
    }

    fn fat_tree() -> Topology {
        let shape = FatTree {
            k: 8,
            tiers: 3,
            oversubscription: Fraction::ONE,
            host_rate: RATE,
            fabric_rate: RATE,
            delay: Span::from_ns(500),
            parallel_links: 1,
        };
        shape.build().unwrap()
    }

    fn named(topology: &Topology, name: &str) -> SwitchId {
        topology.switch_named(name).unwrap()
    }

    /// Weights by candidate at `switch` towards a host, with some links down and some at a part
    /// of their rate; empty where all are alike.
    fn weights(
        topology: &Topology,
        (down, slow): (&[&str], &[(&str, Fraction)]),
        (switch, dst): (&str, u32),
    ) -> Vec<u32> {
        let link = |name: &&str| topology.link_named(name).unwrap();
        let down: Vec<LinkId> = down.iter().map(link).collect();
        let routes = Routes::new(topology, &|link| !down.contains(&link));
        let left = |id: LinkId| {
            let part = slow.iter().find(|(name, _)| link(name) == id);
            part.map_or(RATE, |&(_, factor)| RATE.scaled(factor))
        };
        let intact = Routes::new(topology, &|_| true);
        let capacities = Capacities::new(topology, (&routes, &intact), &left);
        let shares = capacities.shares(&routes, named(topology, switch), HostId(dst));
        shares.map(|shares| shares.weights.to_vec()).unwrap_or_default()
    }

    #[test]
    fn an_intact_fabric_has_nothing_to_say() {
        for topology in [leaf_spine(), fat_tree()] {
            let routes = Routes::new(&topology, &|_| true);
            let capacities = Capacities::new(&topology, (&routes, &routes), &|_| RATE);
            assert!(capacities.groups.is_empty() && capacities.table.iter().all(|&it| it == EQUAL));
        }
    }

    #[test]
    fn a_slow_link_counts_where_it_is_on_the_way_and_nowhere_else() {
        let topology = leaf_spine();
        let slow = [("leaf2-spine1", Fraction::new(1, 4).unwrap())];
        let at = |switch, dst| weights(&topology, (&[], &slow), (switch, dst));
        assert_eq!(at("leaf0", 5), [4, 1, 4, 4], "hosts 4 and 5 are behind it");
        assert_eq!(at("leaf2", 0), [4, 1, 4, 4], "and its own way up");
        assert_eq!(at("leaf0", 2), [0; 0], "those of leaf1 are not");
    }

    /// Pod 0's aggregation 0 has lost one of its four cores: towards every other pod three in
    /// four of its uplinks are left, so its edge switches give it 3 parts where others have 4.
    #[test]
    fn a_link_that_is_down_counts_two_tiers_below_it() {
        let topology = fat_tree();
        let down = ["pod0-agg0-core0"];
        let at = |switch, dst| weights(&topology, (&down, &[]), (switch, dst));
        assert_eq!(at("pod0-edge0", 127), [3, 4, 4, 4]);
        assert_eq!(at("pod0-edge0", 4), [0; 0], "within the pod nothing is lost");
        // From another pod into pod 0: core 0 is no way, and aggregation 0 there has three cores.
        assert_eq!(at("pod7-edge0", 0), [3, 4, 4, 4]);
        assert_eq!(at("pod7-agg0", 0), [0; 0], "its three next hops are alike");
    }

    /// The example of the source: three links of 1600 and one of 800 Gbps are 2, 2, 2 and 1.
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
        assert_eq!(odd, [2, 2, 1, 0], "102, 102, 51 and next to nothing in 256");
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
    fn a_schedule_goes_in_turns() {
        let group = Group::new(&[4, 1, 2]);
        assert_eq!(group.schedule, [0, 1, 2, 0, 2, 0, 0]);
    }

    #[test]
    fn a_source_route_is_worth_its_weakest_link() {
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
        let shares = path_shares(&topology, &routes, (HostId(0), HostId(127)), &left);
        // Path a + 4c is by aggregation a and its c-th core.
        let expected: Vec<u32> = (0..16)
            .map(|path| match (path % 4, path / 4) {
                (1, 1) => 0,
                (2, _) => 1,
                _ => 4,
            })
            .collect();
        assert_eq!(shares, expected);
        assert_eq!(path_shares(&topology, &routes, (HostId(0), HostId(4)), &left), [1; 4]);
    }
}
