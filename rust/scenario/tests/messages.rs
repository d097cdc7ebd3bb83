//! Messages about invalid values, including defaults that the file does not contain.

use std::path::Path;

use super::parse;
use crate::units::Bytes;
use crate::{Overrides, RailScenario, Scenario};

fn fault(text: &str) -> String {
    parse(text).expect_err(text).to_string()
}

#[test]
fn a_collective_of_one_host_is_reported_at_the_topology() {
    let text = "[topology]\nleaves = 1\nspines = 1\nhosts_per_leaf = 1\n[workload]\n\
                kind = \"all-to-all\"\n";
    let said = fault(text);
    assert!(said.contains("topology = 1 host is invalid: a collective needs 2 hosts"), "{said}");
    assert!(!said.contains("workload.ranks"), "nobody wrote it: {said}");
}

#[test]
fn a_job_start_after_the_time_limit_is_reported_at_its_start() {
    let said = fault("[[job]]\nkind = \"permutation\"\nstart = \"11s\"\n");
    let expected = "job[0].start = 11s is invalid: it must be earlier than time_limit = 10s";
    assert!(said.starts_with("test.toml:3:9:") && said.contains(expected), "{said}");
}

#[test]
fn a_rail_failure_without_a_rail_is_a_missing_key() {
    let text = "[[rail]]\nname = \"a\"\n[[failure]]\nat = \"1ms\"\n".to_owned();
    let path = Path::new("test.toml");
    let said = RailScenario::parse(text, path, &Overrides::default()).unwrap_err().to_string();
    assert!(said.contains("failure[0].rail is missing: a failure needs the name"), "{said}");
    assert!(said.contains("write for example rail = \"rail0\""), "{said}");
    assert!(said.contains("\n 3 ") || said.contains(":3:"), "its own [[failure]]: {said}");
}

#[test]
fn a_file_without_keys_is_a_warning() {
    for text in ["", "# nothing\n\n"] {
        let warnings = parse(text).unwrap().warnings;
        assert_eq!(warnings, ["test.toml: the file has no keys; all values are defaults"]);
    }
    assert_eq!(parse("seed = 1\n").unwrap().warnings, [""; 0]);
}

/// 8,192 hosts that all send to each other: 67 million messages and queue pairs.
#[test]
fn a_workload_beyond_memory_is_rejected_before_its_messages_are_created() {
    let text = "[topology]\nleaves = 256\nspines = 32\nhosts_per_leaf = 32\n[workload]\n\
                kind = \"all-to-all\"\n";
    let most_memory = Some(Bytes::new(24_000_000_000));
    let overrides = Overrides { most_memory, ..Overrides::default() };
    let said = Scenario::parse(text, "test", Path::new(""), &overrides).unwrap_err().to_string();
    let expected = "topology = 8192 hosts is too large: 67100672 messages with 67100672 queue \
                    pairs take 112 GB of memory; the limit is 24 GB, the available memory; use \
                    --force to run anyway; with outstanding = 8 under [workload] they are \
                    generated during the run and need little memory";
    assert!(said.contains(expected), "{said}");
    let ring = text.replace("\"all-to-all\"", "\"ring-all-reduce\"\nstreaming = false");
    let said = Scenario::parse(&ring, "test", Path::new(""), &overrides).unwrap_err().to_string();
    assert!(said.contains("134201344 messages take 35 GB of memory"), "{said}");
    assert!(said.contains("; with streaming = true under [workload] they are"), "{said}");
    let text = text.replace("[workload]", "[workload]\nranks = 8000");
    let said = Scenario::parse(&text, "test", Path::new(""), &overrides).unwrap_err().to_string();
    assert!(said.contains("workload.ranks = 8000 is too large"), "{said}");
}

#[test]
fn a_rendered_auto_shows_its_value_and_still_adapts_to_another_policy() {
    let lines = |text: &str| {
        let rendered = parse(text).unwrap().render();
        let is_auto = |line: &&str| line.contains("= \"auto\"");
        rendered.lines().filter(is_auto).map(str::to_owned).collect::<Vec<_>>()
    };
    let ethereal = "[policy]\nname = \"ethereal\"\n";
    assert_eq!(
        lines(ethereal),
        [
            "recovery = \"auto\"  # default; here go-back-n",
            "delivery = \"auto\"  # default; here ordered",
        ]
    );
    let resolved = parse(ethereal).unwrap().render();
    let spray = parse(&resolved).unwrap().with_policy("spray").unwrap();
    assert_eq!(spray.nic.recovery, parse("[policy]\nname = \"spray\"\n").unwrap().nic.recovery);
    let recovery = format!("recovery = \"auto\"  # line 1; here {}", spray.nic.recovery.name());
    let text = spray.render();
    let line = text.lines().find(|line| line.starts_with("recovery = ")).unwrap();
    assert_eq!(line.split("; ").last(), recovery.split("; ").last(), "{line}");
    let own = "[policy]\nname = \"ecmp\"\n[[job]]\nname = \"a\"\nkind = \"permutation\"\n\
               policy = \"spray\"\n";
    let expected = format!("; here go-back-n, {} for a", spray.nic.recovery.name());
    assert!(lines(own)[0].ends_with(&expected), "{:?}", lines(own));
    let text = "[transport]\nrecovery = \"sack\"\ndelivery = \"ordered\"\n";
    assert_eq!(lines(text), [""; 0]);
}

#[test]
fn a_date_is_reported_as_a_date_everywhere() {
    let error_of = |key: &str| {
        let setting = format!("{key}=2026-11-22").parse().unwrap();
        let overrides = Overrides { settings: vec![setting], ..Overrides::default() };
        Scenario::parse("", "test", Path::new(""), &overrides).unwrap_err().to_string()
    };
    let expected = "--set topology.leaves=2026-11-22: topology.leaves: invalid type: date, \
                    expected a whole number from 0 to 4294967295";
    assert_eq!(error_of("topology.leaves"), expected);
    let expected = "--set topology=2026-11-22: topology: invalid type: date, expected a table: \
                    write [topology] and its keys below it";
    assert_eq!(error_of("topology"), expected);
    let expected = "invalid type: date, expected a quoted string; `evenkeel list policies` lists";
    assert!(error_of("policy.name").contains(expected));
    let table = fault("[topology]\nleaves = { other = 1 }\n");
    assert!(table.contains("invalid type: table, expected a whole number"), "{table}");
}

fn set(text: &str, setting: &str) -> String {
    let settings = vec![setting.parse().unwrap()];
    let overrides = Overrides { settings, ..Overrides::default() };
    Scenario::parse(text, "test", Path::new(""), &overrides).unwrap_err().to_string()
}

#[test]
fn a_number_too_large_for_toml_is_reported_at_its_key() {
    let text = "[[rail]]\n[handler]\nmisses = 99999999999999999999\n";
    assert!(RailScenario::is_in_text(text), "it is a scenario with rails, if an invalid one");
    let path = Path::new("test.toml");
    let said = RailScenario::parse(text.to_owned(), path, &Overrides::default()).unwrap_err();
    let expected = "test.toml:3:10: handler.misses: 99999999999999999999 is too large; the \
                    largest whole number is 9223372036854775807";
    assert!(said.to_string().starts_with(expected), "{said}");
    let of_policy = |value: &str| set("", &format!("policy.entropies={value}"));
    let expected = "policy.entropies: 99999999999999999999 is too large; the largest whole number \
                    is 9223372036854775807";
    assert!(of_policy("99999999999999999999").ends_with(expected));
    let expected = "-99999999999999999999 is too small; the smallest whole number is \
                    -9223372036854775808";
    assert!(of_policy("-99999999999999999999").ends_with(expected));
    let long = "9".repeat(60);
    assert!(of_policy(&long).contains(&format!("{long} is too large; the largest")));
    assert!(fault("seed = 1e999\n").contains("seed: 1e999 is too large; the largest number is"));
    assert!(fault("seed = 0x\n").contains("seed: 0x has no digits; expected for example 0x10"));
}

#[test]
fn a_list_is_not_a_table() {
    for key in ["topology.llr", "topology.scale_up", "switch.ecn", "transport.qp_cache"] {
        let (section, name) = key.split_once('.').unwrap();
        for value in ["[]", "[3]", "[\"500B\", 2]"] {
            let said = fault(&format!("[{section}]\n{name} = {value}\n"));
            let expected = format!(
                "{key}: invalid type: list, expected a table: {name} = {{ ... }}; `evenkeel \
                 explain {key}` has its keys"
            );
            assert!(said.starts_with("test.toml:2:") && said.contains(&expected), "{said}");
        }
        let said = fault(&format!("[[{key}]]\n"));
        let expected = format!("expected one table: write [{key}], with one pair of brackets");
        assert!(said.contains(&expected), "{said}");
    }
}

#[test]
fn no_table_of_the_format_accepts_a_list() {
    let mut tables = 0;
    for part in crate::catalogue::parts() {
        let (open, close) = if part.is_list { ("[[", "]]") } else { ("[", "]") };
        let header = format!("{open}{}{close}", part.name);
        let kind = part.only.replace("<collective>", "all-to-all");
        for key in part.keys.iter().filter(|key| !key.form.keys.is_empty()) {
            let said = fault(&format!("{header}\n{kind}\n{} = [3]\n", key.name));
            assert!(
                said.contains(&format!(".{}: invalid type: list, expected", key.name)),
                "{said}"
            );
            tables += 1;
        }
    }
    assert!(tables > 6, "{tables} tables");
}

#[test]
fn only_keys_that_apply_are_suggested() {
    for (kind, key) in [("permutation", "size"), ("chakra", "path"), ("permutation", "fils")] {
        let said = fault(&format!("[workload]\nkind = \"{kind}\"\n{key} = 1\n"));
        assert!(said.contains(&format!("has no key '{key}'. Expected one of")), "{said}");
    }
    let said = fault("[workload]\nkind = \"permutation\"\nbytse = 1\n");
    assert!(said.contains("did you mean 'bytes'?"), "{said}");
}

#[test]
fn a_key_below_a_number_is_not_a_date() {
    let said = set("[topology]\nleaves = 2\n", "topology.leaves.x=2");
    let expected = "--set topology.leaves.x=2: topology.leaves.x: topology.leaves is not a table: \
                    it has no keys";
    assert_eq!(said, expected);
    let said = set("[topology]\nkind = \"torus\"\n", "topology.kind.x=2");
    assert!(
        said.ends_with("topology.kind.x: topology.kind is not a table: it has no keys"),
        "{said}"
    );
    let text = "[[job]]\nkind = \"shift\"\npolicy = \"ecmp\"\n";
    let settings = vec!["job[0].policy.name=spray".parse().unwrap()];
    let overrides = Overrides { settings, ..Overrides::default() };
    let scenario = Scenario::parse(text, "test", Path::new(""), &overrides).unwrap();
    assert_eq!(scenario.job_policies[0].scheme.name, "spray");
}

#[test]
fn single_network_sections_are_rejected_with_rails() {
    for section in ["[[job]]", "[topology]", "[switch]", "[transport]", "[[class]]"] {
        let text = format!("[[rail]]\nkind = \"tcp\"\n{section}\n");
        let path = Path::new("test.toml");
        let said = RailScenario::parse(text, path, &Overrides::default()).unwrap_err().to_string();
        let name = section.trim_matches(['[', ']']);
        let expected = format!("{name} does not apply: each [[rail]] is a separate network");
        assert!(said.starts_with("test.toml:3:") && said.contains(&expected), "{said}");
    }
}

#[test]
fn an_unsuitable_default_policy_is_reported_as_a_default() {
    for kind in ["torus", "dragonfly", "dragonfly-plus"] {
        let text = format!("[topology]\nkind = \"{kind}\"\n");
        let said = fault(&text);
        let expected = "policy.name is missing: the default, ethereal, counts paths tier by tier, \
                        and this fabric has no tiers; expected one of ecmp, ";
        assert!(said.starts_with("test.toml:2:8:") && said.contains(expected), "{said}");
        let named = fault(&format!("{text}[policy]\nname = \"ethereal\"\n"));
        let expected = "policy.name = ethereal is invalid: it counts paths tier by tier";
        assert!(named.starts_with("test.toml:4:8:") && named.contains(expected), "{named}");
        let fitting = said.split_once("one of ").unwrap().1.split_once("; write").unwrap().0;
        for policy in fitting.split(", ") {
            parse(&format!("{text}[policy]\nname = \"{policy}\"\n")).expect(policy);
        }
    }
}

#[test]
fn a_bare_word_is_reported_as_text_without_quotes() {
    for word in ["fat-tree", "torus", "leaf-spine", "nan-tree", "16MB"] {
        let said = fault(&format!("[topology]\nkind = {word} # a comment\n"));
        let expected = format!("test.toml:2:8: invalid TOML: text must be quoted: {word:?}\n");
        assert!(said.starts_with(&expected), "{said}");
    }
    let said = fault("seed = \n");
    assert!(said.contains("invalid TOML: a value is missing after the equals sign"), "{said}");
}

#[test]
fn weights_that_a_policy_ignores_are_a_warning() {
    let of = |policy: &str| {
        parse(&format!("[policy]\nname = \"{policy}\"\nweights = \"capacity\"\n")).unwrap().warnings
    };
    for policy in ["ethereal", "line-cut", "conga", "letflow"] {
        let warnings = of(policy).join("\n");
        assert!(warnings.contains(&format!("'{policy}' ignores weights")), "{warnings}");
    }
    assert!(!of("spray").join("\n").contains("weights"));
}
