//! Tests of NICs with settings of their own.

use evenkeel_engine::ids::HostId;
use evenkeel_engine::units::{Bytes, Span};

use super::*;
use crate::world::contract::NicSettings;
use crate::world::records::FabricQpSettings;

const MESSAGES: &str = "[workload]\nkind = \"all-to-all\"\nbytes = \"40KB\"\n";

/// C++'s default settings of queue pairs.
const QUEUES: FabricQpSettings = FabricQpSettings {
    send_queue: 1_024,
    receive_queue: 1_024,
    rnr_timer_ps: 640_000_000,
    rnr_retries: u32::MAX,
    retries: u32::MAX,
};

fn nics(hosts: &[u32], transport: &str) -> NicSettings {
    let settings = format!("[transport]\n{transport}\n");
    NicSettings { hosts: hosts.to_vec(), settings, queue_pairs: QUEUES }
}

fn rejection(text: &str, nics: &[NicSettings]) -> String {
    experiment(text).set_host_nics(nics).unwrap_err().to_string()
}

#[test]
fn own_nic_settings_apply_only_to_their_hosts() {
    let mut experiment = experiment(&format!("{SPREAD}{MESSAGES}"));
    let swift = nics(&[1, 3], "congestion_control = \"swift\"\nretransmit_timeout = \"30us\"");
    let small = NicSettings {
        queue_pairs: FabricQpSettings { send_queue: 7, ..QUEUES },
        ..nics(&[2], "ack = \"90B\"")
    };
    experiment.set_host_nics(&[swift, small]).unwrap();
    let of = |host| experiment.setup.nic_of(HostId(host));
    assert_eq!(
        [0, 1, 2, 3].map(|host| of(host).congestion.name()),
        ["nscc", "swift", "nscc", "swift"]
    );
    assert_eq!(of(1).retransmit_timeout, Span::from_us(30));
    assert_eq!((of(2).ack.bytes, of(2).queue_pairs.send_queue), (Bytes::new(90), 7));
    assert!(experiment.core().settings().ack_priority, "some acknowledgements have priority");
    let mut core = experiment.core();
    core.post(1, 2, 5_000, 0, 0, 0).unwrap();
}

#[test]
fn communicating_nics_must_agree_in_queue_pair_settings() {
    let text = format!("{SPREAD}{MESSAGES}");
    for (keys, reason) in [
        ("payload = \"1024B\"", "differ in payload ("),
        ("header = \"70B\"", "differ in header ("),
        ("recovery = \"sack\"", "differ in recovery (go-back-n and sack)"),
        ("recovery = \"rudi\"", "differ in recovery (go-back-n and rudi)"),
    ] {
        let said = rejection(&text, &[nics(&[3], keys)]);
        assert!(
            said.contains(reason) && said.contains("host 3") && said.contains("give both"),
            "{said}"
        );
        // Without messages they may differ, until one is posted.
        let mut quiet = experiment_on_graph(&two_hosts(), "", "", &Overrides::default()).unwrap();
        quiet.set_host_nics(&[nics(&[1], keys)]).unwrap();
        let mut core = quiet.core();
        let said = core.post(0, 1, 5_000, 0, 0, 0).unwrap_err().to_string();
        assert!(said.contains(reason), "{said}");
        let said = core.create_qp(1, 0, 0).unwrap_err().to_string();
        assert!(said.contains("differ in") && said.ends_with("(EINVAL)"), "{said}");
        quiet.set_host_nics(&[nics(&[0, 1], keys)]).unwrap();
        quiet.core().post(0, 1, 5_000, 0, 0, 0).unwrap();
    }
}

#[test]
fn invalid_nics_are_errors_that_name_them() {
    for (hosts, keys, reason) in [
        (&[4][..], "", "cannot configure the NIC of host 4: there are 4 hosts"),
        (&[0], "congestion_control = \"nonsense\"", "the settings of a NIC (its attributes):"),
        (&[0], "payload = \"99999B\"", "the settings of a NIC (its attributes):"),
        (&[0], "congestion_control = \"hpcc\"", "asks switches for telemetry"),
    ] {
        let said = rejection(SPREAD, &[nics(hosts, keys)]);
        assert!(said.contains(reason) && !said.contains('\u{1}'), "{said}");
    }
    let none = FabricQpSettings { send_queue: 0, ..QUEUES };
    let said = rejection(SPREAD, &[NicSettings { queue_pairs: none, ..nics(&[0], "") }]);
    assert!(said.contains("the depth 0 of send queues is out of range"), "{said}");
}
