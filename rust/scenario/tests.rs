//! Dialogues with the scenario reader: texts in, sound scenarios or exact faults out.

use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::units::{Bytes, Span};

/// The format's reference, as the design prints it.
const SAMPLE: &str = r#"
schema_version = 1
seed = 1
time_limit = "10s"             # of simulated time; a run past it did not complete

[topology]
kind = "leaf-spine"            # leaf-spine | fat-tree | rail-optimized | file
leaves = 16
spines = 16
hosts_per_leaf = 16
host_rate = "400Gbps"
fabric_rate = "400Gbps"
delay = "500ns"                # of each link
gap = "20B"                    # preamble and inter-frame gap
forwarding_delay = "0ns"

[switch]
buffer = "64MB"                # shared; or port_buffer = "800KB" for separate ones
ecn = { step = "800KB" }       # or { kmin = "100KB", kmax = "400KB", pmax = "1/5" }
pfc = false
trim = false

[transport]
payload = "4096B"
header = "62B"
ack = "64B"
ack_every = 1                  # packets
ack_priority = true
congestion_control = "dcqcn"
recovery = "auto"              # auto (what the policy is made for) | ...
retransmit_timeout = "1ms"

[policy]
name = "ethereal"              # parameters of the policy follow as keys of its own

[workload]
kind = "all-to-all"
bytes = "16MB"                 # per rank for a collective, per flow otherwise

[[failure]]                    # none by default
link = "leaf0-spine0"
kind = "down"                  # down | degrade (factor) | loss (rate)
at = "1us"
until = "never"
detection = "0s"               # by the switches at its ends
convergence = "100ms"          # G: routing everywhere; "never" and "0s" are allowed
"#;

fn parse(text: &str) -> Result<Scenario, ScenarioError> {
    Scenario::parse(text, "test", Path::new(""), &Overrides::default())
}

#[test]
fn the_defaults_are_those_of_the_design() {
    let sample = parse(SAMPLE).unwrap();
    let empty = parse("").unwrap();
    let without_failure = ScenarioFile { failure: Vec::new(), ..sample.file.clone() };
    assert_eq!(without_failure, empty.file);
    let failure = FailureSection {
        link: Some("leaf0-spine0".to_owned()).into(),
        ..FailureSection::default()
    };
    assert_eq!(sample.file.failure, [failure]);
    assert_eq!(empty.topology.host_count(), 256);
    assert_eq!(empty.nic.payload, Bytes::new(4096));
    assert_eq!(empty.nic, crate::nic::NicConfig::default());
    assert_eq!(sample.fabric.failures[0].convergence, Span::from_ms(100));
}

#[test]
fn a_resolved_scenario_parses_back_to_itself() {
    let on = "[switch]\npfc = true\ntrim = { limit = \"1MB\" }\n";
    let other = "[topology]\nkind = \"fat-tree\"\n[policy]\nname = \"spray\"";
    let cache = "[transport]\nqp_cache = { entries = 8 }";
    for text in ["", SAMPLE, on, other, cache] {
        let scenario = parse(text).unwrap();
        let again = parse(&scenario.render()).unwrap();
        assert_eq!(again.file, scenario.file, "{}", scenario.render());
        assert_eq!(again.workload, scenario.workload);
        assert_eq!(again.fabric, scenario.fabric);
        assert_eq!(again.nic, scenario.nic);
        assert_eq!(again.scheme, scenario.scheme);
        assert_eq!(again.topology, scenario.topology);
    }
}

#[test]
fn each_value_knows_who_set_it() {
    let overrides = Overrides { policy: Some("spray".into()), seed: Some(7) };
    let text = "[topology]\nleaves = 4\n[switch]\necn = { kmin = \"1KB\" }\n[[failure]]\n\
        link = \"leaf0-spine1\"\n";
    let scenario = Scenario::parse(text, "test", Path::new(""), &overrides).unwrap();
    let explained = scenario.explain();
    let of = |key: &str| {
        let found = explained.iter().find(|explained| explained.key == key).expect(key);
        format!("{} ({})", found.value, found.from)
    };
    assert_eq!(of("seed"), "7 (command line)");
    assert_eq!(of("policy.name"), "\"spray\" (command line)");
    assert_eq!(of("topology.leaves"), "4 (line 2)");
    assert_eq!(of("topology.spines"), "16 (default)");
    assert_eq!(of("switch.ecn.kmin"), "\"1KB\" (line 4)");
    assert_eq!(of("switch.ecn.kmax"), "\"400KB\" (default)");
    assert_eq!(of("transport.parameters.alpha_timer"), "\"55us\" (default)");
    assert_eq!(of("failure[0].link"), "\"leaf0-spine1\" (line 6)");
    assert_eq!(of("failure[0].until"), "\"never\" (default)");
    snapshot("scenario_explained", &scenario.render());
}

fn snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

#[test]
fn flow_control_and_trimming_are_on_or_off_or_tables() {
    use crate::fabric::{Headroom, PfcConfig, TrimConfig};
    let switch = |text: &str| parse(&format!("[switch]\n{text}\n")).unwrap().fabric.switch;
    assert_eq!((switch("").pfc, switch("").trim), (None, None));
    assert_eq!((switch("pfc = false").pfc, switch("trim = false").trim), (None, None));
    let packet = Bytes::new(4096 + 62);
    let default = PfcConfig { headroom: Headroom::WorstCase { packet }, ..PfcConfig::HPCC };
    assert_eq!(switch("pfc = true").pfc, Some(default));
    assert_eq!(switch("pfc = {}").pfc, Some(default));
    assert_eq!(switch("pfc = { headroom = \"hpcc\" }").pfc, Some(PfcConfig::HPCC));
    let fixed = PfcConfig { headroom: Headroom::Fixed(Bytes::new(75_000)), ..PfcConfig::HPCC };
    assert_eq!(switch("pfc = { headroom = \"75KB\" }").pfc, Some(fixed));
    let twice = TrimConfig { size: Bytes::new(64), limit: Bytes::new(128_000_000) };
    assert_eq!(switch("trim = true").trim, Some(twice));
    let trim = switch("port_buffer = \"1MB\"\ntrim = { size = \"80B\" }").trim;
    assert_eq!(trim, Some(TrimConfig { size: Bytes::new(80), limit: Bytes::new(2_000_000) }));
}

#[test]
fn a_degraded_or_lossy_link_may_be_down_too() {
    use crate::fabric::FailureKind;
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
fn a_preset_sets_what_is_not_given_beside_it() {
    use crate::nic::congestion::{CongestionControl, dcqcn};
    let dcqcn = |parameters: &str| {
        let scenario = parse(&format!("[transport]\nparameters = {{ {parameters} }}")).unwrap();
        let again = parse(&scenario.render()).unwrap();
        assert_eq!((&again.nic, &again.file), (&scenario.nic, &scenario.file));
        match scenario.nic.congestion {
            CongestionControl::Dcqcn(config) => config,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(dcqcn(""), dcqcn::Config::default());
    assert_eq!(dcqcn("preset = \"authors\""), dcqcn::Config::default());
    let paper = dcqcn("preset = \"paper\"");
    assert_eq!(paper.byte_counter, Bytes::new(10_000_000));
    let mine = dcqcn("rate_timer = \"70us\", preset = \"paper\"");
    assert_eq!(mine, dcqcn::Config { rate_timer: Span::from_us(70), ..paper });
}

#[test]
fn each_congestion_control_and_each_preset_is_sound() {
    for (name, presets) in [
        ("line-rate", vec![]),
        ("dcqcn", vec!["authors", "paper"]),
        ("dcqcn-mlx", vec!["hpcc", "hpcc-paper", "conweave", "connectx"]),
        ("dctcp-rate", vec!["ethereal", "hpcc"]),
        ("dctcp-window", vec![]),
        ("nscc", vec!["no-trimming", "trimming"]),
        ("swift", vec![]),
    ] {
        let section = format!("[transport]\ncongestion_control = \"{name}\"\n");
        let scenario = parse(&section).unwrap();
        let shown = scenario.file.transport.parameters.get("preset").and_then(|it| it.as_str());
        assert_eq!(shown, presets.first().copied(), "{name}");
        for preset in presets {
            let text = format!("{section}parameters = {{ preset = \"{preset}\" }}");
            let scenario = parse(&text).unwrap();
            let again = parse(&scenario.render()).unwrap();
            assert_eq!(again.nic, scenario.nic, "{name}, {preset}");
        }
    }
}

#[test]
fn where_switches_trim_nscc_expects_it() {
    let preset = |switch: &str, parameters: &str| {
        let text = format!(
            "[switch]\n{switch}\n[transport]\ncongestion_control = \"nscc\"\n{parameters}\n"
        );
        let scenario = parse(&text).unwrap();
        let again = scenario.with_policy("ecmp").unwrap();
        assert_eq!(again.nic.congestion, scenario.nic.congestion);
        let key = "transport.parameters.preset";
        let shown = scenario.explain().into_iter().find(|it| it.key == key).unwrap();
        (shown.value, shown.from)
    };
    let trimming = "\"trimming\"".to_owned();
    assert_eq!(preset("trim = true", ""), (trimming, Origin::Default));
    assert_eq!(preset("trim = false", "").0, "\"no-trimming\"");
    let chosen = "parameters = { preset = \"no-trimming\" }";
    assert_eq!(preset("trim = true", chosen), ("\"no-trimming\"".to_owned(), Origin::Line(5)));
    let gamma = preset("trim = { size = \"64B\" }", "parameters = { gamma = \"1/2\" }");
    assert_eq!(gamma.0, "\"trimming\"");
}

#[test]
fn another_policy_keeps_what_it_can() {
    let text = "[policy]\nname = \"ethereal\"\nbatch_timer = \"1us\"\n";
    let typed = parse(text).unwrap();
    let spray = typed.with_policy("spray").unwrap();
    assert_eq!(spray.scheme.name, "spray");
    assert_ne!(spray.nic.recovery, typed.nic.recovery, "recovery = auto follows the policy");
    assert!(Arc::ptr_eq(&spray.topology, &typed.topology));
    assert!(Arc::ptr_eq(&spray.workload, &typed.workload));
    assert!(!spray.file.policy.parameters.contains_key("batch_timer"));
    assert!(typed.render().contains("\npath_memory = \"100ms\"  # default\n"));
    let back = spray.with_policy("ethereal").unwrap();
    assert_eq!(back.scheme, typed.scheme, "the file's own policy has the file's parameters");
    let error = typed.with_policy("sprey").unwrap_err().to_string();
    assert!(error.starts_with("command line: policy.name: there is no policy 'sprey'"), "{error}");
}

#[test]
fn a_failed_switch_takes_its_links_and_a_probability_draws_by_seed() {
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
fn a_link_that_flaps_is_down_again_and_again() {
    let flap = |rest: &str| {
        let what = "[[failure]]\nlink = \"leaf0-spine0\"\nkind = \"flap\"\ndown_for = \"2us\"\n";
        parse(&format!("time_limit = \"40us\"\n{what}up_for = \"8us\"\n{rest}")).unwrap()
    };
    let times = |scenario: &Scenario| -> Vec<String> {
        let failures = scenario.fabric.failures.iter();
        assert!(failures.clone().all(|it| it.kind == crate::fabric::FailureKind::Down));
        failures.map(|it| format!("{} to {}", it.at, it.until)).collect()
    };
    let bounded = times(&flap("at = \"5us\"\nuntil = \"26us\"\n"));
    assert_eq!(bounded, ["5us to 7us", "15us to 17us", "25us to 26us"]);
    let endless = times(&flap(""));
    assert_eq!(endless, ["1us to 3us", "11us to 13us", "21us to 23us", "31us to 33us"]);
    let never = flap("detection = \"never\"\nconvergence = \"never\"\n");
    let delays =
        |it: &crate::fabric::Failure| (it.detection, it.convergence) == (Span::MAX, Span::MAX);
    assert!(never.fabric.failures.iter().all(delays));
}

#[test]
fn overlapping_failures_of_a_link_are_one() {
    let failure = |link: &str, from: &str, to: &str| {
        format!("[[failure]]\n{link}\nat = \"{from}\"\nuntil = \"{to}\"\n")
    };
    let link = "link = \"spine1-leaf0\"";
    let text = failure("switch = \"leaf0\"", "2us", "4us") + &failure(link, "1us", "3us");
    let scenario = parse(&(text + &failure(link, "5us", "6us"))).unwrap();
    let name = |failure: &crate::fabric::Failure| scenario.topology.link_name(failure.link);
    let of_link = scenario.fabric.failures.iter().filter(|it| name(it) == "leaf0-spine1");
    let times: Vec<String> = of_link.map(|it| format!("{} to {}", it.at, it.until)).collect();
    assert_eq!(times, ["1us to 4us", "5us to 6us"]);
}

#[test]
fn overlapping_failures_that_others_learn_of_at_different_times_stay_apart() {
    let text = "[[failure]]\nlink = \"leaf0-spine0\"\nat = \"1us\"\nuntil = \"9us\"\n\
                [[failure]]\nswitch = \"spine0\"\nat = \"2us\"\nuntil = \"4us\"\ndetection = \"1us\"";
    let scenario = parse(text).unwrap();
    let name = |failure: &crate::fabric::Failure| scenario.topology.link_name(failure.link);
    let of_link = scenario.fabric.failures.iter().filter(|it| name(it) == "leaf0-spine0");
    let times: Vec<String> = of_link.map(|it| format!("{} to {}", it.at, it.until)).collect();
    assert_eq!(times, ["1us to 9us", "2us to 4us"]);
}

/// Bad scenarios, one fault each. Every one is a line of the snapshot `scenario_faults`.
const BAD: &[&str] = &[
    // Not TOML, or not this format.
    "seed = ",
    "seed = 1\nseed = 2",
    "schema_version = 2",
    "sede = 1",
    "[topolgy]\nleaves = 4",
    "[topology]\nleafs = 4",
    "[policy]\nname = \"ethereal\"\nbatch_timmer = \"1us\"",
    "[switch]\necn = { kmim = \"1KB\" }",
    "[transport]\nparameters = { alpha_time = \"1us\" }",
    "[transport]\ncongestion_control = \"line-rate\"\nparameters = { g = \"1/2\" }",
    // Wrong types, units and ranges.
    "seed = -1",
    "time_limit = 10",
    "time_limit = \"0s\"",
    "time_limit = \"213days\"",
    "time_limit = \"9000000s\"",
    "[topology]\nhost_rate = \"400\"",
    "[topology]\nhost_rate = 400",
    "[topology]\nfabric_rate = \"0Gbps\"",
    "[topology]\nfabric_rate = \"99999999999Tbps\"",
    "[topology]\nleaves = 0",
    "[topology]\nleaves = \"16\"",
    "[topology]\nleaves = 99999999999",
    "[topology]\nkind = \"leafspine\"",
    "[topology]\nk = 8",
    "[topology]\nkind = \"fat-tree\"\nk = 7",
    "[topology]\nkind = \"fat-tree\"\ntiers = 4",
    "[topology]\nkind = \"fat-tree\"\noversubscription = \"1/3\"",
    "[topology]\nkind = \"fat-tree\"\nk = 4000000000",
    "[topology]\nleaves = 4000000\nhosts_per_leaf = 4000000",
    "[topology]\nkind = \"file\"",
    "[topology]\nkind = \"file\"\npath = \"no-such-file.txt\"",
    "[topology]\ngap = \"1MB\"",
    "[switch]\nbuffer = \"1MB\"\nport_buffer = \"1MB\"",
    "[switch]\nport_buffer = \"4KB\"",
    "[switch]\necn = { kmin = \"2MB\" }",
    "[switch]\necn = { pmax = \"6/5\" }",
    "[switch]\necn = { step = \"1KB\", kmin = \"1KB\" }",
    "[switch]\necn = { at = \"sometimes\" }",
    "[switch]\npfc = \"yes\"",
    "[switch]\npfc = { headrom = \"hpcc\" }",
    "[switch]\npfc = { headroom = \"large\" }",
    "[switch]\npfc = { headroom = \"5MB\" }",
    "[switch]\npfc = { alpha = \"2\" }",
    "[switch]\npfc = true\nport_buffer = \"1MB\"",
    "[switch]\npfc = true\nbuffer = \"1MB\"",
    "[switch]\ntrim = 1",
    "[switch]\ntrim = { size = \"5KB\" }",
    "[switch]\ntrim = { limit = \"10B\" }",
    "[transport]\npayload = \"0B\"",
    "[transport]\npayload = \"65500B\"",
    "[transport]\nack = \"70KB\"",
    "[transport]\nack_every = 0",
    "[transport]\nack_time = \"1us\"",
    "[transport]\nack_every = 8\nack_bytes = \"0B\"",
    "[transport]\nrecovery = \"sack\"\nrecovery_parameters = { reorder = 3 }",
    "[transport]\nrecovery = \"sack\"\nrecovery_parameters = { rto_low = \"0us\" }",
    "[transport]\nrecovery = \"sack\"\nrecovery_parameters = { flow_control = \"some\" }",
    "[transport]\nrecovery = \"go-back-n\"\nrecovery_parameters = { back_to = \"one\" }",
    "[transport]\nrecovery = \"erasure\"\nrecovery_parameters = { overhead = 2 }",
    "[transport]\nrecovery = \"go-back-n\"\ndelivery = \"unordered\"",
    "[transport]\ndelivery = \"in-order\"",
    "[transport]\nretransmit_timeout = \"0ms\"",
    "[transport]\nqp_cache = { entries = 0 }",
    "[transport]\nparameters = { alpha_timer = \"0us\" }",
    "[transport]\nparameters = { g = \"fast\" }",
    "[transport]\nparameters = { preset = \"papre\" }",
    "[transport]\nparameters = { preset = 1 }",
    "[transport]\nparameters = { clamp_target = \"never\" }",
    "[transport]\ncongestion_control = \"swift\"\nparameters = { preset = \"paper\" }",
    "[transport]\ncongestion_control = \"swift\"\nparameters = { beta = \"2\" }",
    "[transport]\ncongestion_control = \"swift\"\nparameters = { longest_pause = \"0s\" }",
    "[transport]\ncongestion_control = \"nscc\"\nparameters = { target = \"0\" }",
    "[policy]\nname = \"etherial\"",
    "[policy]\nbatch_timer = 5",
    "[workload]\nkind = \"all-to-al\"",
    "[workload]\nbytes = \"0B\"",
    "[workload]\nbytes = \"18446744TB\"",
    "[transport]\nrecovery = \"erasure\"\n[workload]\nkind = \"shift\"\nbytes = \"4GiB\"",
    "[workload]\nranks = 300",
    "[topology]\nleaves = 1024\nhosts_per_leaf = 32",
    "[workload]\nshift = 3",
    "[workload]\nkind = \"shift\"\nshift = 512",
    "[workload]\nkind = \"incast\"\nfan_in = 256",
    "[workload]\nkind = \"all-reduce\"\nalgorithm = \"rung\"",
    "[workload]\nkind = \"ring-all-reduce\"\nalgorithm = \"ring\"",
    "[workload]\nkind = \"all-reduce\"\ngroup = 4",
    "[workload]\nkind = \"all-reduce\"\nalgorithm = \"hierarchical\"\ngroup = 7",
    "[workload]\nkind = \"all-reduce\"\nchunks = 0",
    "[workload]\nkind = \"permutation\"\nranks = 8",
    "[workload]\nstart_jitter = \"1000000s\"",
    "[topology]\nhost_rate = \"1bps\"",
    "time_limit = \"1ps\"\n[workload]\nkind = \"shift\"\nstart_jitter = \"1us\"",
    "[switch]\nbuffer = \"2GiB\"",
    "[switch]\nport_buffer = \"5GB\"",
    "[policy]\nname = \"ethereal\"\nbatch_timer = \"18446744s\"",
    "[workload]\nkind = \"flows\"",
    "[workload]\nkind = \"flows\"\nfile = \"no-such-file.txt\"",
    "[workload]\nkind = \"flows\"\nfile = \"f\"\nbytes = \"1MB\"",
    "[[failure]]\nlink = \"leaf0-spin0\"",
    "[[failure]]\nlink = \"leaf0-spine16\"",
    "[[failure]]\nswitch = \"spine16\"",
    "[[failure]]\nat = \"1us\"",
    "[[failure]]\nlink = \"leaf0-spine0\"\nswitch = \"spine0\"",
    "[[failure]]\nprobability = \"2\"",
    "[[failure]]\nlink = \"leaf0-spine0\"\nat = \"2us\"\nuntil = \"1us\"",
    "[[failure]]\nlink = \"leaf0-spine0\"\nuntil = \"later\"",
    "[[failure]]\nlink = \"leaf0-spine0\"\nfactor = \"1/2\"",
    "[[failure]]\nlink = \"leaf0-spine0\"\nkind = \"degrade\"",
    "[[failure]]\nlink = \"leaf0-spine0\"\nkind = \"degrade\"\nfactor = \"0/1\"",
    "[[failure]]\nlink = \"leaf0-spine0\"\nkind = \"degrade\"\nfactor = \"2\"",
    "[[failure]]\nlink = \"leaf0-spine0\"\nkind = \"loss\"",
    "[[failure]]\nlink = \"leaf0-spine0\"\nkind = \"flap\"\ndown_for = \"1us\"",
    "[[failure]]\nlink = \"leaf0-spine0\"\nkind = \"flap\"\ndown_for = \"1us\"\nup_for = \"0s\"",
    "[[failure]]\nswitch = \"leaf0\"\nkind = \"flap\"\ndown_for = \"1us\"\nup_for = \"1us\"",
    "[[failure]]\nlink = \"leaf0-spine0\"\nup_for = \"1us\"",
    "[policy]\nweights = \"some\"",
    "[[failure]]\nlink = \"leaf0-spine0\"\nkind = \"loss\"\nrate = \"3/2\"",
    "[[failure]]\nlink = \"leaf0-spine0\"\nkind = \"loss\"\nrate = \"1/2\"\nfactor = \"1/2\"",
    "[topology]\nkind = \"rail-optimized\"\nrails = 0",
    "[topology]\nkind = \"rail-optimized\"\nleaves = 4",
    "[hosts]\ncount = 6\n[[rail]]\nkind = \"tcp\"",
    // What this version does not have yet.
    "[topology]\nkind = \"file\"\npath = \"x\"\nformat = \"htsim\"",
    "[workload]\nkind = \"training\"\ntensor = 3",
    "[workload]\nkind = \"training\"\nranks = 16\ntensor = 2\ndata = 4",
    "[workload]\nkind = \"training\"\nhosts = \"0..8\"\ntensor = 2\nmodel = \"gpt-2\"",
    "[workload]\nkind = \"training\"\nranks = 8\nexpert = 2",
    "[workload]\nkind = \"training\"\nranks = 8\nexpert = 3\nmodel = \"mixtral-8x7b\"",
    "[workload]\nkind = \"training\"\nranks = 8\npipeline = 8\nlayers = 4",
    "[workload]\nkind = \"training\"\nranks = 8\nsharding = \"full\"\nbucket = \"1MB\"",
    "[workload]\nkind = \"training\"\nranks = 8\nbytes = \"1MB\"",
    "[workload]\nkind = \"training\"\nranks = 8\nflops = \"400\"",
    "[workload]\nkind = \"training\"\nranks = 8\nmicrobatches = 0",
    "[workload]\nkind = \"training\"\nmodel = { layers = 2, hiden = 64 }",
    "[workload]\nkind = \"training\"\nmodel = { layers = 2, hidden = 100, heads = 3 }",
    "[workload]\nkind = \"training\"\nmodel = { layers = 2, hidden = 128, top_k = 3 }",
    "[workload]\nkind = \"training\"\nalgorithms = { all-reduce = \"rung\" }",
    "[workload]\nname = \"a\"",
    "[workload]\nhosts = \"0..300\"",
    "[workload]\nhosts = \"0..16, 8\"",
    "[workload]\nhosts = \"first\"",
    "[workload]\nhosts = \"3\"",
    "[workload]\nkind = \"flows\"\nhosts = \"0..16\"\nfile = \"x\"",
    "[workload]\n[[job]]\nbytes = \"1MB\"",
    "[[job]]\nbytes = \"1MB\"\n[[job]]\nshift = 1",
    "[[job]]\nname = \"a\"\n[[job]]\nname = \"a\"",
    "[[job]]\nname = \"a\"\n[[job]]\nafter = \"b\"",
    "[[job]]\nafter = \"job1\"\n[[job]]\nafter = \"job0\"",
    "[[job]]\nname = \"a name with more than 24 characters\"",
    // What other files have.
    "[workload]\nkind = \"chakra\"",
    "[workload]\nkind = \"chakra\"\nfile = \"no-such-trace\"",
    "[workload]\nkind = \"chakra\"\nfile = \"x\"\nbytes = \"1MB\"",
    "[workload]\nkind = \"goal\"",
    "[workload]\nkind = \"connection-matrix\"\nranks = 2",
];

#[test]
fn each_fault_says_where_it_is_and_what_would_be_right() {
    let faults: Vec<String> = BAD
        .iter()
        .map(|text| match parse(text) {
            Ok(_) => panic!("accepted:\n{text}"),
            Err(error) => error.to_string(),
        })
        .collect();
    let file = "test.toml";
    assert!(faults.iter().all(|fault| fault.starts_with(file)), "every fault names its file");
    let first_lines: Vec<&str> = faults.iter().filter_map(|fault| fault.lines().next()).collect();
    snapshot("scenario_faults", &first_lines.join("\n"));
    let leaves = BAD.iter().position(|text| *text == "[topology]\nleaves = 0").expect("listed");
    assert_eq!(
        faults[leaves].lines().skip(1).collect::<Vec<_>>(),
        ["  |", "2 | leaves = 0", "  |          ^"]
    );
}

#[test]
fn every_example_is_sound_and_renders_to_itself() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut count = 0;
    let entries = std::fs::read_dir(&folder).expect("the project has examples");
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        count += 1;
        if RailScenario::is_in(&path) {
            let scenario = RailScenario::load(&path, &Overrides::default()).unwrap();
            let again = RailScenario::parse(scenario.render(), &path, &Overrides::default());
            assert_eq!(again.unwrap().file, scenario.file, "{}", path.display());
            continue;
        }
        let scenario = Scenario::load(&path, &Overrides::default()).unwrap();
        let again =
            Scenario::parse(&scenario.render(), "again", &folder, &Overrides::default()).unwrap();
        assert_eq!(again.file, scenario.file, "{}", path.display());
        assert_eq!(again.workload, scenario.workload, "{}", path.display());
    }
    assert!(count >= 7, "{count} examples");
}

#[test]
fn jobs_are_laid_over_their_hosts_and_explained_one_by_one() {
    let text = "[[job]]\nkind = \"shift\"\nhosts = \"0..64/8\"\n\
        [[job]]\nname = \"late\"\nkind = \"permutation\"\nhosts = \"1,3,5\"\nafter = \"job0\"\n\
        start = \"2us\"\n[[job]]\nkind = \"permutation\"\nhosts = \"2,4,6,8,10,12,14,16\"\n";
    let scenario = parse(text).unwrap();
    let messages = &scenario.workload.messages;
    let pairs = messages[..8].iter().map(|it| (it.src.0, it.dst.0));
    let expected = [(0, 8), (8, 16), (16, 24), (24, 32), (32, 40), (40, 48), (48, 56), (56, 0)];
    assert_eq!(pairs.collect::<Vec<_>>(), expected);
    assert!(messages[8..11].iter().all(|it| [1, 3, 5].contains(&it.src.0)));
    let names: Vec<&str> = scenario.workload.jobs.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["job0", "late", "job2"]);
    assert!(scenario.file.workload.is_none());
    let rendered = scenario.render();
    assert!(rendered.contains("[[job]]\nkind = \"permutation\"  # line 6\n"), "{rendered}");
    let again = parse(&rendered).unwrap();
    assert_eq!((&again.file, &again.workload), (&scenario.file, &scenario.workload));
    let other = scenario.with_seed(2).unwrap();
    assert_ne!(other.workload.messages[11..], messages[11..]);
    assert_eq!(other.workload.jobs, scenario.workload.jobs);
}

#[test]
fn one_job_is_what_a_workload_is() {
    for keys in ["", "kind = \"permutation\"\nstart_jitter = \"1us\"\nhosts = \"0..9\"\n"] {
        let [job, workload] =
            ["[job]", "workload"].map(|name| parse(&format!("[{name}]\n{keys}")).unwrap());
        assert_eq!(job.workload, workload.workload);
    }
}

#[test]
fn another_seed_draws_another_permutation_on_the_same_topology() {
    let scenario = parse("[workload]\nkind = \"permutation\"\nstart_jitter = \"1us\"\n").unwrap();
    let other = scenario.with_seed(2).unwrap();
    assert!(Arc::ptr_eq(&scenario.topology, &other.topology));
    assert_ne!(scenario.workload, other.workload);
    assert_eq!(other.with_seed(1).unwrap().workload, scenario.workload);
    assert_eq!((other.seed, other.setup().seed, *other.file.general.seed), (2, 2, 2));
    assert!(other.render().contains("seed = 2  # command line"));
    let error = scenario.with_seed(u64::MAX).unwrap_err().to_string();
    assert!(error.starts_with("command line: seed = 18446744073709551615"), "{error}");
}

/// Whatever a key is set to, a scenario is sound or refused; it never panics, and nothing large
/// is allocated on the way to a refusal.
#[test]
fn no_extreme_value_panics() {
    let numbers = ["0", "1", "4294967295", "9223372036854775807", "-1", "1.5", "true", "[]", "{}"];
    let texts = ["", "0", "0B", "1B", "18446744TB", "0s", "1ps", "18446744s", "never", "1bps"];
    let rates = ["18446744Tbps", "4294967295/1", "1/4294967295", "0/1", "1/0", "x\u{e9}\\n"];
    let texts = texts.iter().chain(&rates).map(|text| format!("\"{text}\""));
    let values: Vec<String> = numbers.iter().map(|text| (*text).to_owned()).chain(texts).collect();
    for kind in [
        "kind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 2",
        "kind = \"fat-tree\"\nk = 4",
    ] {
        let base = format!(
            "[topology]\n{kind}\n[[failure]]\nprobability = \"1/2\"\n[switch]\n\
             ecn = {{ kmin = \"1KB\" }}\npfc = true\ntrim = true\n[transport]\ncongestion_control = \"dcqcn-mlx\"\n\
             [workload]\nkind = \"incast\"\nfan_in = 2\n"
        );
        let resolved = parse(&base).unwrap().render();
        for (index, line) in resolved.lines().enumerate() {
            let Some((key, _)) = line.split_once(" = ") else {
                continue;
            };
            for value in &values {
                let changed: Vec<String> = resolved
                    .lines()
                    .enumerate()
                    .map(
                        |(at, line)| {
                            if at == index { format!("{key} = {value}") } else { line.to_owned() }
                        },
                    )
                    .collect();
                if let Err(error) = parse(&changed.join("\n")) {
                    assert!(error.to_string().starts_with("test.toml:"), "{error}");
                }
            }
        }
    }
}

/// Real files of the HPCC family, where they are there.
#[test]
fn topology_and_flow_files_are_read_relative_to_the_scenario() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/hpcc/conweave");
    if !folder.is_dir() {
        println!("skipped: the HPCC family's files are not in ../shared/data/hpcc");
        return;
    }
    let text = "[topology]\nkind = \"file\"\npath = \"leaf_spine_128_100G_OS2.txt\"\n\
        [workload]\nkind = \"flows\"\nfile = \"flow_perm.txt\"\n";
    let scenario = Scenario::parse(text, "real", &folder, &Overrides::default()).unwrap();
    assert_eq!(scenario.topology.host_count(), 128);
    assert!(!scenario.workload.messages.is_empty());
    let again = Scenario::parse(&scenario.render(), "again", &folder, &Overrides::default());
    assert_eq!(again.unwrap().workload, scenario.workload);
    let wrong = text.replace("128_100G_OS2", "129");
    let error = Scenario::parse(&wrong, "real", &folder, &Overrides::default()).unwrap_err();
    assert!(error.to_string().contains("real.toml:3:8"), "{error}");
}

#[test]
fn a_fault_in_a_file_that_a_scenario_names_is_found_there() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("topology.txt", "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n");
    write("lossy.txt", "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0.01\n");
    write("short.txt", "3 1 3\n2\n0 2 100Gbps 1us 0\n");
    write("flow.txt", "1\n0 1 3 100 5000 0\n");
    write("switch.txt", "1\n0 2 3 100 5000 0\n");
    let read = |topology: &str, flows: &str| {
        let text = format!(
            "[topology]\nkind = \"file\"\npath = \"{topology}\"\n\
             [workload]\nkind = \"flows\"\nfile = \"{flows}\"\n"
        );
        Scenario::parse(&text, "test", folder.path(), &Overrides::default())
    };
    let sound = read("topology.txt", "flow.txt").unwrap();
    assert_eq!((sound.topology.host_count(), sound.workload.messages.len()), (2, 1));
    let says = |topology: &str, flows: &str| {
        let error = read(topology, flows).unwrap_err().to_string();
        let here = format!("{}/", folder.path().display());
        error.lines().next().unwrap_or_default().replace(&here, "")
    };
    let faults = [
        says("lossy.txt", "flow.txt"),
        says("short.txt", "flow.txt"),
        says("topology.txt", "switch.txt"),
        says("topology.txt", "absent.txt"),
    ];
    snapshot("scenario_file_faults", &faults.join("\n"));
}

#[test]
fn recoveries_and_acknowledgements_are_chosen_by_name() {
    use crate::nic::recovery::sack::{Config, FlowControl};
    use crate::nic::{Entropies, Marked, Recovery};
    let nic = |keys: &str| parse(&format!("[transport]\n{keys}")).unwrap().nic;
    let recovery = |keys: &str| nic(keys).recovery;
    assert_eq!(recovery("recovery = 'sack'"), Recovery::Sack(Config::default()));
    let given = "recovery = 'sack'\nrecovery_parameters = { reordering = 6, flow_control = 'off' }";
    let flow_control = FlowControl::Off;
    let expected = Config { reordering: 6, flow_control, ..Config::default() };
    assert_eq!(recovery(given), Recovery::Sack(expected));
    assert_eq!(recovery("recovery = 'erasure'"), Recovery::Erasure);
    // The default policy is made for go-back-N.
    assert_eq!(recovery("recovery_parameters = { back_to = 'message' }"), Recovery::GoBackToZero);

    // Delivery is what the recovery does, unless it is named.
    use crate::nic::Delivery::{Ordered, Unordered};
    let delivery = |keys: &str| nic(keys).delivery();
    assert_eq!(delivery(""), Ordered);
    assert_eq!(delivery("recovery = 'erasure'"), Unordered);
    assert_eq!(delivery("recovery = 'erasure'\ndelivery = 'ordered'"), Ordered);
    assert_eq!(delivery("recovery = 'per-packet'\ndelivery = 'unordered'"), Unordered);
    assert_eq!(delivery("recovery = 'go-back-n'\ndelivery = 'ordered'"), Ordered);

    let keys = "ack_every = 16\nack_bytes = '16KiB'\nack_time = '5us'\nack_entropies = 'carry'\n\
                ack_marked = 'at-once'";
    let ack = nic(keys).ack;
    assert_eq!(
        (ack.every, ack.every_bytes, ack.within),
        (16, Bytes::new(16_384), Span::from_us(5))
    );
    assert_eq!((ack.entropies, ack.marked), (Entropies::Carry, Marked::AtOnce));
}

#[test]
fn the_reference_in_docs_is_what_the_code_generates() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/scenario.md");
    let page = reference();
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        std::fs::create_dir_all(path.parent().expect("it is in a folder")).unwrap();
        std::fs::write(&path, &page).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == page,
        "docs/scenario.md is not what the code generates: run with INSTA_UPDATE=always"
    );
}
