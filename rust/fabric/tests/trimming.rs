//! Trimming: what does not fit arrives as a header.

use super::*;

fn trimmed(limit: u64) -> Setup {
    let incast: Vec<(u32, u32)> = (1..8).map(|src| (src, 0)).collect();
    let mut setup = setup(leaf_spine(2, 4, 4, 400), "spray", messages(&incast, 200_000));
    setup.fabric.switch.buffer = Buffer::PerPort(Bytes::new(100_000));
    setup.fabric.switch.trim = Some(TrimConfig { size: Bytes::new(64), limit: Bytes::new(limit) });
    setup
}

#[test]
fn what_does_not_fit_arrives_cut_and_nothing_is_dropped() {
    let outcome = complete(&trimmed(200_000));
    let counters = &outcome.counters;
    assert!(counters.trimmed > 0);
    assert_eq!((counters.dropped, counters.control_dropped), (0, 0));
    // The first time round every packet is sent; each that was cut is sent again.
    let packets = 7 * 200_000u64.div_ceil(PAYLOAD);
    assert_eq!(counters.delivered, counters.sent);
    assert!(counters.sent >= packets + counters.trimmed, "{counters:?}");
}

#[test]
fn headers_beyond_their_own_limit_are_dropped() {
    // Room for two headers or acknowledgements at a time.
    let outcome = complete(&trimmed(128));
    assert!(outcome.counters.dropped > 0 && outcome.counters.trimmed > 0);
    assert_eq!(
        outcome.counters.sent,
        outcome.counters.delivered + outcome.counters.dropped + outcome.in_flight
    );
}

#[test]
fn trimming_in_a_buffer_that_never_fills_changes_nothing() {
    let mut setup = trimmed(1 << 30);
    setup.fabric.switch.buffer = Buffer::Shared(Bytes::new(64_000_000));
    let with = complete(&setup);
    setup.fabric.switch.trim = None;
    assert_eq!(with, complete(&setup));
}

#[test]
fn flow_control_without_headroom_cuts_what_it_would_drop() {
    let mut setup = trimmed(200_000);
    setup.fabric.switch.buffer = Buffer::Shared(Bytes::new(200_000));
    setup.fabric.switch.pfc =
        Some(PfcConfig { headroom: Headroom::Fixed(Bytes::ZERO), ..PfcConfig::HPCC });
    let outcome = complete(&setup);
    assert!(outcome.counters.trimmed > 0 && outcome.counters.pfc_pauses > 0);
    assert_eq!(outcome.counters.dropped, 0);
}
