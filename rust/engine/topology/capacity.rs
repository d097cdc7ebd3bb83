//! The remaining capacity behind each next hop, and the traffic shares derived from it.
//!
//! Source: Zhou et al., "WCMP: Weighted Cost Multipathing for Improved Fairness in Data Centers"
//! (EuroSys 2014), section 3: next hops weighted by the capacity behind them; "Load Balancing for
//! AI Training Workloads" (arXiv 2507.21372 v2, 2026), destination rotation after failures: the
//! capacities towards a destination, divided by their greatest common divisor.
//!
//! The capacity towards an edge switch is computed in order of distance from it. The edge switch
//! itself has its full capacity. Every other switch has a remaining fraction. It is the total
//! capacity of its next hops, divided by the largest total rate at this distance in the intact
//! fabric. The capacity of a next hop is the lesser of two values. One is the current rate of its
//! link. The other is the rate of the fastest sibling link times the fraction of the switch behind
//! the next hop. Weights compare that fraction with the largest one among the siblings: a loss that
//! all siblings share makes no difference.
//!
//! \[inferred\] The sources do not define whose "capacity" is meant. An uplink to a switch that
//! lost one of its four uplinks counts three quarters, even though it alone could still be filled:
//! the switch's other neighbours use those uplinks too. Two slow links in a row count once.
//!
//! \[inferred\] A schedule has at most 256 entries, or 16 per next hop if that is more. Capacities
//! are rounded to the nearest such shares. A next hop whose share rounds to zero is left out.

use std::collections::BTreeMap;

use super::{Routes, Topology};
use crate::balance::rotation::weighted_schedule;
use crate::ids::{HostId, LinkId, SwitchId};
use crate::units::BitRate;

/// Maximum length of a schedule with few next hops.
const ENTRIES: u128 = 256;
/// Maximum length of a schedule per next hop, where that exceeds [`ENTRIES`].
const ENTRIES_EACH: u128 = 16;
/// Full capacity of a switch: the denominator of remaining fractions. It is divisible by every
/// number of next hops up to 16 on two consecutive tiers.
const FULL: u128 = 720_720 * 720_720;
/// A remaining fraction that is not yet computed.
const UNKNOWN: u128 = u128::MAX;
/// Table entry if all next hops have the same capacity.
const EQUAL: u32 = 0;

/// Next-hop weights, stored only where the next hops of a switch towards an edge switch differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capacities {
    /// `table[switch * columns + column]`: [`EQUAL`], or an index into `groups` plus one.
    table: Vec<u32>,
    columns: usize,
    groups: Vec<WeightGroup>,
}

/// Weights shared by all switches and destinations with equal ones.
#[derive(Debug, Clone, PartialEq, Eq)]
struct WeightGroup {
    weights: Vec<u32>,
    schedule: Vec<u16>,
}

/// Traffic shares of a switch's candidate ports for one destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shares<'a> {
    /// Weights by candidate; 0 for a candidate without traffic.
    pub weights: &'a [u32],
    /// A rotation over candidates in which each occurs as often as its weight.
    pub schedule: &'a [u16],
}

impl Capacities {
    /// Computes the capacities of the next hops of `routes`. `remaining` returns the remaining rate
    /// of a link, and `intact` holds the routes of the fabric without failures.
    pub fn new(
        topology: &Topology,
        routes: &Routes,
        intact: &Routes,
        remaining: &dyn Fn(LinkId) -> BitRate,
    ) -> Self {
        let links = || (0u32..).zip(topology.links());
        let fabric = LinkCapacities {
            routes,
            intact,
            nominal: links().map(|(_, link)| u128::from(link.rate.as_bps())).collect(),
            remaining: links().map(|(id, _)| u128::from(remaining(LinkId(id)).as_bps())).collect(),
        };
        let (switches, columns) = (topology.switches().len(), routes.columns());
        let (mut most, mut distances) = (Vec::new(), vec![0; switches]);
        let mut table = vec![EQUAL; switches * columns];
        let mut groups = Vec::new();
        let mut known = BTreeMap::<Vec<u32>, u32>::new();
        let mut fractions = vec![UNKNOWN; switches];
        let mut pending = Vec::new();
        for column in 0..columns {
            fractions.fill(UNKNOWN);
            fabric.fill_most(&mut most, &mut distances, column);
            for switch in 0..switches {
                pending.push(switch);
                fabric.fill(&mut fractions, &mut pending, column, &|at| most[distances[at]]);
                let best = fabric.best_behind(&fractions, switch, column);
                let mut capacities = fabric.next_hops(&fractions, switch, column, best);
                let first = capacities.next();
                // Most switches see no difference after a failure; they allocate nothing.
                if capacities.all(|capacity| Some(capacity) == first) {
                    continue;
                }
                let capacities = fabric.next_hops(&fractions, switch, column, best);
                let capacities: Vec<u128> = capacities.collect();
                let weights = shares(&capacities);
                table[switch * columns + column] = *known.entry(weights).or_insert_with_key(|it| {
                    groups.push(WeightGroup::new(it));
                    u32::try_from(groups.len()).expect("ids are 32 bits")
                });
            }
        }
        Self { table, columns, groups }
    }

    /// Returns the shares of the next hops of `switch` towards `dst`, in the order of
    /// [`Routes::next_hops`], or `None` if all are equal.
    #[inline]
    pub fn shares(&self, routes: &Routes, switch: SwitchId, dst: HostId) -> Option<Shares<'_>> {
        let entry = self.table[switch.index() * self.columns + routes.column_of(dst)];
        let group = self.groups.get(entry.checked_sub(1)? as usize)?;
        Some(Shares { weights: &group.weights, schedule: &group.schedule })
    }
}

impl WeightGroup {
    fn new(weights: &[u32]) -> Self {
        let order: Vec<u16> = (0..=u16::MAX).take(weights.len()).collect();
        Self { schedule: weighted_schedule(&order, weights), weights: weights.to_vec() }
    }
}

/// Link rates and routes from which capacities are computed.
struct LinkCapacities<'a> {
    routes: &'a Routes,
    intact: &'a Routes,
    /// Rates of links without failures, in bits per second.
    nominal: Vec<u128>,
    /// Remaining rates of links, in bits per second.
    remaining: Vec<u128>,
}

impl LinkCapacities<'_> {
    /// Computes, in the intact fabric, each switch's distance from the edge switch of `column` and
    /// the largest total next-hop rate at each distance.
    fn fill_most(&self, most: &mut Vec<u128>, distances: &mut [usize], column: usize) {
        most.clear();
        for (switch, distance) in distances.iter_mut().enumerate() {
            *distance = 0;
            let mut at = switch;
            while let Some(&[first, ..]) = self.intact.candidates(at, column) {
                *distance += 1;
                at = self.intact.switch_behind(first).index();
            }
            most.resize(most.len().max(*distance + 1), 0);
            most[*distance] = most[*distance].max(self.intact_rate(switch, column));
        }
    }

    /// Returns the total rate of the next hops of `switch` in the intact fabric.
    fn intact_rate(&self, switch: usize, column: usize) -> u128 {
        let ports = self.intact.candidates(switch, column).unwrap_or_default();
        ports.iter().map(|port| self.nominal[port.link().index()]).sum()
    }

    /// Computes the remaining fractions towards `column` of the `pending` switches and of the
    /// switches that they depend on. `most` is the largest total rate at a switch's distance.
    /// `pending` is the stack of a depth-first search.
    fn fill(
        &self,
        fractions: &mut [u128],
        pending: &mut Vec<usize>,
        column: usize,
        most: &dyn Fn(usize) -> u128,
    ) {
        while let Some(&switch) = pending.last() {
            if fractions[switch] != UNKNOWN {
                pending.pop();
                continue;
            }
            let Some(next_hops) = self.routes.candidates(switch, column) else {
                fractions[switch] = FULL;
                pending.pop();
                continue;
            };
            // A next hop is always closer to the edge switch, so the search ends. A switch stays on
            // the stack until all its dependencies are known.
            let before = pending.len();
            let next = next_hops.iter().map(|&port| self.routes.switch_behind(port).index());
            pending.extend(next.filter(|&next| fractions[next] == UNKNOWN));
            if pending.len() == before {
                let now: u128 = self.next_hops(fractions, switch, column, FULL).sum();
                // Clamped: a detour around a failure may have more capacity than the failed path.
                fractions[switch] = (now / most(switch).max(1)).min(FULL);
                pending.pop();
            }
        }
    }

    /// Returns the largest fraction among the next hops of `switch`.
    fn best_behind(&self, fractions: &[u128], switch: usize, column: usize) -> u128 {
        let next_hops = self.routes.candidates(switch, column).unwrap_or_default();
        let behind = next_hops.iter().map(|&port| self.routes.switch_behind(port).index());
        behind.map(|at| fractions[at]).max().unwrap_or(FULL)
    }

    /// Returns the capacity of each next hop of `switch`, in bits per second times `full`. `full`
    /// is the fraction of a next hop that imposes no limit.
    fn next_hops(
        &self,
        fractions: &[u128],
        switch: usize,
        column: usize,
        full: u128,
    ) -> impl Iterator<Item = u128> {
        let next_hops = self.routes.candidates(switch, column).unwrap_or_default();
        let fastest = next_hops.iter().map(|port| self.nominal[port.link().index()]).max();
        next_hops.iter().map(move |&port| {
            let behind = fractions[self.routes.switch_behind(port).index()];
            let link = self.remaining[port.link().index()] * full;
            link.min(fastest.unwrap_or(0) * behind)
        })
    }
}

/// Returns the shares of the source routes between two hosts, in proportion to the lowest remaining
/// rate (`remaining`) of their fabric links. The hosts' own links are common to all routes.
pub(crate) fn path_shares(
    topology: &Topology,
    intact: &Routes,
    src: HostId,
    dst: HostId,
    remaining: &dyn Fn(LinkId) -> BitRate,
) -> Vec<u32> {
    let capacity = |path| {
        let ports = intact.path_ports(src, dst, path);
        let links = ports.into_iter().map(|port| port.link());
        let fabric = links.filter(|&link| topology.is_fabric_link(link));
        fabric.map(|link| u128::from(remaining(link).as_bps())).min().unwrap_or(1)
    };
    let capacities: Vec<u128> = (0..intact.path_count(src, dst)).map(capacity).collect();
    shares(&capacities)
}

/// Returns the smallest whole numbers in the proportions of `capacities`, rounded if their sum
/// would exceed the length of a schedule.
fn shares(capacities: &[u128]) -> Vec<u32> {
    let whole = reduced(capacities.to_vec());
    let sum: u128 = whole.iter().sum();
    // Rounded to nearest, not up: a next hop with hardly any capacity left is better avoided.
    let most = ENTRIES.max(ENTRIES_EACH * capacities.len() as u128);
    let small = if sum > most {
        reduced(whole.iter().map(|it| (it * most + sum / 2) / sum).collect())
    } else {
        whole
    };
    small.into_iter().map(|it| u32::try_from(it).expect("at most 16 per next hop")).collect()
}

/// Divides `numbers` by their greatest common divisor.
fn reduced(numbers: Vec<u128>) -> Vec<u128> {
    let divisor = numbers.iter().copied().fold(0, gcd).max(1);
    numbers.into_iter().map(|number| number / divisor).collect()
}

/// Returns the greatest common divisor.
pub(super) const fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests;
