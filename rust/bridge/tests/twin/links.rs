//! The bytes that links have carried at the end of a run, in both worlds.

use evenkeel::report::twin_table;
use evenkeel::units::Bytes;

use super::*;

/// Ports with deferred decisions are settled also where a run stops without completing.
#[test]
fn runs_that_stop_at_the_time_limit_are_equal_in_both_worlds() {
    for policy in ["drill", "adaptive", "spray"] {
        for limit in ["3us", "5.7us"] {
            let text = text(Combination::of(policy), PATTERNS[3].1)
                .replace("\"50ms\"", &format!("\"{limit}\""));
            let setup = setup(&text).unwrap();
            for setup in [setup.clone(), uneven(setup)] {
                let twin = twin(&setup);
                assert!(is_exact(&twin) && twin.agrees, "{policy}, {limit}: {twin:#?}");
                let ended = ns3::run(&setup).unwrap().verdict;
                assert_eq!(ended, fabric::Verdict::TimeLimit, "{policy}, {limit}");
            }
        }
    }
}

#[test]
fn a_link_with_a_different_load_is_named() {
    let setup = setup(&text(Combination::of("ecmp"), PATTERNS[0].1)).unwrap();
    let ours = fabric::run(&setup, &mut |_| {});
    let mut theirs = ours.clone();
    let idle = theirs.link_bytes.iter().position(|bytes| bytes.get() > 0).unwrap();
    theirs.link_bytes[idle] = Bytes::new(theirs.link_bytes[idle].get() + 1);
    let identity = Identity { scenario: String::new(), policy: String::new(), seed: 1 };
    let side = |outcome| Side { outcome, wall_s: 1.0 };
    let twin = Twin::new(&identity, &setup.topology, side(&ours), side(&theirs));
    let [different] = &twin.link_differences[..] else { panic!("one difference: {twin:#?}") };
    let names = setup.topology.link_names();
    assert_eq!(different.link, names[idle / 2]);
    assert_eq!(different.rust_bytes + 1, different.ns3_bytes);
    assert!(different.link.contains(&different.from), "{different:?}");
    assert!(!twin.agrees && twin.ports_equal + 1 == twin.ports);
    assert!(twin_table(&twin).contains(&format!("{} from {}", different.link, different.from)));
}
