//! Two leaves with uplinks 4 to 7 each, and the feedback between them.

use super::super::test_view::Ports;
use super::*;
use crate::ids::HostId;
use crate::rng::mix32;

const LEAVES: [SwitchId; 2] = [SwitchId(0), SwitchId(1)];

fn us(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

fn switch(id: SwitchId, tier: u8) -> Conga {
    Conga::new(&Config::default(), &SwitchContext { id, tier, ..SwitchContext::for_test() })
}

fn uplinks(edge: SwitchId) -> Ports {
    Ports { first_port: 4, edge, ..Ports::empty(4) }
}

/// A packet of flow `flow` from the first leaf to the second.
fn packet(flow: u32) -> Packet {
    Packet { src: HostId(flow), label: mix32(flow), wire_bytes: 10_000, ..Packet::default() }
}

fn passage(from: usize, port: u32) -> Departure {
    Departure { port, source_edge: LEAVES[from], destination_edge: LEAVES[1 - from] }
}

/// Sends a packet from the first leaf through its uplink `port`; CE is raised to `level` on the
/// way.
fn send(leaves: &mut [Conga; 2], now: Time, port: u32, level: u8) {
    let mut packet = packet(0);
    leaves[0].handle_departure(now, &mut packet, &passage(0, port));
    packet.route = Header(packet.route).raised(level).0;
    leaves[1].handle_departure(now, &mut packet, &passage(0, 0));
}

/// Sends a packet in the opposite direction.
fn send_back(leaves: &mut [Conga; 2], now: Time) {
    let mut packet = packet(1);
    leaves[1].handle_departure(now, &mut packet, &passage(1, 4));
    leaves[0].handle_departure(now, &mut packet, &passage(1, 0));
}

#[test]
fn a_header_holds_its_four_fields() {
    let header = Header::new(13).with_feedback(9, 6);
    assert_eq!((header.tag(), header.congestion(), header.feedback()), (Some(13), 0, Some((9, 6))));
    let raised = header.raised(5).raised(3);
    assert_eq!((raised.tag(), raised.congestion()), (Some(13), 5));
    assert_eq!(raised.feedback(), Some((9, 6)));
    assert_eq!((Header(0).tag(), Header(0).feedback()), (None, None));
}

#[test]
fn a_flow_moves_after_a_gap_of_more_than_a_hundred_microseconds() {
    let mut leaf = switch(LEAVES[0], 0);
    let mut ports = uplinks(LEAVES[1]);
    let packet = packet(7);
    let first = leaf.choose(us(1_000), &packet, &mut ports);
    // Other flows load its uplink with 250 us worth of the link's rate.
    for _ in 0..1_250 {
        let mut other = self::packet(8);
        leaf.handle_departure(us(1_000), &mut other, &passage(0, 4 + first));
    }
    let mut now = us(1_000);
    for _ in 0..3 {
        now += Span::from_us(100);
        assert_eq!(leaf.choose(now, &packet, &mut ports), first);
    }
    now = now + Span::from_us(100) + Span::from_ps(1);
    assert_ne!(leaf.choose(now, &packet, &mut ports), first);
}

#[test]
fn feedback_of_a_path_moves_flowlets_until_it_has_aged() {
    let mut leaves = LEAVES.map(|id| switch(id, 0));
    for port in 4..7 {
        send(&mut leaves, us(100), port, 7);
    }
    send(&mut leaves, us(100), 7, 2);
    let chosen = |leaves: &mut [Conga; 2], now, flows: std::ops::Range<u32>| {
        let choose = |flow| leaves[0].choose(now, &packet(flow), &mut uplinks(LEAVES[1]));
        flows.map(choose).collect::<std::collections::BTreeSet<u32>>()
    };
    assert_eq!(chosen(&mut leaves, us(200), 0..100).len(), 4, "no feedback yet");
    // Four packets in the opposite direction carry feedback for four paths.
    (0..4).for_each(|_| send_back(&mut leaves, us(300)));
    assert_eq!(chosen(&mut leaves, us(400), 100..200), [3].into());
    let aged = us(300) + Span::from_ms(10);
    assert_eq!(chosen(&mut leaves, aged, 200..300), [3].into());
    let later = aged + Span::from_ps(1);
    assert_eq!(chosen(&mut leaves, later, 300..400), [0, 1, 2, 3].into());
}

#[test]
fn changed_metrics_are_fed_back_first_and_then_all_round_robin() {
    let mut tables = Tables::new(Span::from_ms(10));
    let leaf = LEAVES[0];
    for (tag, level) in [(4, 1), (5, 2), (9, 3)] {
        tables.read(us(1), leaf, Header::new(tag).raised(level));
    }
    let feedback = |tables: &mut Tables| tables.write(leaf, 4).feedback().unwrap();
    assert_eq!([0; 3].map(|_| feedback(&mut tables)), [(4, 1), (5, 2), (9, 3)]);
    assert_eq!([0; 4].map(|_| feedback(&mut tables)), [(4, 1), (5, 2), (9, 3), (4, 1)]);
    tables.read(us(2), leaf, Header::new(9).raised(3));
    assert_eq!(feedback(&mut tables), (5, 2), "an equal metric is no change");
    tables.read(us(2), leaf, Header::new(4).raised(0));
    assert_eq!([0; 2].map(|_| feedback(&mut tables)), [(4, 0), (5, 2)]);
    assert_eq!(tables.cells(), 3);
}

#[test]
fn a_flow_keeps_its_uplink_in_a_tie() {
    let mut leaf = switch(LEAVES[0], 0);
    let mut ports = uplinks(LEAVES[1]);
    let packet = packet(7);
    let first = leaf.choose(us(0), &packet, &mut ports);
    for gap in 1..50 {
        assert_eq!(leaf.choose(us(1_000 * gap), &packet, &mut ports), first);
    }
}

#[test]
fn a_flow_whose_port_is_no_longer_a_candidate_chooses_again() {
    let mut leaf = switch(LEAVES[0], 0);
    let packet = packet(7);
    leaf.choose(us(1), &packet, &mut uplinks(LEAVES[1]));
    let mut others = Ports { first_port: 3, edge: LEAVES[1], ..Ports::empty(4) };
    let second = leaf.choose(us(2), &packet, &mut others);
    assert!(second < 4);
    let stored = leaf.leaf.as_ref().unwrap().flowlets.ports_at(us(2));
    assert_eq!(stored, [others.first_port + second]);
}

#[test]
fn switches_above_the_leaves_hash_and_raise_ce() {
    let mut spine = switch(SwitchId(2), 1);
    let hash = Hash::of(1, SwitchId(2));
    for flow in 0..20 {
        let packet = packet(flow);
        let choice = spine.choose(us(1), &packet, &mut uplinks(LEAVES[1]));
        assert_eq!(choice, hash.pick(packet.label, packet.entropy, 4));
    }
    // 400 Gbps for 250 us are 12.5 MB; 6 MB in one period are 3.8 eighths.
    let mut last = Packet::default();
    for _ in 0..600 {
        last = Packet { route: Header::new(5).with_feedback(6, 1).0, ..packet(0) };
        spine.handle_departure(us(2), &mut last, &passage(0, 1));
    }
    let header = Header(last.route);
    assert_eq!((header.tag(), header.congestion()), (Some(5), 3));
    assert_eq!(header.feedback(), Some((6, 1)));
}

#[test]
fn packets_within_a_rack_change_no_field_and_no_table() {
    let mut leaf = switch(LEAVES[0], 0);
    let mut packet = Packet { route: 77, ..packet(0) };
    let inside = Departure { port: 1, source_edge: LEAVES[0], destination_edge: LEAVES[0] };
    leaf.handle_departure(us(1), &mut packet, &inside);
    assert_eq!((packet.route, leaf.leaf.unwrap().tables.cells()), (77, 0));
}

#[test]
fn its_state_is_estimators_flowlets_and_used_cells() {
    let mut leaves = LEAVES.map(|id| switch(id, 0));
    send(&mut leaves, us(1), 4, 1);
    send_back(&mut leaves, us(1));
    // 8 estimators, 65,536 flowlets, and at the first leaf one cell of each table.
    let expected = StateSize { entries: 8 + 65_536 + 2, bits: 8 * 32 + 65_536 * 5 + 6 };
    assert_eq!(leaves[0].state_size(), expected);
    let spine = StateSize { entries: 8, bits: 8 * 32 };
    assert_eq!(switch(SwitchId(2), 1).state_size(), spine);
}

#[test]
fn invalid_parameters_are_rejected() {
    for (key, example) in [
        ("flowlets = 0", "65536"),
        ("flowlets = 1048577", "65536"),
        ("dre_period = \"0us\"", "50us"),
        ("dre_factor = \"0\"", "1/5"),
        ("dre_factor = \"6/5\"", "1/5"),
    ] {
        let error = crate::balance::build_scheme("conga", &key.parse().unwrap()).unwrap_err();
        assert!(error.to_string().contains(example), "{key}: {error}");
    }
}

#[test]
fn the_largest_parameters_are_valid() {
    for key in ["flowlets = 1048576", "dre_factor = \"1\""] {
        crate::balance::build_scheme("conga", &key.parse().unwrap()).unwrap();
    }
}

/// Tags 4 and 9 have been reported: round-robin feedback begins with the lowest.
#[test]
fn the_first_report_counts_as_a_change_even_for_an_idle_path() {
    let mut tables = Tables::new(Span::from_ms(10));
    let leaf = LEAVES[0];
    let read = |tables: &mut Tables, tag, level| {
        tables.read(us(1), leaf, Header::new(tag).raised(level));
    };
    let feedback = |tables: &mut Tables| tables.write(leaf, 4).feedback().unwrap();
    for (tag, level) in [(4, 1), (9, 2)] {
        read(&mut tables, tag, level);
        assert_eq!(feedback(&mut tables), (tag, level));
    }
    read(&mut tables, 5, 0);
    assert_eq!(feedback(&mut tables), (5, 0));
    read(&mut tables, 4, 6);
    read(&mut tables, 4, 7);
    assert_eq!(feedback(&mut tables), (4, 7), "9 would be next in turn");
}

#[test]
fn a_cell_that_is_reported_twice_is_used_once() {
    let mut tables = Tables::new(Span::from_ms(10));
    for metric in [3, 4] {
        tables.read(us(1), LEAVES[0], Header::new(6).with_feedback(9, metric));
        assert_eq!(tables.cells(), 2, "one from each table");
    }
}
