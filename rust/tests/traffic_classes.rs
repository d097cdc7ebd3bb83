//! Traffic classes from the scenario file to the results, tracking every packet.

use std::path::Path;
use std::sync::Arc;

use evenkeel::fabric::{FixedWorkload, Observers, Outcome, World, drive};
use evenkeel::ids::MessageId;
use evenkeel::invariants::Invariants;
use evenkeel::report;
use evenkeel::scenario::{Overrides, Scenario};
use evenkeel::study::lower_bound;

/// Returns three classes on a small fabric, with an incast per job; `switch` and `classes` are
/// lines of their sections.
fn scenario(switch: &str, classes: [&str; 3]) -> Scenario {
    let mut text = format!(
        "[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 4\n\
         [switch]\n{switch}\n[transport]\ncongestion_control = \"line-rate\"\n\
         nack_interval = \"5us\"\n[policy]\nname = \"ecmp\"\n"
    );
    for (name, lines) in ["gold", "silver", "lead"].into_iter().zip(classes) {
        text += &format!("[[class]]\nname = \"{name}\"\n{lines}\n");
    }
    for (name, hosts) in [("lead", "0,4,5,6,7"), ("gold", "1,4,5,6"), ("silver", "0,2,3,7")] {
        text += &format!(
            "[[job]]\nkind = \"incast\"\nfan_in = 3\nhosts = \"{hosts}\"\nbytes = \"400KB\"\n\
             class = \"{name}\"\n"
        );
    }
    let parsed = Scenario::parse(&text, "classes", Path::new(""), &Overrides::default());
    parsed.unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the outcome of a run that must pass all checks.
fn checked(scenario: &Scenario) -> Outcome {
    let setup = scenario.setup();
    let mut invariants = Invariants::new(&setup);
    let observers = Observers { watch: Some(&mut invariants), progress: &mut |_| {} };
    let outcome = drive(World::new(&setup), &mut FixedWorkload, observers);
    let found = invariants.finish(&outcome, Some(lower_bound(&setup).time));
    assert_eq!(found.violations, []);
    outcome
}

fn flows(scenario: &Scenario, outcome: &Outcome) -> Vec<Vec<String>> {
    let mut bytes = Vec::new();
    report::write_flows_csv(&mut bytes, &scenario.setup(), outcome).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

const STRICT: &str = "scheduling = \"strict\"";

#[test]
fn every_packet_of_every_class_is_accounted_for() {
    let (plain, pfc) = ("buffer = \"300KB\"", "buffer = \"2MB\"\npfc = true");
    for classes in [[STRICT, STRICT, ""], ["weight = 3", "", STRICT], ["weight = 7"; 3]] {
        let outcome = checked(&scenario(plain, classes));
        assert_eq!(outcome.counters.dropped, outcome.dropped_by_class.iter().sum::<u64>());
        assert!(outcome.counters.dropped > 0);
        let lossless = checked(&scenario(pfc, classes));
        assert!(lossless.counters.pfc_pauses > 0 && lossless.counters.dropped == 0);
        let [first, second, third] = classes;
        let third = format!("{third}\npfc = false");
        let mixed = checked(&scenario(pfc, [first, second, &third]));
        assert_eq!(mixed.dropped_by_class[..2], [0, 0]);
    }
}

#[test]
fn flow_rows_end_with_the_class_if_there_are_classes() {
    let with = scenario("", [STRICT, "", ""]);
    let rows = flows(&with, &checked(&with));
    assert_eq!((rows[0].len(), rows[0][12].as_str()), (13, "class"));
    let of_job = |job: &str| {
        let rows = rows.iter().filter(|row| row[10] == job);
        rows.map(|row| row[12].as_str()).collect::<Vec<_>>()
    };
    assert_eq!(
        [of_job("job0"), of_job("job1"), of_job("job2")],
        [vec!["lead"; 3], vec!["gold"; 3], vec!["silver"; 3]]
    );
    // In a setup without jobs, each message also has the class of its stream.
    let mut setup = with.setup();
    Arc::make_mut(&mut setup.workload).jobs.clear();
    let positions = report::FlowPositions::of_setup(&setup, true);
    let classes: Vec<&str> = (0..9).map(|message| positions.class(MessageId(message))).collect();
    assert_eq!(classes, [["lead"; 3], ["gold"; 3], ["silver"; 3]].concat());
    let without = "[workload]\nkind = \"permutation\"\nbytes = \"1KB\"\n";
    let without = Scenario::parse(without, "none", Path::new(""), &Overrides::default()).unwrap();
    let rows = flows(&without, &checked(&without));
    assert_eq!((rows[0].len(), rows[0][11].as_str()), (12, "step"));
}

#[test]
fn a_scenario_with_classes_renders_to_itself_and_warns_of_an_unused_class() {
    let of = scenario("", [STRICT, "weight = 9", ""]);
    let again = Scenario::parse(&of.render(), "classes", Path::new(""), &Overrides::default());
    let again = again.unwrap();
    assert_eq!((&again.fabric.classes, &again.job_classes), (&of.fabric.classes, &of.job_classes));
    assert_eq!(of.with_seed(7).unwrap().job_classes, of.job_classes);
    let unused = "[workload]\nclass = \"b\"\n[[class]]\nname = \"a\"\n[[class]]\nname = \"b\"\n";
    let unused = Scenario::parse(unused, "one", Path::new(""), &Overrides::default()).unwrap();
    assert!(unused.warnings[0].contains("class[0].name: no job uses this class"));
    let without = scenario("buffer = \"2MB\"\npfc = true", ["pfc = false"; 3]).warnings;
    assert!(without.iter().any(|it| it.contains("every class has pfc = false")), "{without:?}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/traffic-classes.toml");
    let alone = Scenario::load_without_messages(&path, &Overrides::default()).unwrap();
    let says = |warning: &String| warning.contains("all messages use the first one");
    assert!(alone.warnings.iter().any(says), "{:?}", alone.warnings);
}

#[test]
fn class_completion_times_include_relayed_messages() {
    let text = "[topology]\nkind = \"rail-only\"\nrails = 2\nservers = 2\n\
                scale_up = { gpus = 2, cross_rail = \"relay\" }\n[[class]]\nname = \"a\"\n\
                [workload]\nkind = \"all-to-all\"\nbytes = \"80KB\"\n";
    let of = Scenario::parse(text, "relays", Path::new(""), &Overrides::default()).unwrap();
    let outcome = checked(&of);
    assert!(outcome.scale_up.as_ref().unwrap().relayed > 0);
    let classes = report::ClassSummary::of_setup(&outcome, &of.setup());
    assert_eq!(classes[0].fct_ns, report::Fct::of(&outcome.message_fct));
}
