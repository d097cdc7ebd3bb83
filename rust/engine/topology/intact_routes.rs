//! The routes of a fabric without failures, computed once.

use std::sync::{Arc, OnceLock};

use super::{Routes, Topology};

/// Routes that are computed when they are asked for first. A topology is equal to another whether
/// it has them or not.
#[derive(Debug, Clone, Default)]
pub(super) struct IntactRoutes(OnceLock<Arc<Routes>>);

impl PartialEq for IntactRoutes {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Eq for IntactRoutes {}

impl Topology {
    /// The next hops over all links.
    pub fn routes(&self) -> &Arc<Routes> {
        self.intact_routes.0.get_or_init(|| Arc::new(Routes::new(self, &|_| true)))
    }
}
