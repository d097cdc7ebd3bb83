//! The tables of evidence: closed forms and runs in `docs/trust.md`, and the agreement with other
//! simulators in `docs/reproduce/agreement.txt`.

mod agreement;

use std::fmt::Write as _;
use std::path::Path;

use evenkeel::fabric::{self, Outcome, Verdict};

use crate::fabric_properties::parse;
use crate::page::{Table, replaced, section};

const CLOSED_FORMS: &str = "docs/trust.md";
const AGREEMENT: &str = "docs/reproduce/agreement.txt";

/// Bytes: payload, full packet with its header, gap after a packet, acknowledgement.
const PAYLOAD: f64 = 4096.0;
const PACKET: f64 = PAYLOAD + 62.0;
const GAP: f64 = 20.0;
const ACK: f64 = 64.0;
/// Nanoseconds per byte at 400 Gbps, and per link.
const BYTE: f64 = 0.02;
const LINK: f64 = 500.0;

/// Runs a row's fabric, given by the keys of `[topology]` and further sections.
fn run(topology: &str, policy: &str, rest: &str) -> Outcome {
    let text = format!(
        "time_limit = \"1s\"\n[topology]\n{topology}\n[switch]\nbuffer = \"1GB\"\n\
         [policy]\nname = \"{policy}\"\n{rest}"
    );
    fabric::run(&parse(&text).setup(), &mut |_| {})
}

/// Returns the completion time in ns.
fn cct(outcome: &Outcome) -> f64 {
    assert_eq!(outcome.verdict, Verdict::Completed);
    outcome.cct.expect("it completed").as_ns_f64()
}

/// A closed form and the corresponding run.
struct Row {
    what: &'static str,
    form: &'static str,
    unit: &'static str,
    expected: f64,
    found: f64,
    /// Maximum difference that passes, in per cent.
    within: f64,
}

const LINE_RATE: &str = "[transport]\ncongestion_control = \"line-rate\"\n";

/// Two hosts at different leaves; the path has four links.
const PATH: &str = "leaves = 2\nspines = 1\nhosts_per_leaf = 1";
/// Hosts at a single switch.
const STAR: &str = "leaves = 1\nspines = 1\nhosts_per_leaf = 8";

fn idle_path() -> Row {
    let packets = 10.0;
    let workload = "[workload]\nkind = \"incast\"\nfan_in = 1\nbytes = \"40960B\"\n";
    let one = 4.0 * (PACKET * BYTE + LINK);
    let rest = (packets - 1.0) * (PACKET + GAP) * BYTE;
    Row {
        what: "message of 10 packets, idle path of 4 links",
        form: "4 (packet/rate + delay) + 9 (packet + gap)/rate + 4 (ack/rate + delay)",
        unit: "ns",
        expected: one + rest + 4.0 * (ACK * BYTE + LINK),
        found: cct(&run(PATH, "ecmp", &format!("{LINE_RATE}{workload}"))),
        within: 0.0,
    }
}

fn incast() -> Row {
    let (senders, packets) = (7.0, 100.0);
    let workload = "[workload]\nkind = \"incast\"\nfan_in = 7\nbytes = \"409600B\"\n";
    let first = PACKET * BYTE + LINK;
    let all = senders * packets * (PACKET + GAP) * BYTE - GAP * BYTE;
    Row {
        what: "7 hosts send 100 packets each to one, one switch",
        form: "packet/rate + 2 delay + (700 (packet + gap) - gap)/rate + 2 (ack/rate + delay)",
        unit: "ns",
        expected: first + all + LINK + 2.0 * (ACK * BYTE + LINK),
        found: cct(&run(STAR, "ecmp", &format!("{LINE_RATE}{workload}"))),
        within: 0.0,
    }
}

fn ring() -> Row {
    let (ranks, packets) = (8.0, 16.0);
    let workload = "[workload]\nkind = \"ring-all-reduce\"\nbytes = \"524288B\"\n";
    let step = 2.0 * (PACKET * BYTE + LINK) + (packets - 1.0) * (PACKET + GAP) * BYTE;
    Row {
        what: "ring all-reduce of 8 ranks, 16 packets a block, one switch",
        form: "14 (2 (packet/rate + delay) + 15 (packet + gap)/rate) + 2 (ack/rate + delay)",
        unit: "ns",
        expected: 2.0 * (ranks - 1.0) * step + 2.0 * (ACK * BYTE + LINK),
        found: cct(&run(STAR, "ecmp", &format!("{LINE_RATE}{workload}"))),
        // Acknowledgements share the wires of the ring's blocks.
        within: 0.5,
    }
}

/// Runs a long flow over a link that loses each packet with probability `p`, under a recovery.
fn lossy(recovery: &str) -> Outcome {
    let rest = format!(
        "{LINE_RATE}recovery = \"{recovery}\"\nretransmit_timeout = \"50us\"\n\
         nack_interval = \"1us\"\n\
         [workload]\nkind = \"incast\"\nfan_in = 1\nbytes = \"64MiB\"\n\
         [[failure]]\nlink = \"leaf1-spine0\"\nfrom = \"spine0\"\nkind = \"loss\"\n\
         rate = \"1/100\"\n"
    );
    run(PATH, "ecmp", &rest)
}

fn selective() -> Row {
    let outcome = lossy("sack");
    let payloads = f64::from(64u32 << 20) / PAYLOAD;
    Row {
        what: "1 % of packets lost, selective recovery: packets sent for each that is needed",
        form: "1/(1 - p)",
        unit: "",
        expected: 1.0 / 0.99,
        found: outcome.counters.sent as f64 / payloads,
        within: 0.3,
    }
}

fn hashing() -> Row {
    let (flows, paths) = (64, 16);
    let topology = "leaves = 2\nspines = 16\nhosts_per_leaf = 64\nfabric_rate = \"1600Gbps\"";
    let mut idle = 0;
    let seeds = 400;
    for seed in 0..seeds {
        let text = format!(
            "seed = {seed}\n[topology]\n{topology}\n[policy]\nname = \"ecmp\"\n[workload]\n\
             kind = \"shift\"\nshift = 64\nbytes = \"4096B\"\n"
        );
        let setup = parse(&text).setup();
        let outcome = fabric::run(&setup, &mut |_| {});
        let leaf = evenkeel::ids::SwitchId(0);
        let up = setup.topology.ports_of(leaf).iter().filter(|port| {
            setup.topology.ends_of(**port).1.switch().is_some()
                && outcome.link_bytes[port.index()].get() < PAYLOAD as u64
        });
        idle += up.count();
    }
    let share = (1.0 - 1.0 / f64::from(paths)).powi(flows);
    Row {
        what: "64 hashed flows of a leaf on 16 uplinks, 400 seeds: uplinks without any",
        form: "16 (1 - 1/16)^64",
        unit: "",
        expected: f64::from(paths) * share,
        found: idle as f64 / f64::from(seeds),
        // Three standard deviations of the mean of 400 draws.
        within: 29.0,
    }
}

fn permutation() -> Row {
    let packets = 256.0;
    let topology = "kind = \"fat-tree\"\nk = 4";
    let workload = "[workload]\nkind = \"shift\"\nshift = 8\nbytes = \"1MiB\"\n";
    let one = 6.0 * (PACKET * BYTE + LINK);
    let rest = (packets - 1.0) * (PACKET + GAP) * BYTE;
    Row {
        what: "shift by half of a fat-tree (16 hosts), a path for each: ethereal",
        form: "6 (packet/rate + delay) + 255 (packet + gap)/rate + 6 (ack/rate + delay)",
        unit: "ns",
        expected: one + rest + 6.0 * (ACK * BYTE + LINK),
        found: cct(&run(
            topology,
            "ethereal",
            &format!("batch_timer = \"0s\"\nstart_jitter = \"0s\"\n{LINE_RATE}{workload}"),
        )),
        // Acknowledgements share the wires with data in the opposite direction.
        within: 3.0,
    }
}

fn table() -> Table {
    let mut table = Table::new(&["what", "closed form", "by the form", "by a run", "difference"]);
    let rows = [idle_path(), incast(), ring(), permutation(), selective(), hashing()];
    for Row { what, form, unit, expected, found, within } in rows {
        let difference = 100.0 * (found - expected) / expected;
        assert!(
            difference.abs() <= within + 1e-9,
            "{what}: {found} by the run, {expected} by {form}: {difference} %"
        );
        let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
        let mut line = String::new();
        let _ = write!(line, "{what} | {form} | {expected:.3}{unit} | {found:.3}{unit} | ");
        let _ = match difference.abs() < 0.0005 {
            true => write!(line, "0"),
            false => write!(line, "{difference:+.3} %"),
        };
        table.row(line);
    }
    table
}

/// Compares the table `name` of a file, or writes it.
fn expect_in(file: &str, name: &str, table: &Table) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let page = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
    if std::env::var("INSTA_UPDATE").is_ok_and(|value| value == "always") {
        let page = replaced(&page, name, table).unwrap_or_else(|it| panic!("{it}"));
        std::fs::write(&path, page).unwrap();
        return;
    }
    let there = section(&page, name).unwrap_or_else(|it| panic!("{file}: {it}"));
    assert_eq!(there, table.text(), "{file}: INSTA_UPDATE=always writes it again");
}

#[test]
fn the_tables_are_up_to_date() {
    expect_in(CLOSED_FORMS, "closed-forms", &table());
    expect_in(AGREEMENT, "agreement", &agreement::table());
}
