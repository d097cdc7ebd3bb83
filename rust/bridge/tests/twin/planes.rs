//! Hosts with several ports, in both worlds: planes that share no switch, and two ToRs of one
//! fabric. Failures of ports, switches and planes, which NICs detect, report to their peers and
//! probe. Servers with a NIC for each rail.

use super::*;

const POLICIES: [&str; 5] = ["ecmp", "spray", "reps", "mrc", "plane-jsq"];

/// A failure of each kind of component, with its detection and its end.
const FAILURES: [(&str, &str); 5] = [
    ("nothing fails", ""),
    ("a port of a sender", "link = \"host0-p1-leaf0\""),
    ("a leaf", "switch = \"p1-leaf1\""),
    ("a spine", "switch = \"p1-spine0\""),
    ("a plane", "plane = 1"),
];

/// Formats a fabric of a kind, with a policy and links of 100 Gbps.
fn fabric_of(topology: &str, policy: &str, rest: &str) -> String {
    format!(
        "time_limit = \"20ms\"\n[topology]\n{topology}\nhost_rate = \"100Gbps\"\n\
         fabric_rate = \"100Gbps\"\n[policy]\nname = \"{policy}\"\n\
         [transport]\nretransmit_timeout = \"40us\"\n{rest}\n"
    )
}

fn multi_plane(planes: u32) -> String {
    format!("kind = \"multi-plane\"\nplanes = {planes}\nleaves = 2\nspines = 2\nhosts_per_leaf = 2")
}

/// Checks that the worlds agree for equal links and for links with uneven delays; returns the
/// counts of the last run.
fn expect_equal(what: &str, text: &str) -> Row {
    let setup = Scenario::parse(text, "twin", Path::new(""), &Overrides::default());
    let setup = setup.unwrap_or_else(|error| panic!("{what}: {error}")).setup();
    let mut row = Row::default();
    for setup in [setup.clone(), uneven(setup)] {
        let twin = twin(&setup);
        assert!(is_exact(&twin) && twin.flows > 0, "{what}: {twin:#?}\n{text}");
        row.count(&twin);
    }
    row
}

const PERMUTATION: &str = "[workload]\nkind = \"shift\"\nshift = 2\nbytes = \"400KB\"";

#[test]
fn planes_and_their_failures_are_the_same_in_both_worlds() {
    for planes in [1, 2, 4] {
        for policy in POLICIES {
            for (what, part) in FAILURES {
                let what = format!("{planes} planes, {policy}, {what}");
                let mut rest = format!("{EARLY}\n{PERMUTATION}\n");
                match (planes, part) {
                    (_, "") => {}
                    (1, _) => continue,
                    _ => {
                        rest += &format!(
                            "[[failure]]\n{part}\nat = \"4us\"\nuntil = \"60us\"\n\
                             detection = \"3us\"\nconvergence = \"9us\""
                        );
                    }
                }
                let row = expect_equal(&what, &fabric_of(&multi_plane(planes), policy, &rest));
                assert!(part.is_empty() || row.lost > 0, "{what}: nothing was lost");
            }
        }
    }
}

#[test]
fn ports_that_never_recover_agree_in_both_worlds() {
    for policy in POLICIES {
        for part in ["link = \"host3-p1-leaf1\"", "plane = 0"] {
            let rest = format!(
                "{PERMUTATION}\n[[failure]]\n{part}\nat = \"3us\"\ndetection = \"5us\"\n\
                 convergence = \"never\""
            );
            expect_equal(policy, &fabric_of(&multi_plane(2), policy, &rest));
        }
    }
}

/// Entropy values of a recovered port are probed before they are used.
#[test]
fn a_recovered_port_is_probed_and_reused_in_both_worlds() {
    let long = PERMUTATION.replace("400KB", "4MB");
    let failure = "[[failure]]\nlink = \"host0-p1-leaf0\"\nat = \"4us\"\nuntil = \"30us\"\n\
                   detection = \"3us\"\nconvergence = \"9us\"";
    for policy in ["mrc\"\nprobe_every = \"5us", "plane-jsq"] {
        let text = fabric_of(&multi_plane(2), policy, &format!("{long}\n{failure}"));
        expect_equal(policy, &text);
        let setup = setup(&text).unwrap();
        let outcome = fabric::run(&setup, &mut |_| {});
        let link = setup.topology.link_named("host0-p1-leaf0").unwrap();
        let carried = outcome.link_bytes[2 * link.index()].get();
        assert!(carried > 500_000, "{policy}: {carried} bytes, of which 50 kB before the failure");
    }
}

#[test]
fn slow_and_lossy_links_of_planes_agree_in_both_worlds() {
    for policy in POLICIES {
        for keys in [
            "link = \"host1-p0-leaf0\"\nkind = \"loss\"\nrate = \"1/40\"",
            "link = \"host1-p0-leaf0\"\nkind = \"degrade\"\nfactor = \"1/5\"\nat = \"3us\"",
            "link = \"p1-leaf0-p1-spine1\"\nkind = \"degrade\"\nfactor = \"1/3\"\nat = \"2us\"",
        ] {
            let rest = format!("{PERMUTATION}\n[[failure]]\n{keys}");
            expect_equal(policy, &fabric_of(&multi_plane(2), policy, &rest));
        }
    }
}

#[test]
fn flow_control_and_trimming_of_each_port_are_the_same_in_both_worlds() {
    let incast = "[workload]\nkind = \"incast\"\nfan_in = 3\nbytes = \"300KB\"";
    for policy in POLICIES {
        for switch in [
            "buffer = \"200KB\"\npfc = true",
            "buffer = \"200KB\"\npfc = { pause_time = \"2us\" }",
            "port_buffer = \"20KB\"\ntrim = true",
        ] {
            for priority in [true, false] {
                let rest = format!("ack_priority = {priority}\n[switch]\n{switch}\n{incast}");
                expect_equal(policy, &fabric_of(&multi_plane(2), policy, &rest));
            }
        }
    }
}

#[test]
fn congestion_controls_of_several_ports_are_the_same_in_both_worlds() {
    for control in CONTROLS {
        for policy in ["mrc", "spray"] {
            let rest = format!("congestion_control = \"{control}\"\n{EARLY}\n{PERMUTATION}");
            expect_equal(control, &fabric_of(&multi_plane(4), policy, &rest));
        }
    }
    // Two queue pairs from each host to every other host.
    let workload = "[workload]\nkind = \"all-to-all\"\nbytes = \"256KB\"\nchannels = 2";
    for scope in ["plane", "destination", "destination-plane"] {
        let control = format!(
            "congestion_control = \"nscc\"\nack_marked = \"at-once\"\n\
             parameters = {{ scope = \"{scope}\" }}"
        );
        for policy in ["mrc", "plane-jsq"] {
            let rest = format!("{control}\n{EARLY}\n{workload}");
            expect_equal(scope, &fabric_of(&multi_plane(4), policy, &rest));
        }
    }
}

#[test]
fn published_fabrics_of_several_ports_are_the_same_in_both_worlds() {
    let small = "leaves = 4\nspines = 2\nhosts_per_leaf = 2\nrails = 2";
    let hpn = format!("kind = \"hpn\"\n{small}");
    let spectrum = format!("kind = \"spectrum-x\"\n{small}");
    let tors = "kind = \"dual-tor\"\npairs = 2\nspines = 2\nhosts_per_pair = 2".to_owned();
    let fails = |part: &str| {
        format!("[[failure]]\n{part}\nat = \"4us\"\ndetection = \"2us\"\nconvergence = \"9us\"")
    };
    for (topology, parts) in [
        (hpn, ["", "link = \"host0-p1-leaf0\"", "plane = 1"]),
        (spectrum, ["", "link = \"host0-p3-leaf0\"", "plane = 2"]),
        (tors, ["", "link = \"host0-tor0b\"", "plane = 1"]),
    ] {
        for policy in POLICIES {
            for part in parts {
                let failure = if part.is_empty() { String::new() } else { fails(part) };
                let what = format!("{topology}, {policy}, {part}");
                expect_equal(
                    &what,
                    &fabric_of(&topology, policy, &format!("{PERMUTATION}\n{failure}")),
                );
            }
        }
    }
}

#[test]
fn rails_are_the_same_in_both_worlds() {
    for policy in ["ecmp", "spray", "conga", "ethereal", "host-dr"] {
        let text = format!(
            "[topology]\nkind = \"rail-optimized\"\nrails = 4\nservers = 2\nunits = 2\n\
             spines = 2\nhost_rate = \"100Gbps\"\nfabric_rate = \"100Gbps\"\n[policy]\n\
             name = \"{policy}\"\n[workload]\nkind = \"all-to-all\"\nbytes = \"160KB\"\n"
        );
        let setup = setup(&text).unwrap();
        for setup in [setup.clone(), uneven(setup)] {
            let twin = twin(&setup);
            assert!(is_exact(&twin) && twin.agrees, "{policy}: {twin:#?}");
        }
    }
}

/// Each port of a host is paused separately, also where the pause expires.
#[test]
fn pauses_that_expire_at_ports_of_hosts_are_the_same_in_both_worlds() {
    let incast = "[workload]\nkind = \"incast\"\nfan_in = 3\nbytes = \"900KB\"";
    for policy in POLICIES {
        for time in ["700ns", "5us"] {
            let pfc = format!("pfc = {{ alpha = \"1/64\", pause_time = \"{time}\" }}");
            let rest = format!(
                "congestion_control = \"line-rate\"\n[switch]\nbuffer = \"600KB\"\n{pfc}\n{incast}"
            );
            let text = fabric_of(&multi_plane(2), policy, &rest);
            expect_equal(policy, &text);
            let setup = setup(&text).unwrap();
            let outcome = fabric::run(&setup, &mut |_| {});
            let links: Vec<_> = setup.topology.link_names().to_vec();
            let of_host = |link: &String| link.starts_with("host");
            let paused = outcome.pauses.iter().filter(|it| of_host(&links[it.port.index() / 2]));
            assert!(paused.count() > 0, "{policy}, {time}: no port of a host was paused");
        }
    }
}
