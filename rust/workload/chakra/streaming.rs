//! Traces that are replayed while they are read, looked through beforehand.

use std::fmt;
use std::sync::Arc;

use super::error::ChakraError;
use super::node::Groups;
use super::player::Player;
use super::survey::{Survey, survey};
use super::{Options, Source, warned};
use crate::units::Bytes;
use crate::workload::Workload;

/// Nodes of each rank that are held, where nobody says otherwise: 8,192. \[inferred\]
pub const WINDOW: usize = 8_192;

/// The traces of some ranks, of which no more than a window of nodes is ever held.
pub struct Streaming {
    source: Arc<dyn Source + Send + Sync>,
    ranks: u32,
    options: Options,
    window: usize,
    survey: Survey,
}

impl Streaming {
    /// Looks through the traces of `ranks` ranks, of each of which `window` nodes are to be held,
    /// one at least.
    ///
    /// # Errors
    /// Whatever is wrong with a file by itself, and collectives in which a rank takes no part:
    /// with its rank, and its node and place where it has one. What only shows when it is
    /// replayed (circles, sends without receives) is a fault of the [`Player`].
    pub fn open(
        source: Arc<dyn Source + Send + Sync>,
        ranks: u32,
        (options, window): (Options, usize),
    ) -> Result<Self, ChakraError> {
        let survey = survey(&*source, ranks, &options)?;
        Ok(Self { source, ranks, options, window: window.max(1), survey })
    }

    /// The traces from their beginnings.
    pub fn player(&self) -> Player<'_> {
        Player::new(self)
    }

    /// What is sent, a message for each pair and stream that has all of their bytes, and what
    /// hosts compute: no less than this is done in any order of it.
    pub fn load(&self) -> &Workload {
        &self.survey.load
    }

    /// How many messages there are.
    pub fn messages(&self) -> u64 {
        self.survey.messages
    }

    /// The longest of them.
    pub fn longest(&self) -> Bytes {
        self.survey.longest
    }

    /// How many ranks; rank i is host i.
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// Nodes of each rank that are held.
    pub fn window(&self) -> usize {
        self.window
    }

    /// What is not as the traces have it.
    pub fn warnings(&self) -> Vec<String> {
        warned(self.survey.timeless, self.survey.empty_sends)
    }

    pub(super) fn source(&self) -> &dyn Source {
        &*self.source
    }

    pub(super) fn options(&self) -> &Options {
        &self.options
    }

    pub(super) fn groups(&self) -> &Groups {
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
