//! Compares a fabric with its written form after reading it back.

use crate::topology::Topology;

/// Checks that two fabrics have the same hosts, switches and links. Names are ignored.
///
/// # Errors
/// Describes the first difference.
pub(crate) fn expect_same(written: &Topology, read: &Topology) -> Result<(), String> {
    let counts = |it: &Topology| {
        let (hosts, switches) = (it.host_count(), it.switches().len());
        format!("{hosts} hosts, {switches} switches and {} links", it.links().len())
    };
    let [ours, theirs] = [counts(written), counts(read)];
    if ours != theirs {
        return Err(format!("{ours} would be read back as {theirs}"));
    }
    match written.links().iter().zip(read.links()).position(|(ours, read)| ours != read) {
        None => Ok(()),
        Some(link) => {
            Err(format!("{} would be read back as a different link", written.link_names()[link]))
        }
    }
}
