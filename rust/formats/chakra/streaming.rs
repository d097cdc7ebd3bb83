//! Traces that are replayed while they are read, after a survey of their files.

use std::fmt;
use std::sync::Arc;

use super::error::ChakraError;
use super::groups::RankGroups;
use super::player::Player;
use super::survey::{Survey, survey};
use super::{Options, TraceSource};
use crate::units::Bytes;
use crate::workload::Workload;

/// Default number of nodes held per rank: 8,192. \[inferred\]
pub const WINDOW: usize = 8_192;

/// Traces that are replayed while they are read.
pub struct Streaming {
    source: Arc<dyn TraceSource + Send + Sync>,
    ranks: u32,
    options: Options,
    window: usize,
    survey: Survey,
}

impl Streaming {
    /// Surveys the traces of `ranks` ranks. A replay holds `window` nodes (at least one) of each.
    ///
    /// # Errors
    /// Fails with the first error within a single file, or for a collective that a rank of the
    /// group lacks. The [`Player`] finds errors between nodes: cycles, and sends without receives.
    pub fn open(
        source: Arc<dyn TraceSource + Send + Sync>,
        ranks: u32,
        options: Options,
        window: usize,
    ) -> Result<Self, ChakraError> {
        let survey = survey(&*source, ranks, &options)?;
        Ok(Self { source, ranks, options, window: window.max(1), survey })
    }

    /// Returns a player at the start of the traces.
    pub fn player(&self) -> Player<'_> {
        Player::new(self)
    }

    /// Returns the total load without its order, for lower bounds. It has one message per pair and
    /// stream with all of its bytes, and one delay per host and lane with all of its computation.
    pub fn load(&self) -> &Workload {
        &self.survey.load
    }

    /// Returns the number of messages of all ranks, including those of collectives.
    pub fn messages(&self) -> u64 {
        self.survey.messages
    }

    /// Returns the size of the largest message.
    pub fn longest(&self) -> Bytes {
        self.survey.longest
    }

    /// Returns the number of ranks; rank i is host i.
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// Returns the number of nodes held per rank.
    pub fn window(&self) -> usize {
        self.window
    }

    /// Returns notes on where the replay differs from the recorded traces.
    pub fn warnings(&self) -> Vec<String> {
        let members: Vec<usize> = self.survey.members.iter().map(Vec::len).collect();
        let single_rank_warning = self.survey.groups.single_rank_warning(&members, self.ranks);
        self.survey.tally.warnings().into_iter().chain(single_rank_warning).collect()
    }

    pub(super) fn source(&self) -> &dyn TraceSource {
        &*self.source
    }

    pub(super) fn options(&self) -> &Options {
        &self.options
    }

    pub(super) fn groups(&self) -> &RankGroups {
        &self.survey.groups
    }

    pub(super) fn members(&self) -> &[Vec<u32>] {
        &self.survey.members
    }
}

impl fmt::Debug for Streaming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ranks, window, .. } = self;
        write!(f, "Streaming of {ranks} ranks, {window} nodes each, from {}", self.source.name(0))
    }
}
