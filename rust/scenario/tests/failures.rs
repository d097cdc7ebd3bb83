//! Failures of links and switches.

use super::parse;
use crate::Scenario;
use crate::fabric::{Direction, Failure, FailureKind};
use crate::topology::Node;
use crate::units::Span;

#[test]
fn a_degraded_or_lossy_link_can_also_be_down() {
    let link = "[[failure]]\nlink = \"leaf0-spine0\"\n";
    let text = format!(
        "{link}{link}kind = \"degrade\"\nfactor = \"1/4\"\ndetection = \"5us\"\n\
         {link}kind = \"loss\"\nrate = \"1/1000\"\nat = \"0s\"\n{link}"
    );
    let kinds = |text: &str| -> Vec<FailureKind> {
        parse(text).unwrap().fabric.failures.iter().map(|failure| failure.kind).collect()
    };
    let fraction = |text: &str| text.parse().unwrap();
    let (loss, degrade) = (
        FailureKind::Loss { rate: fraction("1/1000") },
        FailureKind::Degrade { factor: fraction("1/4") },
    );
    assert_eq!(kinds(&text), [loss, FailureKind::Down, degrade]);
}

#[test]
fn a_link_may_fail_in_one_direction() {
    let text = "[[failure]]\nlink = \"leaf0-spine0\"\n";
    let scenario = parse(&format!("{text}from = \"spine0\"\n")).unwrap();
    let [failure] = scenario.fabric.failures[..] else { panic!("one failure") };
    let [port] = failure.ports().collect::<Vec<_>>()[..] else { panic!("one direction") };
    let (start, end) = scenario.topology.ends_of(port);
    let names = [start, end].map(|node| scenario.topology.node_name(node));
    assert_eq!((names, failure.direction), (["spine0", "leaf0"], Direction::From(port)));
    let both = parse(text).unwrap().fabric.failures[0];
    assert_eq!((both.direction, both.ports().count()), (Direction::Both, 2));
    let fault = |text: &str| parse(text).unwrap_err().to_string();
    let said = fault(&format!("{text}from = \"leaf1\"\n"));
    assert!(said.contains("leaf0") && said.contains("spine0"), "{said}");
    let said = fault("[[failure]]\nswitch = \"spine0\"\nfrom = \"leaf1\"\n");
    assert!(said.contains("link"), "{said}");
}

#[test]
fn a_switch_fails_with_its_links_and_random_links_depend_on_the_seed() {
    let text = "[[failure]]\nswitch = \"spine3\"\n";
    let scenario = parse(text).unwrap();
    assert_eq!(scenario.fabric.failures.len(), 16);
    for failure in &scenario.fabric.failures {
        assert!(scenario.topology.link_name(failure.link).ends_with("-spine3"));
    }
    let drawn = parse("[[failure]]\nprobability = \"1/4\"\n").unwrap();
    let count = drawn.fabric.failures.len();
    assert!((40..90).contains(&count), "{count} of 256");
    assert_eq!(drawn.with_seed(1).unwrap().fabric.failures, drawn.fabric.failures);
    assert_ne!(drawn.with_seed(2).unwrap().fabric.failures, drawn.fabric.failures);
    let after = parse("[[failure]]\nprobability = \"1/4\"\n[[failure]]\nprobability = \"1\"\n");
    let after = after.unwrap().fabric.failures;
    assert!(after.len() > count);
    assert!(drawn.fabric.failures.iter().all(|failure| after.contains(failure)));
}

#[test]
fn a_flapping_link_goes_down_repeatedly() {
    let flap = |rest: &str| {
        let what = "[[failure]]\nlink = \"leaf0-spine0\"\nkind = \"flap\"\ndown_for = \"2us\"\n";
        parse(&format!("time_limit = \"40us\"\n{what}up_for = \"8us\"\n{rest}")).unwrap()
    };
    let times = |scenario: &Scenario| -> Vec<String> {
        let failures = scenario.fabric.failures.iter();
        assert!(failures.clone().all(|it| it.kind == FailureKind::Down));
        failures.map(|it| format!("{} to {}", it.at, it.until)).collect()
    };
    let bounded = times(&flap("at = \"5us\"\nuntil = \"26us\"\n"));
    assert_eq!(bounded, ["5us to 7us", "15us to 17us", "25us to 26us"]);
    let endless = times(&flap(""));
    assert_eq!(endless, ["1us to 3us", "11us to 13us", "21us to 23us", "31us to 33us"]);
    let never = flap("detection = \"never\"\nconvergence = \"never\"\n");
    let delays = |it: &Failure| (it.detection, it.convergence) == (Span::MAX, Span::MAX);
    assert!(never.fabric.failures.iter().all(delays));
}

#[test]
fn overlapping_failures_of_a_link_are_merged() {
    let failure = |link: &str, from: &str, to: &str| {
        format!("[[failure]]\n{link}\nat = \"{from}\"\nuntil = \"{to}\"\n")
    };
    let link = "link = \"spine1-leaf0\"";
    let text = failure("switch = \"leaf0\"", "2us", "4us") + &failure(link, "1us", "3us");
    let scenario = parse(&(text + &failure(link, "5us", "6us"))).unwrap();
    let name = |failure: &Failure| scenario.topology.link_name(failure.link);
    let of_link = scenario.fabric.failures.iter().filter(|it| name(it) == "leaf0-spine1");
    let times: Vec<String> = of_link.map(|it| format!("{} to {}", it.at, it.until)).collect();
    assert_eq!(times, ["1us to 4us", "5us to 6us"]);
}

#[test]
fn overlapping_failures_with_different_detection_times_stay_separate() {
    let text = "[[failure]]\nlink = \"leaf0-spine0\"\nat = \"1us\"\nuntil = \"9us\"\n\
                [[failure]]\nswitch = \"spine0\"\nat = \"2us\"\nuntil = \"4us\"\n\
                detection = \"1us\"";
    let scenario = parse(text).unwrap();
    let name = |failure: &Failure| scenario.topology.link_name(failure.link);
    let of_link = scenario.fabric.failures.iter().filter(|it| name(it) == "leaf0-spine0");
    let times: Vec<String> = of_link.map(|it| format!("{} to {}", it.at, it.until)).collect();
    assert_eq!(times, ["1us to 9us", "2us to 4us"]);
}

const PLANES: &str = "[topology]\nkind = \"multi-plane\"\nplanes = 2\nleaves = 2\nspines = 2\n\
                      hosts_per_leaf = 2\n";

#[test]
fn a_port_a_switch_and_a_whole_plane_can_fail() {
    let links = |failure: &str| -> Vec<String> {
        let scenario = parse(&format!("{PLANES}[[failure]]\n{failure}\n")).unwrap();
        let failures = scenario.fabric.failures.iter();
        failures.map(|it| scenario.topology.link_name(it.link).to_owned()).collect()
    };
    assert_eq!(links("link = \"host3-p1-leaf1\""), ["host3-p1-leaf1"]);
    assert_eq!(links("switch = \"p0-spine1\""), ["p0-leaf0-p0-spine1", "p0-leaf1-p0-spine1"]);
    let plane = links("plane = 1");
    assert!(plane.len() == 8 && plane.iter().all(|name| name.contains("p1-")), "{plane:?}");
    let fault = |text: &str| parse(&format!("{PLANES}{text}")).unwrap_err().to_string();
    let said = fault("[[failure]]\nplane = 2\n");
    assert!(said.contains("the fabric has the planes 0 to 1"), "{said}");
    let said = fault("[[failure]]\nplane = 0\nlink = \"host0-p0-leaf0\"\n");
    assert!(said.contains("exactly one of link, switch, plane"), "{said}");
    let said = parse("[[failure]]\nplane = 0\n").map(|it| it.fabric.failures.len());
    assert_eq!(said.unwrap(), 512, "all links of a fabric of one plane");
}

#[test]
fn settings_unsupported_by_several_planes_are_rejected() {
    let fault = |text: &str| parse(&format!("{text}{PLANES}")).unwrap_err().to_string();
    let said = fault("fidelity = \"fluid\"\n");
    assert!(said.contains("only one port per host"), "{said}");
    let said = fault("[policy]\nname = \"conga\"\n");
    assert!(said.contains("one in each plane"), "{said}");
    let said = parse(&PLANES.replace("planes = 2", "planes = 40")).unwrap_err().to_string();
    assert!(said.contains("exceeds the limit of 32"), "{said}");
    let said = parse(&format!("{PLANES}rails = 3\n")).unwrap_err().to_string();
    assert!(said.contains("leaves must be a multiple of rails"), "{said}");
}

#[test]
fn presets_have_the_numbers_of_their_papers() {
    let shape = |kind: &str| {
        let scenario = parse(&format!("[topology]\nkind = \"{kind}\"\n")).unwrap();
        let topology = scenario.topology;
        let rate = topology.host_rate(crate::ids::HostId(0)).to_string();
        (topology.planes().count(), topology.host_count(), topology.switches().len(), rate)
    };
    assert_eq!(shape("hpn"), (2, 1_024, 2 * 68, "400Gbps".to_owned()));
    assert_eq!(shape("spectrum-x"), (4, 1_152, 4 * 88, "800Gbps".to_owned()));
}

#[test]
fn host_latency_adds_to_the_delay_of_host_links() {
    let scenario = parse("[topology]\ndelay = \"500ns\"\nhost_latency = \"2us\"\n").unwrap();
    let delays = |of_hosts: bool| {
        let links = scenario.topology.links().iter();
        let is_host = |end: &Node| matches!(end, Node::Host(_));
        let mut delays: Vec<Span> = links
            .filter(|link| link.ends.iter().any(is_host) == of_hosts)
            .map(|link| link.delay)
            .collect();
        delays.dedup();
        delays
    };
    assert_eq!(
        (delays(true), delays(false)),
        (vec![Span::from_ns(2_500)], vec![Span::from_ns(500)])
    );
}

#[test]
fn return_paths_are_probed_only_with_several_planes() {
    let policy = "[policy]\nname = \"mrc\"\nreverse = \"probe\"\n";
    assert!(parse(&format!("{PLANES}{policy}")).is_ok());
    let error = parse(policy).unwrap_err().to_string();
    assert!(error.contains("policy.name = mrc") && error.contains("reverse = 'probe'"), "{error}");
}
