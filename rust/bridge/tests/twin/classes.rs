//! Traffic classes: queues, ECN and priority flow control by class, in both worlds.

use evenkeel::fabric::Outcome;
use evenkeel::ids::ClassId;

use super::*;

const STRICT: &str = "scheduling = \"strict\"";

/// Formats a scenario with three classes, whose sections have these lines, and jobs whose hosts
/// send in all of them.
fn text_of(combination: Combination, switch: &str, classes: [&str; 3], more: &str) -> String {
    let mut rest = format!("[switch]\n{switch}\n");
    for (name, lines) in ["gold", "silver", "lead"].into_iter().zip(classes) {
        rest += &format!("[[class]]\nname = \"{name}\"\n{lines}\n");
    }
    rest += "[[job]]\nkind = \"all-to-all\"\nbytes = \"200KB\"\nclass = \"lead\"\n";
    for (name, hosts) in [("gold", "1,3,4,5"), ("silver", "0,2,3,4"), ("lead", "0,3,4,5")] {
        rest += &format!(
            "[[job]]\nkind = \"incast\"\nfan_in = 3\nhosts = \"{hosts}\"\nbytes = \"150KB\"\n\
             start = \"1us\"\nclass = \"{name}\"\n"
        );
    }
    text(combination, &(rest + more))
}

/// Checks that both worlds agree; returns the outcome.
fn same(what: &str, setup: &Setup) -> Outcome {
    let theirs = ns3::run(setup).unwrap();
    let ours = fabric::run(setup, &mut |_| {});
    let identity = Identity { scenario: String::new(), policy: String::new(), seed: setup.seed };
    let side = |outcome| Side { outcome, wall_s: 1.0 };
    let twin = Twin::new(&identity, &setup.topology, side(&ours), side(&theirs));
    assert!(is_exact(&twin) && twin.flows > 0, "{what}: {twin:#?}");
    assert_eq!(ours.pauses, theirs.pauses, "{what}");
    assert_eq!(ours.dropped_by_class, theirs.dropped_by_class, "{what}");
    ours
}

/// Checks equal links, and links with uneven delays; returns the outcome of the latter.
fn same_on_both(what: &str, text: &str) -> Outcome {
    let setup = setup(text).unwrap_or_else(|| panic!("{what} is no scenario:\n{text}"));
    same(what, &setup);
    same(what, &uneven(setup))
}

const POLICIES: [&str; 6] = ["ecmp", "spray", "adaptive", "drill", "reps", "ethereal"];

#[test]
fn strict_and_weighted_classes_agree_in_both_worlds() {
    let ramp = "port_buffer = \"60KB\"\necn = { kmin = \"8KB\", kmax = \"30KB\", pmax = \"1/2\" }";
    for policy in POLICIES {
        for classes in [
            [STRICT, "weight = 3", "weight = 1"],
            ["weight = 2", STRICT, STRICT],
            ["weight = 3", "weight = 1", "weight = 5"],
        ] {
            let what = format!("{policy}, {classes:?}");
            let outcome = same_on_both(&what, &text_of(Combination::of(policy), ramp, classes, ""));
            assert!(outcome.counters.marked > 0, "{what}");
            assert!(outcome.dropped_by_class.iter().sum::<u64>() > 0, "{what}");
        }
    }
}

/// A pause frame of one class waits while one of another class is sent, at the time at which the
/// wire becomes free.
const FRAMES_OF_TWO_CLASSES: &str = r#"
seed = 96
time_limit = "3ms"
[topology]
kind = "fat-tree"
k = 4
[switch]
buffer = "64MB"
pfc = { alpha = "1/20000" }
[transport]
payload = "4096B"
ack_every = 2
congestion_control = "line-rate"
[policy]
name = "spray"
[[class]]
name = "a"
[[class]]
name = "b"
scheduling = "strict"
[[class]]
name = "c"
scheduling = "strict"
[[job]]
class = "a"
start = "100ns"
kind = "shift"
bytes = "90000B"
[[job]]
class = "b"
start = "500ns"
kind = "permutation"
bytes = "120000B"
[[job]]
class = "c"
kind = "all-to-all"
bytes = "120000B"
"#;

#[test]
fn frames_of_classes_start_in_the_same_order_in_both_worlds() {
    let setup = setup(FRAMES_OF_TWO_CLASSES).expect("a scenario");
    assert!(!same("frames of two classes", &setup).pauses.is_empty());
}

#[test]
fn buffers_and_marks_of_classes_are_the_same_in_both_worlds() {
    let classes = ["weight = 2", STRICT, "weight = 1"];
    let fails = "[[failure]]\nlink = \"leaf0-spine0\"\nat = \"4us\"\nuntil = \"30us\"\n\
                 detection = \"2us\"\nconvergence = \"9us\"\n";
    for (what, switch, control, more) in [
        ("a shared buffer", "buffer = \"60KB\"", "line-rate", ""),
        ("marks at dequeue", "ecn = { step = \"10KB\", at = \"dequeue\" }", "dctcp-window", ""),
        ("a link that fails", "buffer = \"60KB\"", "dcqcn", fails),
        (
            "a lossy link",
            "buffer = \"1MB\"",
            "swift",
            &fails.replace("at =", "kind = \"loss\"\nrate = \"1/50\"\nat ="),
        ),
    ] {
        for policy in ["ecmp", "jsq", "letflow"] {
            let combination = Combination { control, ..Combination::of(policy) };
            same_on_both(what, &text_of(combination, switch, classes, more));
        }
    }
}

#[test]
fn pauses_of_classes_are_the_same_in_both_worlds() {
    let unprotected = ["weight = 3", STRICT, "pfc = false"];
    let protected = ["weight = 3", STRICT, "weight = 1"];
    for (what, pfc, classes) in [
        ("every class", "alpha = \"1/64\"", protected),
        ("one without", "alpha = \"1/64\"", unprotected),
        ("pauses that expire", "alpha = \"1/64\", pause_time = \"2us\"", protected),
        ("expiring beside one without", "alpha = \"1/64\", pause_time = \"700ns\"", unprotected),
        ("little headroom", "alpha = \"1/64\", headroom = \"9KB\"", protected),
    ] {
        for policy in POLICIES {
            let what = format!("{what}, {policy}");
            let switch = format!("buffer = \"1MB\"\npfc = {{ {pfc} }}");
            let combination = Combination { control: "line-rate", ..Combination::of(policy) };
            let outcome = same_on_both(&what, &text_of(combination, &switch, classes, ""));
            let of = |class| outcome.pauses.iter().filter(|it| it.class == ClassId(class)).count();
            assert!(of(0) > 0 && of(1) > 0, "{what}");
            assert_eq!(of(2) > 0, classes == protected, "{what}");
        }
    }
}

/// Pauses expire, and data has one queue.
#[test]
fn pauses_that_expire_are_the_same_in_both_worlds() {
    let incast = "[workload]\nkind = \"incast\"\nfan_in = 5\nbytes = \"200KB\"\n";
    for time in ["100ns", "2us", "40us"] {
        let pfc = format!("pfc = {{ alpha = \"1/64\", pause_time = \"{time}\" }}");
        let text = text(
            Combination { control: "line-rate", ..Combination::of("spray") },
            &format!("[switch]\nbuffer = \"600KB\"\n{pfc}\n{incast}"),
        );
        assert!(!same_on_both(time, &text).pauses.is_empty(), "{time}");
    }
}

#[test]
fn the_example_is_the_same_in_both_worlds() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/traffic-classes.toml");
    let setup = Scenario::load(&path, &Overrides::default()).unwrap().setup();
    same("the example", &setup);
}
