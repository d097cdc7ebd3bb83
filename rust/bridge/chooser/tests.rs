use std::collections::BTreeSet;

use evenkeel_engine::balance::presets;
use evenkeel_engine::balance::switch::hash::Hash;

use super::*;

const PORTS: [u32; 8] = [8, 9, 10, 11, 12, 13, 14, 15];

fn facts() -> SwitchFacts {
    SwitchFacts {
        seed: 1,
        port_buffer_bytes: 800_000,
        base_rtt_ps: 100_000_000,
        switch_id: 0,
        ports: 16,
        tier: 0,
        own_senders: false,
        hash_control: false,
    }
}

fn made(policy: &str, parameters: &str) -> SwitchChooser {
    *switch_chooser(policy, parameters, &facts()).unwrap()
}

fn arrival(label: u32, now_ps: u64) -> Arrival {
    Arrival { now_ps, label, wire_bytes: 1_500, edge: 3, pod: 1, entropy: 77, control: false }
}

/// Returns the choices for a flow that sends one packet per nanosecond.
fn choices(chooser: &mut SwitchChooser, label: u32, count: u64, bytes: &[u64]) -> Vec<u32> {
    (0..count).map(|n| chooser.choose(&arrival(label, n * 1_000), &PORTS, bytes, &[])).collect()
}

#[test]
fn ecmp_chooses_the_same_ports_as_in_the_fabric() {
    let hash = Hash::of(1, SwitchId(0));
    let mut chooser = made("ecmp", "");
    for entropy in 0..200 {
        let arrival = Arrival { entropy, ..arrival(7, 0) };
        assert_eq!(chooser.choose(&arrival, &PORTS, &[], &[]), hash.pick(7, entropy, 8));
    }
}

#[test]
fn the_index_is_0_with_at_most_one_port() {
    for policy in ["ecmp", "spray", "jsq", "ofan", "drill"] {
        let mut chooser = made(policy, "");
        assert_eq!(chooser.choose(&arrival(7, 0), &[], &[], &[]), 0, "{policy}");
        assert_eq!(chooser.choose(&arrival(7, 0), &[5], &[9], &[1]), 0, "{policy}");
    }
}

#[test]
fn missing_queues_and_large_port_numbers_are_harmless() {
    for policy in ["jsq", "adaptive", "drill", "switch-rr", "switch-random", "ofan", "spray"] {
        let mut chooser = made(policy, "");
        for n in 0..40 {
            let choice = chooser.choose(&arrival(n, 0), &[5, 4_000_000_000], &[1], &[1, 2, 3]);
            assert!(choice < 2, "{policy}");
        }
    }
}

/// Calls on the packet path cannot fail, so no input may panic or make a policy allocate without
/// limit.
#[test]
fn extreme_inputs_do_not_panic() {
    const EXTREMES: [u64; 5] = [0, 1, 65_536, u32::MAX as u64, u64::MAX];
    let mut random =
        evenkeel_engine::rng::Stream::new(1, evenkeel_engine::rng::Purpose::Entropy, 1);
    let mut any = || {
        let extreme = EXTREMES[random.below(5) as usize];
        if random.below(2) == 0 { extreme } else { u64::from(random.below(1_000)) }
    };
    for preset in presets() {
        let most = SwitchFacts { ports: u32::MAX, tier: u8::MAX, base_rtt_ps: u64::MAX, ..facts() };
        let Ok(mut chooser) = switch_chooser(preset.name, "", &most) else { continue };
        for _ in 0..300 {
            let count = (any() % 9) as usize;
            let ports: Vec<u32> = (0..count).map(|_| any() as u32).collect();
            let queues: Vec<u64> = (0..any() % 12).map(|_| any()).collect();
            let weights: Vec<u32> = (0..count).map(|_| any() as u32).collect();
            let arrival = Arrival {
                now_ps: any(),
                label: any() as u32,
                wire_bytes: any() as u32,
                edge: any() as u32,
                pod: any() as u32,
                entropy: any() as u16,
                control: any() == 0,
            };
            let choice = chooser.choose(&arrival, &ports, &queues, &weights);
            assert!((choice as usize) < count.max(1), "{}", preset.name);
        }
    }
    let many: Vec<u32> = (0..100_000).collect();
    for policy in ["ofan", "ecmp", "switch-rr", "jsq"] {
        made(policy, "").choose(&arrival(7, 0), &many, &[], &vec![1; many.len()]);
    }
}

#[test]
fn acknowledgements_are_hashed_on_request() {
    let facts = SwitchFacts { hash_control: true, ..facts() };
    let mut chooser = switch_chooser("spray", "", &facts).unwrap();
    let hash = Hash::of(1, SwitchId(0));
    for label in 0..50 {
        let ack = Arrival { control: true, ..arrival(label, 0) };
        assert_eq!(chooser.choose(&ack, &PORTS, &[], &[]), hash.pick(label, 77, 8));
    }
    let data: BTreeSet<u32> = choices(&mut chooser, 7, 400, &[]).into_iter().collect();
    assert_eq!(data.len(), 8, "data is sprayed all the same");
}

#[test]
fn queue_aware_policies_choose_the_shortest_queue() {
    let bytes = [9, 9, 9, 1, 9, 9, 9, 9].map(|kilobytes| kilobytes * 50_000);
    for policy in ["jsq", "adaptive"] {
        let mut chooser = made(policy, "");
        assert!(chooser.looks_at_queues());
        // `adaptive` needs a few packets before it has a measurement.
        let all = choices(&mut chooser, 7, 400, &bytes);
        assert_eq!(all[300..], [3; 100], "{policy}");
    }
    assert!(!made("switch-rr", "").looks_at_queues());
}

#[test]
fn a_flow_keeps_its_port_until_a_flowlet_gap() {
    let mut chooser = made("flowlet", "gap = \"50us\"");
    let mut at = |us: u64| chooser.choose(&arrival(7, us * 1_000_000), &PORTS, &[], &[]);
    let first = at(0);
    assert!((1..20).all(|n| at(n * 50) == first), "50 us are not longer than 50 us");
    let after_gaps: BTreeSet<u32> = (0..40).map(|n| at(2_000 + n * 51)).collect();
    assert!(after_gaps.len() > 4, "{after_gaps:?}");
}

#[test]
fn sprayed_flows_use_all_ports_and_hashed_flows_one() {
    let kept = ["ecmp", "flowlet", "letflow"].map(|policy| (policy, 1));
    for (policy, ports) in [("spray", 8), ("spray-rr", 8)].into_iter().chain(kept) {
        let all: BTreeSet<u32> = choices(&mut made(policy, ""), 7, 400, &[]).into_iter().collect();
        assert_eq!(all.len(), ports, "{policy}");
    }
}

/// Packets of other flows must not change the draws of a flow.
#[test]
fn flows_have_independent_random_streams() {
    let alone = choices(&mut made("spray", ""), 7, 50, &[]);
    let mut chooser = made("spray", "");
    let mixed: Vec<u32> = (0..50)
        .map(|n| {
            chooser.choose(&arrival(1_000_003, n * 1_000), &PORTS, &[], &[]);
            chooser.choose(&arrival(7, n * 1_000), &PORTS, &[], &[])
        })
        .collect();
    assert_eq!(mixed, alone);
}

#[test]
fn state_is_bounded_and_counted() {
    let mut chooser = made("flowlet", "");
    assert_eq!(chooser.state_bits(), 0);
    choices(&mut chooser, 7, 10, &[]);
    assert_eq!(chooser.state_bits(), 48);
    for label in 0..300_000 {
        chooser.choose(&arrival(label, 0), &PORTS, &[], &[]);
    }
    assert!(chooser.state_bits() <= 48 << 16);
    assert!(chooser.state_bits() > 48 * 60_000, "labels spread over the table");
}

#[test]
fn ports_share_packets_by_weight() {
    for (policy, slack) in [("switch-rr", 1), ("ofan", 2), ("ecmp", 200), ("spray", 200)] {
        let mut chooser = made(policy, "");
        let mut counts = [0i32; 3];
        for n in 0..6_000u32 {
            let arrival = Arrival { entropy: n as u16, ..arrival(n / 10, 0) };
            counts[chooser.choose(&arrival, &[1, 2, 3], &[], &[2, 0, 1]) as usize] += 1;
        }
        let [two, none, one] = counts;
        assert_eq!(none, 0, "{policy}");
        assert!(
            (two - 4_000).abs() <= slack && (one - 2_000).abs() <= slack,
            "{policy} {counts:?}"
        );
    }
}

#[test]
fn changed_weights_renew_a_rotation() {
    let mut chooser = made("ofan", "");
    let round = choices(&mut chooser, 7, 8, &[]);
    chooser.routing_changed();
    assert_eq!(choices(&mut chooser, 7, 8, &[]), round, "routing has changed elsewhere");
    chooser.routing_changed();
    let mut weights = [1; PORTS.len()];
    weights[0] = 3;
    let mut weighted = |count: usize| -> Vec<u32> {
        let of = |_| chooser.choose(&arrival(7, 0), &PORTS, &[], &weights);
        (0..count).map(of).collect()
    };
    let cycle = weighted(PORTS.len() + 2);
    assert_eq!(cycle.iter().filter(|&&port| port == 0).count(), 3, "{cycle:?}");
}

#[test]
fn flowlet_gap_and_use_of_weights_are_reported() {
    let gap = |policy, parameters| made(policy, parameters).flowlet_gap_ps();
    // Half of the base RTT of 100 us.
    assert_eq!(gap("flowlet", ""), 50_000_000);
    assert_eq!(gap("flowlet", "gap = \"7us\""), 7_000_000);
    assert_eq!(gap("letflow", "gap = \"9us\""), 9_000_000);
    assert_eq!(gap("spray", ""), 0);
    assert!(made("wcmp", "").uses_weights() && !made("ecmp", "").uses_weights());
    assert!(made("spray", "weights = \"capacity\"").uses_weights());
}

/// Users rely on this list: each preset either works or is rejected with a reason.
#[test]
fn every_policy_works_or_is_rejected_with_a_reason() {
    let refusals: Vec<String> = presets()
        .filter_map(|preset| {
            let error = switch_chooser(preset.name, "", &facts()).err()?.to_string();
            let reason =
                ["acknowledgements", "messages", "source routing", "headers", "node numbers"]
                    .into_iter()
                    .find(|reason| error.contains(reason))
                    .unwrap_or_else(|| panic!("{error}"));
            Some(format!("{}: {reason}", preset.name))
        })
        .collect();
    assert_eq!(
        refusals,
        [
            "reps: acknowledgements",
            "reps-legacy: acknowledgements",
            "reps-ethereal: acknowledgements",
            "bitmap: acknowledgements",
            "mixed: acknowledgements",
            "prime: acknowledgements",
            "plb: acknowledgements",
            "host-dr: source routing",
            "mp-rdma: acknowledgements",
            "mrc: source routing",
            "plane-jsq: acknowledgements",
            "whack-a-mole: source routing",
            "ecmp-murmur: node numbers",
            "conga: headers",
            "valiant: headers",
            "ugal: headers",
            "subflow-k: messages",
            "subflow-2: messages",
            "subflow-4: messages",
            "subflow-8: messages",
            "subflow-16: messages",
            "ethereal: source routing",
            "line-cut: source routing",
        ]
    );
}

#[test]
fn entropy_values_of_own_senders_are_not_changed() {
    let facts = SwitchFacts { own_senders: true, ..facts() };
    let mut chooser = switch_chooser("reps", "", &facts).unwrap();
    let hash = Hash::of(1, SwitchId(0));
    for entropy in 0..50 {
        let arrival = Arrival { entropy, ..arrival(7, 0) };
        assert_eq!(chooser.choose(&arrival, &PORTS, &[], &[]), hash.pick(7, entropy, 8));
    }
}

#[test]
fn invalid_policies_and_parameters_are_errors_with_a_reason() {
    let rejected =
        |policy, parameters| switch_chooser(policy, parameters, &facts()).unwrap_err().to_string();
    let error = rejected("flowlet", "gap = 50us");
    assert!(error.contains("'gap = \"50us\"'") && error.ends_with("in 'gap = 50us'"), "{error}");
    let error = rejected("flowlet", "gapp = \"50us\"");
    assert!(error.contains("unknown key 'gapp'; expected one of gap, after"), "{error}");
    assert_eq!(
        rejected("ethereal", ""),
        "policy 'ethereal' uses source routing: its switches make no choices"
    );
    let error = rejected("conga", "");
    assert!(
        error.contains("needs a fabric of evenkeel's NICs") && error.contains("drill"),
        "{error}"
    );
    let error = rejected("adaptive", "by = \"utilisation\"");
    assert!(error.contains("use by = \"queue\""), "{error}");
    let error = rejected("flowlet", "after = \"acknowledgement\"");
    assert!(error.contains("learns from acknowledgements"), "{error}");
}

#[test]
fn an_unknown_name_proposes_only_policies_that_a_switch_can_run() {
    let rejected = |policy| switch_chooser(policy, "", &facts()).unwrap_err().to_string();
    for (name, nearest) in
        [("ECMP", "ecmp"), ("sprey", "spray"), ("Spray_RR", "spray-rr"), ("flowlets", "flowlet")]
    {
        let error = rejected(name);
        let expected = format!("unknown policy '{name}': use '{nearest}', or another that a ");
        let names = error.strip_prefix(&expected).unwrap_or_else(|| panic!("{error}"));
        let (_, others) = names.split_once("switch can run: ").unwrap();
        let usable = |policy: &str| switch_chooser(policy, "", &facts()).is_ok();
        let count = presets().filter(|preset| usable(preset.name)).count();
        assert_eq!(others.split(", ").filter(|other| usable(other)).count(), count - 1, "{error}");
        assert_eq!(others.split(", ").count(), count - 1, "{error}");
    }
    assert_eq!(rejected("REPS"), rejected("reps"));
    let own = SwitchFacts { own_senders: true, ..facts() };
    let error = switch_chooser("REPS", "", &own).unwrap_err().to_string();
    assert!(error.starts_with("unknown policy 'REPS': use 'reps', or another"), "{error}");
}

/// The errors of other policies recommend these.
#[test]
fn recommended_policies_work_without_own_senders() {
    for policy in
        ["switch-rr", "switch-random", "jsq", "drill", "adaptive", "letflow", "ofan", "spray-rr"]
    {
        assert!(switch_chooser(policy, "", &facts()).is_ok(), "{policy}");
    }
}
