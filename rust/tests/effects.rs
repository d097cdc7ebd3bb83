//! Keys without effect: setting one is a warning and changes no result.

use std::path::Path;

use evenkeel::fabric;
use evenkeel::fluid::{self, Fidelity};
use evenkeel::scenario::{Overrides, Scenario, Setting};

/// A small fabric with losses and marks.
const BASE: &str = "time_limit = \"50ms\"\n[topology]\nleaves = 2\nspines = 2\nhosts_per_leaf = 4\n\
                    [switch]\nport_buffer = \"60KB\"\n";
const ALL_TO_ALL: &str = "[workload]\nkind = \"all-to-all\"\nbytes = \"128KB\"\n[[failure]]\n\
                          link = \"leaf0-spine0\"\n";
const TRAINING: &str = "[workload]\nkind = \"training\"\nmodel = \"gpt-1.3b\"\nlayers = 2\n";
const DOWN: &str = "failure[0].until=1ms";
const LOSSY: [&str; 2] = ["failure[0].kind=loss", "failure[0].rate=1/3"];
const SLOW: [&str; 2] = ["failure[0].kind=degrade", "failure[0].factor=1/4"];

fn try_load(workload: &str, settings: &[&str]) -> Result<Scenario, String> {
    let settings = settings.iter().map(|it| it.parse::<Setting>().unwrap()).collect();
    let overrides = Overrides { settings, ..Overrides::default() };
    let text = format!("{BASE}{workload}");
    Scenario::parse(&text, "effects", Path::new(""), &overrides).map_err(|error| error.to_string())
}

fn load(settings: &[&str]) -> Scenario {
    try_load(ALL_TO_ALL, settings).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns all times of a run.
fn times(scenario: &Scenario) -> Vec<[u64; 2]> {
    let outcome = match scenario.fidelity {
        Fidelity::Packet => fabric::run(&scenario.setup(), &mut |_| ()),
        Fidelity::Fluid => fluid::run(&scenario.setup(), &mut |_| ()).outcome,
    };
    outcome.flows.iter().map(|flow| [flow.delivered.as_ps(), flow.completed.as_ps()]).collect()
}

/// Returns true if a warning says that the key of a setting has no effect.
fn warns_about(scenario: &Scenario, setting: &str) -> bool {
    let key = setting.split('=').next().unwrap();
    scenario.warnings.iter().any(|it| it.contains(key) && it.contains("effect"))
}

#[test]
fn keys_reported_without_effect_have_none() {
    let go_back_n = "transport.recovery=go-back-n";
    let per_packet = "transport.recovery=per-packet";
    let (ecmp, wcmp) = ("policy.name=ecmp", "policy.name=wcmp");
    let cases: [(&[&str], &str, bool); 16] = [
        (&[ecmp, LOSSY[0], LOSSY[1], per_packet], "transport.nack_interval=5us", false),
        (&[ecmp, LOSSY[0], LOSSY[1], go_back_n], "transport.nack_interval=5us", true),
        (&[ecmp, DOWN], "transport.cnp_interval=1us", false),
        (
            &[ecmp, DOWN, "transport.congestion_control=dcqcn", "workload.bytes=1MB"],
            "transport.cnp_interval=1us",
            true,
        ),
        (&[ecmp, DOWN, per_packet], "transport.nack_signal=congestion", false),
        (&[ecmp, DOWN], "transport.ack_marked=at-once", false),
        (&[ecmp, DOWN, "transport.ack_every=8"], "transport.ack_marked=at-once", true),
        (&[ecmp, DOWN], "transport.ack_first=at-once", false),
        (&[ecmp, DOWN], "transport.ack_resent=at-once", false),
        (&[ecmp, DOWN], "switch.slow_ports=scale", false),
        (&[ecmp, SLOW[0], SLOW[1]], "switch.slow_ports=scale", true),
        (&[ecmp, SLOW[0], SLOW[1]], "failure[0].detection=2us", false),
        (&[ecmp, SLOW[0], SLOW[1]], "failure[0].convergence=2us", false),
        (&[wcmp, SLOW[0], SLOW[1]], "failure[0].convergence=2us", true),
        (&[ecmp, DOWN], "workload.gap=3us", false),
        (&[ecmp, DOWN, "fidelity=fluid"], "switch.ecn.kmin=5KB", false),
    ];
    for (settings, setting, has_effect) in cases {
        let (before, after) = (load(settings), load(&[settings, &[setting]].concat()));
        assert_eq!(warns_about(&after, setting), !has_effect, "{setting}: {:?}", after.warnings);
        let key = setting.split('=').next().unwrap();
        assert_eq!(after.ignored.iter().any(|it| it == key), !has_effect, "{:?}", after.ignored);
        assert!(before.ignored.is_empty(), "{:?}", before.ignored);
        assert!(!warns_about(&before, setting), "nobody gave {setting}");
        assert_eq!(times(&before) != times(&after), has_effect, "{settings:?}, {setting}");
    }
}

#[test]
fn training_parameters_without_traffic_are_reported() {
    let traffic = "workload.tensor_traffic=sequence";
    assert!(warns_about(&try_load(TRAINING, &[traffic]).unwrap(), traffic));
    assert!(!warns_about(&try_load(TRAINING, &["workload.tensor=2", traffic]).unwrap(), traffic));
}
