//! Failures that an ns-3 script adds during a run, compared with the same failures declared in
//! advance in the Rust fabric.

use evenkeel::units::Time;

use super::*;

/// Sections of one link, each with the time in microseconds at which a script adds it.
const OVERLAPPING: [(u64, &str); 4] = [
    (4, "at = \"4us\"\nuntil = \"7us\"\ndetection = \"1us\"\nconvergence = \"3us\""),
    (6, "at = \"6us\"\nuntil = \"19us\"\ndetection = \"1us\"\nconvergence = \"3us\""),
    (
        3,
        "kind = \"degrade\"\nfactor = \"1/3\"\nat = \"5us\"\nuntil = \"30us\"\n\
         convergence = \"2us\"",
    ),
    (10, "kind = \"loss\"\nrate = \"1/20\"\nat = \"12us\"\nuntil = \"40us\""),
];

/// Compares the worlds; ns-3 learns of the failures during the run.
fn expect_equal(what: &str, text: &str, failures: &[(u64, String)]) {
    let sections: Vec<&str> = failures.iter().map(|(_, section)| section.as_str()).collect();
    let declared = setup(&format!("{text}\n{}", sections.concat()));
    let declared = declared.unwrap_or_else(|| panic!("{what} is no scenario"));
    let without = setup(text).unwrap();
    let late: Vec<(Time, String)> = failures
        .iter()
        .map(|(us, section)| (Time::ZERO + Span::from_us(*us), section.clone()))
        .collect();
    for (declared, without) in
        [(declared.clone(), without.clone()), (uneven(declared), uneven(without))]
    {
        let theirs = ns3::run_with_late_failures(&without, &late).unwrap();
        let ours = fabric::run(&declared, &mut |_| {});
        let scenario = "twin".to_owned();
        let policy = declared.scheme.name.to_owned();
        let identity = Identity { scenario, policy, seed: declared.seed };
        let side = |outcome| Side { outcome, wall_s: 1.0 };
        let twin = Twin::new(&identity, &declared.topology, side(&ours), side(&theirs));
        assert!(is_exact(&twin) && twin.flows > 0, "{what}: {twin:#?}");
    }
}

#[test]
fn failures_added_by_a_script_equal_declared_ones() {
    let workload = "[workload]\nkind = \"permutation\"\nbytes = \"300KB\"";
    for policy in ["ecmp", "spray", "reps", "wcmp", "ofan", "drill", "ethereal"] {
        let text = text(Combination::of(policy), &format!("{EARLY}\n{workload}"));
        for part in ["link = \"leaf0-spine0\"", "switch = \"spine1\"", "link = \"host1-leaf0\""] {
            let section = |keys: &str| format!("[[failure]]\n{part}\n{keys}\n");
            for (us, keys) in OVERLAPPING {
                expect_equal(&format!("{policy}, {part}, {keys}"), &text, &[(us, section(keys))]);
            }
            let all = OVERLAPPING.map(|(us, keys)| (us, section(keys)));
            expect_equal(&format!("{policy}, {part}, all"), &text, &all);
        }
    }
}

#[test]
fn failures_added_by_a_script_work_with_traffic_classes() {
    let classes = "[switch]\nbuffer = \"1MB\"\npfc = { alpha = \"1/64\", pause_time = \"2us\" }\n\
                   [[class]]\nname = \"bulk\"\nweight = 3\n[[class]]\nname = \"urgent\"\n\
                   [[job]]\nkind = \"all-to-all\"\nbytes = \"100KB\"\nclass = \"bulk\"\n\
                   [[job]]\nkind = \"permutation\"\nbytes = \"200KB\"\nclass = \"urgent\"\n";
    for policy in ["ecmp", "spray", "reps"] {
        let text = text(Combination::of(policy), classes);
        for part in ["link = \"leaf0-spine0\"", "link = \"host1-leaf0\""] {
            let section = |keys: &str| format!("[[failure]]\n{part}\n{keys}\n");
            let all = OVERLAPPING.map(|(us, keys)| (us, section(keys)));
            expect_equal(&format!("{policy}, {part}"), &text, &all);
        }
    }
}
