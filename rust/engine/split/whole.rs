//! No splitting: each message is one flow, which starts immediately.
//!
//! Source: the InfiniBand Architecture Specification, volume 1, chapter 9: a message is one work
//! request on one queue pair.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::{Flow, Request, SmallestPiece, Split, SplitterContext};
use crate::balance::Preset;
use crate::units::Time;

/// The splitter has no parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {}

impl Config {
    pub(super) const fn smallest_piece(self) -> Option<SmallestPiece> {
        None
    }
}

/// Messages in the order of their requests.
#[derive(Debug, Default)]
pub struct Whole(VecDeque<Flow>);

/// No preset of its own: it is the default splitter of schemes.
pub const PRESETS: &[Preset] = &[];

impl Whole {
    pub(super) fn new(_config: &Config, _host: &SplitterContext) -> Self {
        Self::default()
    }
}

impl Split for Whole {
    fn handle_message(&mut self, _now: Time, request: &Request) {
        self.0.push_back(Flow::whole(request));
    }

    fn poll_flow(&mut self, _now: Time) -> Option<Flow> {
        self.0.pop_front()
    }
}
