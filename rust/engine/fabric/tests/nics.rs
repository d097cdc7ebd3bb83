//! Hosts whose NICs are configured differently.

use super::*;

#[test]
fn per_host_copies_of_the_nic_configuration_change_nothing() {
    let common = setup(leaf_spine(4, 4, 4, 400), "spray", messages(&shift(16), 300_000));
    let mut own = common.clone();
    own.own_nics = (0..16).map(|host| (HostId(host), common.nic.clone())).collect();
    assert_eq!(complete(&common), complete(&own));
}

#[test]
fn hosts_send_and_acknowledge_as_their_own_nics_are_configured() {
    // Hosts 0 and 1 send to 2 and 3 over a leaf switch. Differences: half the rate, and 16 packets
    // per acknowledgement.
    let half = Fraction::new(1, 2).unwrap();
    let mut setup = setup(leaf_spine(1, 1, 4, 400), "ecmp", messages(&[(0, 2), (1, 3)], 409_600));
    let slow = line_rate::Config { share: half };
    let congestion = CongestionControl::LineRate(slow);
    setup.own_nics.insert(HostId(1), NicConfig { congestion, ..setup.nic.clone() });
    let ack = AckConfig { every: 16, ..setup.nic.ack };
    setup.own_nics.insert(HostId(3), NicConfig { ack, ..setup.nic.clone() });
    assert_eq!(setup.nic_of(HostId(0)), &setup.nic);
    assert_eq!(setup.nic_of(HostId(3)).ack.every, 16);
    let outcome = complete(&setup);
    let ps = |flow: usize| outcome.flows[flow].delivered.as_ps();
    // The last of 100 packets starts 99 packets after the first. At line rate each takes its gap
    // too. At half the rate each takes the time of two, which includes the gap.
    let packet = PAYLOAD + HEADER;
    assert_eq!(ps(1) - ps(0), 99 * (2 * packet - (packet + GAP)) * 20);
    // One for each of 100 packets; and one for each 16 packets plus one for the last.
    assert_eq!(outcome.counters.control_sent, 100 + 7);
}

#[test]
fn hosts_know_the_nics_of_their_peers_if_these_differ() {
    let mut setup = setup(leaf_spine(1, 1, 4, 400), "ecmp", messages(&[(0, 2)], PAYLOAD));
    let knows = |setup: &Setup| setup.site(&setup.switching()).nic.peers.is_some();
    assert!(!knows(&setup), "all are alike");
    let ack = AckConfig { every: 16, ..setup.nic.ack };
    setup.own_nics.insert(HostId(1), NicConfig { ack, ..setup.nic.clone() });
    assert!(knows(&setup));
}
