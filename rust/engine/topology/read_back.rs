//! Comparing a fabric with its written form, read back.

use super::Topology;

impl Topology {
    /// Fails with a difference in hosts, switches or links; names count for nothing.
    ///
    /// # Errors
    /// The first difference.
    pub(super) fn expect_same(&self, read: &Self) -> Result<(), String> {
        let counts = |it: &Self| {
            let (hosts, switches) = (it.host_count(), it.switches().len());
            format!("{hosts} hosts, {switches} switches and {} links", it.links().len())
        };
        let [ours, theirs] = [counts(self), counts(read)];
        if ours != theirs {
            return Err(format!("{ours} would be read as {theirs}"));
        }
        match self.links().iter().zip(read.links()).position(|(ours, read)| ours != read) {
            None => Ok(()),
            Some(link) => Err(format!("{} would be read as another link", self.link_names()[link])),
        }
    }
}
