//! `links.csv`: bytes that each direction of each link carried, and the queue and the marked
//! packets at the port that sends into it.

use std::io::{self, Write};

use super::cells::{LINK_COLUMNS, link_rows};
use crate::fabric::Outcome;
use crate::topology::Topology;

/// Writes the column names and the rows of [`link_rows`].
///
/// # Errors
/// Fails if writing to `to` fails.
pub fn write_links_csv(
    to: &mut dyn Write,
    topology: &Topology,
    outcome: &Outcome,
) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(to);
    csv.write_record(LINK_COLUMNS.map(|(name, _)| name))?;
    for row in link_rows(topology, outcome) {
        csv.write_record(row.iter().map(|cell| cell.csv().into_owned()))?;
    }
    csv.flush()
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn each_link_has_one_row_per_direction() {
        let mut text = Vec::new();
        let topology = sample::topology();
        write_links_csv(&mut text, &topology, &sample::stalled()).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text.lines().count(), 1 + 2 * topology.links().len());
        sample::snapshot("links-csv", &text);
    }
}
