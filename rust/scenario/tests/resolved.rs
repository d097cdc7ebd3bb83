//! Defaults, overrides and the origins of values.

use std::path::Path;
use std::sync::Arc;

use super::{parse, snapshot};
use crate::nic::{AckConfig, First, NicConfig};
use crate::units::{Bytes, Span};
use crate::{FailureSection, Overrides, Scenario, ScenarioFile, reference};

/// Reference of the format, as the design document prints it.
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
ecn = { kmin = "1/5", kmax = "4/5", pmax = "1" }   # parts of a BDP, or sizes; or a step
pfc = false
trim = false

[transport]
payload = "4096B"
header = "62B"
ack = "64B"
ack_every = 1                  # packets
ack_priority = true
congestion_control = "nscc"
recovery = "auto"              # auto (the one designed for the policy) | ...
retransmit_timeout = "1290us"  # 2 base RTTs, and the buffer at the rate of a host

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
    let retransmit_timeout = Span::from_us(1_290);
    let ack = AckConfig { first: First::AtOnce, ..AckConfig::default() };
    assert_eq!(empty.nic, NicConfig { retransmit_timeout, ack, ..NicConfig::default() });
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
fn explain_names_the_origin_of_each_value() {
    let overrides =
        Overrides { policy: Some("spray".into()), seed: Some(7), ..Overrides::default() };
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
    assert_eq!(of("switch.ecn.kmax"), "\"4KB\" (default)");
    assert_eq!(of("transport.parameters.gamma"), "\"4/5\" (default)");
    assert_eq!(of("failure[0].link"), "\"leaf0-spine1\" (line 6)");
    assert_eq!(of("failure[0].until"), "\"never\" (default)");
    snapshot("scenario_explained", &scenario.render());
}

#[test]
fn another_policy_shares_topology_and_workload() {
    let text = "[policy]\nname = \"ethereal\"\nbatch_timer = \"1us\"\n";
    let own = parse(text).unwrap();
    let spray = own.with_policy("spray").unwrap();
    assert_eq!(spray.scheme.name, "spray");
    assert_ne!(spray.nic.recovery, own.nic.recovery, "recovery = auto follows the policy");
    assert!(Arc::ptr_eq(&spray.topology, &own.topology));
    assert!(Arc::ptr_eq(&spray.workload, &own.workload));
    assert!(!spray.file.policy.parameters.contains_key("batch_timer"));
    assert!(own.warnings.is_empty());
    let [unused] = spray.warnings.as_slice() else { panic!("{:?}", spray.warnings) };
    let expected = "a parameter of 'ethereal', not used by 'spray'";
    assert!(unused.ends_with(&format!(":3:1: policy.batch_timer: {expected}")), "{unused}");
    assert!(own.render().contains("\npath_memory = \"100ms\"  # default\n"));
    let back = spray.with_policy("ethereal").unwrap();
    assert_eq!(back.scheme, own.scheme, "the file's own policy has the file's parameters");
    let error = own.with_policy("sprey").unwrap_err().to_string();
    assert!(error.starts_with("command line: policy.name: unknown policy 'sprey'"), "{error}");
}

#[test]
fn another_policy_keeps_the_parameters_that_all_policies_share() {
    let own = parse("[policy]\nname = \"spray\"\nweights = \"capacity\"\n").unwrap();
    let ecmp = own.with_policy("ecmp").unwrap();
    assert_eq!(ecmp.scheme.weights, crate::balance::Weights::Capacity);
    assert!(ecmp.warnings.is_empty());
}

#[test]
fn another_policy_takes_parameters_beside_the_shared_ones() {
    let own = parse("[policy]\nname = \"spray\"\nweights = \"capacity\"\n").unwrap();
    let parameters = |text: &str| text.parse::<toml::Table>().unwrap();
    let reps = own.with_policy_parameters("reps", &parameters("buffer = 16")).unwrap();
    let again = parse("[policy]\nname = \"reps\"\nweights = \"capacity\"\nbuffer = 16\n");
    assert_eq!(reps.scheme, again.unwrap().scheme);
    let error = own.with_policy_parameters("reps", &parameters("bufer = 16")).unwrap_err();
    let error = error.to_string();
    assert!(error.starts_with("command line: [policy] has no key 'bufer'"), "{error}");
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

#[test]
fn the_reference_in_docs_is_what_the_code_generates() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    for (name, page) in reference() {
        let path = docs.join(name);
        if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
            std::fs::create_dir_all(&docs).unwrap();
            std::fs::write(&path, &page).unwrap();
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        let how = "is not what the code generates: run with INSTA_UPDATE=always";
        assert!(committed == page, "docs/{name} {how}");
    }
}
