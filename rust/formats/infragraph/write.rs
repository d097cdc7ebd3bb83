//! Writes a fabric as an InfraGraph description.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Defaults, read};
use crate::read_back::expect_same;
use crate::topology::{Link, Node, Topology};
use crate::units::{BitRate, Span};

/// The devices: a host is a server with one accelerator and one NIC.
const DEVICES: &str = "\
devices:
- name: server
  components:
  - {name: xpu, count: 1, choice: xpu}
  - {name: nic, count: 1, choice: nic}
  links: [{name: pcie}]
  edges:
  - {ep1: {component: xpu}, ep2: {component: nic}, scheme: one2one, link: pcie}
- name: switch
  components:
  - {name: asic, count: 1, choice: cpu}
  - {name: port, count: PORTS, choice: port}
  links: [{name: ic}]
  edges:
  - {ep1: {component: asic}, ep2: {component: port}, scheme: many2many, link: ic}
";

/// Writes the description of a fabric. Hosts and switches get InfraGraph's names.
///
/// # Errors
/// Explains why the description would not be read as this fabric: for example, a switch has no
/// links.
pub fn write(topology: &Topology) -> Result<String, String> {
    let text = text(topology);
    let read = read(&text, "fabric", Defaults::default());
    expect_same(topology, &read.map_err(|error| error.to_string())?.topology)?;
    Ok(text)
}

fn text(topology: &Topology) -> String {
    let mut kinds: BTreeMap<(BitRate, Span), usize> = BTreeMap::new();
    for link in topology.links() {
        let next = kinds.len();
        kinds.entry((link.rate, link.delay)).or_insert(next);
    }
    let mut ports = vec![0u32; topology.switches().len()];
    let mut edges = String::new();
    for &Link { ends, rate, delay } in topology.links() {
        let [a, b] = ends.map(|node| match node {
            Node::Host(host) => format!("{{instance: 'host[{}]', component: nic}}", host.0),
            Node::Switch(switch) => {
                let next = &mut ports[switch.index()];
                let port = std::mem::replace(next, *next + 1);
                format!("{{instance: 'switch[{}]', component: 'port[{port}]'}}", switch.0)
            }
        });
        let kind = kinds[&(rate, delay)];
        // Writing into a string cannot fail.
        let _ = writeln!(edges, "- {{ep1: {a}, ep2: {b}, scheme: one2one, link: link{kind}}}");
    }
    let most = ports.iter().max().copied().unwrap_or(0).max(1);
    let mut text = format!("name: fabric\n{}links:\n", DEVICES.replace("PORTS", &most.to_string()));
    let mut by_number: Vec<_> = kinds.into_iter().map(|(kind, number)| (number, kind)).collect();
    by_number.sort_unstable();
    for (number, (rate, delay)) in by_number {
        let gbps = decimal(rate.as_bps(), 9);
        let ns = decimal(delay.as_ps(), 3);
        let _ = writeln!(
            text,
            "- name: link{number}\n  physical:\n    bandwidth: {{choice: gigabits_per_second, \
             gigabits_per_second: {gbps}}}\n    latency: {{choice: ns, ns: {ns}}}"
        );
    }
    let (hosts, switches) = (topology.host_count(), topology.switches().len());
    let _ = write!(
        text,
        "instances:\n- {{name: host, device: server, count: {hosts}}}\n- {{name: switch, device: \
         switch, count: {switches}}}\nedges:\n{edges}"
    );
    text
}

/// Formats `value` × 10^-`places` as a decimal.
fn decimal(value: u64, places: u32) -> String {
    let unit = 10u64.pow(places);
    let decimals = format!("{:0width$}", value % unit, width = places as usize);
    match decimals.trim_end_matches('0') {
        "" => (value / unit).to_string(),
        decimals => format!("{}.{decimals}", value / unit),
    }
}
