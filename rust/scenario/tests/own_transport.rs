//! Policies with their own transport: which defaults a scenario gets, and which values take
//! precedence.

use super::parse;
use crate::nic::{Marked, Recovery};
use crate::units::{Bytes, Span};
use crate::{Scenario, ValueOrigin};

const MRC: &str = "[policy]\nname = \"mrc\"\n";

/// Returns the value of a key as TOML writes it, with its origin.
fn shown(scenario: &Scenario, key: &str) -> (String, ValueOrigin) {
    let found = scenario.explain().into_iter().find(|it| it.key == key);
    let found = found.unwrap_or_else(|| panic!("no {key}"));
    (found.value, found.from)
}

#[test]
fn mrc_runs_with_its_own_transport() {
    let scenario = parse(&format!("[switch]\ntrim = true\n{MRC}")).unwrap();
    let nic = &scenario.nic;
    assert_eq!((nic.congestion.name(), nic.recovery.name()), ("nscc", "mrc"));
    // SRv6 adds 40 bytes to each frame.
    assert_eq!((nic.header, nic.ack.bytes), (Bytes::new(142), Bytes::new(158)));
    assert_eq!((nic.ack.every, nic.ack.every_bytes), (16, Bytes::new(16_384)));
    assert_eq!(nic.ack.marked, Marked::AtOnce);
    assert_eq!(scenario.fabric.switch.trim.unwrap().size, Bytes::new(142));
    assert!(nic.ack.within < Span::from_us(10), "a base round trip: {}", nic.ack.within);
    let preset = shown(&scenario, "transport.parameters.preset");
    assert_eq!(preset, ("\"trimming\"".to_owned(), ValueOrigin::Default));
    for key in ["transport.ack_time", "transport.ack_marked", "switch.trim.size"] {
        assert_eq!(shown(&scenario, key).1, ValueOrigin::Policy, "{key}");
    }
    assert_eq!(scenario.warnings, [""; 0]);
    let again = parse(&scenario.render()).unwrap();
    assert_eq!((&again.nic, &again.file), (&scenario.nic, &scenario.file));
    // Rendered defaults of one policy do not carry over to another.
    let ecmp = scenario.with_policy("ecmp").unwrap();
    assert_eq!(again.with_policy("ecmp").unwrap().nic.header, ecmp.nic.header);
    assert_eq!(again.with_policy("ecmp").unwrap().nic.recovery.name(), "go-back-n");
    let hashed = parse(&format!("[switch]\ntrim = true\n{MRC}encoding = \"ecmp\"\n")).unwrap();
    assert_eq!((hashed.nic.header, hashed.nic.ack.bytes), (Bytes::new(102), Bytes::new(118)));
    assert_eq!(hashed.fabric.switch.trim.unwrap().size, Bytes::new(102));
    // A trimmed packet keeps its headers, whatever their length.
    let short = "[switch]\ntrim = true\n[transport]\nheader = \"82B\"\n";
    let short = parse(&format!("{short}{MRC}")).unwrap();
    assert_eq!(short.fabric.switch.trim.unwrap().size, Bytes::new(82));
}

#[test]
fn an_explicit_key_overrides_the_policys_default() {
    let keys = "congestion_control = \"dctcp-window\"\nheader = \"62B\"\nack = \"64B\"\n\
                ack_every = 4\nack_marked = \"wait\"";
    let trim = "[switch]\ntrim = { size = \"64B\" }";
    let scenario = parse(&format!("{trim}\n[transport]\n{keys}\n{MRC}")).unwrap();
    let nic = &scenario.nic;
    assert_eq!(nic.congestion.name(), "dctcp-window");
    assert_eq!((nic.header, nic.ack.bytes), (Bytes::new(62), Bytes::new(64)));
    // Setting either the count or the bytes drops the default of the other.
    assert_eq!((nic.ack.every, nic.ack.every_bytes), (4, Bytes::new(u64::MAX)));
    assert_eq!(nic.ack.marked, Marked::Wait);
    assert_eq!(scenario.fabric.switch.trim.unwrap().size, Bytes::new(64));
    let bytes = parse(&format!("[transport]\nack_bytes = \"64KiB\"\n{MRC}")).unwrap();
    assert_eq!((bytes.nic.ack.every, bytes.nic.ack.every_bytes), (32, Bytes::new(65_536)));
    assert_eq!(shown(&bytes, "transport.ack_every").1, ValueOrigin::Default);
    // Another recovery has the same acknowledgements as under other policies.
    let other = parse(&format!("[transport]\nrecovery = \"rudi\"\n{MRC}")).unwrap();
    assert_eq!((other.nic.ack.every, other.nic.ack.marked), (1, Marked::Wait));
    assert_eq!(shown(&other, "transport.ack_every").1, ValueOrigin::Default);
}

#[test]
fn compared_policies_use_their_own_transports_on_the_same_fabric() {
    let base = parse("[switch]\ntrim = true\n[policy]\nname = \"ecmp\"\n").unwrap();
    let mrc = base.with_policy("mrc").unwrap();
    assert_eq!(mrc.nic, parse(&format!("[switch]\ntrim = true\n{MRC}")).unwrap().nic);
    let names = |it: &Scenario| (it.nic.congestion.name(), it.nic.recovery.name());
    assert_eq!([names(&base), names(&mrc)], [("nscc", "go-back-n"), ("nscc", "mrc")]);
    let back = mrc.with_policy("ecmp").unwrap();
    assert_eq!((&back.nic, &back.file), (&base.nic, &base.file));
    assert_eq!((&back.fabric.switch, &back.warnings), (&base.fabric.switch, &base.warnings));
    // Marking and buffers depend on the fabric, the length of a trimmed packet on the packet.
    let trimmed = |it: &Scenario| it.fabric.switch.trim.unwrap().size.get();
    assert_eq!([trimmed(&base), trimmed(&mrc)], [64, 142]);
    assert_eq!(base.fabric.ecn_at_hosts, mrc.fabric.ecn_at_hosts);
}

#[test]
fn missing_features_of_mrc_are_warnings() {
    let warnings = |text: &str| parse(text).unwrap().warnings;
    let said = warnings(&format!("[transport]\ncongestion_control = \"dcqcn\"\n{MRC}"));
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].contains("policy.name: 'mrc' is designed for the congestion control 'nscc'"));
    assert!(said[0].contains("runs under 'dcqcn'") && said[1].contains("switch.trim = true"));
    assert_eq!(warnings("[policy]\nname = \"plane-jsq\"\n"), [""; 0]);
    // All jobs share the NICs, which have the transport of the file's policy.
    let jobs = "[switch]\ntrim = true\n[transport]\ncongestion_control = \"dcqcn\"\n\
                [policy]\nname = \"ecmp\"\n[[job]]\nname = \"a\"\n\
                kind = \"permutation\"\nhosts = \"0..8\"\npolicy = \"mrc\"\n[[job]]\n\
                name = \"b\"\nkind = \"permutation\"\nhosts = \"8..16\"\n";
    let scenario = parse(jobs).unwrap();
    assert!(matches!(scenario.job_policies[0].recovery, Recovery::Mrc(_)));
    assert_eq!(scenario.warnings.len(), 1, "{:?}", scenario.warnings);
    assert!(scenario.warnings[0].contains("job[0].policy"), "{:?}", scenario.warnings);
    let jobs = jobs.replace("congestion_control = \"dcqcn\"\n", "");
    let other = jobs.replace("ecmp", "other").replace("mrc", "ecmp").replace("other", "mrc");
    let warnings = parse(&other).unwrap().warnings;
    assert!(warnings.len() == 1 && warnings[0].contains("'ecmp' runs with the transport of 'mrc'"));
}
