//! Queue pairs of runs, and the time that it takes to fetch their contexts.

use super::*;
use crate::nic::CacheConfig;

fn with_cache(mut setup: Setup, entries: u32) -> Setup {
    setup.nic.queue_pairs.cache = Some(CacheConfig { entries, miss: Span::from_ns(500) });
    setup
}

#[test]
fn nic_accounts_agree_with_the_summary() {
    // Seven messages over four paths: each of the last three is split into four pieces.
    let pairs: Vec<(u32, u32)> = (0..7).map(|n| (0, 7 + n)).collect();
    let setup = setup(leaf_spine(2, 4, 7, 400), "ethereal", messages(&pairs, 65_536));
    let outcome = complete(&setup);
    let accounts = &outcome.qp_accounts;
    assert_eq!(accounts.iter().map(|it| it.sending).sum::<u64>(), outcome.qps.total);
    assert_eq!(accounts.iter().map(|it| it.extra).sum::<u64>(), outcome.qps.extra_total);
    assert_eq!(accounts[0].sending, outcome.qps.per_nic_max);
    assert_eq!(accounts[0].extra, outcome.qps.extra_per_nic_max);
    assert_eq!((accounts[0].live, accounts[0].extra, accounts[0].peers), (16, 9, 7));
    assert_eq!(accounts[0].per_peer_max, 4);
    // Each queue pair has one end at each of its hosts.
    assert_eq!(accounts.iter().map(|it| it.live).sum::<u64>(), 2 * outcome.qps.total);
    assert_eq!(accounts[0].context_bytes, Bytes::new(16 * 375));
}

#[test]
fn only_the_first_packet_of_an_idle_path_waits_for_its_context() {
    let (topology, bytes) = (|| leaf_spine(2, 1, 1, 400), 10 * PAYLOAD);
    let setup = |topology| setup(topology, "ecmp", messages(&[(0, 1)], bytes));
    let without = complete(&setup(topology())).cct.unwrap();
    let with = complete(&with_cache(setup(topology()), 1));
    assert_eq!(with.cct.unwrap(), without + Span::from_ns(500));
    let sender = with.qp_accounts[0].cache;
    assert_eq!((sender.hits, sender.send_misses, sender.receive_misses), (19, 1, 0));
    assert_eq!(with.qp_accounts[1].cache.receive_misses, 1);
}

#[test]
fn more_queue_pairs_than_contexts_cost_time() {
    let pairs: Vec<(u32, u32)> = (0..16).map(|n| (0, 16 + n)).collect();
    let setup = || setup(leaf_spine(2, 16, 16, 400), "ecmp", messages(&pairs, 64 * PAYLOAD));
    let [free, enough, short] =
        [complete(&setup()), complete(&with_cache(setup(), 16)), complete(&with_cache(setup(), 1))];
    let cct = |outcome: &Outcome| outcome.cct.unwrap();
    // One fetch at the start; sixteen overlapping fetches while queue pairs are served round-robin.
    assert_eq!(cct(&enough), cct(&free) + Span::from_ns(500));
    assert_eq!(enough.qp_accounts[0].cache.send_misses, 16);
    assert!(short.qp_accounts[0].cache.send_misses > 500, "{:?}", short.qp_accounts[0].cache);
    assert!(cct(&short) > cct(&enough) + Span::from_ns(500), "{:?}", cct(&short));
}

/// Card of MRC, section 1.1: WRITEs with immediate data, at most `most` in flight. The next one
/// waits for a whole round trip, so they go in groups of `most`.
#[test]
fn messages_beyond_the_limit_of_immediates_wait_for_a_completion() {
    for (most, count, packets) in [(1u32, 7u32, 1), (1, 5, 3), (4, 4, 1), (4, 21, 1), (16, 40, 1)] {
        let pairs = vec![(0, 1); count as usize];
        let mut setup =
            setup(leaf_spine(2, 1, 1, 400), "ecmp", messages(&pairs, packets * PAYLOAD));
        let workload = Arc::get_mut(&mut setup.workload).expect("not shared");
        workload.messages.iter_mut().for_each(|message| message.stream = 0);
        setup.nic.queue_pairs.immediate_messages = Some(most);
        let (most, count) = (u64::from(most), u64::from(count));
        let group = |messages: u64| idle_path_ps(messages * packets, PAYLOAD, 4, 20, 500_000);
        // Message k leaves with the completion of message k - most.
        let last = (count - 1) % most + 1;
        let expected = (count - 1) / most * group(1) + group(last);
        let outcome = complete(&setup);
        assert_eq!(outcome.cct.unwrap(), Span::from_ps(expected), "{most} of {count}");
        assert_eq!(outcome.qps.total, 1);
        assert!(outcome.message_fct.is_sorted(), "they complete in the order posted");
    }
}
