//! The congestion controls that new queue pairs begin with.

use crate::nic::config::NicConfig;
use crate::nic::congestion::{Controller, PathFacts};

/// What the next queue pair's control is copied from. Copies share the parameters that they only
/// read: a run may have a million queue pairs.
#[derive(Debug, Clone, Default)]
pub(in crate::nic) struct NewControls {
    /// The control of a path as it was made last, unused.
    last: Option<Box<(PathFacts, Controller)>>,
}

impl NewControls {
    /// The control of a new queue pair on a path.
    pub(in crate::nic) fn next(&mut self, config: &NicConfig, path: PathFacts) -> Controller {
        if let Some(last) = &self.last
            && last.0 == path
        {
            return last.1.clone();
        }
        let control = config.congestion.build(&path);
        self.last = Some(Box::new((path, control.clone())));
        control
    }
}
