//! `links.csv`: what each direction of each link carried, and how many bytes waited and packets
//! were marked at the port that sends into it.

use std::io::{self, Write};

use crate::fabric::Outcome;
use crate::ids::{HostId, LinkId, PortId};
use crate::record::csv_text;
use crate::topology::{Node, Topology};
use crate::units::Bytes;

/// The end of the names of links that are no links of the fabric: ports of scale-up networks.
pub const SCALE_UP: &str = "-scale-up";

/// Writes the names of the columns and two rows for each link, one for each direction (`from` one
/// end `to` the other), in order of links; then two for each GPU's port on the scale-up network of
/// its server (link `host0-scale-up`, between `host0` and `scale-up0`), if there are such networks.
/// Numbers that nobody counted, as the queues of a fluid run, are empty.
///
/// # Errors
/// Those of writing to `to`.
pub fn write_links_csv(
    to: &mut dyn Write,
    topology: &Topology,
    outcome: &Outcome,
) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(to);
    let columns = ["link", "from", "to", "bytes", "rate_bps", "queue_bytes_max", "marked"];
    csv.write_record(columns)?;
    for link in 0..topology.links().len() {
        let link = u32::try_from(link).expect("ids are 32 bits");
        for port in [PortId(2 * link), PortId(2 * link + 1)] {
            let (from, onto) = topology.ends_of(port);
            let bytes = outcome.link_bytes.get(port.index()).copied().unwrap_or(Bytes::ZERO);
            csv.write_record([
                &*csv_text(topology.link_name(LinkId(link))),
                &csv_text(topology.node_name(from)),
                &csv_text(topology.node_name(onto)),
                &bytes.get().to_string(),
                &topology.link(LinkId(link)).rate.as_bps().to_string(),
                &counted(outcome.queue_bytes_max_by_port.get(port.index()).map(|it| it.get())),
                &counted(outcome.marked_by_port.get(port.index()).copied()),
            ])?;
        }
    }
    if let (Some(scale_up), Some(carried)) = (topology.scale_up(), &outcome.scale_up) {
        for (host, port) in (0u32..).map(HostId).zip(&carried.ports) {
            let name = csv_text(topology.node_name(Node::Host(host)));
            let network = format!("scale-up{}", scale_up.server_of(host));
            let link = format!("{name}{SCALE_UP}");
            let rate = scale_up.rate.as_bps().to_string();
            for (from, to, bytes) in
                [(&*name, &*network, port.sent), (&*network, &*name, port.received)]
            {
                let bytes = bytes.get().to_string();
                csv.write_record([&*link, from, to, &bytes, &rate, "", ""])?;
            }
        }
    }
    csv.flush()
}

fn counted(count: Option<u64>) -> String {
    count.map_or_else(String::new, |count| count.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn each_link_has_a_row_for_each_direction() {
        let mut text = Vec::new();
        let topology = sample::topology();
        write_links_csv(&mut text, &topology, &sample::stalled()).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text.lines().count(), 1 + 2 * topology.links().len());
        sample::snapshot("links-csv", &text);
    }
}
