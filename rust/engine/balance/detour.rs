//! Non-minimal routes, as far as a policy sees them.

/// Length and first queue of a route, as the packet's first switch sees them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouteLoad {
    /// Number of links between switches; at least 1.
    pub links: u32,
    /// Bytes queued at the first port, including the packet in transmission. If several ports lead
    /// along the route, the least loaded one counts. Always 0 for policies without
    /// `USES_QUEUE_LENGTHS`.
    pub queue_bytes: u64,
}

impl RouteLoad {
    /// Returns the queue in bytes times the number of links: the product that UGAL compares.
    pub const fn cost(self) -> u64 {
        self.queue_bytes.saturating_mul(self.links as u64)
    }
}

/// Routes available to a packet at its sender's switch.
pub trait DetourView {
    /// Returns the number of intermediate switches that a detour can use, at least 1: those in
    /// other groups that have hosts.
    fn candidates(&self) -> u32;

    /// Returns the load of the minimal route.
    fn minimal(&self) -> RouteLoad;

    /// Returns the load of the route via `candidate`, below [`Self::candidates`].
    fn via(&self, candidate: u32) -> RouteLoad;
}

#[cfg(test)]
pub(in crate::balance) mod test_view {
    use super::*;

    /// A fixed view: (links, queue bytes) of each route.
    pub(in crate::balance) struct Routes {
        pub(in crate::balance) minimal: (u32, u64),
        pub(in crate::balance) via: Vec<(u32, u64)>,
    }

    fn load((links, queue_bytes): (u32, u64)) -> RouteLoad {
        RouteLoad { links, queue_bytes }
    }

    impl DetourView for Routes {
        fn candidates(&self) -> u32 {
            self.via.len() as u32
        }

        fn minimal(&self) -> RouteLoad {
            load(self.minimal)
        }

        fn via(&self, candidate: u32) -> RouteLoad {
            load(self.via[candidate as usize])
        }
    }
}
