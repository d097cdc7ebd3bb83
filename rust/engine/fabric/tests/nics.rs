//! Hosts whose NICs are not configured as the others'.

use super::*;

#[test]
fn the_configuration_of_all_given_to_each_changes_nothing() {
    let common = setup(leaf_spine(4, 4, 4, 400), "spray", messages(&shift(16), 300_000));
    let mut own = common.clone();
    own.own_nics = (0..16).map(|host| (HostId(host), common.nic.clone())).collect();
    assert_eq!(complete(&common), complete(&own));
}

#[test]
fn hosts_send_at_the_rates_of_their_own_nics_and_answer_in_their_own_way() {
    // Hosts 0 and 1 send over a leaf switch to 2 and 3: half the rate, and 16 packets an answer.
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
    // The last of 100 packets starts 99 packets later: each with its gap at line rate, and at half
    // of it each in the time of two, in which the gap lies.
    let packet = PAYLOAD + HEADER;
    assert_eq!(ps(1) - ps(0), 99 * (2 * packet - (packet + GAP)) * 20);
    // One for each of 100 packets, and one for each 16 and for the last.
    assert_eq!(outcome.counters.control_sent, 100 + 7);
}

#[test]
fn hosts_know_the_nics_of_their_peers_where_these_differ() {
    let mut setup = setup(leaf_spine(1, 1, 4, 400), "ecmp", messages(&[(0, 2)], PAYLOAD));
    let knows = |setup: &Setup| setup.site(&setup.switching()).nic.peers.is_some();
    assert!(!knows(&setup), "all are alike");
    let ack = AckConfig { every: 16, ..setup.nic.ack };
    setup.own_nics.insert(HostId(1), NicConfig { ack, ..setup.nic.clone() });
    assert!(knows(&setup));
}
