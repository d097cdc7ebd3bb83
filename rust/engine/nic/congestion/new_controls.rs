//! The initial congestion controls of new queue pairs.

use crate::nic::config::NicConfig;
use crate::nic::congestion::{Controller, PathFacts};

/// The control that new queue pairs copy. Copies share their read-only parameters, because a run
/// may have a million queue pairs.
#[derive(Debug, Clone, Default)]
pub(in crate::nic) struct NewControls {
    /// The last control that was built, still unused, and its path.
    last: Option<Box<(PathFacts, Controller)>>,
}

impl NewControls {
    /// Returns the control of a new queue pair on a path.
    pub(in crate::nic) fn next(&mut self, config: &NicConfig, path: PathFacts) -> Controller {
        // Consecutive queue pairs mostly have the same path, so one entry is enough.
        if let Some(last) = &self.last
            && last.0 == path
        {
            return last.1.clone();
        }
        // Stored unused: a control that has run would pass on its state.
        let control = config.congestion.build(&path);
        self.last = Some(Box::new((path, control.clone())));
        control
    }
}
