//! Splitters: the load of each uplink, and the number of queue pairs that this takes.

use super::*;
use crate::extent;

#[test]
fn ethereal_puts_the_same_bytes_on_each_uplink_for_every_n_and_s() {
    let flows = extent::cases("fabric::tests::ethereal", (1..=64).collect(), |it| it % 6 == 1);
    check_uplinks("ethereal", &flows, |rest, paths| rest * (paths / gcd(rest, paths) - 1));
}

#[test]
fn line_cut_balances_uplinks_with_fewer_queue_pairs() {
    let flows = extent::cases("fabric::tests::line_cut", (1..=64).collect(), |it| it % 6 == 1);
    check_uplinks("line-cut", &flows, |rest, paths| paths - gcd(rest, paths));
}

/// Runs each number of `flows` from one host over up to 64 paths, and checks loads and extra queue
/// pairs. `extra` computes the latter from the remaining flows and the paths.
fn check_uplinks(policy: &str, flows: &[u32], extra: fn(u32, u32) -> u32) {
    let packet = PAYLOAD + HEADER;
    for paths in 2..=64 {
        for &flows in flows {
            let topology = leaf_spine(2, paths, flows, 400);
            let uplinks: Vec<PortId> = topology
                .ports_of(crate::ids::SwitchId(0))
                .iter()
                .copied()
                .filter(|&port| topology.is_fabric_link(port.link()))
                .collect();
            let pairs: Vec<(u32, u32)> = (0..flows).map(|n| (0, flows + n)).collect();
            let bytes = 65_536;
            let mut setup = setup(topology, policy, messages(&pairs, bytes));
            setup.scheme = cut_to_the_byte(policy);
            let outcome = complete(&setup);
            let loads = uplinks.iter().map(|port| outcome.link_bytes[port.index()].get());
            let (least, most) = (loads.clone().min().unwrap(), loads.max().unwrap());
            assert!(most - least <= packet, "n = {flows}, s = {paths}: {least} to {most}");
            let share = u64::from(flows) * bytes / u64::from(paths);
            assert!(least + packet >= share, "n = {flows}, s = {paths}: {least} of {share}");
            let rest = flows % paths;
            let extra = if rest == 0 { 0 } else { extra(rest, paths) };
            assert_eq!(outcome.flows.len() as u32, flows + extra, "n = {flows}, s = {paths}");
            assert_eq!(outcome.qps.extra_total, u64::from(extra), "n = {flows}, s = {paths}");
        }
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}
