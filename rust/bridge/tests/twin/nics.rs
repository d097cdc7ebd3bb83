//! NICs with different configurations, in both worlds. Each host has its own congestion control,
//! timers and acknowledgements; pairs of hosts have their own loss recovery and packets.

use evenkeel::ids::HostId;
use evenkeel::nic::NicConfig;

use super::*;

/// Returns the NIC of a scenario with these keys of `[transport]`.
fn nic(policy: &str, keys: &str) -> NicConfig {
    let text = format!(
        "[topology]\nleaves = 2\nspines = 2\nhosts_per_leaf = 3\n[policy]\nname = \"{policy}\"\n\
         [transport]\n{keys}\n"
    );
    setup(&text).unwrap_or_else(|| panic!("{policy}, {keys}")).nic
}

/// Checks that the worlds agree; returns the counts of the run.
fn expect_equal(what: &str, setup: &Setup) -> Row {
    let mut row = Row::default();
    for setup in [setup.clone(), uneven(setup.clone())] {
        let twin = twin(&setup);
        assert!(is_exact(&twin) && twin.flows > 0, "{what}: {twin:#?}");
        row.count(&twin);
    }
    row
}

#[test]
fn hosts_with_individual_controls_and_timers_agree_in_both_worlds() {
    let workload = "[workload]\nkind = \"all-to-all\"\nbytes = \"240KB\"";
    let mut marked = 0;
    for policy in ["ecmp", "spray", "reps", "drill"] {
        let text = text(Combination::of(policy), &format!("{EARLY}\n{workload}"));
        let mut setup = setup(&text).unwrap();
        let alike = fabric::run(&setup, &mut |_| {});
        for (host, control) in (0u32..).zip(CONTROLS).take(6) {
            let keys = format!(
                "congestion_control = \"{control}\"\nretransmit_timeout = \"{}us\"\n\
                 ack = \"{}B\"\nack_every = {}\nack_priority = {}",
                30 + 10 * host,
                64 + 8 * host,
                1 + host % 3 * 4,
                host % 2 == 0
            );
            setup.own_nics.insert(HostId(host), nic(policy, &keys));
        }
        marked += expect_equal(policy, &setup).marked;
        let differs = fabric::run(&setup, &mut |_| {});
        assert_ne!(alike.flows, differs.flows, "{policy}: it has an effect");
    }
    assert!(marked > 0, "nothing was marked");
}

#[test]
fn pairs_with_individual_recoveries_and_packets_agree_in_both_worlds() {
    // Host h sends to host h + 3, and both are configured alike.
    let workload = "[workload]\nkind = \"shift\"\nshift = 3\nbytes = \"300KB\"";
    let loss = "[[failure]]\nlink = \"leaf0-spine0\"\nkind = \"loss\"\nrate = \"1/40\"";
    for policy in ["ecmp", "spray"] {
        let text = text(Combination::of(policy), &format!("{EARLY}\n{workload}\n{loss}"));
        let mut setup = setup(&text).unwrap();
        let kinds = [
            "recovery = \"sack\"\npayload = \"1024B\"\nheader = \"70B\"",
            "recovery = \"per-packet\"\ncongestion_control = \"swift\"",
            "recovery = \"go-back-n\"\nretransmit_timeout = \"90us\"\npayload = \"2048B\"",
        ];
        for (host, keys) in (0u32..).zip(kinds) {
            for host in [host, host + 3] {
                setup.own_nics.insert(HostId(host), nic(policy, keys));
            }
        }
        let row = expect_equal(policy, &setup);
        assert!(row.lost > 0, "{policy}: nothing was lost");
    }
}

/// Separate but equal settings for each host give the same results as common ones.
#[test]
fn equal_settings_per_host_equal_common_settings() {
    for pattern in PATTERNS {
        for policy in ["ecmp", "spray", "reps", "mrc"] {
            let text = text(Combination::of(policy), EARLY) + pattern.1;
            let Some(common) = setup(&text) else { continue };
            let mut own = common.clone();
            let hosts = (0..common.topology.host_count()).map(HostId);
            own.own_nics = hosts.map(|host| (host, common.nic.clone())).collect();
            let [common, own] = [common, own].map(|it| fabric::run(&it, &mut |_| {}));
            assert_eq!(common.flows, own.flows, "{policy}, {}", pattern.0);
            assert_eq!(common.link_bytes, own.link_bytes, "{policy}, {}", pattern.0);
        }
    }
}

/// The receiver coalesces acknowledgements for 16 packets; the sender, which does not, requests
/// one.
#[test]
fn a_small_window_requests_acknowledgements_from_a_coalescing_receiver() {
    let workload = "[workload]\nkind = \"shift\"\nshift = 3\nbytes = \"300KB\"";
    let keys = "congestion_control = \"dctcp-window\"\nretransmit_timeout = \"9ms\"";
    let mut setup = setup(&text(Combination::of("ecmp"), workload)).unwrap();
    setup.nic = nic("ecmp", keys);
    for host in 3..6 {
        setup.own_nics.insert(HostId(host), nic("ecmp", &format!("{keys}\nack_every = 16")));
    }
    expect_equal("a window", &setup);
    let outcome = fabric::run(&setup, &mut |_| {});
    let end = outcome.flows.iter().map(|flow| flow.completed).max().unwrap();
    assert!(end < evenkeel::units::Time::from_ps(1_000_000_000), "no timer of 9 ms: {end}");
}
