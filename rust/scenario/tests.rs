//! Dialogues with the scenario reader: texts in, sound scenarios or exact faults out.

use std::path::Path;

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
    let failure = FailureSection { link: Some("leaf0-spine0".into()), ..FailureSection::default() };
    assert_eq!(sample.file.failure, [failure]);
    assert_eq!(empty.topology.host_count(), 256);
    assert_eq!(empty.nic.payload, Bytes::new(4096));
    assert_eq!(sample.fabric.failures[0].convergence, Span::from_ms(100));
}

#[test]
fn a_resolved_scenario_parses_back_to_itself() {
    for text in ["", SAMPLE, "[topology]\nkind = \"fat-tree\"\n[policy]\nname = \"spray\""] {
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
